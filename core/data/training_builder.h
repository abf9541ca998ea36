#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/entry.h"
#include "data/leaves.h"
#include "data/training_set.h"

namespace faceter {

/// Collects the examples of a training set; equal texts get one id.
class TrainingBuilder {
  public:
    TrainingBuilder(std::string name, std::string task);
    /// `negatives` may be empty; label -1: none. `scores`: of the positive and of each negative, or none.
    void add(std::string_view anchor, std::string_view positive, std::span<const std::string_view> negatives = {}, std::int32_t label = -1,
             std::span<const float> scores = {});
    /// The class of a text of an example. Equal texts of two classes have none, whatever is said of them later.
    void label(std::string_view text, std::int32_t label);
    void name_labels(std::vector<std::string> names) { set_.label_names = std::move(names); }
    /// What stands in front of its texts in place of the task's instructions.
    void instruct(SetInstructions instructions) { instructions_ = std::move(instructions); }
    std::size_t size() const { return set_.examples.size(); }
    /// Samples down to max_examples (by hash of the example's texts, in the order of the file), counts, hashes. The card is made of
    /// `origin`.
    TrainingSet finish(const DataLimits& limits, DataReport& report, Json origin);

  private:
    void keep(std::span<const std::uint32_t> positions);
    void count(DataReport& report) const;
    std::string fingerprint() const;
    bool scored_ = false;  ///< whether any example is
    std::optional<SetInstructions> instructions_;
    TrainingSet set_;
};

/// Texts with a class each.
struct LabelledTexts {
    TextTable texts;
    std::vector<std::int32_t> labels;
    std::vector<std::string> label_names;
    std::optional<SetInstructions> instructions;  ///< that the records bring
};

/// Numbers for labels as files have them. Order of the numbers: by value where all labels are integers, else by bytes.
class LabelIndex {
  public:
    /// A provisional number; `name` is what people read (empty: the key).
    std::int32_t add(std::string_view key, std::string_view name = {});
    /// Final number by provisional one, and the names in final order.
    std::vector<std::int32_t> finish(std::vector<std::string>& names) const;

  private:
    std::vector<std::pair<std::string, std::string>> labels_;  ///< key, name
    std::map<std::string, std::int32_t, std::less<>> by_key_;
};

/// Provisional numbers become the final ones that LabelIndex::finish gave.
void renumber(std::vector<std::int32_t>& labels, const std::vector<std::int32_t>& final_number);

/// Training examples from labelled texts: anchor, positive = another text of the same label, hard negatives from other labels, all drawn
/// from the seed. A label with a single text gives no example; such labels are counted and left out.
TrainingSet train_from_labels(const LabelledTexts& labelled, const DataEntry& entry, const std::string& name, const std::string& task,
                              DataReport& report, Json origin);

}  // namespace faceter
