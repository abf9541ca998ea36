#pragma once
#include <QLabel>
#include <QPushButton>

namespace faceter::desktop {

/// Text from outside is never markup: every label of the workbench is made here, plain.
QLabel* plainLabel(const QString& text = {}, QWidget* parent = nullptr);
/// 12 px, in the secondary colour.
QLabel* secondaryLabel(const QString& text = {}, QWidget* parent = nullptr);
/// The same, wrapped. What stands round it is told how high it must be at the width that it has: a plain label asks for one line.
QLabel* wrappedSecondaryLabel(const QString& text = {}, QWidget* parent = nullptr);
/// 13 px, semibold.
QLabel* headingLabel(const QString& text, QWidget* parent = nullptr);
/// 18 px, semibold: a page's title.
QLabel* titleLabel(const QString& text, QWidget* parent = nullptr);
/// Gives a label the colour of a series' text, now and in every theme.
void setSeriesColour(QLabel* label, int place);

/// A label that cuts its text with an ellipsis instead of asking for room; the tooltip holds all of it.
class ElidedLabel : public QLabel {
    Q_OBJECT
  public:
    explicit ElidedLabel(const QString& text = {}, Qt::TextElideMode mode = Qt::ElideRight, QWidget* parent = nullptr);
    void setFullText(const QString& text);
    QString fullText() const { return m_text; }
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void elide();
    QString m_text;
    Qt::TextElideMode m_mode;
};

/// What an empty page says: what would be here, and the one button that gets it (null where there is none).
class EmptyState : public QWidget {
    Q_OBJECT
  public:
    EmptyState(const QString& title, const QString& text, const QString& button = {}, QWidget* parent = nullptr);
    void setText(const QString& title, const QString& text);
  Q_SIGNALS:
    void clicked();

  private:
    QLabel* m_title;
    QLabel* m_text;
};

/// An error where it happened: the sentence and "Copy details". Hidden while it is empty.
class ErrorBar : public QWidget {
    Q_OBJECT
  public:
    explicit ErrorBar(QWidget* parent = nullptr);
    void setMessage(const QString& message);
    QString message() const { return m_message; }

  private:
    QLabel* m_label;
    QString m_message;
};

}  // namespace faceter::desktop
