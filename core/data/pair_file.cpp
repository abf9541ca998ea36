#include "data/pair_file.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/strings.h"
#include "data/file_ending.h"
#include "data/line_reader.h"
#include "data/pair_texts.h"
#include "data/record_instructions.h"
#include "data/record_scores.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 5> anchor_names{"query", "anchor", "question", "sentence1", "text1"};
constexpr std::array<std::string_view, 8> positive_names{"document", "positive", "positives", "pos",
                                                         "answer",   "passage",  "sentence2", "text2"};

const TableColumns columns_of_pairs{
    {"anchor", "positive", "negative_1", "negative_2", "negative_3", "negative_4", "negative_5", "negative_6", "negative_7", "negative_8"},
    {{anchor_names.begin(), anchor_names.end()}, {positive_names.begin(), positive_names.end()}}};
const TableColumns columns_of_labelled{{"text", "label"}, {{"text"}, {"label", "label_text"}}};

constexpr std::ptrdiff_t labels_shown = 5;

const Record::Member& need(const Record& record, std::span<const std::string_view> names, std::string_view role) {
    if (const Record::Member* member = record.find(names)) return *member;
    throw BadRecord{fmt::format("no {} ({})", role, fmt::join(names, ", ")), "members: " + record.known()};
}

/// Of a record that has one which is a text or a number; else empty.
std::string label_of_pair(const Record& record) {
    const Record::Member* label = record.find({"label"});
    return label && label->kind != Record::Kind::list && label->kind != Record::Kind::other ? std::string(label_text(*label)) : "";
}

}  // namespace

std::string warning_of_labels(const std::set<std::string>& labels) {
    const std::vector<std::string> some(labels.begin(),
                                        std::next(labels.begin(), std::min<std::ptrdiff_t>(labels_shown, std::ssize(labels))));
    return fmt::format(
        "its pairs carry labels ({}{}) and all of them are used as positives; name those that belong together (labels: [...]), or call the "
        "member 'score' where it is a grade that the objective learns from",
        fmt::join(some, ", "), std::ssize(labels) > labels_shown ? ", ..." : "");
}

bool is_pair_record(const Record& record) {
    return record.find(std::span<const std::string_view>(anchor_names)) && record.find(std::span<const std::string_view>(positive_names));
}

const TableColumns& pair_columns() { return columns_of_pairs; }

bool is_labelled_record(const Record& record) { return record.find({"text"}) && record.find({"label", "label_text"}); }

const TableColumns& labelled_columns() { return columns_of_labelled; }

std::string_view label_name(const Record& record) {
    const Record::Member* name = record.find({"label_text"});
    return name && name->kind == Record::Kind::text ? name->text : std::string_view();
}

bool LabelFilter::takes(const Record& record) {
    const Record::Member* member = record.find({"label"});
    if (!member) return wanted_.empty();
    if (wanted_.empty() && label_of_pair(record).empty()) return true;
    const std::string_view label = label_text(*member);
    if (std::ssize(seen_) <= labels_shown && !record.find({"score", "scores"})) seen_.emplace(label);
    const bool taken = wanted_.empty() || is_one_of(*member, wanted_);
    left_out_ += !taken;
    return taken;
}

void LabelFilter::report(const std::string& file, DataReport& report) const {
    if (!wanted_.empty()) report.counts["left_out_by_label"] = left_out_;
    if (wanted_.empty() && seen_.size() > 1) report.warnings.push_back(fmt::format("{}: {}", file, warning_of_labels(seen_)));
}

ExampleKind kind_of_pair(const Record& record) {
    const bool negatives = has_negatives(record);
    const Record::Member* anchor = record.find(std::span<const std::string_view>(anchor_names));
    const Record::Member* positive = record.find(std::span<const std::string_view>(positive_names));
    const bool in_lists = anchor && anchor->kind == Record::Kind::list;  // MEDI's ["instruction", "text"]
    const bool one_positive = in_lists || !positive || positive->kind != Record::Kind::list || positive->count == 1;
    const bool of_pair = (one_positive && !negatives) || record.find({"score_1"});
    return {record.find({"scores"}) || (of_pair && record.find({"score"})), negatives, label_of_pair(record)};
}

void read_pair_file(const fs::path& file, const DataEntry& entry, TrainingBuilder& builder, DataReport& report) {
    std::vector<std::string_view> positives;
    LabelFilter filter(entry);
    SharedInstructions instructions(file.string());
    read_records(file, report.errors, columns_of_pairs, [&](const Record& record) {
        const Record::Member& anchor = need(record, anchor_names, "anchor");
        if (anchor.kind != Record::Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", anchor.key), ""};
        positives.clear();
        append_texts(record, need(record, positive_names, "positive"), positives);
        auto [negatives, numbers] = negatives_of(record);
        if (positives.empty()) throw BadRecord{"the list of positives is empty", ""};
        if (entry.format == "triplets" && negatives.empty()) throw BadRecord{"a triplet has no negative", "members: " + record.known()};
        if (!filter.takes(record)) return;
        instructions.see(instructions_of(record));
        const std::vector<float> scores = scores_of_record(record, positives.size(), numbers);
        if (entry.hard_negatives >= 0) negatives.resize(std::min(negatives.size(), static_cast<std::size_t>(entry.hard_negatives)));
        for (std::size_t p = 0; p < positives.size(); ++p)
            builder.add(not_blank(anchor.text, anchor.key), positives[p], negatives, -1,
                        scores_of_example(scores, p, positives.size(), negatives.size()));
    });
    filter.report(file.string(), report);
    if (const auto shared = instructions.shared(report)) builder.instruct(*shared);
}

LabelledTexts read_labelled_file(const fs::path& file, DataReport& report) {
    LabelledTexts labelled;
    LabelIndex index;
    SharedInstructions instructions(file.string());
    read_records(file, report.errors, columns_of_labelled, [&](const Record& record) {
        const std::string_view text = record.text("text");
        const Record::Member* label = record.find({"label", "label_text"});
        if (!label) throw BadRecord{"member 'label' is missing", "members: " + record.known()};
        labelled.labels.push_back(index.add(label_text(*label), label_name(record)));
        labelled.texts.add(text);
        const std::string of_all = instructions_of(record).query;
        instructions.see({of_all, of_all, of_all});
    });
    labelled.instructions = instructions.shared(report);
    renumber(labelled.labels, index.finish(labelled.label_names));
    return labelled;
}

std::vector<std::string> read_text_file(const fs::path& file, DataReport& report) {
    std::vector<std::string> texts;
    if (data_ending(file) != ".txt") {
        read_records(file, report.errors, {{"text"}, {{"text"}}}, [&](const Record& record) { texts.emplace_back(record.text("text")); });
        return texts;
    }
    LineReader lines(file);
    while (const auto line = lines.next()) {
        if (trim(*line).empty()) continue;
        if (is_valid_utf8(*line))
            texts.emplace_back(*line);
        else
            report.errors.bad(lines.position(), {"not valid UTF-8", ""});
    }
    return texts;
}

}  // namespace faceter
