#include "data/files_read.h"
#include "data/folder_files.h"
#include "data/folder_layout.h"
#include "data/sampling.h"
#include "data/subsets.h"

// source: folder - a data set in one of the folder layouts.

namespace faceter {
namespace {

FolderContext open_folder(const DataRequest& request, const std::string& default_split) {
    DataEntry entry(request);
    const fs::path folder = entry.need_path();
    const std::string split = entry.split.empty() ? default_split : entry.split;
    const auto policy = entry.on_error;
    return {folder, std::move(entry), split, DataReport(policy)};
}

Json origin_of(const FolderContext& context, const FolderLayout& layout) {
    return {{"source", "folder"}, {"path", context.folder.string()}, {"layout", layout.task}, {"split", context.split}};
}

/// An entry's task says what it is trained or scored for; it names a layout, too, where there is one of that name and no dataset.json.
const FolderLayout& layout_for(const FolderContext& context) {
    const bool described = fs::is_regular_file(context.folder / "dataset.json");
    for (const FolderLayout& layout : folder_layouts())
        if (!described && layout.task == context.entry.task) return layout;
    if (!described && has_candidates(context.folder)) return layout_of(context.folder, "reranking");
    return layout_of(context.folder, "");
}

const FolderLayout& trained_layout(const FolderContext& context) {
    const FolderLayout& layout = layout_of(context.folder, "");
    if (!layout.training)
        throw settings_error("{}: a data set of the kind '{}' cannot be trained on; use pairs, labelled texts, retrieval or reranking data",
                             context.folder.string(), layout.task);
    return layout;
}

TrainingSet training(const DataRequest& request, const std::string& task) {
    FolderContext context = open_folder(request, "train");
    const FolderLayout& layout = trained_layout(context);
    return layout.training(context, context.entry.set_name(), task, origin_of(context, layout));
}

const FolderLayout& scored_layout(const FolderContext& context) {
    const FolderLayout& layout = layout_for(context);
    if (!layout.evaluation)
        throw settings_error("{}: a data set of the kind '{}' has no score; it can only be trained on or used as texts",
                             context.folder.string(), layout.task);
    if (!context.entry.task.empty() && context.entry.task != layout.task)
        throw settings_error("{}: the data set is of the kind '{}', but the entry says task: {}", context.folder.string(), layout.task,
                             context.entry.task);
    return layout;
}

/// The set of the context's folder (and of its records of one subset, where the context names one).
EvaluationSet read_evaluation(FolderContext& context) {
    const FolderLayout& layout = scored_layout(context);
    EvaluationSet set;
    set.name = context.entry.set_name();
    set.task_type = layout.task;
    context.is_scored = true;
    layout.evaluation(context, set);
    if (context.blank_texts > 0)
        context.report.warnings.push_back(
            fmt::format("{}: {} texts are empty; they are scored as they are", context.place(), context.blank_texts));
    limit_evaluation(set, context.entry.limits, context.report);
    if (const auto* data = std::get_if<RetrievalData>(&set.data)) {
        context.report.counts["documents"] = data->documents.size();
        context.report.counts["queries"] = data->queries.size();
    }
    set.fingerprint = fingerprint_of(set);
    Json origin = origin_of(context, layout);
    if (!context.subset.empty()) origin["subset"] = context.subset;
    set.card = context.report.card(std::move(origin));
    return set;
}

/// The parts of a multilingual set, each as a set of its own that has the part's name.
EvaluationSet read_subsets(const FolderContext& context, const std::vector<SubsetPlace>& places) {
    EvaluationSet set;
    set.name = context.entry.set_name();
    Json cards = Json::object(), warnings = Json::array();
    for (const SubsetPlace& place : places) {
        FolderContext part{place.folder, context.entry, context.split, DataReport(context.entry.on_error),
                           place.by_record ? place.name : ""};
        EvaluationSet& one = set.subsets.emplace_back(read_evaluation(part));
        one.name = place.name;
        for (const Json& warning : one.card.at("warnings")) warnings.push_back(place.name + ": " + warning.get<std::string>());
        cards[place.name] = one.card;
    }
    set.task_type = set.subsets.front().task_type;
    set.fingerprint = fingerprint_of(set);
    set.card = {{"source", "folder"},
                {"path", context.folder.string()},
                {"layout", set.task_type},
                {"split", context.split},
                {"subsets", cards},
                {"counts", {{"subsets", places.size()}}},
                {"skipped", RecordErrors(RecordErrors::Policy::fail).card()},
                {"warnings", warnings}};
    return set;
}

EvaluationSet evaluation(const DataRequest& request) {
    FolderContext context = open_folder(request, "test");
    const auto places = choose_subsets(context, find_subsets(context));
    if (places.size() > 1) return read_subsets(context, places);
    if (places.empty()) return read_evaluation(context);
    const std::string name = context.entry.set_name();
    FolderContext part{places.front().folder, context.entry, context.split, DataReport(context.entry.on_error),
                       places.front().by_record ? places.front().name : ""};
    EvaluationSet set = read_evaluation(part);
    set.name = name;
    return set;
}

const FolderLayout& layout_of_texts(const FolderContext& context) {
    const FolderLayout& layout = layout_of(context.folder, "");
    if (!layout.texts) throw settings_error("{}: a data set of the kind '{}' gives no plain texts", context.folder.string(), layout.task);
    return layout;
}

std::vector<std::string> texts(const DataRequest& request) {
    FolderContext context = open_folder(request, "train");
    const FolderLayout& layout = layout_of_texts(context);
    if (context.entry.split.empty() && layout.task == "clustering") context.split = "test";
    return layout.texts(context);
}

void require_files(const FolderContext& context, const FolderLayout& layout) {
    if (layout.require_files)
        layout.require_files(context);
    else
        context.need_split(context.split, true);
}

void refuse_labels(const FolderContext& context, const FolderLayout& layout) {
    const std::string reason = context.entry.labels.empty() ? "" : reason_not_by_label(layout.task);
    if (!reason.empty()) throw settings_error("{}: {}", context.folder.string(), reason);
}

void require_trained_files(const FolderContext& context) {
    const FolderLayout& layout = trained_layout(context);
    refuse_labels(context, layout);
    require_files(context, layout);
}

/// Limits of an entry that the reader of such a set does not have.
void refuse_limits(const FolderContext& context, const FolderLayout& layout) {
    const DataLimits& limits = context.entry.limits;
    const bool retrieval = layout.task == "retrieval";
    if (retrieval ? limits.max_examples == 0 : limits.max_documents == 0 && limits.max_queries == 0) return;
    throw settings_error("{}: {} has no effect on data of the kind '{}'; {}", context.folder.string(),
                         retrieval                  ? "max_examples"
                         : limits.max_documents > 0 ? "max_documents"
                                                    : "max_queries",
                         layout.task, retrieval ? "max_queries and max_documents limit them" : "max_examples limits them");
}

void require_scored_files(const FolderContext& context) {
    const FolderLayout& layout = scored_layout(context);
    refuse_limits(context, layout);
    if (layout.scored_with) context.need(layout.scored_with, true);
    require_files(context, layout);
}

/// A set of several parts has its files in the parts' folders; parts that are told apart by records share theirs.
void require_evaluation_files(const FolderContext& context) {
    const bool has_files = layout_by_files(context.folder) || context.find_split(context.split, true);
    const auto places = has_files ? std::vector<SubsetPlace>() : choose_subsets(context, find_subsets(context));
    for (const SubsetPlace& place : places)
        require_scored_files({place.folder, context.entry, context.split, DataReport(context.entry.on_error)});
    if (places.empty()) require_scored_files(context);
}

const bool registered = register_source({"folder", "a folder in the BEIR or one of the MTEB JSONL layouts", training, evaluation, texts});

}  // namespace

void require_folder_files(const DataRequest& request, DataUse use) {
    const FilesRead apart;  // no data come of a look
    const FolderContext context = open_folder(request, use == DataUse::evaluation ? "test" : "train");
    if (use == DataUse::evaluation) return require_evaluation_files(context);
    if (use == DataUse::training) return require_trained_files(context);
    layout_of_texts(context);
}

}  // namespace faceter
