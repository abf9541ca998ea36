#include "pages/experts/text_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "pages/experts/token_strip.h"
#include "project/runs_snapshot.h"
#include "widgets/colour_dot.h"
#include "widgets/data_table.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"

namespace faceter::desktop {
namespace {

constexpr int widest_column = 220;

/// How many tokens went to each expert, a row a block.
Table countsOf(const TokenExperts& tokens, const QString& caption, const QString& block, const QString& expert) {
    Table table;
    table.name = "token_experts";
    table.caption = caption.toStdString();
    table.add_column(block.toStdString(), ColumnKind::count);
    for (int e = 0; e < tokens.numExperts; ++e) table.add_column(expert.arg(e).toStdString(), ColumnKind::count);
    for (const TokenExperts::Block& one : tokens.blocks) {
        std::vector<Cell> cells{Cell::of(static_cast<double>(one.block))};
        for (int e = 0; e < tokens.numExperts; ++e)
            cells.push_back(Cell::of(static_cast<double>(std::count(one.experts.begin(), one.experts.end(), e))));
        table.add_row(std::move(cells));
    }
    return table;
}

}  // namespace

ExpertTextView::ExpertTextView(QWidget* parent)
    : QWidget(parent),
      m_query(new WorkerQuery(this)),
      m_text(new QLineEdit(tr("how do I rename many files at once"))),
      m_task(new QComboBox),
      m_block(new QComboBox),
      m_ask(new QPushButton(tr("Show"))),
      m_error(new ErrorBar),
      m_status(secondaryLabel()),
      m_chosen(plainLabel()),
      m_strip(new TokenStrip),
      m_legend(new QWidget),
      m_table(new DataTable),
      m_model(new TableModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(makeBar());
    for (QWidget* widget : std::initializer_list<QWidget*>{m_error, m_status, m_strip, m_chosen, m_legend, m_table})
        layout->addWidget(widget);
    layout->addStretch(1);
    m_status->setObjectName(QStringLiteral("expertsTextStatus"));
    m_status->setWordWrap(true);
    m_chosen->setObjectName(QStringLiteral("expertsChosenToken"));
    m_chosen->setWordWrap(true);
    m_strip->setObjectName(QStringLiteral("expertsTokens"));
    m_legend->setLayout(new FlowLayout);
    m_table->setModel(m_model);
    m_table->setObjectName(QStringLiteral("expertsTokenTable"));
    m_table->setAccessibleName(tr("Tokens of the text by block and expert"));
    m_table->hide();
    connect(m_strip, &TokenStrip::tokenChosen, this, [this](int token) { m_chosen->setText(m_strip->textOf(token)); });
    connect(m_strip, &TokenStrip::blockChosen, m_block, &QComboBox::setCurrentIndex);
    connect(m_block, &QComboBox::currentIndexChanged, m_strip, &TokenStrip::setBlock);
    connect(m_query, &WorkerQuery::answered, this, [this](const WorkerAnswer& answer) {
        try {
            take(*answer);
        } catch (const std::exception& error) {
            m_error->setMessage(QString::fromUtf8(error.what()));
        }
    });
    connect(m_query, &WorkerQuery::failed, m_error, &ErrorBar::setMessage);
    connect(m_query, &WorkerQuery::progressed, this, [this](const WorkerProgress& progress) { m_status->setText(progress.what); });
    connect(m_query, &WorkerQuery::busyChanged, this, &ExpertTextView::showBusy);
}

QWidget* ExpertTextView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_text->setObjectName(QStringLiteral("expertsText"));
    m_text->setAccessibleName(tr("Text whose tokens are shown by expert"));
    m_text->setClearButtonEnabled(true);
    m_task->setObjectName(QStringLiteral("expertsTextTask"));
    m_task->setAccessibleName(tr("Task that the text is embedded under"));
    m_task->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_block->setObjectName(QStringLiteral("expertsTextBlock"));
    m_block->setAccessibleName(tr("Block whose experts colour the tokens"));
    m_block->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_ask->setObjectName(QStringLiteral("expertsTextAsk"));
    layout->addWidget(m_text, 1);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_task, m_block, m_ask}) layout->addWidget(widget);
    connect(m_text, &QLineEdit::returnPressed, this, &ExpertTextView::ask);
    connect(m_ask, &QPushButton::clicked, this, &ExpertTextView::ask);
    connect(m_task, &QComboBox::currentIndexChanged, this, [this] {
        if (m_asked) ask();
    });
    return bar;
}

