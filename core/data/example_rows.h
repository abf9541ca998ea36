#pragma once
#include <string_view>
#include <variant>
#include <vector>

#include "data/evaluation_set.h"
#include "data/training_set.h"

namespace faceter {

/// One example of a data set as a person reads it.
struct ExampleRow {
    struct Text {
        std::string_view role;  ///< "anchor", "positive", "negative"; of test data "query", "relevant", "test", "first" ...
        std::string_view text;  ///< lives as long as the set
        bool is_document = false;
    };
    std::vector<Text> texts;
    Json label = nullptr;  ///< name of the class, names of the classes, score; null: none
    std::size_t part = 0;  ///< the subset and the clustering's set that it is of, as one number; labels mean something within it
};

/// The examples of a set by number. A test set of several subsets has theirs one after the other; of a clustering each text is one, of a
/// classification each text of its test part. The set outlives it.
class ExampleRows {
  public:
    explicit ExampleRows(const TrainingSet& set);
    explicit ExampleRows(const EvaluationSet& set);
    std::size_t size() const { return ends_.empty() ? 0 : ends_.back(); }
    /// `most_documents`: hard negatives (of a training set) or judged documents that come with it.
    ExampleRow row(std::size_t number, std::size_t most_documents = 3) const;

  private:
    const TrainingSet* training_ = nullptr;
    std::vector<const EvaluationSet*> parts_;
    std::vector<std::size_t> ends_;  ///< by part: numbers of rows up to its end
};

}  // namespace faceter
