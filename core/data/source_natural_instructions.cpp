#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/strings.h"
#include "data/files_read.h"
#include "data/leaves.h"
#include "data/training_builder.h"

// source: natural_instructions - task files of Super-NaturalInstructions (Wang et al., 2022): {"Definition": [...], "Instances": [{"input",
// "output": [...]}]}. A task whose outputs are few (classes) gives pairs of inputs with the same output, as INSTRUCTOR makes them; any
// other gives input -> output.

namespace faceter {
namespace {

constexpr std::uint64_t max_file_bytes = std::uint64_t{1} << 29;
constexpr std::size_t instances_per_class = 10;  // with fewer instances a distinct output the outputs are no classes

struct TaskFile {
    std::string definition;
    std::vector<std::pair<std::string, std::string>> pairs;  // input, first output
};

/// A text, or the texts of a list with a blank between them (Definition), or its first (output).
std::string text_of(const Json& value, bool all) {
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_array()) return "";
    std::string joined;
    for (const Json& part : value) {
        if (!part.is_string()) return "";
        joined += (joined.empty() ? "" : " ") + part.get<std::string>();
        if (!all) break;
    }
    return joined;
}

TaskFile read_task(const fs::path& file, DataReport& report) {
    const Json json = read_json(file, max_file_bytes);
    note_file_read(file);
    if (!json.is_object() || !json.contains("Definition") || !json.contains("Instances") || !json.at("Instances").is_array())
        throw data_error("{}: no task file of Super-NaturalInstructions; expected an object with Definition and a list of Instances",
                         file.string());
    TaskFile task;
    task.definition = text_of(json.at("Definition"), true);
    if (trim(task.definition).empty()) throw data_error("{}: its Definition is empty", file.string());
    std::size_t number = 0;
    for (const Json& instance : json.at("Instances")) {
        ++number;
        std::string input = instance.is_object() && instance.contains("input") ? text_of(instance.at("input"), false) : "";
        std::string output = instance.is_object() && instance.contains("output") ? text_of(instance.at("output"), false) : "";
        if (trim(input).empty() || trim(output).empty())
            report.errors.bad({file.string(), 0, 0}, {"an instance has no input or no output", fmt::format("instance {}", number)});
        else
            task.pairs.emplace_back(std::move(input), std::move(output));
    }
    return task;
}

bool has_classes(const TaskFile& task) {
    std::set<std::string_view> outputs;
    for (const auto& [input, output] : task.pairs) outputs.insert(output);
    return outputs.size() >= 2 && outputs.size() * instances_per_class <= task.pairs.size();
}

/// Those of the entry, else the task's definition, which stands in front of both sides where both are inputs.
SetInstructions instructions_for(const TaskFile& file, const DataRequest& request, const fs::path& path, bool classes) {
    if (const auto own = entry_instructions(request.settings, path.stem().string())) return *own;
    const std::string definition = with_blank(file.definition), of_outputs = classes ? definition : "";
    return {definition, of_outputs, of_outputs};
}

TrainingSet set_of_task(const TaskFile& file, const DataRequest& request, const std::string& name, const std::string& task,
                        const fs::path& path) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    const bool classes = has_classes(file);
    const Json origin = {{"source", "natural_instructions"},
                         {"path", path.string()},
                         {"pairs", classes ? "inputs with the same output" : "input and output"}};
    TrainingSet set;
    if (classes) {
        LabelledTexts labelled;
        LabelIndex index;
        for (const auto& [input, output] : file.pairs) {
            labelled.labels.push_back(index.add(output));
            labelled.texts.add(input);
        }
        renumber(labelled.labels, index.finish(labelled.label_names));
        set = train_from_labels(labelled, entry, name, task, report, origin);
    } else {
        TrainingBuilder builder(name, task);
        for (const auto& [input, output] : file.pairs) builder.add(input, output);
        set = builder.finish(entry.limits, report, origin);
    }
    give_instructions(set, instructions_for(file, request, path, classes));
    return set;
}

std::vector<fs::path> files_of(const fs::path& path) {
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    for (const auto& item : fs::directory_iterator(path))
        if (item.is_regular_file() && lowercase_ascii(item.path().extension().string()) == ".json" &&
            item.path().filename() != "dataset.json")
            files.push_back(item.path());
    std::sort(files.begin(), files.end());
    if (files.empty()) throw data_error("{}: no task file (.json) in this folder", path.string());
    return files;
}

std::vector<TrainingSet> training_leaves(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    const auto smallest = json_or<std::size_t>(request.settings, "min_examples", 1, "data entry");
    const std::string prefix = entry.name.empty() ? "" : entry.name + "/";
    std::vector<TrainingSet> sets;
    std::size_t left_out = 0;
    for (const fs::path& path : files_of(entry.need_path())) {
        const TaskFile file = read_task(path, report);
        if (file.pairs.empty() || file.pairs.size() < smallest)
            ++left_out;
        else
            sets.push_back(set_of_task(file, request, prefix + path.stem().string(), task, path));
    }
    if (sets.empty())
        throw data_error("{}: no task with at least {} instances", entry.folder_or_file.string(), std::max<std::size_t>(1, smallest));
    report.counts["tasks"] = sets.size();
    report.counts["tasks_left_out"] = left_out;
    sets.front().card["folder"] = report.card({});
    return sets;
}

TrainingSet training_in_one(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    TrainingBuilder builder(entry.name.empty() ? entry.need_path().filename().string() : entry.name, task);
    for (const fs::path& path : files_of(entry.need_path()))
        for (const auto& [input, output] : read_task(path, report).pairs) builder.add(input, output);
    return builder.finish(entry.limits, report, {{"source", "natural_instructions"}, {"path", entry.folder_or_file.string()}});
}

const bool registered =
    register_leaf_source({"natural_instructions", "task files of Super-NaturalInstructions: one data set a task", training_leaves,
                          training_in_one, "source natural_instructions is for training; its task files have no score"});

}  // namespace
}  // namespace faceter
