#include "pages/runs/facet_panel.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QTreeWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "pages/runs/facet_expression.h"
#include "theme/theme.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

using Counts = std::map<std::string, int>;
constexpr int most_values = 100;

Facet facetOf(const char* column, const Counts& counts) {
    Facet facet{QLatin1String(column), {}};
    for (const auto& [value, count] : counts) facet.values.append({qs(value), count});
    std::stable_sort(facet.values.begin(), facet.values.end(), [](const FacetValue& a, const FacetValue& b) { return a.count > b.count; });
    if (facet.values.size() > most_values) facet.values.resize(most_values);
    return facet;
}

}  // namespace

QList<Facet> facetsOf(const RunsData& data, const std::string& experiment, bool archived) {
    Counts states, variants, tags, experiments;
    for (int row = 0; row < data.numRuns(); ++row) {
        const RunRow& run = data.run(row);
        if (run.archived && !archived) continue;
        if (!experiment.empty() && run.info.experiment != experiment) continue;
        ++states[std::string(run_phase_name(run.state.phase))];
        ++variants[run.info.variant];
        ++experiments[run.info.experiment];
        for (const std::string& tag : run.tags) ++tags[tag];
    }
    QList<Facet> facets{facetOf("state", states), facetOf("variant", variants), facetOf("tag", tags)};
    if (experiments.size() > 1) facets << facetOf("experiment", experiments);
    return facets;
}

FacetPanel::FacetPanel(QToolButton* button)
    : PopupPanel(button), m_tree(new QTreeWidget), m_archived(new QCheckBox(tr("Show archived runs"))) {
    setObjectName(QStringLiteral("facetPanel"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    m_tree->setObjectName(QStringLiteral("facetTree"));
    m_tree->setAccessibleName(tr("Values to filter by"));
    m_tree->setColumnCount(2);
    m_tree->setHeaderHidden(true);
    m_tree->setRootIsDecorated(false);
    m_tree->setIndentation(8);
    m_tree->setUniformRowHeights(true);
    m_tree->setFixedSize(280, 340);
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_tree->header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    layout->addWidget(m_tree);
    m_archived->setObjectName(QStringLiteral("showArchived"));
    layout->addWidget(m_archived);
    setFocusProxy(m_tree);
    connect(m_tree, &QTreeWidget::itemChanged, this, &FacetPanel::ticked);
    connect(m_archived, &QCheckBox::toggled, this, &FacetPanel::archivedToggled);
}

void FacetPanel::setArchivedShown(bool shown) { m_archived->setChecked(shown); }

void FacetPanel::show(const QList<Facet>& facets, const QString& expression) {
    m_filling = true;
    m_expression = expression;
    m_tree->clear();
    for (const Facet& facet : facets) {
        if (facet.values.isEmpty()) continue;
        auto* section = new QTreeWidgetItem(m_tree, {facet.column});
        section->setFlags(Qt::ItemIsEnabled);
        section->setForeground(0, Theme::instance().colours().secondary);
        const std::vector<std::string> chosen = facetValues(expression.toStdString(), facet.column.toStdString());
        for (const FacetValue& value : facet.values) {
            auto* item = new QTreeWidgetItem(section, {value.value, countText(value.count)});
            item->setData(0, Qt::UserRole, value.value);
            const bool on = std::any_of(chosen.begin(), chosen.end(),
                                        [&](const std::string& one) { return qs(one).compare(value.value, Qt::CaseInsensitive) == 0; });
            item->setCheckState(0, on ? Qt::Checked : Qt::Unchecked);
            item->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
            item->setForeground(1, Theme::instance().colours().secondary);
        }
        section->setExpanded(true);
    }
    m_filling = false;
}

void FacetPanel::ticked(QTreeWidgetItem* item) {
    if (m_filling || !item->parent()) return;
    std::vector<std::string> values;
    for (int i = 0; i < item->parent()->childCount(); ++i)
        if (item->parent()->child(i)->checkState(0) == Qt::Checked)
            values.push_back(item->parent()->child(i)->data(0, Qt::UserRole).toString().toStdString());
    m_expression = qs(withFacet(m_expression.toStdString(), item->parent()->text(0).toStdString(), values));
    Q_EMIT expressionChanged(m_expression);
}

}  // namespace faceter::desktop