QString ExpertTextView::text() const { return m_text->text(); }
void ExpertTextView::setText(const QString& text) { m_text->setText(text); }

void ExpertTextView::setRun(const ExpertsRun* run) {
    const QString folder = run && run->request.isDone ? qs(run->folder) : QString();
    const QString task = m_task->currentText();
    {
        const QSignalBlocker quiet(m_task);
        m_task->clear();
        for (const std::string& one : run ? run->tasks : std::vector<std::string>{}) m_task->addItem(qs(one));
        m_task->setCurrentIndex(std::max(m_task->count() > 0 ? 0 : -1, m_task->findText(task)));
    }
    m_ask->setEnabled(!folder.isEmpty());
    if (folder == m_folder && !folder.isEmpty()) return;
    m_query->stop();
    m_folder = folder;
    m_error->setMessage({});
    take(Json{{"pieces", Json::array()}, {"instruction", ""}, {"by", "nothing"}, {"num_experts", 0}, {"blocks", Json::array()}});
    m_status->setText(folder.isEmpty()
                          ? tr("The run has no model to ask yet: wait until it is done.")
                          : tr("Type a text and press Enter: the live worker shows which expert each of its tokens goes through."));
    if (m_asked && !folder.isEmpty()) ask();
}

void ExpertTextView::ask() {
    if (m_folder.isEmpty() || m_text->text().trimmed().isEmpty()) return;
    m_asked = true;
    m_error->setMessage({});
    m_query->ask(
        QStringLiteral("token_experts"),
        {{"model", m_folder.toStdString()}, {"task", m_task->currentText().toStdString()}, {"text", m_text->text().toStdString()}});
}

void ExpertTextView::take(const Json& answer) {
    const TokenExperts tokens = TokenExperts::from(answer);
    m_strip->setTokens(tokens);
    m_chosen->setText(tokens.pieces.isEmpty() ? QString() : m_strip->textOf(0));
    showBlocks();
    showLegend();
    showTable();
    if (tokens.pieces.isEmpty()) return;
    const QString how = tokens.by == QStringLiteral("token")     ? tr("a router picks the expert of every token")
                        : tokens.by == QStringLiteral("nothing") ? tr("no expert: all texts go through the same weights")
                                                                 : tr("the instruction picks one expert for the whole text");
    m_status->setText(
        tr("%n token(s), instruction \"%1\": %2", nullptr, static_cast<int>(tokens.pieces.size())).arg(tokens.instruction, how));
}

void ExpertTextView::showBlocks() {
    const QSignalBlocker quiet(m_block);
    m_block->clear();
    for (const TokenExperts::Block& block : m_strip->tokens().blocks) m_block->addItem(tr("block %1").arg(block.block));
    m_block->setCurrentIndex(m_strip->tokens().blocks.empty() ? -1 : m_strip->block());
    m_block->setVisible(m_block->count() > 0);
}

void ExpertTextView::showLegend() {
    while (QLayoutItem* item = m_legend->layout()->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    std::set<int> used;
    for (const TokenExperts::Block& block : m_strip->tokens().blocks) used.insert(block.experts.begin(), block.experts.end());
    for (const int expert : used) {
        auto* entry = new QWidget;
        auto* layout = new QHBoxLayout(entry);
        layout->setContentsMargins(0, 0, 0, 0);
        layout->setSpacing(6);
        layout->addWidget(new ColourDot(expert));
        layout->addWidget(plainLabel(tr("expert %1").arg(expert)));
        m_legend->layout()->addWidget(entry);
    }
}

void ExpertTextView::showTable() {
    const TokenExperts& tokens = m_strip->tokens();
    m_table->setVisible(tokens.by == QStringLiteral("token"));
    if (!m_table->isVisibleTo(this)) return;
    m_model->setTable(countsOf(tokens, tr("Tokens by block and expert"), tr("block"), tr("expert %1")));
    m_table->fitColumns(widest_column);
    m_table->setHeightToRows();
}

void ExpertTextView::showBusy(bool busy) { m_ask->setText(busy ? tr("Asking…") : tr("Show")); }

}  // namespace faceter::desktop
