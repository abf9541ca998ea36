#include <algorithm>
#include <set>

#include "common/strings.h"
#include "data/debian_views.h"
#include "data/sampling.h"

// source: debian - the package index of a Debian or Ubuntu machine as one corpus under several tasks.

namespace faceter {
namespace {

std::vector<DebianView>& views() {
    static std::vector<DebianView> all;
    return all;
}

DebianSplit split_named(const std::string& name, DebianSplit fallback) {
    if (name.empty()) return fallback;
    if (name == "train") return DebianSplit::train;
    if (name == "validation" || name == "dev" || name == "val") return DebianSplit::validation;
    if (name == "test") return DebianSplit::test;
    throw settings_error("data entry: source debian has no split {}; it has train, validation and test", faceter::quoted(name));
}

const char* name_of(DebianSplit split) {
    return split == DebianSplit::train ? "train" : split == DebianSplit::test ? "test" : "validation";
}

const DebianView& view_of(const DataEntry& entry) {
    std::vector<std::string> known;
    for (const DebianView& view : debian_views()) {
        if (view.name == entry.view) return view;
        known.push_back(view.name);
    }
    if (entry.view.empty()) throw settings_error("data entry: source debian needs a view (known: {})", join(known, ", "));
    throw settings_error("data entry: source debian has no view {}{}", faceter::quoted(entry.view), suggestion(entry.view, known));
}

/// A section that no package is in is a slip of the pen.
void check_sections(const DebianContext& context) {
    std::set<std::string> known;
    for (const DebianPackage& package : context.index->packages()) known.emplace(context.text(package.section));
    for (const std::string& section : context.entry.sections)
        if (!known.contains(section))
            throw settings_error("data entry: source debian has no section {}{}", faceter::quoted(section),
                                 suggestion(section, std::vector<std::string>(known.begin(), known.end())));
}

DebianContext open_index(const DataRequest& request, const DebianView& view, DebianSplit fallback) {
    DataEntry entry(request);
    const DebianSplit split = split_named(entry.split, fallback);
    const auto policy = entry.on_error;
    DebianContext context{DebianPackages::open(entry.folder_or_file), std::move(entry), split, DataReport(policy)};
    check_sections(context);
    if (view.needs_tags && !context.index->has_tags())
        throw DataUnavailable(fmt::format(
            "source debian: the view '{}' needs debtags, and this machine's package index has none (Ubuntu leaves them out); the "
            "data set is left out",
            view.name));
    return context;
}

Json origin_of(const DebianContext& context) {
    return {{"source", "debian"},
            {"view", context.entry.view},
            {"split", name_of(context.split)},
            {"sections", context.entry.sections},
            {"index", context.index->card()}};
}

TrainingSet training(const DataRequest& request, const std::string& task) {
    const DebianView& view = view_of(DataEntry(request));
    if (DataEntry(request).other_documents)
        throw settings_error("data entry: other_documents is for retrieval that is scored, not for training");
    if (!view.training) throw settings_error("data entry: the debian view '{}' cannot be trained on", view.name);
    DebianContext context = open_index(request, view, DebianSplit::train);
    return view.training(context, context.entry.set_name(), task, origin_of(context));
}

EvaluationSet evaluation(const DataRequest& request) {
    const DebianView& view = view_of(DataEntry(request));
    EvaluationSet set;
    const DataEntry entry(request);
    set.name = entry.set_name();
    set.task_type = entry.task.empty() ? view.task : entry.task;
    if (std::find(view.evaluated_as.begin(), view.evaluated_as.end(), set.task_type) == view.evaluated_as.end())
        throw settings_error("data entry: the debian view '{}' cannot be scored as {} (it can as: {})", view.name, set.task_type,
                             view.evaluated_as.empty() ? "nothing" : join(view.evaluated_as, ", "));
    DebianContext context = open_index(request, view, DebianSplit::test);
    view.evaluation(context, set);
    limit_evaluation(set, context.entry.limits, context.report);
    if (const auto* data = std::get_if<RetrievalData>(&set.data)) {
        context.report.counts["documents"] = data->documents.size();
        context.report.counts["queries"] = data->queries.size();
    }
    set.fingerprint = fingerprint_of(set);
    set.card = context.report.card(origin_of(context));
    return set;
}

/// The long descriptions of a split (test, where none is named: no training set has seen them).
std::vector<std::string> texts(const DataRequest& request) {
    DebianContext context = open_index(request, view_of(DataEntry(request)), DebianSplit::test);
    std::vector<std::string> all;
    for (const DebianPackage* package : context.packages(context.split)) all.emplace_back(context.text(package->description));
    return all;
}

const bool registered = register_source({"debian", "the package index of this Debian or Ubuntu machine", training, evaluation, texts});

}  // namespace

bool register_debian_view(DebianView view) {
    auto& all = views();
    const auto by_name = [](const DebianView& a, const DebianView& b) { return a.name < b.name; };
    all.insert(std::upper_bound(all.begin(), all.end(), view, by_name), std::move(view));
    return true;
}

const std::vector<DebianView>& debian_views() { return views(); }

bool DebianContext::in_sections(const DebianPackage& package) const {
    return entry.sections.empty() || std::find(entry.sections.begin(), entry.sections.end(), text(package.section)) != entry.sections.end();
}

std::vector<const DebianPackage*> DebianContext::packages(DebianSplit of) const {
    std::vector<const DebianPackage*> chosen;
    for (const DebianPackage& package : index->packages())
        if (package.split == of && !package.in_earlier_split && (entry.other_documents || in_sections(package))) chosen.push_back(&package);
    return chosen;
}

}  // namespace faceter
