#include "stage_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "common/error.h"
#include "common/hash.h"
#include "eval/embedder.h"
#include "model/ops.h"
#include "plugin/run_model.h"

namespace faceter::worker {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t(8) << 30;

/// Which examples are left, and their negatives: a line each, [example, negative ...].
std::string chosen_lines(const std::vector<Example>& before, const TrainingSet& after) {
    std::string lines;
    std::size_t i = 0;
    for (const Example& example : after.examples) {
        while (before[i].anchor != example.anchor || before[i].positive != example.positive || before[i].label != example.label) ++i;
        lines += fmt::format("[{}", i++);
        for (std::uint32_t n = 0; n < example.num_negatives; ++n) lines += fmt::format(",{}", after.negatives[example.first_negative + n]);
        lines += "]\n";
    }
    return lines;
}

void take_lines(const std::string& lines, const std::string& file, TrainingSet& set) {
    const std::vector<Example> examples = std::move(set.examples);
    set.examples.clear();
    set.negatives.clear();
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
        const Json numbers = Json::parse(line, nullptr, false);
        const bool fits = numbers.is_array() && !numbers.empty() && std::all_of(numbers.begin(), numbers.end(), [](const Json& n) { return n.is_number_unsigned(); }) &&
                          numbers[0].get<std::size_t>() < examples.size() &&
                          std::all_of(numbers.begin() + 1, numbers.end(), [&](const Json& n) { return n.get<std::size_t>() < set.texts.size(); });
        if (!fits) throw data_error("{}: does not fit the training data '{}'; remove it, and the stage chooses anew", file, set.name);
        Example example = examples[numbers[0].get<std::size_t>()];
        example.first_negative = static_cast<std::uint32_t>(set.negatives.size());
        example.num_negatives = static_cast<std::uint32_t>(numbers.size() - 1);
        for (std::size_t n = 1; n < numbers.size(); ++n) set.negatives.push_back(numbers[n].get<std::uint32_t>());
        set.examples.push_back(example);
    }
}

MiningSettings mining_settings(const Json& settings) {
    MiningSettings mining;
    mining.negatives = json_or<std::size_t>(settings, "negatives", mining.negatives, "mine");
    mining.depth = json_or<std::size_t>(settings, "depth", mining.depth, "mine");
    mining.margin = json_or<double>(settings, "margin", mining.margin, "mine");
    mining.absolute_margin = json_or<double>(settings, "absolute_margin", 0, "mine");
    return mining;
}

}  // namespace

Route prompted_route(const EmbeddingModel& model, Role role) {
    const bool document = role == Role::document;
    for (const char* name : {document ? "document" : "query", document ? "passage" : "search_query", document ? "search_document" : "query"})
        if (const auto found = model.folder.prompts.find(name); found != model.folder.prompts.end()) return {found->second, 0, 0};
    return {};
}

void StageData::apply(const Json& settings, bool mining, const std::string& stem, TrainingSet& set) const {
    const fs::path file = folder_ / (stem + ".jsonl");
    if (fs::exists(file)) return take_lines(read_file(file, largest_file), file.string(), set);
    const auto name = json_or<std::string>(settings, "teacher", "", "teacher");
    const auto other = name.empty() ? nullptr : open_folder_model(resolve_model(name));
    const EmbeddingModel& teacher = other ? *other : model_;
    const TeacherEmbedder embed = [&](std::span<const std::string_view> texts, Role role) {
        const at::Tensor rows = embed_texts(teacher, texts, other ? prompted_route(teacher, role) : model_.route(set.task, role));
        return teacher.folder.similarity == Similarity::dot ? rows : normalize_rows(rows);
    };
    phase_(fmt::format("{} {}", mining ? "mine negatives of" : "filter", set.name));
    const std::vector<Example> before = set.examples;
    const bool only_given = mining && json_or<bool>(settings, "filter_given", false, "mine");
    const Tally tally = !mining      ? filter_pairs(set, embed, json_or<std::size_t>(settings, "top_k", 2, "filter"))
                        : only_given ? filter_given_negatives(set, embed, mining_settings(settings))
                                     : mine_negatives(set, embed, mining_settings(settings));
    if (set.examples.empty()) throw data_error("the filter of its stage left nothing of the training data '{}'; raise filter.top_k, or name another teacher", set.name);
    make_directories(folder_);
    write_file_atomic(file, chosen_lines(before, set));
    report_(mining ? "mine" : "filter", set, tally);
}

void StageData::prepare(const PlannedStage& planned, std::vector<TrainingSet>& sets) const {
    for (std::size_t s = 0; s < sets.size(); ++s) {
        TrainingSet& set = sets[s];
        const auto& tasks = planned.recipe_tasks;
        if (!tasks.empty() && std::find(tasks.begin(), tasks.end(), set.task) == tasks.end()) continue;
        if (planned.filter.is_object()) apply(planned.filter, false, fmt::format("stage-{}-filter-{}", planned.part, s), set);
        if (planned.mine.is_object()) apply(planned.mine, true, fmt::format("stage-{}-mine-{}", planned.part, s), set);
        if (planned.filter.is_object() || planned.mine.is_object()) set.fingerprint = hash128(set.fingerprint + chosen_lines(set.examples, set)).hex();
    }
}

}  // namespace faceter::worker
