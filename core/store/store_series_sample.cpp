#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "store/store_series.h"

namespace faceter {
namespace {

using Answer = SeriesReader::Answer;
using Extent = std::pair<double, double>;

constexpr int most_columns = 100'000;
constexpr double fine = 1.0 / 8;  // of a column: a node narrower than this is not opened for a column's border that it crosses

/// Steps to what training had seen by then: running sums of a series, linear between the places where they are known.
class Cumulative {
  public:
    /// `grain`: sums this far apart need not be told apart.
    Cumulative(Database& database, const std::string& run, const std::string& name, double from, double to, double grain) {
        SeriesReader reader(database, run, name);
        double before = 0;
        reader.visit(
            [&](const SeriesNode& node) {
                const double after = before + node.sum;
                const bool outside = after < from || before > to;
                return outside || after - before <= grain ? Answer::take : Answer::open;
            },
            [&](const SeriesNode& node) {
                if (node.count > 1) add(node.first_step, before + node.first);
                before += node.sum;
                add(node.last_step, before);
            });
    }
    bool empty() const { return steps_.empty(); }
    double at(std::int64_t step) {
        const std::size_t i = place(step);
        if (i == steps_.size()) return sums_.back();
        if (i == 0 || steps_[i] == step) return sums_[i];
        const auto before = static_cast<double>(steps_[i - 1]);
        const double part = (static_cast<double>(step) - before) / (static_cast<double>(steps_[i]) - before);
        return sums_[i - 1] + part * (sums_[i] - sums_[i - 1]);
    }

  private:
    /// The first place whose step is not below. Steps are asked for in order, nearly: the next place is close to the last one.
    std::size_t place(std::int64_t step) {
        constexpr std::size_t near = 8;
        const std::size_t end = std::min(steps_.size(), last_ + near);
        if (last_ < steps_.size() && (last_ == 0 || steps_[last_ - 1] < step))
            for (; last_ < end; ++last_)
                if (steps_[last_] >= step) return last_;
        return last_ = static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
    }
    void add(std::int64_t step, double sum) {
        steps_.push_back(step);
        sums_.push_back(sum);
    }
    std::vector<std::int64_t> steps_;
    std::vector<double> sums_;
    std::size_t last_ = 0;
};

/// "loss@2" counts the examples of stage 2.
std::string counter_of(const std::string& name, SeriesX x) {
    const std::size_t stage = name.rfind('@');
    return (x == SeriesX::examples ? "pairs" : "tokens") + (stage == std::string::npos ? "" : name.substr(stage));
}

/// From where to where a node lies on the x axis. Empty function where the run has no such axis.
std::function<Extent(const SeriesNode&)> axis(Database& database, const std::string& run, const std::string& name, SeriesX x, double from,
                                              double to, double grain) {
    if (x == SeriesX::step)
        return [](const SeriesNode& node) { return Extent(static_cast<double>(node.first_step), static_cast<double>(node.last_step)); };
    if (x == SeriesX::time) return [](const SeriesNode& node) { return Extent(node.min_time, node.max_time); };
    const auto counted = [&](const std::string& of) {
        return std::make_shared<Cumulative>(database, run, counter_of(of, x), from, to, grain);
    };
    auto sums = counted(name);
    // No stage has that number: "loss@256" is of a prefix, in the first one, as runs before "prefix_loss/256" recorded it.
    if (sums->empty()) sums = counted("");
    if (sums->empty()) return {};
    return [sums](const SeriesNode& node) { return Extent(sums->at(node.first_step), sums->at(node.last_step)); };
}

void add_to(SeriesBucket& bucket, const SeriesNode& node) {
    if (bucket.count == 0) {
        bucket = {node.count, node.first_step, node.last_step, node.first, node.min, node.max, node.last, node.sum};
        return;
    }
    bucket.count += node.count;
    bucket.last_step = node.last_step;
    bucket.min = std::min(bucket.min, node.min);
    bucket.max = std::max(bucket.max, node.max);
    bucket.last = node.last;
    bucket.mean += node.sum;  // the sum until all are in
}

}  // namespace

SeriesRange series_range(Database& database, const std::string& run, const std::string& name, SeriesX x) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const auto extent = axis(database, run, name, x, -infinite, infinite, infinite);
    SeriesRange range;
    if (!extent) return range;
    SeriesReader(database, run, name)
        .visit([](const SeriesNode&) { return Answer::take; },
               [&](const SeriesNode& node) {
                   const auto [begin, end] = extent(node);
                   const bool first = range.count == 0;
                   range.from = first ? begin : std::min(range.from, begin);
                   range.to = first ? end : std::max(range.to, end);
                   range.min = first ? node.min : std::min(range.min, node.min);
                   range.max = first ? node.max : std::max(range.max, node.max);
                   range.count += node.count;
               });
    return range;
}

std::vector<SeriesBucket> series_sample(Database& database, const std::string& run, const std::string& name, SeriesX x, double from,
                                        double to, int columns) {
    if (columns < 1 || columns > most_columns)
        throw usage_error("a series cannot be shown in {} columns; give 1 to {}", columns, most_columns);
    if (!std::isfinite(from) || !std::isfinite(to) || from > to) throw usage_error("a series cannot be shown from {} to {}", from, to);
    std::vector<SeriesBucket> buckets(static_cast<std::size_t>(columns));
    const double width = (to - from) / columns;
    const auto extent = axis(database, run, name, x, from, to, width * fine);
    if (!extent) return buckets;
    const auto column = [&](double at) { return width > 0 ? std::clamp(static_cast<int>((at - from) / width), 0, columns - 1) : 0; };
    SeriesReader(database, run, name)
        .visit(
            [&](const SeriesNode& node) {
                const auto [begin, end] = extent(node);
                if (end < from || begin > to) return Answer::skip;
                if (begin < from || end > to) return Answer::open;
                return end - begin <= width * fine || column(begin) == column(end) ? Answer::take : Answer::open;
            },
            [&](const SeriesNode& node) { add_to(buckets[static_cast<std::size_t>(column(extent(node).first))], node); });
    for (SeriesBucket& bucket : buckets)
        if (bucket.count > 0) bucket.mean /= static_cast<double>(bucket.count);
    return buckets;
}

}  // namespace faceter
