#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <span>

#include "common/strings.h"
#include "data/json_items.h"
#include "data/pair_file.h"
#include "data/pair_texts.h"
#include "data/record_instructions.h"
#include "data/record_reader.h"
#include "data/record_scores.h"
#include "data/training_builder.h"

// source: medi - records with a task and its instructions, one file or several: MEDI (Su et al., 2023)
//   {"task_name": "...", "query": ["instruction", "text"], "pos": [...], "neg": [...]}
// or the same with plain members: {"task": "...", "instruction": "...", "query": "text", "document": "text" or ["text", ...], "negatives":
// ["text", ...]}. Either may have "scores": [...], of the positives, then of the negatives (record_scores.h), and go without a task. The
// entry's own instructions, where it has any, stand in place of the records', and its labels choose among these.

namespace faceter {
namespace {

constexpr std::size_t most_leaves = 5000;

/// One record, taken apart.
struct Pair {
    std::string task;
    SetInstructions instructions;
    std::string_view query;
    std::vector<std::string_view> positives;
    RecordNegatives negatives;
    std::vector<float> scores;  ///< of the positives, then of the negatives; empty: none

    /// An example for each positive, with at most `most` of the negatives.
    void add_to(TrainingBuilder& builder, std::size_t most) const {
        const std::span<const std::string_view> kept(negatives.texts.data(), std::min(most, negatives.texts.size()));
        for (std::size_t p = 0; p < positives.size(); ++p)
            builder.add(query, positives[p], kept, -1, scores_of_example(scores, p, positives.size(), kept.size()));
    }
};

std::size_t most_negatives(const DataEntry& entry) {
    return entry.hard_negatives < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(entry.hard_negatives);
}

/// ["instruction", "text"]
std::string_view instructed(const Record& record, const Record::Member& member, std::string& instruction) {
    const std::vector<std::string_view> parts =
        member.kind == Record::Kind::list ? record.texts(member.key) : std::vector<std::string_view>();
    if (parts.size() != 2) throw BadRecord{fmt::format("member '{}' is no pair of instruction and text", member.key), ""};
    instruction = with_blank(std::string(parts[0]));
    return not_blank(parts[1], member.key);
}

void read_instructed(const Record& record, const Record::Member& query, const Record::Member& positive, Pair& pair) {
    pair.query = instructed(record, query, pair.instructions.query);
    pair.positives.push_back(instructed(record, positive, pair.instructions.document));
    pair.instructions.negative = pair.instructions.document;
    for (const auto& [member, number] : negative_members(record)) {
        std::string instruction;
        pair.negatives.texts.push_back(instructed(record, *member, instruction));
        pair.negatives.numbers.push_back(number.value_or(pair.negatives.texts.size()));
        if (pair.negatives.texts.size() > 1 && instruction != pair.instructions.negative)
            throw BadRecord{"its negatives have different instructions", ""};
        pair.instructions.negative = std::move(instruction);
    }
}

void read_plain(const Record& record, const Record::Member& query, const Record::Member& positive, Pair& pair) {
    pair.query = not_blank(query.text, query.key);
    append_texts(record, positive, pair.positives);
    if (pair.positives.empty()) throw BadRecord{"the list of positives is empty", ""};
    pair.negatives = negatives_of(record);
    pair.instructions = instructions_of(record);
}

Pair pair_of(const Record& record) {
    const Record::Member* task = record.find({"task_name", "task"});
    const Record::Member* query = record.find({"query"});
    const Record::Member* positive = record.find({"pos", "positive", "positives", "document"});
    if (!query || !positive) throw BadRecord{"no query and pos (or document), beside task_name (or task)", "members: " + record.known()};
    if (task && task->kind != Record::Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", task->key), ""};
    Pair pair;
    if (task) pair.task = not_blank(task->text, task->key);
    if (query->kind == Record::Kind::list)
        read_instructed(record, *query, *positive, pair);
    else if (query->kind == Record::Kind::text)
        read_plain(record, *query, *positive, pair);
    else
        throw BadRecord{"member 'query' is neither a text nor a pair of instruction and text", ""};
    pair.scores = scores_of_record(record, pair.positives.size(), pair.negatives.numbers);
    return pair;
}

/// The tasks of the files, in order of first appearance. One name under several instructions is several tasks: name, name#2 ...
class Leaves {
  public:
    Leaves(const DataRequest& request, const DataEntry& entry, std::string task)
        : settings_(request.settings), entry_(entry), task_(std::move(task)) {}
    void add(const Pair& pair) {
        const std::string name = name_of(pair);
        const SetInstructions in = entry_instructions(settings_, leaf_of(pair)).value_or(pair.instructions);
        const std::string key = fmt::format("{}\x1f{}\x1f{}\x1f{}", name, in.query, in.document, in.negative);
        const auto [at, is_new] = by_key_.try_emplace(key, leaves_.size());
        if (is_new) {
            if (leaves_.size() >= most_leaves)
                throw data_error(
                    "{}: more than {} tasks (a task is a name with one instruction of each role); are its instructions made of texts?",
                    entry_.path, most_leaves);
            const int number = ++names_[name];
            leaves_.push_back({TrainingBuilder(number == 1 ? name : fmt::format("{}#{}", name, number), task_), in});
        }
        pair.add_to(leaves_[at->second].builder, most_negatives(entry_));
    }
    std::vector<TrainingSet> finish(std::size_t smallest, DataReport& read) {
        std::vector<TrainingSet> sets;
        std::size_t left_out = 0;
        for (Leaf& leaf : leaves_) {
            if (leaf.builder.size() < smallest) {
                ++left_out;
                continue;
            }
            DataReport report(entry_.on_error);
            sets.push_back(leaf.builder.finish(entry_.limits, report, {{"source", "medi"}, {"path", entry_.folder_or_file.string()}}));
            give_instructions(sets.back(), leaf.instructions);
        }
        if (sets.empty()) throw data_error("{}: no task with at least {} examples", entry_.folder_or_file.string(), smallest);
        read.counts["tasks"] = sets.size();
        read.counts["tasks_left_out"] = left_out;
        sets.front().card["file"] = read.card({});
        sets.front().card["warnings"] = sets.front().card["file"]["warnings"];
        return sets;
    }

  private:
    struct Leaf {
        TrainingBuilder builder;
        SetInstructions instructions;
    };
    /// A record that names no task is of the entry's.
    std::string leaf_of(const Pair& pair) const { return pair.task.empty() ? entry_.set_name() : pair.task; }
    std::string name_of(const Pair& pair) const {
        return pair.task.empty() || entry_.name.empty() ? leaf_of(pair) : entry_.name + "/" + pair.task;
    }
    const Json& settings_;
    const DataEntry& entry_;
    std::string task_;
    std::map<std::string, std::size_t> by_key_;
    std::map<std::string, int> names_;
    std::vector<Leaf> leaves_;
};

std::vector<fs::path> files_of(const fs::path& path) {
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(path)) {
        const std::string name = item.path().filename().string();
        if (item.is_regular_file() && lowercase_ascii(name).find(".json") != std::string::npos && name != "dataset.json" &&
            name != "tasks.jsonl")
            files.push_back(item.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) throw data_error("{}: no .json or .jsonl file in this folder", path.string());
    return files;
}

void read_pairs(const DataEntry& entry, DataReport& report, const std::function<void(const Pair&)>& take) {
    JsonLineParser parser;
    Record record;
    LabelFilter filter(entry);
    for (const fs::path& file : files_of(entry.need_path())) {
        JsonItems items(file);
        while (const auto item = items.next()) {
            try {
                parser.parse(*item, record);
                const Pair pair = pair_of(record);
                if (filter.takes(record)) take(pair);
            } catch (const BadRecord& bad) {
                report.errors.bad(items.position(), bad);
            }
        }
    }
    filter.report(entry.folder_or_file.string(), report);
}

std::vector<TrainingSet> training_leaves(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    Leaves leaves(request, entry, task);
    read_pairs(entry, report, [&](const Pair& pair) { leaves.add(pair); });
    return leaves.finish(json_or<std::size_t>(request.settings, "min_examples", 1, "data entry"), report);
}

TrainingSet training_in_one(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    TrainingBuilder builder(entry.name.empty() ? entry.need_path().filename().string() : entry.name, task);
    read_pairs(entry, report, [&](const Pair& pair) { pair.add_to(builder, most_negatives(entry)); });
    return builder.finish(entry.limits, report, {{"source", "medi"}, {"path", entry.folder_or_file.string()}});
}

const bool registered = register_leaf_source({"medi", "records with a task and its instructions: one data set a task", training_leaves,
                                              training_in_one, "source medi is for training; its records have no score"});

}  // namespace
}  // namespace faceter
