#pragma once
#include <QTimer>
#include <QWidget>
#include <functional>
#include <vector>

#include "pages/results/result_entry.h"

class QGridLayout;
class QLabel;
class QMenu;
class QScrollArea;

namespace faceter::desktop {

class FigureView;

/// One entry: a card for each run's figure or table, side by side; or figures of the same axes laid over each other. Cards stand there at
/// once, with the room that a figure takes; they are filled one a turn of the event loop.
class ResultView : public QWidget {
    Q_OBJECT
  public:
    explicit ResultView(QWidget* parent = nullptr);
    void clear();
    void show(const ResultEntry& entry, bool overlaid);
    /// An item for each format of what is shown; several runs have a menu each.
    void fillExportMenu(QMenu* menu);
    int cardCount() const { return static_cast<int>(m_cards.size()); }
    /// Every card is filled.
    bool isReady() const { return m_filled == m_cards.size(); }

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    struct Card {
        QString name;
        QWidget* frame = nullptr;
        FigureView* figure = nullptr;
        std::shared_ptr<const Table> table{};
        bool wide = false, legend = false;
        std::function<void(Card&)> fill{};
    };
    void addOverlay(const Figure& figure);
    void addDocument(const ResultDocument& document);
    void fillNext();
    static void fillDocument(Card& card, const ResultDocument& document);
    static void fillFigure(Card& card, const Figure& figure);
    static void addTable(QLayout* layout, const Table& table, const QString& run);
    static QLabel* addText(QLayout* layout, const QString& text, QLabel* label);
    static QWidget* makeFrame(const QString& heading, int colour);
    void layOut();
    void arrange();
    static void fill(QMenu* menu, QWidget* parent, const Card& card, const QString& entryName);

    QLabel* m_title;
    QLabel* m_subtitle;
    QScrollArea* m_scroll;
    QWidget* m_body;
    QGridLayout* m_grid;
    std::vector<Card> m_cards;
    std::size_t m_filled = 0;  ///< of the cards, from the first
    QTimer m_turn;
    QString m_entryName;
    int m_columns = 0;
};

}  // namespace faceter::desktop
