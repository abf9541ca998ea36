#include "pages/experts/history_view.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QSlider>

#include "figure/figure_view.h"
#include "project/runs_snapshot.h"
#include "widgets/flow_layout.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int figure_height = 280;

QWidget* carded(FigureView* figure) {
    auto* card = new QFrame;
    card->setProperty("card", true);
    auto* layout = new QVBoxLayout(card);
    layout->setContentsMargins(2, 2, 2, 2);
    figure->setMinimumHeight(figure_height);
    layout->addWidget(figure);
    return card;
}

}  // namespace

ExpertHistoryView::ExpertHistoryView(QWidget* parent)
    : QWidget(parent),
      m_task(new QComboBox),
      m_block(new QComboBox),
      m_slider(new QSlider(Qt::Horizontal)),
      m_step(secondaryLabel()),
      m_load(new FigureView),
      m_curves(new FigureView),
      m_entropy(new FigureView),
      m_dropped(new FigureView),
      m_droppedCard(carded(m_dropped)) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(makeBar(), 0, 0, 1, 2);
    grid->addWidget(carded(m_load), 1, 0);
    grid->addWidget(carded(m_curves), 1, 1);
    grid->addWidget(carded(m_entropy), 2, 0);
    grid->addWidget(m_droppedCard, 2, 1);
    grid->setRowStretch(3, 1);
    for (int column = 0; column < 2; ++column) grid->setColumnStretch(column, 1);
    m_load->setObjectName(QStringLiteral("expertsLoad"));
    m_curves->setObjectName(QStringLiteral("expertsCurves"));
    m_entropy->setObjectName(QStringLiteral("expertsEntropy"));
    m_dropped->setObjectName(QStringLiteral("expertsDropped"));
    connect(m_task, &QComboBox::currentIndexChanged, this, &ExpertHistoryView::showTask);
    connect(m_block, &QComboBox::currentIndexChanged, this, &ExpertHistoryView::showBlock);
    connect(m_slider, &QSlider::valueChanged, this, [this](int value) {
        m_atEnd = value == m_slider->maximum();
        showStep();
    });
}

QWidget* ExpertHistoryView::makeBar() {
    auto* bar = new QWidget;
    auto* layout = new FlowLayout(bar);
    m_task->setObjectName(QStringLiteral("expertsTask"));
    m_task->setAccessibleName(tr("Steps of which task"));
    m_task->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_block->setObjectName(QStringLiteral("expertsBlock"));
    m_block->setAccessibleName(tr("Block whose load is drawn as curves"));
    m_block->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_slider->setObjectName(QStringLiteral("expertsStep"));
    m_slider->setAccessibleName(tr("Step whose load is shown"));
    m_step->setObjectName(QStringLiteral("expertsStepText"));
    layout->addWidget(m_task);
    layout->addStretched(m_slider);
    layout->addWidget(m_step);
    layout->addWidget(m_block);
    return bar;
}

std::vector<FigureView*> ExpertHistoryView::figures() const {
    std::vector<FigureView*> all{m_load, m_curves, m_entropy};
    if (m_history.hasDropped()) all.push_back(m_dropped);
    return all;
}

int ExpertHistoryView::task() const { return m_task->count() > 0 ? m_task->currentData().toInt() : ExpertHistory::several; }

void ExpertHistoryView::setHistory(const ExpertHistory& history) {
    m_history = history;
    fillChoices();
    m_droppedCard->setVisible(m_history.hasDropped());
    auto* grid = static_cast<QGridLayout*>(layout());
    QWidget* entropy = m_entropy->parentWidget();
    grid->removeWidget(entropy);
    grid->addWidget(entropy, 2, 0, 1, m_history.hasDropped() ? 1 : 2);  // alone it leaves no hole beside it
    showTask();
}

/// Tasks of which some step was alone: of the others nothing is known apart.
void ExpertHistoryView::fillChoices() {
    const QString task = m_task->currentText();
    const int block = m_block->currentIndex();
    const QSignalBlocker quietTask(m_task), quietBlock(m_block);
    m_task->clear();
    m_block->clear();
    m_task->addItem(tr("all tasks"), ExpertHistory::several);
    for (std::size_t t = 0; t < m_history.tasks.size(); ++t)
        if (!m_history.placesOf(static_cast<int>(t)).empty()) m_task->addItem(qs(m_history.tasks[t]), static_cast<int>(t));
    for (const ExpertHistory::Block& one : m_history.blocks) m_block->addItem(tr("block %1").arg(one.block));
    m_task->setCurrentIndex(std::max(0, m_task->findText(task)));
    m_block->setCurrentIndex(std::clamp(block, m_block->count() > 0 ? 0 : -1, m_block->count() - 1));
}

void ExpertHistoryView::showTask() {
    if (m_history.blocks.empty()) return;
    const int last = std::max(0, static_cast<int>(m_history.placesOf(task()).size()) - 1);
    {
        const QSignalBlocker quiet(m_slider);
        const int value = m_slider->value();
        m_slider->setRange(0, last);
        m_slider->setPageStep(std::max(1, last / 20));
        m_slider->setValue(m_atEnd ? last : std::min(value, last));
    }
    m_entropy->setFigure(entropyCurves(m_history, task()));
    if (m_history.hasDropped()) m_dropped->setFigure(droppedCurve(m_history, task()));
    showBlock();
    showStep();
}

void ExpertHistoryView::showBlock() {
    if (m_block->currentIndex() < 0) return;
    m_curves->setFigure(loadCurves(m_history, static_cast<std::size_t>(m_block->currentIndex()), task()));
}

void ExpertHistoryView::showStep() {
    if (m_history.blocks.empty()) return;
    const std::vector<std::size_t> places = m_history.placesOf(task());
    const auto last = static_cast<std::size_t>(m_slider->value());
    m_load->setFigure(loadFigure(m_history, task(), last), true);
    if (places.empty()) return;
    const QString text = tr("step %1 of %2").arg(m_history.steps[places[std::min(last, places.size() - 1)]]).arg(m_history.steps.back());
    m_step->setText(text);
    m_slider->setToolTip(text);
    m_curves->showCursor(static_cast<double>(m_history.steps[places[std::min(last, places.size() - 1)]]));
}

}  // namespace faceter::desktop
