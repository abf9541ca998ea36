#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/entry.h"
#include "data/record_reader.h"
#include "data/training_builder.h"

namespace faceter {

/// One folder while it is being read.
struct FolderContext {
    fs::path folder;
    DataEntry entry;
    std::string split;  ///< test, train ...
    DataReport report;
    std::string subset{};  ///< read only the records of this subset, and those that name none (subsets.h); empty: all

    /// What is read, for messages: the folder, and the subset where only its records count.
    std::string place() const;
    /// folder/STEM.jsonl, .jsonl.gz, .jsonl.zst and, where `tables` is set, the same with .tsv and .csv; else STEM.parquet, also in shards,
    /// in "data" or in a folder of its own name, as on the Hugging Face hub; nothing where none is there.
    std::optional<fs::path> find(const std::string& stem, bool tables = false) const;
    /// The same, or a data error that names what was looked for.
    fs::path need(const std::string& stem, bool tables = false) const;
    /// The table STEM of a retrieval set: as find() has it, else of Parquet in a folder of its name, where each split has a file of its
    /// own, as mteb 2 writes them ("corpus/test-00000-of-00001.parquet"), or all splits share one.
    std::optional<fs::path> find_table(const std::string& stem) const;
    fs::path need_table(const std::string& stem) const;
    /// The file of the split, or nothing. "dev", "val", "valid" and "validation" mean the same.
    std::optional<fs::path> find_split(const std::string& split, bool tables = false) const;
    /// The same, or a data error.
    fs::path need_split(const std::string& split, bool tables = false) const;
    void read(const fs::path& file, const std::function<void(const Record&)>& take, const TableColumns& columns = {});
    /// A text that is not blank. Of data that are scored a blank one counts as it is, as MTEB has it (blank_texts), where bad records are
    /// not passed over.
    std::string_view text(const Record& record, std::string_view key);
    bool is_scored = false;       ///< the data set is read to be scored
    std::size_t blank_texts = 0;  ///< that text() gave
};

/// The split under its own name first, then under those that mean the same: "dev", "val", "valid" and "validation".
std::vector<std::string> names_of_split(const std::string& split);

/// STEM.parquet, or the first of its shards, in the folder or where the Hugging Face hub puts it: in "data" or a folder of its own name.
std::optional<fs::path> find_parquet(const fs::path& folder, const std::string& stem);

/// Whether a retrieval set names the candidates of each query, which are ranked in place of its whole corpus (mteb 2's reranking:
/// top_ranked).
bool has_candidates(const fs::path& folder);

/// Why `labels` of an entry chooses nothing of a file's format or a folder's layout: it is of pairs. Empty where it does.
std::string reason_not_by_label(std::string_view kind);

/// One layout of a data folder: a file of this folder that registers itself. A member is null where the layout has no such data.
struct FolderLayout {
    std::string task;   ///< as dataset.json names it
    std::string files;  ///< "train.jsonl, test.jsonl {text, label}", for messages
    int priority = 0;   ///< layouts with a higher one are asked first whether a folder is theirs
    /// True where a record of the folder's main file (test, train or texts) has this layout's members.
    bool (*matches)(const Record& record) = nullptr;
    void (*evaluation)(FolderContext& context, EvaluationSet& set) = nullptr;
    TrainingSet (*training)(FolderContext& context, const std::string& name, const std::string& task, Json origin) = nullptr;
    std::vector<std::string> (*texts)(FolderContext& context) = nullptr;
    const char* scored_with = nullptr;  ///< a part that is read beside the split where it is scored: "train"
    /// A data error where a file is missing that is read for any use. Null: the split's.
    void (*require_files)(const FolderContext& context) = nullptr;
};
bool register_layout(FolderLayout layout);

/// Labels of a test part that no training text has: a text with one is always classified wrongly. They were withheld, as -1, or are names
/// in one part and numbers in the other.
class UntrainedLabels {
  public:
    explicit UntrainedLabels(std::span<const std::int32_t> trained) { train(trained); }
    UntrainedLabels() = default;
    void train(std::span<const std::int32_t> labels) { trained_.insert(labels.begin(), labels.end()); }
    /// The labels of one text.
    void test(std::span<const std::int32_t> labels);
    /// Where there are any.
    void warn(FolderContext& context, const std::vector<std::string>& label_names) const;

  private:
    std::set<std::int32_t> trained_, missing_;
    std::size_t texts_ = 0, with_missing_ = 0;
};
const std::vector<FolderLayout>& folder_layouts();
/// The layout that a folder's files show; null where they show none.
const FolderLayout* layout_by_files(const fs::path& folder);
/// The layout of a folder: `task` where it is not empty, else dataset.json's "task", else what the files show.
const FolderLayout& layout_of(const fs::path& folder, const std::string& task);

}  // namespace faceter
