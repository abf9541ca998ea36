#include "data/pair_file.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/strings.h"
#include "data/line_reader.h"
#include "data/record_instructions.h"
#include "data/record_scores.h"

namespace faceter {
namespace {

constexpr std::array<std::string_view, 5> anchor_names{"query", "anchor", "question", "sentence1", "text1"};
constexpr std::array<std::string_view, 8> positive_names{"document", "positive", "positives", "pos",
                                                         "answer",   "passage",  "sentence2", "text2"};
constexpr std::array<std::string_view, 4> negative_names{"negatives", "negative", "neg", "hard_negatives"};

const TableColumns columns_of_pairs{
    {"anchor", "positive", "negative_1", "negative_2", "negative_3", "negative_4", "negative_5", "negative_6", "negative_7", "negative_8"},
    {{anchor_names.begin(), anchor_names.end()}, {positive_names.begin(), positive_names.end()}}};
const TableColumns columns_of_labelled{{"text", "label"}, {{"text"}, {"label", "label_text"}}};

constexpr std::ptrdiff_t labels_shown = 5;

std::string_view checked(std::string_view text, std::string_view key) {
    if (trim(text).empty()) throw BadRecord{fmt::format("member '{}' is empty", key), ""};
    return text;
}

/// A text, or every text of a list.
void append_texts(const Record& record, const Record::Member& member, std::vector<std::string_view>& texts) {
    if (member.kind == Record::Kind::text) {
        texts.push_back(checked(member.text, member.key));
    } else {
        for (const std::string_view text : record.texts(member.key)) texts.push_back(checked(text, member.key));
    }
}

const Record::Member& need(const Record& record, std::span<const std::string_view> names, std::string_view role) {
    if (const Record::Member* member = record.find(names)) return *member;
    throw BadRecord{fmt::format("no {} ({})", role, fmt::join(names, ", ")), "members: " + record.known()};
}

/// negative_1, negative_2 ...; an instruction of negatives is none of them.
bool is_negative(const Record::Member& member) {
    return member.key.starts_with("negative_") && member.key != "negative_instruction" && member.kind == Record::Kind::text;
}

void append_negatives(const Record& record, std::vector<std::string_view>& negatives) {
    if (const Record::Member* member = record.find(std::span<const std::string_view>(negative_names)))
        append_texts(record, *member, negatives);
    for (const Record::Member& member : record.members())
        if (is_negative(member)) negatives.push_back(checked(member.text, member.key));
}

/// Of a record that has one which is a text or a number; else empty.
std::string label_of_pair(const Record& record) {
    const Record::Member* label = record.find({"label"});
    return label && label->kind != Record::Kind::list && label->kind != Record::Kind::other ? std::string(label_text(*label)) : "";
}

/// Where an entry names labels, only their records count; the labels seen tell whether it should have.
class LabelFilter {
  public:
    explicit LabelFilter(const DataEntry& entry) : wanted_(entry.labels) {}
    bool takes(const Record& record) {
        const Record::Member* member = record.find({"label"});
        if (!member) return wanted_.empty();
        const std::string_view label = label_text(*member);
        if (std::ssize(seen_) <= labels_shown && !record.find({"score", "scores"})) seen_.emplace(label);
        const bool taken = wanted_.empty() || is_one_of(*member, wanted_);
        left_out_ += !taken;
        return taken;
    }
    void report(const std::string& file, DataReport& report) const {
        if (!wanted_.empty()) report.counts["left_out_by_label"] = left_out_;
        if (wanted_.empty() && seen_.size() > 1) report.warnings.push_back(fmt::format("{}: {}", file, warning_of_labels(seen_)));
    }

  private:
    const std::vector<std::string>& wanted_;
    std::set<std::string> seen_;
    std::size_t left_out_ = 0;
};

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

ExampleKind kind_of_pair(const Record& record) {
    const Record::Member* given = record.find(std::span<const std::string_view>(negative_names));
    const bool negatives =
        (given && (given->kind != Record::Kind::list || given->count > 0)) || std::ranges::any_of(record.members(), is_negative);
    const Record::Member* anchor = record.find(std::span<const std::string_view>(anchor_names));
    const Record::Member* positive = record.find(std::span<const std::string_view>(positive_names));
    const bool in_lists = anchor && anchor->kind == Record::Kind::list;  // MEDI's ["instruction", "text"]
    const bool one_positive = in_lists || !positive || positive->kind != Record::Kind::list || positive->count == 1;
    const bool of_pair = (one_positive && !negatives) || record.find({"score_1"});
    return {record.find({"scores"}) || (of_pair && record.find({"score"})), negatives, label_of_pair(record)};
}

void read_pair_file(const fs::path& file, const DataEntry& entry, TrainingBuilder& builder, DataReport& report) {
    std::vector<std::string_view> positives, negatives;
    LabelFilter filter(entry);
    SharedInstructions instructions(file.string());
    read_records(file, report.errors, columns_of_pairs, [&](const Record& record) {
        const Record::Member& anchor = need(record, anchor_names, "anchor");
        if (anchor.kind != Record::Kind::text) throw BadRecord{fmt::format("member '{}' is not a text", anchor.key), ""};
        positives.clear();
        negatives.clear();
        append_texts(record, need(record, positive_names, "positive"), positives);
        append_negatives(record, negatives);
        if (positives.empty()) throw BadRecord{"the list of positives is empty", ""};
        if (entry.format == "triplets" && negatives.empty()) throw BadRecord{"a triplet has no negative", "members: " + record.known()};
        if (!filter.takes(record)) return;
        instructions.see(instructions_of(record));
        const std::vector<float> scores = scores_of_record(record, positives.size(), negatives.size());
        if (entry.hard_negatives >= 0) negatives.resize(std::min(negatives.size(), static_cast<std::size_t>(entry.hard_negatives)));
        for (std::size_t p = 0; p < positives.size(); ++p)
            builder.add(checked(anchor.text, anchor.key), positives[p], negatives, -1,
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
        labelled.labels.push_back(index.add(label_text(*label), record.text_or_empty("label_text")));
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
    if (lowercase_ascii(file.filename().string()).find(".txt") == std::string::npos) {
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
