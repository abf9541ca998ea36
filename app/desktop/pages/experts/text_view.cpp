#include "pages/experts/text_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <algorithm>
#include <limits>
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
    : TextQuestion({QStringLiteral("expertsText"),
                    QStringLiteral("token_experts"),
                    tr("Text whose tokens are shown by expert"),
                    tr("Task that the text is embedded under"),
                    {},
                    tr("Show"),
                    tr("Type a text and press Enter: the live worker shows which expert each of its tokens goes through.")},
                   parent),
      m_block(new QComboBox),
      m_chosen(plainLabel()),
      m_strip(new TokenStrip),
      m_legend(new QWidget),
      m_table(new DataTable),
      m_model(new TableModel(this)) {
    setText(tr("how do I rename many files at once"));
    m_block->setObjectName(QStringLiteral("expertsTextBlock"));
    m_block->setAccessibleName(tr("Block whose experts colour the tokens"));
    m_block->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    addToBar(m_block);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_strip, m_chosen, m_legend, m_table}) add(widget);
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
}

void ExpertTextView::setRun(const ExpertsRun* run) {
    setModel(run && run->request.isDone ? qs(run->folder) : QString(), run ? run->tasks : std::vector<std::string>{});
}

void ExpertTextView::hideAnswer() { showTokens({}); }

void ExpertTextView::take(const Json& answer) {
    const TokenExperts tokens = TokenExperts::from(answer);
    showTokens(tokens);
    if (tokens.pieces.isEmpty()) return;
    const QString how = tokens.by == QStringLiteral("token")     ? tr("a router picks the expert of every token")
                        : tokens.by == QStringLiteral("nothing") ? tr("no expert: all texts go through the same weights")
                                                                 : tr("the instruction picks one expert for the whole text");
    QString count = tokens.pieces.size() == 1 ? tr("1 token") : tr("%1 tokens").arg(tokens.pieces.size());
    if (tokens.numTokens > tokens.pieces.size())
        count = tr("the first %1 of %2 tokens, which are all that the model reads").arg(tokens.pieces.size()).arg(tokens.numTokens);
    setStatus(tr("%1, instruction \"%2\": %3").arg(count, tokens.instruction, how));
}

void ExpertTextView::showTokens(const TokenExperts& tokens) {
    m_strip->setTokens(tokens);
    m_chosen->setText(tokens.pieces.isEmpty() ? QString() : m_strip->textOf(0));
    showBlocks();
    showLegend();
    showTable();
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

Table ExpertTextView::tokenTable() const {
    const TokenExperts& tokens = m_strip->tokens();
    Table table;
    table.name = "tokens";
    table.caption = tr("Tokens of the text").toStdString();
    table.add_column("place", ColumnKind::count);
    table.add_column("token", ColumnKind::text);
    for (const char* name : {"block", "expert"}) table.add_column(name, ColumnKind::count);
    table.add_column("probability", ColumnKind::number, 4);
    for (qsizetype i = 0; i < tokens.pieces.size(); ++i)
        for (const TokenExperts::Block& block : tokens.blocks) {
            const auto at = static_cast<std::size_t>(i);
            table.add_row({Cell::of(static_cast<double>(i + 1)), Cell::of(tokens.pieces[i].toStdString()),
                           Cell::of(static_cast<double>(block.block)), Cell::of(static_cast<double>(block.experts[at])),
                           Cell::of(block.probabilities.empty() ? std::numeric_limits<double>::quiet_NaN() : block.probabilities[at])});
        }
    return table;
}

void ExpertTextView::showTable() {
    const TokenExperts& tokens = m_strip->tokens();
    m_table->setVisible(tokens.by == QStringLiteral("token"));
    if (!m_table->isVisibleTo(this)) return;
    m_model->setTable(countsOf(tokens, tr("Tokens by block and expert"), tr("block"), tr("expert %1")));
    m_table->fitColumns(widest_column);
    m_table->setHeightToRows();
}

}  // namespace faceter::desktop
