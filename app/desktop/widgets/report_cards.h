#pragma once
#include <QWidget>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "figure/figure.h"
#include "figure/table.h"
#include "store/store.h"

class QMenu;

namespace faceter::desktop {

class DataTable;
class FigureView;
class TableModel;

/// Figures and tables that a run's analyses stored, by name.
struct Report {
    std::map<std::string, Figure> figures;
    std::map<std::string, Table> tables;
    std::vector<std::string> problems;  ///< documents that cannot be read, one sentence each
    bool empty() const { return figures.empty() && tables.empty() && problems.empty(); }
};
/// Those of these names; one that cannot be read costs itself only.
Report loadReport(Store& store, const std::string& run, const std::set<std::string>& names);

/// Some of a report's figures, two beside one another, and tables below them; what the report lacks is hidden. Children are called
/// PREFIX:name and PREFIXTable:name.
class ReportCards : public QWidget {
    Q_OBJECT
  public:
    ReportCards(const QString& prefix, const std::vector<std::string>& figures, const std::vector<std::string>& tables,
                QWidget* parent = nullptr);
    void setReport(const Report& report);
    /// Whether the report has any of them.
    bool hasAny(const Report& report) const;
    /// A submenu for each of those that there are; `parent` owns the dialogs.
    void addExports(QMenu* menu, QWidget* parent) const;

  private:
    struct FigureCard {
        std::string name;
        QWidget* frame;
        FigureView* view;
    };
    struct TableCard {
        std::string name;
        DataTable* view;
        TableModel* model;
    };
    void arrange();
    std::vector<FigureCard> m_figures;
    std::vector<TableCard> m_tables;
};

}  // namespace faceter::desktop
