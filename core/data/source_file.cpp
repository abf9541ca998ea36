#include <algorithm>

#include "common/strings.h"
#include "data/pair_file.h"
#include "data/sampling.h"
#include "data/settings.h"

// source: file - one file of pairs, triplets or labelled texts.

namespace faceter {
namespace {

/// Throws what is wrong with the first line of a file none of whose first lines is a record.
void explain_no_record(const DataEntry& entry) {
    RecordErrors errors(entry.on_error);
    bool any = false;
    read_records(entry.need_path(), errors, {}, [&any](const Record&) { any = true; });
    if (!any && errors.num_skipped() == 0) throw data_error("{}: holds no record", entry.need_path().string());
}

std::string format_of(const DataEntry& entry, DataReport& report) {
    if (!entry.format.empty()) return entry.format;
    if (const std::string reason = reason_not_read(entry.need_path(), ""); !reason.empty())
        throw settings_error("data entry '{}': {}", entry.path, reason);
    std::string format;
    const bool found = peek_record(entry.need_path(), [&](const Record& record) {
        format = is_pair_record(record) ? "pairs" : record.find({"text"}) ? "labelled" : "";
    });
    if (!found) explain_no_record(entry);
    if (format.empty())
        throw data_error("{}: its first record is neither a pair (query, document) nor a labelled text (text, label); set format",
                         entry.need_path().string());
    return format;
}

Json origin_of(const DataEntry& entry, const std::string& format) {
    return {{"source", "file"}, {"path", entry.folder_or_file.string()}, {"format", format}};
}

TrainingSet training(const DataRequest& request, const std::string& task) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    const fs::path& file = entry.need_path();
    const std::string format = format_of(entry, report);
    const std::string name = entry.name.empty() ? file.filename().string() : entry.name;
    if (format == "labelled")
        return train_from_labels(read_labelled_file(file, report), entry, name, task, report, origin_of(entry, format));
    TrainingBuilder builder(name, task);
    if (format == "texts")  // each is its own pair: for objectives on single texts, or SimCSE's
        for (const std::string& text : read_text_file(file, report)) builder.add(text, text);
    else
        read_pair_file(file, entry, builder, report);
    return builder.finish(entry.limits, report, origin_of(entry, format));
}

/// Pairs as a retrieval set: every positive is a document, relevant to the queries that stand beside it.
RetrievalData retrieval_from_pairs(const TrainingSet& pairs) {
    RetrievalData data;
    std::vector<std::int64_t> query_of(pairs.texts.size(), -1), document_of(pairs.texts.size(), -1);
    for (const Example& example : pairs.examples) {
        if (query_of[example.anchor] < 0) {
            query_of[example.anchor] = data.queries.add(pairs.texts[example.anchor]);
            data.query_ids.push_back(fmt::format("q{}", data.query_ids.size()));
            data.qrels.emplace_back();
        }
        if (document_of[example.positive] < 0) {
            document_of[example.positive] = data.documents.add(pairs.texts[example.positive]);
            data.document_ids.push_back(fmt::format("d{}", data.document_ids.size()));
        }
        auto& judged = data.qrels[static_cast<std::size_t>(query_of[example.anchor])];
        const std::pair<std::uint32_t, int> judgement{static_cast<std::uint32_t>(document_of[example.positive]), 1};
        if (std::find(judged.begin(), judged.end(), judgement) == judged.end()) judged.push_back(judgement);
    }
    for (auto& judged : data.qrels) std::sort(judged.begin(), judged.end());
    return data;
}

ClusteringData clustering_from_labels(const LabelledTexts& labelled) {
    ClusteringData data;
    data.sets.push_back({labelled.texts, labelled.labels, static_cast<int>(labelled.label_names.size())});
    return data;
}

/// Texts are scored under their task's instruction, which a method may put in front or not, unless the entry names another.
void warn_of_instructions(const std::optional<SetInstructions>& own, const DataEntry& entry, DataReport& report) {
    if (!own || entry.routing.query_instruction) return;
    report.warnings.push_back(fmt::format(
        "{}: its records bring an instruction ({}), and texts are scored under that of their task; query_instruction of the data "
        "entry puts another in front",
        entry.path, quoted(own->query, 60)));
}

EvaluationSet evaluation(const DataRequest& request) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    const std::string format = format_of(entry, report);
    EvaluationSet set;
    set.name = entry.set_name();
    set.task_type = entry.task.empty() ? (format == "labelled" ? "clustering" : "retrieval") : entry.task;
    if (const std::string reason = reason_not_scored(format, set.task_type); !reason.empty())
        throw settings_error("data entry '{}': {}", entry.path, reason);
    if (set.task_type == "retrieval") {
        TrainingBuilder builder(set.name, set.task_type);
        read_pair_file(entry.need_path(), entry, builder, report);
        const TrainingSet pairs = builder.finish({}, report, {});
        warn_of_instructions(own_instructions(pairs), entry, report);
        const auto& data = set.data.emplace<RetrievalData>(retrieval_from_pairs(pairs));
        report.counts["queries"] = data.queries.size();
        report.counts["documents"] = data.documents.size();
    } else {
        const LabelledTexts labelled = read_labelled_file(entry.need_path(), report);
        warn_of_instructions(labelled.instructions, entry, report);
        set.data = clustering_from_labels(labelled);
        report.counts["sentences"] = labelled.texts.size();
        report.counts["labels"] = labelled.label_names.size();
    }
    limit_evaluation(set, entry.limits, report);
    set.fingerprint = fingerprint_of(set);
    set.card = report.card(origin_of(entry, format));
    return set;
}

std::vector<std::string> texts(const DataRequest& request) {
    const DataEntry entry(request);
    DataReport report(entry.on_error);
    return read_text_file(entry.need_path(), report);
}

const bool registered =
    register_source({"file", "one file of pairs, triplets or labelled texts (JSON lines, TSV, CSV)", training, evaluation, texts});

}  // namespace
}  // namespace faceter
