#include "stage_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/error.h"
#include "common/hash.h"
#include "common/untrusted_json.h"
#include "data/sources.h"
#include "eval/comparable_rows.h"
#include "experiment/recipes.h"
#include "model/task_adapters.h"
#include "train/pair_batch.h"
#include "train/process_group.h"

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

/// In front of the lines, so that those which a disk or an editor loses are missed: fewer examples would be trained on without a word.
std::string headed(const std::string& lines) {
    return fmt::format("{{\"hash\":\"{}\",\"lines\":{}}}\n", hash128(lines).hex(), std::count(lines.begin(), lines.end(), '\n')) + lines;
}

/// The lines behind their head; older versions wrote none.
std::string_view without_head(std::string_view content, const std::string& file) {
    if (!content.starts_with('{')) return content;
    const std::size_t end = std::min(content.find('\n'), content.size() - 1);
    const std::string_view lines = content.substr(end + 1);
    const Json head = parse_untrusted_json(content.substr(0, end));
    const auto hash = head.is_object() ? head.find("hash") : head.end();
    if (hash == head.end() || *hash != hash128(lines).hex())
        throw data_error(
            "{}: is not what its stage wrote: lines are missing, or others; put back what it was, or begin anew: faceter rerun. Where the "
            "stage names a teacher it may be removed, and is written anew",
            file);
    return lines;
}

/// A set that the lines do not fit stays as it is.
void take_lines(std::string_view lines, const std::string& file, TrainingSet& set) {
    std::vector<Example> chosen;
    std::vector<std::vector<std::uint32_t>> negatives;
    std::size_t next = 0;  // the least that the next line may name
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
        const Json numbers = parse_untrusted_json(lines.substr(0, end + 1));
        lines.remove_prefix(end + 1);
        const bool fits =
            numbers.is_array() && !numbers.empty() &&
            std::all_of(numbers.begin(), numbers.end(), [](const Json& n) { return n.is_number_unsigned(); }) &&
            numbers[0].get<std::size_t>() >= next && numbers[0].get<std::size_t>() < set.examples.size() &&
            std::all_of(numbers.begin() + 1, numbers.end(), [&](const Json& n) { return n.get<std::size_t>() < set.texts.size(); });
        if (!fits) throw data_error("{}: does not fit the training data '{}'; remove it, and the stage chooses anew", file, set.name);
        next = numbers[0].get<std::size_t>() + 1;
        chosen.push_back(set.examples[next - 1]);
        negatives.emplace_back();
        for (std::size_t n = 1; n < numbers.size(); ++n) negatives.back().push_back(numbers[n].get<std::uint32_t>());
    }
    set.examples = std::move(chosen);
    replace_negatives(set, negatives);
}

std::string file_name(std::size_t part, bool mining, std::size_t set) {
    return fmt::format("stage-{}-{}-{}.jsonl", part, mining ? "mine" : "filter", set);
}

void take_file(const fs::path& file, TrainingSet& set) {
    const std::string content = read_file(file, largest_file);
    const std::string_view lines = without_head(content, file.string());
    take_lines(lines, file.string(), set);
    set.fingerprint = hash128(set.fingerprint.append(lines)).hex();
}

MiningSettings mining_settings(const Json& settings) {
    MiningSettings mining;
    mining.negatives = json_at<std::size_t>(settings, "negatives", "mine");
    mining.depth = json_at<std::size_t>(settings, "depth", "mine");
    mining.margin = json_at<double>(settings, "margin", "mine");
    mining.absolute_margin = json_at<double>(settings, "absolute_margin", "mine");
    return mining;
}

/// Before a router chooses, which is built when all is trained, a text goes through what its task has trained: the adapter of its name.
Route as_it_stands(const EmbeddingModel& model, const TrainingSet& set, PairSide side) {
    Route route = route_of(model, set, side);
    if (!route.routed || model.router) return route;
    route.routed = false;
    if (const auto own = find_task_adapter(model, set.task)) route.path = Path::of_adapter(static_cast<int>(*own));
    return route;
}

/// The model as it stands judges a set's queries and positives as it trains them: under the set's own instructions, where it brings some.
/// What it mines it takes for a positive, too.
TeacherEmbedder as_trained(ModelTeacher& teacher, const EmbeddingModel& model, const TrainingSet& set) {
    return {[&teacher, query = as_it_stands(model, set, PairSide::query), document = as_it_stands(model, set, PairSide::positive)](
                std::span<const std::string_view> texts, Role role) {
                return comparable_rows(teacher.embed(texts, role == Role::query ? query : document), teacher.similarity());
            },
            teacher.similarity()};
}

bool is_own_teacher(const Json& settings) { return json_or<std::string>(settings, "teacher", "", "teacher").empty(); }

}  // namespace

/// Opened when it is first asked, once for all data sets of a stage; what was embedded to filter a set is not embedded again to mine it.
ModelTeacher& StageData::teacher(const Json& settings, Teachers& teachers) const {
    const auto name = json_or<std::string>(settings, "teacher", "", "teacher");
    auto& teacher = teachers[name];
    if (teacher) return *teacher;
    teacher = name.empty() ? std::make_unique<ModelTeacher>(model_, &group_) : std::make_unique<ModelTeacher>(name, 0, device_, &group_);
    if (group_.size() == 1) teacher->set_progress([this](std::size_t) { reports_.stop_where_wanted(); });
    return *teacher;
}

