#include "pages/runs/column_chooser.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "store/series_value.h"

namespace faceter::desktop {

ColumnChooser::ColumnChooser(QToolButton* button) : PopupPanel(button), m_search(new QLineEdit), m_list(new QListWidget) {
    setObjectName(QStringLiteral("columnChooser"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 8, 8, 8);
    layout->setSpacing(8);
    m_search->setObjectName(QStringLiteral("columnSearch"));
    m_search->setPlaceholderText(tr("find a column, or loss:100 at a step"));
    m_search->setAccessibleName(tr("Find a column"));
    m_search->setClearButtonEnabled(true);
    m_list->setObjectName(QStringLiteral("columnList"));
    m_list->setAccessibleName(tr("Columns; Alt+Up and Alt+Down move one"));
    m_list->setDragDropMode(QAbstractItemView::InternalMove);
    m_list->setDefaultDropAction(Qt::MoveAction);
    m_list->setFixedSize(280, 340);
    m_list->installEventFilter(this);
    auto* reset = new QPushButton(tr("Default columns"));
    reset->setObjectName(QStringLiteral("columnReset"));
    layout->addWidget(m_search);
    layout->addWidget(m_list);
    layout->addWidget(reset);
    setFocusProxy(m_search);
    connect(m_search, &QLineEdit::textChanged, this, &ColumnChooser::search);
    connect(m_list, &QListWidget::itemChanged, this, &ColumnChooser::announce);
    connect(m_list->model(), &QAbstractItemModel::rowsMoved, this, &ColumnChooser::announce);
    connect(reset, &QPushButton::clicked, this, &ColumnChooser::resetRequested);
}

void ColumnChooser::addItem(const RunColumn& column, bool on) {
    auto* item = new QListWidgetItem(column.kind == RunColumn::Kind::setting ? QString::fromStdString(column.key) : column.title(), m_list);
    item->setData(Qt::UserRole, column.id());
    item->setToolTip(column.toolTip().toHtmlEscaped());
    item->setCheckState(on ? Qt::Checked : Qt::Unchecked);
    Qt::ItemFlags flags = Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemIsDragEnabled;
    if (column.kind != RunColumn::Kind::name) flags |= Qt::ItemIsUserCheckable;
    item->setFlags(flags);
}

void ColumnChooser::show(const std::vector<RunColumn>& all, const std::vector<RunColumn>& chosen) {
    m_filling = true;
    m_list->clear();
    m_series.clear();
    for (const RunColumn& column : all)
        if (const auto value = SeriesValue::parse(column.key); value && column.kind == RunColumn::Kind::series)
            m_series.insert(qs(value->series));
    for (const RunColumn& column : chosen) addItem(column, true);
    for (const RunColumn& column : all)
        if (std::find(chosen.begin(), chosen.end(), column) == chosen.end()) addItem(column, false);
    m_filling = false;
    search(m_search->text());
}

void ColumnChooser::announce() {
    if (m_filling) return;
    QStringList ids;
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->checkState() == Qt::Checked) ids << m_list->item(i)->data(Qt::UserRole).toString();
    Q_EMIT chosen(ids);
}

void ColumnChooser::search(const QString& text) {
    const QString wanted = text.trimmed();
    offerStep(wanted);
    for (int i = 0; i < m_list->count(); ++i) {
        QListWidgetItem* item = m_list->item(i);
        const QString id = item->data(Qt::UserRole).toString();
        const bool series = id.startsWith(QLatin1String("series:"));
        const bool found =
            item->text().contains(wanted, Qt::CaseInsensitive) || (series && id.mid(7).contains(wanted, Qt::CaseInsensitive));
        item->setHidden(!found || (series && wanted.isEmpty() && item->checkState() != Qt::Checked));  // there are hundreds
    }
}

/// The value of a series at a step is a column once somebody names the step.
void ColumnChooser::offerStep(const QString& wanted) {
    const auto value = SeriesValue::parse(wanted.toStdString());
    if (!value || value->which != SeriesValue::Which::at || !m_series.contains(qs(value->series))) return;
    const RunColumn column{RunColumn::Kind::series, value->text()};
    for (int i = 0; i < m_list->count(); ++i)
        if (m_list->item(i)->data(Qt::UserRole).toString() == column.id()) return;
    const QSignalBlocker quiet(m_list);
    addItem(column, false);
}

void ColumnChooser::moveCurrent(int by) {
    const int from = m_list->currentRow(), to = from + by;
    if (from < 0 || to < 0 || to >= m_list->count()) return;
    m_filling = true;
    m_list->insertItem(to, m_list->takeItem(from));
    m_list->setCurrentRow(to);
    m_filling = false;
    announce();
}

bool ColumnChooser::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_list && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->modifiers() == Qt::AltModifier && (key->key() == Qt::Key_Up || key->key() == Qt::Key_Down)) {
            moveCurrent(key->key() == Qt::Key_Up ? -1 : 1);
            return true;
        }
    }
    return PopupPanel::eventFilter(watched, event);
}

}  // namespace faceter::desktop
