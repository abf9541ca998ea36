#include "compare/example_changes.h"
#include "record/run_directory.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

constexpr std::size_t most_shown_bytes = 2000;

std::string shortened(const std::string& text) {
    const std::string_view start = start_of_text(text, most_shown_bytes);
    return start.size() < text.size() ? std::string(start) + " …" : text;
}

}  // namespace

/// {"run": folder, "set": name of an evaluation set that it was scored on} -> {"texts": [[text, wanted] ...], "problem": why there are
/// none}. Texts longer than 2,000 bytes are shown shortened.
Json example_texts(const Json& params, SessionData& data, Request& request) {
    const RunDirectory run(json_at<std::string>(params, "run", "example_texts"));
    const auto name = json_at<std::string>(params, "set", "example_texts");
    request.progress("read " + name, 0, 0);
    const ExampleTexts read = texts_of_scores(*data.named_evaluation_set(run.settings(), name), run);
    Json texts = Json::array();
    for (const ScoredText& one : read.texts) texts.push_back({shortened(one.text), shortened(one.wanted)});
    return {{"texts", std::move(texts)}, {"problem", read.problem}};
}

}  // namespace faceter::worker
