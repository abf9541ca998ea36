#include "serve/tei_counts.h"

#include <fmt/format.h>

namespace faceter::worker {
namespace {

constexpr double shortest = 1e-5, factor = 1.5;

const char* error_of(int status) { return status == 429 ? "overloaded" : status >= 500 ? "backend" : "validation"; }

}  // namespace

void TeiCounts::add(std::size_t texts, int status, double seconds) {
    Requests& requests = by_method_[texts > 1 ? "batch" : "single"];
    ++requests.all;
    texts_ += texts;
    if (status != 200) {
        ++failures_[error_of(status)];
        return;
    }
    ++requests.successful;
    successful_texts_ += texts;
    seconds_ += seconds;
    ++timed_;
    double bound = shortest;
    for (std::uint64_t& within : within_) within += seconds <= (bound *= factor);
}

void TeiCounts::write(std::string& text) const {
    const auto counter = [&](const char* name) { text += fmt::format("# TYPE {} counter\n", name); };
    counter("te_request_count");
    for (const auto& [method, one] : by_method_) text += fmt::format("te_request_count{{method=\"{}\"}} {}\n", method, one.all);
    counter("te_request_success");
    for (const auto& [method, one] : by_method_) text += fmt::format("te_request_success{{method=\"{}\"}} {}\n", method, one.successful);
    counter("te_request_failure");
    for (const auto& [error, number] : failures_) text += fmt::format("te_request_failure{{err=\"{}\"}} {}\n", error, number);
    counter("te_embed_count");
    text += fmt::format("te_embed_count {}\n", texts_);
    counter("te_embed_success");
    text += fmt::format("te_embed_success {}\n# TYPE te_request_duration histogram\n", successful_texts_);
    double bound = shortest;
    for (const std::uint64_t within : within_)
        text += fmt::format("te_request_duration_bucket{{le=\"{:.6g}\"}} {}\n", bound *= factor, within);
    text += fmt::format("te_request_duration_bucket{{le=\"+Inf\"}} {0}\nte_request_duration_sum {1}\nte_request_duration_count {0}\n",
                        timed_, seconds_);
}

}  // namespace faceter::worker
