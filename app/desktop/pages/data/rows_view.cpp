#include "pages/data/rows_view.h"

#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QSplitter>
#include <QVBoxLayout>

#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int widest_column = 260;

}  // namespace

RowsView::RowsView(const QString& name, const QString& accessible, QWidget* parent)
    : QWidget(parent),
      m_bar(new QHBoxLayout),
      m_sentence(secondaryLabel()),
      m_split(new QSplitter(Qt::Vertical)),
      m_table(new DataTable),
      m_model(new TableModel(this)),
      m_text(new QPlainTextEdit) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 8, 0, 0);
    layout->setSpacing(8);
    m_bar->setSpacing(8);
    layout->addLayout(m_bar);
    m_sentence->setObjectName(name + QStringLiteral("Sentence"));
    m_sentence->setWordWrap(true);
    layout->addWidget(m_sentence);
    m_table->setModel(m_model);
    m_table->setObjectName(name + QStringLiteral("Rows"));
    m_table->setAccessibleName(accessible);
    m_text->setReadOnly(true);
    m_text->setObjectName(name + QStringLiteral("Text"));
    m_text->setAccessibleName(tr("Whole text of the chosen row"));
    m_text->setTabChangesFocus(true);
    m_split->setHandleWidth(1);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(m_table);
    m_split->addWidget(m_text);
    m_split->setStretchFactor(0, 1);
    m_split->setSizes({400, 130});
    layout->addWidget(m_split, 1);
    layout->addStretch(0);
    m_split->hide();
    connect(m_table->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex& row) { showText(row.row()); });
}

const Table& RowsView::table() const { return m_model->table(); }

void RowsView::setRows(const RowsWithTexts& rows, const QString& sentence) {
    m_texts = rows.texts;
    m_model->setTable(rows.table);
    m_table->fitColumns(widest_column, !rows.table.columns.empty() && rows.table.columns.back().kind == ColumnKind::text);
    m_split->setVisible(!m_texts.isEmpty());
    m_sentence->setText(sentence);
    m_sentence->setVisible(!sentence.isEmpty());
    if (m_texts.isEmpty())
        showText(-1);
    else
        m_table->setCurrentIndex(m_model->index(0, 0));
}

void RowsView::clear(const QString& sentence) { setRows({}, sentence); }

void RowsView::showText(int row) { m_text->setPlainText(row >= 0 && row < m_texts.size() ? m_texts[row] : QString()); }

}  // namespace faceter::desktop
