#include "pages/compare/wish_bar.h"

#include <QComboBox>
#include <QJsonArray>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "store/series_value.h"
#include "widgets/filter_edit.h"
#include "widgets/flow_layout.h"
#include "widgets/popup_panel.h"

namespace faceter::desktop {
namespace {

QString titleOf(const QString& name) {
    const auto value = SeriesValue::parse(name.toStdString());
    return value ? QStringLiteral("%1 (%2)").arg(qs(value->series), qs(value->words())) : name;
}

}  // namespace

WishBar::WishBar(QWidget* parent)
    : QWidget(parent),
      m_search(new QLineEdit),
      m_list(new QListWidget),
      m_order(new QComboBox),
      m_filter(new FilterEdit(QStringLiteral("compareFilter"))) {
    auto* layout = new FlowLayout(this);
    QToolButton* button = dropDownButton(tr("Series"), QStringLiteral("columns"), QStringLiteral("compareSeries"));
    button->setToolTip(tr("The last, best, least or most of a series, or its value at a step, as a further row"));
    buildChooser(button);
    m_order->setObjectName(QStringLiteral("compareOrder"));
    m_order->setAccessibleName(tr("Order of the groups"));
    m_order->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_order->setMaximumWidth(260);
    for (QWidget* widget : {static_cast<QWidget*>(button), static_cast<QWidget*>(m_order)}) {
        layout->addWidget(widget);
        layout->setAlignment(widget, Qt::AlignTop);
    }
    layout->addStretched(m_filter);
    fillOrders();
    connect(m_order, &QComboBox::currentIndexChanged, this, &WishBar::changed);
    connect(m_filter, &FilterEdit::filterChanged, this, &WishBar::changed);
}

PopupPanel* WishBar::buildChooser(QToolButton* button) {
    auto* panel = new PopupPanel(button);
    panel->setObjectName(QStringLiteral("compareSeriesPanel"));
    auto* layout = new QVBoxLayout(panel);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    m_search->setObjectName(QStringLiteral("compareSeriesSearch"));
    m_search->setPlaceholderText(tr("find a series, or loss:100 at a step"));
    m_search->setAccessibleName(tr("Find a series"));
    m_search->setClearButtonEnabled(true);
    m_list->setObjectName(QStringLiteral("compareSeriesList"));
    m_list->setAccessibleName(tr("Values of series"));
    m_list->setFixedSize(280, 300);
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    panel->setFocusProxy(m_search);
    connect(m_search, &QLineEdit::textChanged, this, &WishBar::search);
    connect(m_list, &QListWidget::itemChanged, this, &WishBar::take);
    return panel;
}

void WishBar::setOffers(const std::vector<std::string>& series, std::shared_ptr<const FilterNames> names) {
    if (!m_names || !(*names == *m_names)) {  // the filter is read anew, which asks the store again
        m_names = std::move(names);
        m_filter->setNames(m_names);
    }
    if (series == m_series && m_list->count() > 0) return;
    m_series = series;
    fillSeries();
}

void WishBar::fillSeries() {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const QString& name : std::as_const(m_chosen)) addValue(name);
    using Which = SeriesValue::Which;
    for (const std::string& name : m_series)
        for (const Which which : {Which::last, Which::best, Which::min, Which::max})
            if (which != Which::best || SeriesValue::direction(name) != 0) addValue(qs(SeriesValue{name, which}.text()));
    search(m_search->text());
}

void WishBar::addValue(const QString& name) {
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == name) return;
    auto* item = new QListWidgetItem(titleOf(name), m_list);
    item->setData(Qt::UserRole, name);
    item->setToolTip(name.toHtmlEscaped());
    item->setFlags(Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemIsUserCheckable);
    item->setCheckState(m_chosen.contains(name) ? Qt::Checked : Qt::Unchecked);
}

/// The value at a step is offered once somebody names the step.
void WishBar::search(const QString& text) {
    const QString wanted = text.trimmed();
    const auto value = SeriesValue::parse(wanted.toStdString());
    if (value && value->which == SeriesValue::Which::at && std::find(m_series.begin(), m_series.end(), value->series) != m_series.end()) {
        const QSignalBlocker quiet(m_list);
        addValue(qs(value->text()));
    }
    for (int i = 0; i < m_list->count(); ++i) {
        QListWidgetItem* item = m_list->item(i);
        item->setHidden(!item->text().contains(wanted, Qt::CaseInsensitive) &&
                        !item->data(Qt::UserRole).toString().contains(wanted, Qt::CaseInsensitive));
    }
}

void WishBar::take() {
    m_chosen.clear();
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->checkState() == Qt::Checked) m_chosen << m_list->item(i)->data(Qt::UserRole).toString();
    fillOrders();
    Q_EMIT changed();
}

/// By the mean score and by what is shown; "NAME" is the least first, "-NAME" the greatest.
void WishBar::fillOrders() {
    const QSignalBlocker quiet(m_order);
    const QString now = m_order->currentData().toString();
    m_order->clear();
    m_order->addItem(tr("Order: as they come"), QString());
    m_order->addItem(tr("Order: mean score, best first"), QStringLiteral("-score"));
    for (const QString& name : std::as_const(m_chosen)) {
        m_order->addItem(tr("Order: %1, least first").arg(titleOf(name)), name);
        m_order->addItem(tr("Order: %1, most first").arg(titleOf(name)), QLatin1Char('-') + name);
    }
    m_order->setCurrentIndex(std::max(0, m_order->findData(now)));
}

CompareWish WishBar::wish() const {
    CompareWish wish;
    for (const QString& name : m_chosen) wish.columns.push_back(name.toStdString());
    const QString order = m_order->currentData().toString();
    wish.descending = order.startsWith(QLatin1Char('-'));
    wish.sort = order.mid(wish.descending ? 1 : 0).toStdString();
    wish.filter = m_filter->filter();
    return wish;
}

bool WishBar::hasFilter() const { return !m_filter->text().isEmpty(); }
bool WishBar::isSettled() const { return m_filter->isSettled(); }

QJsonObject WishBar::state() const {
    return {{QStringLiteral("series"), QJsonArray::fromStringList(m_chosen)},
            {QStringLiteral("order"), m_order->currentData().toString()},
            {QStringLiteral("filter"), m_filter->text()}};
}

void WishBar::restore(const QJsonObject& state) {
    m_chosen.clear();
    for (const QJsonValue& name : state.value(QStringLiteral("series")).toArray())
        if (SeriesValue::parse(name.toString().toStdString())) m_chosen << name.toString();
    fillSeries();
    fillOrders();
    const QSignalBlocker quiet(m_order);
    m_order->setCurrentIndex(std::max(0, m_order->findData(state.value(QStringLiteral("order")).toString())));
    m_filter->setText(state.value(QStringLiteral("filter")).toString());
    Q_EMIT changed();
}

}  // namespace faceter::desktop
