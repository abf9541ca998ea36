#include "widgets/labels.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QResizeEvent>
#include <QToolButton>
#include <QVBoxLayout>

#include "figure/elided_name.h"
#include "theme/theme.h"

namespace faceter::desktop {

namespace {

class WrappedLabel : public QLabel {
  public:
    explicit WrappedLabel(QWidget* parent) : QLabel(parent) { setWordWrap(true); }
    QSize minimumSizeHint() const override {
        const QSize least = QLabel::minimumSizeHint();
        return isVisible() ? least.expandedTo({0, heightForWidth(width())}) : least;
    }

  protected:
    void resizeEvent(QResizeEvent* event) override {
        QLabel::resizeEvent(event);
        if (event->size().width() != event->oldSize().width()) updateGeometry();
    }
    void showEvent(QShowEvent* event) override {
        QLabel::showEvent(event);
        updateGeometry();
    }
};

QLabel* plain(QLabel* label, const QString& text) {
    label->setTextFormat(Qt::PlainText);
    label->setText(text);
    return label;
}

QLabel* secondary(QLabel* label) {
    label->setProperty("role", QStringLiteral("secondary"));
    const auto paint = [label] {
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, Theme::instance().colours().secondary);
        label->setPalette(palette);
    };
    paint();
    QObject::connect(&Theme::instance(), &Theme::changed, label, paint);
    return label;
}

}  // namespace

QLabel* plainLabel(const QString& text, QWidget* parent) { return plain(new QLabel(parent), text); }
QLabel* secondaryLabel(const QString& text, QWidget* parent) { return secondary(plainLabel(text, parent)); }
QLabel* wrappedSecondaryLabel(const QString& text, QWidget* parent) { return secondary(plain(new WrappedLabel(parent), text)); }

QLabel* headingLabel(const QString& text, QWidget* parent) {
    QLabel* label = plainLabel(text, parent);
    label->setFont(Theme::headingFont());
    return label;
}

QLabel* titleLabel(const QString& text, QWidget* parent) {
    QLabel* label = plainLabel(text, parent);
    label->setFont(Theme::titleFont());
    return label;
}

/// By its own style sheet: the application's says what colour every widget's text has, and a palette does not speak against that.
void setSeriesColour(QLabel* label, int place) {
    const auto paint = [label, place] {
        label->setStyleSheet(QStringLiteral("color: %1;").arg(Theme::instance().colours().seriesText(place).name()));
    };
    paint();
    QObject::connect(&Theme::instance(), &Theme::changed, label, paint);
}

ElidedLabel::ElidedLabel(const QString& text, Qt::TextElideMode mode, QWidget* parent) : QLabel(parent), m_mode(mode) {
    setTextFormat(Qt::PlainText);
    setAlignment(alignment() | Qt::AlignAbsolute);  // a name of Arabic or Hebrew stays beside its dot
    setFullText(text);
}

void ElidedLabel::setFullText(const QString& text) {
    m_text = text;
    setAccessibleName(text);
    elide();
    updateGeometry();
}

QSize ElidedLabel::minimumSizeHint() const { return {fontMetrics().averageCharWidth() * 3, fontMetrics().height()}; }
QSize ElidedLabel::sizeHint() const { return {fontMetrics().horizontalAdvance(m_text) + 2, fontMetrics().height()}; }
void ElidedLabel::resizeEvent(QResizeEvent*) { elide(); }

void ElidedLabel::elide() {
    const int room = std::max(width(), 10);
    const QString cut =
        m_mode == Qt::ElideMiddle ? elidedName(m_text, fontMetrics(), room) : fontMetrics().elidedText(m_text, m_mode, room);
    setToolTip(cut == m_text ? QString() : m_text.toHtmlEscaped());
    if (cut != text()) setText(cut);
}

EmptyState::EmptyState(const QString& title, const QString& text, const QString& button, QWidget* parent)
    : QWidget(parent), m_title(headingLabel(title)), m_text(secondaryLabel(text)) {
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(8);
    layout->addStretch(2);
    layout->addWidget(m_title, 0, Qt::AlignHCenter);
    m_text->setWordWrap(true);
    m_text->setAlignment(Qt::AlignHCenter);
    m_text->setMaximumWidth(520);
    auto* row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(m_text, 8);
    row->addStretch(1);
    layout->addLayout(row);
    if (!button.isEmpty()) {
        auto* action = new QPushButton(button);
        action->setProperty("primary", true);
        action->setObjectName(QStringLiteral("emptyStateButton"));
        connect(action, &QPushButton::clicked, this, &EmptyState::clicked);
        layout->addSpacing(8);
        layout->addWidget(action, 0, Qt::AlignHCenter);
    }
    layout->addStretch(3);
}

void EmptyState::setText(const QString& title, const QString& text) {
    m_title->setText(title);
    m_text->setText(text);
}

ErrorBar::ErrorBar(QWidget* parent) : QWidget(parent), m_label(plainLabel()) {
    setObjectName(QStringLiteral("errorBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(12, 6, 6, 6);
    m_label->setWordWrap(true);
    m_label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    layout->addWidget(m_label, 1);
    auto* copy = new QPushButton(tr("Copy details"));
    connect(copy, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_message); });
    layout->addWidget(copy);
    auto* close = new QPushButton(tr("Dismiss"));
    connect(close, &QPushButton::clicked, this, [this] { setMessage({}); });
    layout->addWidget(close);
    hide();
}

void ErrorBar::setMessage(const QString& message) {
    m_message = message;
    const QStringList lines = message.split(QLatin1Char('\n'));
    m_label->setText(lines.size() > 4 ? lines.mid(0, 4).join(QLatin1Char('\n')) + QStringLiteral("\n…") : message);
    setVisible(!message.isEmpty());
}

}  // namespace faceter::desktop
