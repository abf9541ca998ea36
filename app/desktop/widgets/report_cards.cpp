#include "widgets/report_cards.h"

#include <QFrame>
#include <QGridLayout>
#include <QMenu>
#include <QVBoxLayout>
#include <algorithm>

#include "common/error.h"
#include "figure/figure_view.h"
#include "figure/table_export.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/save_file.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int figure_height = 300, widest_column = 260, columns = 2;

template <typename Value>
void readDocuments(Store& store, const std::string& run, const char* kind, const std::set<std::string>& names,
                   std::map<std::string, Value>& into, std::vector<std::string>& problems) {
    for (const auto& [name, json] : store.documents(run, kind)) {
        if (!names.contains(name)) continue;
        const std::string where = fmt::format("{}: {} {}", run, kind, name);
        try {
            if (json.is_object() && json.contains("error")) throw data_error("{}", json_at<std::string>(json, "error", where));
            Value value = Value::from_json(json, where);
            value.validate();
            into.emplace(name, std::move(value));
        } catch (const std::exception& error) {
            problems.emplace_back(error.what());
        }
    }
}

}  // namespace

Report loadReport(Store& store, const std::string& run, const std::set<std::string>& names) {
    Report report;
    readDocuments(store, run, "figure", names, report.figures, report.problems);
    readDocuments(store, run, "table", names, report.tables, report.problems);
    return report;
}

ReportCards::ReportCards(const QString& prefix, const std::vector<std::string>& figures, const std::vector<std::string>& tables,
                         QWidget* parent)
    : QWidget(parent) {
    for (const std::string& name : figures) {
        auto* frame = new QFrame(this);
        frame->setProperty("card", true);
        auto* layout = new QVBoxLayout(frame);
        layout->setContentsMargins(2, 2, 2, 2);
        auto* view = new FigureView;
        view->setObjectName(QStringLiteral("%1:%2").arg(prefix, qs(name)));
        view->setMinimumHeight(figure_height);
        layout->addWidget(view);
        m_figures.push_back({name, frame, view});
    }
    for (const std::string& name : tables) {
        auto* view = new DataTable(this);
        view->shortenNames();
        auto* model = new TableModel(this);
        view->setModel(model);
        view->setObjectName(QStringLiteral("%1Table:%2").arg(prefix, qs(name)));
        m_tables.push_back({name, view, model});
    }
    arrange();
}

/// Anew with each report: what is hidden leaves no hole.
void ReportCards::arrange() {
    delete layout();
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    const auto shown = std::count_if(m_figures.begin(), m_figures.end(), [](const FigureCard& card) { return !card.frame->isHidden(); });
    int place = 0;
    for (const FigureCard& card : m_figures) {
        if (card.frame->isHidden()) continue;
        const bool alone = place % columns == 0 && place + 1 == shown;  // nothing would stand beside it
        grid->addWidget(card.frame, place / columns, place % columns, 1, alone ? columns : 1);
        ++place;
    }
    int row = (place + columns - 1) / columns;
    for (const TableCard& card : m_tables)
        if (!card.view->isHidden()) grid->addWidget(card.view, row++, 0, 1, columns);
    grid->setRowStretch(row, 1);
    for (int column = 0; column < columns; ++column) grid->setColumnStretch(column, 1);
}

void ReportCards::setReport(const Report& report) {
    for (const FigureCard& card : m_figures) {
        const auto own = report.figures.find(card.name);
        card.frame->setVisible(own != report.figures.end());
        if (own != report.figures.end()) card.view->setFigure(own->second);
    }
    for (const TableCard& card : m_tables) {
        const auto own = report.tables.find(card.name);
        card.view->setVisible(own != report.tables.end());
        if (own == report.tables.end()) continue;
        card.model->setTable(own->second);
        card.view->setAccessibleName(qs(own->second.caption));
        card.view->setToolTip(qs(own->second.caption).toHtmlEscaped());
        card.view->fitColumns(widest_column);
        card.view->setHeightToRows();
    }
    arrange();
}

bool ReportCards::hasAny(const Report& report) const {
    return std::any_of(m_figures.begin(), m_figures.end(), [&](const FigureCard& card) { return report.figures.contains(card.name); }) ||
           std::any_of(m_tables.begin(), m_tables.end(), [&](const TableCard& card) { return report.tables.contains(card.name); });
}

void ReportCards::addExports(QMenu* menu, QWidget* parent) const {
    for (const FigureCard& card : m_figures)
        if (!card.frame->isHidden())
            addFigureExports(menu->addMenu(qs(card.view->figure().title)), parent, card.view, qs(card.view->figure().name));
    for (const TableCard& card : m_tables) {
        if (card.view->isHidden()) continue;
        const Table table = card.model->table();
        addTableExports(menu->addMenu(qs(table.caption)), parent, qs(table.name),
                        [table](TableFormat format) { return QByteArray::fromStdString(export_table(table, format)); });
    }
}

}  // namespace faceter::desktop
