#include <algorithm>
#include <string>

#include "data/folder_layout.h"

// MTEB clustering: test.jsonl, a line a set: {sentences, labels}.

namespace faceter {
namespace {

/// The sentences and labels of one line, one label for each sentence.
std::pair<std::vector<std::string_view>, std::vector<std::string>> read_set(const Record& record) {
    const auto sentences = record.texts("sentences");
    const Record::Member* labels = record.find({"labels"});
    if (!labels || labels->kind != Record::Kind::list) throw BadRecord{"member 'labels' is missing or not a list", ""};
    if (labels->count != sentences.size())
        throw BadRecord{"'sentences' and 'labels' differ in length", fmt::format("{} and {}", sentences.size(), labels->count)};
    if (sentences.empty()) throw BadRecord{"member 'sentences' is empty", ""};
    std::vector<std::string> keys;
    for (const Record::Element& element : record.elements(*labels)) keys.emplace_back(label_text(element, "labels"));
    return {sentences, keys};
}

void evaluation(FolderContext& context, EvaluationSet& set) {
    ClusteringData data;
    std::size_t sentences = 0;
    context.read(context.need_split(context.split), [&](const Record& record) {
        const auto [texts, keys] = read_set(record);
        ClusteringData::Set one;
        LabelIndex index;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            one.texts.add(texts[i]);
            one.labels.push_back(index.add(keys[i]));
        }
        std::vector<std::string> names;
        renumber(one.labels, index.finish(names));
        one.num_labels = static_cast<int>(names.size());
        sentences += one.texts.size();
        data.sets.push_back(std::move(one));
    });
    if (data.sets.empty()) throw data_error("{}: no set of sentences in split '{}'", context.place(), context.split);
    const auto single = std::count_if(data.sets.begin(), data.sets.end(), [](const auto& set) { return set.num_labels == 1; });
    if (single > 0)
        context.report.warnings.push_back(fmt::format("{}: {} of {} sets have a single label; every clustering of them scores 100",
                                                      context.folder.string(), single, data.sets.size()));
    context.report.counts["sets"] = data.sets.size();
    context.report.counts["sentences"] = sentences;
    set.data = std::move(data);
}

LabelledTexts read_all_sets(FolderContext& context) {
    LabelledTexts labelled;
    LabelIndex index;
    context.read(context.need_split(context.split), [&](const Record& record) {
        const auto [texts, keys] = read_set(record);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            if (texts[i].empty()) continue;
            labelled.texts.add(texts[i]);
            labelled.labels.push_back(index.add(keys[i]));
        }
    });
    renumber(labelled.labels, index.finish(labelled.label_names));
    return labelled;
}

TrainingSet training(FolderContext& context, const std::string& name, const std::string& task, Json origin) {
    return train_from_labels(read_all_sets(context), context.entry, name, task, context.report, std::move(origin));
}

std::vector<std::string> texts(FolderContext& context) {
    const LabelledTexts labelled = read_all_sets(context);
    const auto views = labelled.texts.views();
    return {views.begin(), views.end()};
}

bool matches(const Record& record) { return record.find({"sentences"}) && record.find({"labels"}); }

const bool registered = register_layout({.task = "clustering",
                                         .files = "test.jsonl {sentences, labels}, a line a set",
                                         .matches = matches,
                                         .evaluation = evaluation,
                                         .training = training,
                                         .texts = texts});

}  // namespace
}  // namespace faceter
