#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "pages/runs/run_column.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {

/// Run -> host of its newest attempt.
using Places = std::unordered_map<std::string, std::string>;

/// Numbers of series that stand in columns.
struct SeriesColumns {
    std::vector<std::string> names;  ///< series that can be chosen: those of the newest runs
    /// Column key ("loss:min") -> run -> value; NaN where the run has none.
    std::map<std::string, std::unordered_map<std::string, double>> values;
};

/// Settings that stand in columns, or that lines are sorted or put together by: dotted key -> run -> value of each run that has it.
using SettingColumns = std::map<std::string, std::unordered_map<std::string, std::string>>;

/// What the rows of the table show, at one moment: the snapshot with scores and the settings that differ. Immutable; made on the store
/// thread.
class RunsData {
  public:
    RunsData();
    RunsData(RunsSnapshotPtr snapshot, std::shared_ptr<const RunScores> scores, std::shared_ptr<const KeySettings> settings,
             std::shared_ptr<const Places> places, std::shared_ptr<const SeriesColumns> series = std::make_shared<SeriesColumns>(),
             std::shared_ptr<const SettingColumns> chosen = std::make_shared<SettingColumns>());

    int numRuns() const { return static_cast<int>(m_snapshot->runs.size()); }
    const RunRow& run(int row) const { return m_snapshot->runs[static_cast<std::size_t>(row)]; }
    const RunsSnapshotPtr& snapshot() const { return m_snapshot; }
    const std::shared_ptr<const RunScores>& scores() const { return m_scores; }
    const std::shared_ptr<const KeySettings>& settings() const { return m_settings; }
    const std::shared_ptr<const Places>& places() const { return m_places; }
    const std::shared_ptr<const SeriesColumns>& series() const { return m_series; }
    const std::shared_ptr<const SettingColumns>& chosenSettings() const { return m_chosen; }
    /// Equal for the same run in every RunsData: what lines are told apart by.
    std::uint64_t identity(int row) const { return m_identities[static_cast<std::size_t>(row)]; }

    /// NaN where the run has none, or the column holds no numbers.
    double number(int row, const RunColumn& column) const;
    /// Which data sets a mean is over, as a hash and their number; {0, 0} for columns that hold no means.
    std::pair<std::uint64_t, int> measuredOn(int row, const RunColumn& column) const;
    QString text(int row, const RunColumn& column) const;
    /// Of its variant and sweep point, with its experiment where those of several stand together.
    QString label(int row, bool ofAll) const;
    /// What the column is sorted by where number() is NaN for all.
    std::string sortText(int row, const RunColumn& column) const;
    /// Empty where the run has none; of a key that is not among the chosen settings also where all of its experiment have the same.
    const std::string& setting(int row, const std::string& key) const;
    /// "learning_rate 2e-05 · placement every_other".
    QString keySettings(int row) const;
    QString place(int row) const;

    /// Columns there are: plain ones, then one a task type, data set and differing setting, and the last, best, least and most of
    /// each series.
    std::vector<RunColumn> allColumns() const;
    /// What the table shows until somebody chooses: the main ones, with the task types.
    std::vector<RunColumn> defaultColumns() const;

  private:
    double typeMean(int row, const std::string& type) const;
    double setScore(int row, const std::string& set) const;
    double seriesNumber(int row, const std::string& key) const;
    RunsSnapshotPtr m_snapshot;
    std::shared_ptr<const RunScores> m_scores;
    std::shared_ptr<const KeySettings> m_settings;
    std::shared_ptr<const Places> m_places;
    std::shared_ptr<const SeriesColumns> m_series;
    std::shared_ptr<const SettingColumns> m_chosen;
    std::vector<std::uint64_t> m_identities;
    std::vector<int> m_scoreRows;     // row of the snapshot -> row of the scores; -1: none
    std::vector<double> m_typeMeans;  // [rows of the scores, task types]
};
using RunsDataPtr = std::shared_ptr<const RunsData>;

}  // namespace faceter::desktop
