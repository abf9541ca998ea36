#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.h"

namespace faceter {

/// What a filter may name besides the columns that every run has.
struct FilterNames {
    std::vector<std::string> sets, task_types, settings;
    std::map<std::string, std::vector<std::string>> values;  ///< for completion: column -> values that occur
    bool operator==(const FilterNames&) const = default;
};
FilterNames filter_names(Store& store);
/// run experiment variant method plugin point seed state created tag note archived pinned smoke step steps loss score time attempts.
const std::vector<std::string>& filter_columns();

struct FilterNode;
class FilterData;

/// An expression over runs:
///   variant = mote and retrieval > 0.4        state != failed            variant in (em, ic) and not tag = paper
///   training.learning_rate < 1e-4             name ~ quick (contains)    created > 2026-11-01        pinned or scifact >= 60
/// Names: columns, data sets (their main score), task types (mean of their data sets), dotted settings or their last part where only one
/// has it; one number of a series (loss:last, loss:best, loss/retrieval:min, grad_norm:max, loss:100 at a step). Texts are compared without
/// regard to case. Scores are percent; a number from -1 to 1 is taken as a fraction (0.4 is 40; write 0.4% for the percentage). A time is
/// compared as far as it is written: created > 2026-11-01 begins on the 2nd. What a run does not have is unequal to everything. `not` binds
/// before `and`, that before `or`. Errors (settings) show the place and the nearest name.
class Filter {
  public:
    Filter() = default;  ///< lets every run through
    static Filter parse(std::string_view text, const FilterNames& names);
    /// One flag a row of `data`.
    std::vector<bool> matches(const FilterData& data) const;
    /// Dotted keys that it compares.
    std::vector<std::string> settings() const;
    /// Values of series that it compares (SeriesValue::text()).
    std::vector<std::string> series() const;
    /// It asks whether runs are archived: those that are must be among the rows then.
    bool asks_for_archived() const;
    bool empty() const { return !root_; }

  private:
    std::shared_ptr<const FilterNode> root_;
};

/// The rows with what a filter asks of them.
class FilterData {
  public:
    /// The rows must outlive it. A series that no run of the store has is a settings error.
    FilterData(Store& store, const Filter& filter, const std::vector<RunRow>& rows)
        : FilterData(store, filter.settings(), filter.series(), rows) {}
    FilterData(Store& store, const std::vector<std::string>& settings, const std::vector<std::string>& series,
               const std::vector<RunRow>& rows);
    const std::vector<RunRow>& rows() const { return rows_; }
    /// Percent; NaN where the run has none.
    double score(std::size_t row, const std::string& set) const;
    double type_mean(std::size_t row, const std::string& task_type) const;
    /// Null where the run does not have it.
    const std::string* setting(std::size_t row, const std::string& key) const;
    /// NaN where the run has none.
    double series(std::size_t row, const std::string& value) const;

  private:
    static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);
    const std::vector<RunRow>& rows_;
    RunScores scores_;
    std::vector<std::size_t> score_rows_;
    std::map<std::string, std::unordered_map<std::string, std::string>> settings_;
    std::map<std::string, std::vector<double>> series_;  // one a row
};

/// Leaves the rows that an expression lets through.
void filter_rows(Store& store, std::string_view expression, std::vector<RunRow>& rows);
/// Filter::asks_for_archived() of an expression; false where it is empty.
bool asks_for_archived(Store& store, std::string_view expression);

/// What could stand at a place of an expression that is being typed.
struct Completions {
    std::size_t begin = 0, end = 0;  ///< bytes of the text that a word would replace
    std::vector<std::string> words;
};
Completions completions(std::string_view text, std::size_t cursor, const FilterNames& names);

}  // namespace faceter
