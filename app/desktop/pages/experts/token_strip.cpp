#include "pages/experts/token_strip.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "common/error.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int gap = 4, padding = 6, bar_height = 4, bar_gap = 1, narrowest = 22;

}  // namespace

TokenExperts TokenExperts::from(const Json& answer) {
    TokenExperts tokens;
    for (const Json& piece : answer.at("pieces")) tokens.pieces << qs(piece.get<std::string>());
    tokens.numTokens = answer.contains("num_tokens") ? answer["num_tokens"].get<qsizetype>() : tokens.pieces.size();
    tokens.instruction = qs(answer.at("instruction").get<std::string>());
    tokens.by = qs(answer.at("by").get<std::string>());
    tokens.numExperts = answer.at("num_experts").get<int>();
    for (const Json& json : answer.at("blocks")) {
        Block block{json.at("block").get<int>(), json.at("experts").get<std::vector<int>>(), {}};
        if (!json.at("probabilities").is_null()) block.probabilities = json["probabilities"].get<std::vector<double>>();
        const auto count = static_cast<std::size_t>(tokens.pieces.size());
        if (block.experts.size() != count || (!block.probabilities.empty() && block.probabilities.size() != count))
            throw data_error("the live worker's answer has {} tokens, and block {} another number of them", count, block.block);
        tokens.blocks.push_back(std::move(block));
    }
    return tokens;
}

TokenStrip::TokenStrip(QWidget* parent) : QWidget(parent) {
    setFocusPolicy(Qt::StrongFocus);
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Tokens of the text, coloured by expert"));
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
}

void TokenStrip::setTokens(const TokenExperts& tokens) {
    m_tokens = tokens;
    m_block = std::clamp(m_block, 0, std::max(0, static_cast<int>(m_tokens.blocks.size()) - 1));
    m_chosen = 0;
    arrange(width(), &m_places);
    setAccessibleDescription(textOf(0));
    updateGeometry();
    update();
}

void TokenStrip::setBlock(int block) {
    if (block < 0 || block >= static_cast<int>(m_tokens.blocks.size()) || block == m_block) return;
    m_block = block;
    update();
    Q_EMIT blockChosen(block);
}

void TokenStrip::choose(int token) {
    if (token < 0 || token >= m_tokens.pieces.size() || token == m_chosen) return;
    m_chosen = token;
    setAccessibleDescription(textOf(token));
    update();
    Q_EMIT tokenChosen(token);
}

int TokenStrip::tokenHeight() const {
    return QFontMetrics(Theme::plotFont()).height() + 8 + static_cast<int>(m_tokens.blocks.size()) * (bar_height + bar_gap);
}

/// Lays the tokens out in lines; returns the height that they take.
int TokenStrip::arrange(int width, std::vector<QRect>* places) const {
    const QFontMetrics metrics(Theme::plotFont());
    if (places) places->clear();
    int x = gap, y = gap;
    const int height = tokenHeight();
    for (const QString& piece : m_tokens.pieces) {
        const int wide =
            std::min(std::max(narrowest, metrics.horizontalAdvance(piece) + 2 * padding), std::max(narrowest, width - 2 * gap));
        if (x + wide + gap > width && x > gap) x = gap, y += height + gap;
        if (places) places->emplace_back(x, y, wide, height);
        x += wide + gap;
    }
    return y + height + gap;
}

int TokenStrip::heightForWidth(int width) const { return arrange(width, nullptr); }
QRect TokenStrip::placeOf(int token) const { return m_places.at(static_cast<std::size_t>(token)); }

QString TokenStrip::textOf(int token) const {
    if (token < 0 || token >= m_tokens.pieces.size()) return {};
    QStringList parts;
    for (const TokenExperts::Block& block : m_tokens.blocks) {
        const auto place = static_cast<std::size_t>(token);
        QString part = tr("expert %1 in block %2").arg(block.experts[place]).arg(block.block);
        if (!block.probabilities.empty()) part += QStringLiteral(" (%1)").arg(block.probabilities[place], 0, 'f', 2);
        parts << part;
    }
    return tr("%1: %2").arg(m_tokens.pieces[token], parts.isEmpty() ? tr("no block with experts") : parts.join(QStringLiteral(", ")));
}

void TokenStrip::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(Theme::plotFont());
    for (int token = 0; token < m_tokens.pieces.size(); ++token) paintToken(painter, token);
}

void TokenStrip::paintToken(QPainter& painter, int token) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QRect place = placeOf(token);
    const int bars = static_cast<int>(m_tokens.blocks.size()) * (bar_height + bar_gap);
    const QRect chip = place.adjusted(0, 0, 0, -bars - 1);
    QColor fill = colours.surface;
    if (!m_tokens.blocks.empty())
        fill = colours.series(m_tokens.blocks[static_cast<std::size_t>(m_block)].experts[static_cast<std::size_t>(token)]);
    const bool ringed = token == m_chosen;
    painter.setPen(ringed ? QPen(hasFocus() ? colours.accent : colours.text, 2) : QPen(colours.line, 1));
    painter.setBrush(fill);
    painter.drawRoundedRect(QRectF(chip).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setPen(m_tokens.blocks.empty() ? colours.text : ThemeColours::textOn(fill));
    painter.drawText(chip, Qt::AlignCenter,
                     painter.fontMetrics().elidedText(m_tokens.pieces[token], Qt::ElideMiddle, chip.width() - padding));
    paintBars(painter, token);
}

/// One a block from the first to the last; that of the chosen block runs the whole width.
void TokenStrip::paintBars(QPainter& painter, int token) const {
    const ThemeColours& colours = Theme::instance().colours();
    const QRect place = placeOf(token);
    const int count = static_cast<int>(m_tokens.blocks.size());
    painter.setPen(Qt::NoPen);
    for (int b = 0; b < count; ++b) {
        const int y = place.bottom() + 1 - (count - b) * (bar_height + bar_gap), indent = b == m_block ? 0 : 4;
        painter.setBrush(colours.series(m_tokens.blocks[static_cast<std::size_t>(b)].experts[static_cast<std::size_t>(token)]));
        painter.drawRect(QRect(place.left() + indent, y, place.width() - 2 * indent, bar_height));
    }
}

void TokenStrip::resizeEvent(QResizeEvent*) { arrange(width(), &m_places); }

int TokenStrip::tokenAt(const QPoint& place) const {
    for (std::size_t i = 0; i < m_places.size(); ++i)
        if (m_places[i].contains(place)) return static_cast<int>(i);
    return -1;
}

bool TokenStrip::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), textOf(tokenAt(help->pos())).toHtmlEscaped(), this);
    return true;
}

void TokenStrip::mousePressEvent(QMouseEvent* event) { choose(tokenAt(event->pos())); }

void TokenStrip::keyPressEvent(QKeyEvent* event) {
    switch (event->key()) {
        case Qt::Key_Left:
            return choose(m_chosen - 1);
        case Qt::Key_Right:
            return choose(m_chosen + 1);
        case Qt::Key_Up:
            return setBlock(m_block - 1);
        case Qt::Key_Down:
            return setBlock(m_block + 1);
        default:
            QWidget::keyPressEvent(event);
    }
}

}  // namespace faceter::desktop
