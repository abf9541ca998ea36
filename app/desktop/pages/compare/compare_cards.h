#pragma once
#include <QWidget>

#include "pages/compare/compare_data.h"

class QComboBox;
class QGridLayout;
class QLabel;

namespace faceter::desktop {

class FigureView;

/// Under the table: gains with intervals, wins and losses, one group against another, and the seeds and examples of the data set that is
/// chosen.
class CompareCards : public QWidget {
    Q_OBJECT
  public:
    explicit CompareCards(QWidget* parent = nullptr);
    void show(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view, const std::vector<int>& colours);
    /// Published gains as marks in the figure of gains.
    void setPublished(const std::vector<PublishedColumn>& columns);
    /// The data set of the last card; without examples its second figure is away. Empty: none is chosen.
    void showSet(const QString& set, const ExampleScores* examples);
    QString chosenA() const;
    QString chosenB() const;
    void choosePair(const QString& a, const QString& b);
    FigureView* gainView() const { return m_gain; }

  Q_SIGNALS:
    void pairChanged();

  private:
    void fillWins();
    void fillPairs();
    void drawScatter();
    void arrange();
    void resizeEvent(QResizeEvent* event) override;
    QWidget* makePairCard();
    QWidget* makeSetCard();

    std::shared_ptr<const Comparison> m_comparison;
    std::shared_ptr<const ComparisonView> m_view;
    std::vector<int> m_colours;
    QGridLayout* m_layout;
    FigureView* m_gain;
    FigureView* m_scatter;
    FigureView* m_seeds;
    FigureView* m_examples;
    QLabel* m_setHint;
    QWidget* m_setFigures;
    QWidget* m_wins;
    QGridLayout* m_winsGrid;
    QLabel* m_winsTitle;
    QLabel* m_tiesRule;
    QComboBox* m_a;
    QComboBox* m_b;
    QList<QWidget*> m_cards;
    int m_columns = 0;
    bool m_isGainWide = false;
};

}  // namespace faceter::desktop
