#pragma once
#include <set>

#include "data/example_kinds.h"
#include "data/folder_layout.h"

namespace faceter {

/// Reads pairs and triplets, JSON lines or tables, into examples. Accepted names, in this order:
///   anchor     query, anchor, question, sentence1, text1
///   positive   document, positive, positives, pos, answer, passage, sentence2, text2      (a text, or a list: one example each)
///   negatives  negative, negatives, hard_negative, hard_negatives, neg (a text or a list), also with a number: negative_1, negative_2 ...
///   scores     scores, score (record_scores.h): what a teacher or people said of the positives and of the negatives
///   instruction (query_instruction), document_instruction, negative_instruction: the data set's own (record_instructions.h)
///   label      label: only records with one of the entry's `labels` are used, where it sets any
/// A table without a header line has the columns anchor, positive, and as many negatives as follow.
void read_pair_file(const fs::path& file, const DataEntry& entry, TrainingBuilder& builder, DataReport& report);

/// Where an entry names labels, only the records of pairs with one of them count; the labels seen tell whether it should have.
class LabelFilter {
  public:
    explicit LabelFilter(const DataEntry& entry) : wanted_(entry.labels) {}
    bool takes(const Record& record);
    /// `file`: where the records are from, for messages.
    void report(const std::string& file, DataReport& report) const;

  private:
    const std::vector<std::string>& wanted_;
    std::set<std::string> seen_;
    std::size_t left_out_ = 0;
};

/// What there is to say of pairs whose records have several labels, of which the entry chooses none.
std::string warning_of_labels(const std::set<std::string>& labels);

/// True where a record has an anchor and a positive.
bool is_pair_record(const Record& record);

/// How a table of pairs without a header line is read.
const TableColumns& pair_columns();

/// True where a record has a text and a label.
bool is_labelled_record(const Record& record);
/// What the label of a text is shown as: label_text, where that is a text; else nothing.
std::string_view label_name(const Record& record);
/// How a table of labelled texts without a header line is read.
const TableColumns& labelled_columns();

/// What a pair's record brings, MEDI's own form ("query": ["instruction", "text"]) as well.
ExampleKind kind_of_pair(const Record& record);

/// Reads {text, label} records (tables: columns text, label), and perhaps instruction: of all texts of the data set.
LabelledTexts read_labelled_file(const fs::path& file, DataReport& report);

/// Reads texts: a text a line (.txt, also packed), else records with a "text" (tables: first column).
std::vector<std::string> read_text_file(const fs::path& file, DataReport& report);

}  // namespace faceter
