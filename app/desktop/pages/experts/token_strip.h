#pragma once
#include <QStringList>
#include <QWidget>
#include <vector>

#include "common/json.h"

namespace faceter::desktop {

/// What the live worker says of a text: its tokens, and the expert of each in every block that has experts.
struct TokenExperts {
    struct Block {
        int block = 0;
        std::vector<int> experts;           ///< of each token
        std::vector<double> probabilities;  ///< the router's for that expert; empty: there is no router
    };
    QStringList pieces;
    QString instruction, by;  ///< by: "token", "instruction" or "nothing"
    qsizetype numTokens = 0;  ///< of the whole text: more than pieces where the model reads its beginning alone
    int numExperts = 0;
    std::vector<Block> blocks;
    /// Errors (data): parts that do not belong together.
    static TokenExperts from(const Json& answer);
};

/// The tokens of a text one after another, each in the colour of its expert in the chosen block, with a bar a block below it. A click or
/// Left and Right choose a token, Up and Down the block; what the token goes through is the accessible description.
class TokenStrip : public QWidget {
    Q_OBJECT
  public:
    explicit TokenStrip(QWidget* parent = nullptr);
    void setTokens(const TokenExperts& tokens);
    const TokenExperts& tokens() const { return m_tokens; }
    int block() const { return m_block; }
    void setBlock(int block);
    int chosen() const { return m_chosen; }
    void choose(int token);
    /// Where a token stands.
    QRect placeOf(int token) const;
    /// "song: expert 2 in block 1 (0.61), expert 0 in block 3 (0.44)".
    QString textOf(int token) const;
    QSize sizeHint() const override { return {480, heightForWidth(480)}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

  Q_SIGNALS:
    void blockChosen(int block);
    void tokenChosen(int token);

  protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    int arrange(int width, std::vector<QRect>* places) const;
    int tokenHeight() const;
    int tokenAt(const QPoint& place) const;
    void paintToken(QPainter& painter, int token) const;
    void paintBars(QPainter& painter, int token) const;

    TokenExperts m_tokens;
    std::vector<QRect> m_places;
    int m_block = 0, m_chosen = 0;
};

}  // namespace faceter::desktop
