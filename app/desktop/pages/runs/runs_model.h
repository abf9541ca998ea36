#pragma once
#include <QAbstractTableModel>
#include <functional>
#include <optional>

#include "pages/runs/runs_layout.h"

namespace faceter::desktop {

/// The lines of a layout as a flat model: groups are lines that open and close, so that ten thousand rows cost a list and no tree. show()
/// goes from one layout to the next by moves, removals and insertions: selection, current line and scroll place stay with their runs, and
/// only lines that changed are drawn anew.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Role {
        numberRole = Qt::UserRole,  ///< double
        runRole,                    ///< id; empty for groups
        spreadRole,                 ///< " ± 0.11" where the cell shows one
        extraRole,                  ///< text in the secondary colour after the main one: "n = 3", "2 of 3"
        phaseRole,                  ///< int of RunPhase; groups: of the run that needs a person most
        progressRole,               ///< 0 to 1 while it runs; -1 else
        seriesColourRole,           ///< place in the palette; -1: none
        resumableRole,
        pinnedRole,
    };

    explicit RunsModel(QObject* parent = nullptr);

    /// Other columns reset the model; everything else keeps its persistent indexes.
    void show(RunsDataPtr data, std::vector<RunColumn> columns, RunsLayout layout);
    /// Place in the palette of a run.
    void setColours(std::function<int(const RunInfo&)> colourOf) { m_colourOf = std::move(colourOf); }
    /// Groups may have other colours now.
    void recolour() { announce({}, true); }

    const RunsData& runsData() const { return *m_data; }
    const RunsLayout& layout() const { return m_layout; }
    const std::vector<RunColumn>& columns() const { return m_columns; }
    const RunsLine& line(int row) const { return m_layout.lines[static_cast<std::size_t>(row)]; }
    /// Null where the line is none.
    const RunsGroup* groupOf(int row) const;
    /// Rows of the data: the run, or all of the group.
    std::vector<int> runsOf(int row) const;
    /// Line of an identity; -1: none.
    int find(std::uint64_t identity) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    struct GroupCell {
        QString text, spread, extra;
    };
    /// What a line of several runs says: put together from all of them when it is first asked for, not at each paint.
    struct GroupTexts {
        int urgent = 0;
        double progress = -1;
        std::vector<std::optional<GroupCell>> cells;  // one a column
    };
    GroupTexts& textsOf(int group) const;
    const GroupCell& cellOf(int group, std::size_t column) const;
    QVariant runValue(const RunsLine& line, std::size_t column, int role) const;
    QVariant groupValue(int group, std::size_t column, int role) const;
    QString runText(const RunsLine& line, const RunColumn& column) const;
    QVariant look(const RunsLine& line, std::size_t column, int role) const;
    QString toolTip(const RunsLine& line, std::size_t column) const;
    bool isBest(const RunsLine& line, std::size_t column) const;
    void moveTo(RunsLayout next);
    void removeLines(const std::vector<bool>& doomed);
    void insertLines(const std::vector<RunsLine>& target);
    void permute(const std::vector<int>& order);
    void announce(const std::vector<std::uint64_t>& changed, bool everything);

    RunsDataPtr m_data;
    std::vector<RunColumn> m_columns;
    RunsLayout m_layout;
    mutable std::vector<std::optional<GroupTexts>> m_groupTexts;  // of m_layout.groups
    std::function<int(const RunInfo&)> m_colourOf;
};

}  // namespace faceter::desktop