/// On rank 0: writes which examples of `set` are left, with which negatives.
void StageData::choose(const Step& step, TrainingSet set, ModelTeacher& teacher) const {
    const auto& [settings, mining, begun, needs_negatives, file] = step;
    const std::vector<Example> before = set.examples;
    const TeacherEmbedder embed = is_own_teacher(settings) ? as_trained(teacher, model_, set) : teacher.of_task(set.task);
    Tally tally = mining ? mine_negatives(set, embed, mining_settings(settings), json_at<bool>(settings, "filter_given", "mine"))
                         : filter_pairs(set, embed, json_at<std::size_t>(settings, "top_k", "filter"),
                                        json_at<std::size_t>(settings, "shard", "filter"));
    if (mining && needs_negatives) leave_out_without_negatives(set, tally);
    if (set.examples.empty())
        throw data_error("the filter of its stage left nothing of the training data '{}'; raise filter.top_k, or name another teacher",
                         set.name);
    make_directories(folder_);
    write_file_atomic(file, headed(chosen_lines(before, set)));
    reports_.chosen(mining ? "mine" : "filter", set, tally);
}

/// Examples for which a stage's mining found no negative: one of them would end the run.
void StageData::leave_out_without_negatives(TrainingSet& set, Tally& tally) const {
    const std::size_t all = set.examples.size();
    std::erase_if(set.examples, [](const Example& example) { return example.num_negatives == 0; });
    const std::size_t left_out = all - set.examples.size();
    if (left_out == 0) return;
    if (set.examples.empty())
        throw data_error(
            "none of the {} examples of the training data '{}' has a hard negative once its stage has mined, and a loss learns from these; "
            "name a larger mine.margin, a smaller mine.absolute_margin, or another teacher",
            all, set.name);
    tally["examples left out"] = left_out;
    reports_.warn(fmt::format(
        "training data '{}' ({}): {} of {} examples have no hard negative once their stage has mined, and are left out from there "
        "on, because a loss learns from these; a larger mine.margin and a smaller mine.absolute_margin keep more",
        set.name, set.task, left_out, all));
}

void StageData::apply(const Step& step, TrainingSet& set, Teachers& teachers) const {
    const auto& [settings, mining, begun, needs_negatives, file] = step;
    const bool is_root = group_.rank() == 0;
    if (text_of_root(group_, is_root && fs::exists(file) ? "chosen" : "") != "chosen") {
        if (begun && is_own_teacher(settings))
            throw data_error(
                "{}: is gone, and with it what the model chose of the training data '{}'; it has been trained since, and would choose "
                "otherwise. Put the file back, or begin anew: faceter rerun",
                file.string(), set.name);
        reports_.phase(fmt::format("{} {}", mining ? "mine negatives of" : "filter", set.name));
        ModelTeacher& judge = teacher(settings, teachers);
        if (is_root) choose(step, set, judge);
        is_root ? judge.let_go() : judge.serve();
    }
    take_file(file, set);
}

void StageData::prepare(const PlannedStage& planned, bool begun, std::vector<TrainingSet>& sets) const {
    Teachers teachers;
    for (std::size_t s = 0; s < sets.size(); ++s) {
        const auto& tasks = planned.recipe_tasks;
        if (!tasks.empty() && std::find(tasks.begin(), tasks.end(), sets[s].task) == tasks.end()) continue;
        const auto file = [&](bool mining) { return folder_ / file_name(planned.part, mining, s); };
        if (planned.filter.is_object()) apply({planned.filter, false, begun, false, file(false)}, sets[s], teachers);
        if (planned.mine.is_object())
            apply({planned.mine, true, begun, needs_negatives_(planned.part, sets[s].task), file(true)}, sets[s], teachers);
    }
}

void take_chosen(const fs::path& folder, const std::vector<Json>& recipes, std::size_t part, bool begun, std::vector<TrainingSet>& sets) {
    const Json& recipe = recipes.at(part);
    for (std::size_t s = 0; s < sets.size(); ++s)
        for (const bool mining : {false, true}) {
            if (!trains(recipe, sets[s].task) || !recipe.at(mining ? "mine" : "filter").is_object()) continue;
            const fs::path file = folder / file_name(part, mining, s);
            if (fs::exists(file))
                take_file(file, sets[s]);
            else if (begun)
                throw DataUnavailable(
                    fmt::format("{}: is gone, and with it what its stage chose of the training data '{}'", file.string(), sets[s].name));
        }
}

void take_chosen(const fs::path& folder, const Json& settings, std::vector<TrainingSet>& sets) {
    const std::vector<Json> recipes = recipes_of(settings);
    for (std::size_t part = 0; part < recipes.size(); ++part) take_chosen(folder, recipes, part, true, sets);
}

}  // namespace faceter::worker
