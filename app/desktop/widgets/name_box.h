#pragma once
#include <QComboBox>
#include <QHelpEvent>
#include <QStyleOptionComboBox>
#include <QStylePainter>
#include <QToolTip>

#include "figure/elided_name.h"

namespace faceter::desktop {

/// A list of runs or groups whose shown one may be longer than the box: Qt cuts it at its end, without a sign and with the values that tell
/// the points of a sweep apart.
class NameBox : public QComboBox {
  public:
    using QComboBox::QComboBox;

    /// Qt 6.4 counts neither the pixels that it leaves beside the text nor that it clips there: the widest name would be cut.
    QSize sizeHint() const override { return QComboBox::sizeHint() + QSize(beside_text, 0); }
    QSize minimumSizeHint() const override { return QComboBox::minimumSizeHint() + QSize(beside_text, 0); }

    /// What stands in the box.
    QString shownText() const {
        QStyleOptionComboBox option;
        initStyleOption(&option);
        return shownText(option);
    }

    /// Words that all items begin with, as "Baseline: ": they stay whole, what stands behind them gives way.
    void setLead(const QString& lead) { m_lead = lead; }

  protected:
    /// The whole name, where it is cut and the box has nothing else to say.
    bool event(QEvent* event) override {
        if (event->type() != QEvent::ToolTip || !toolTip().isEmpty()) return QComboBox::event(event);
        const bool isWhole = shownText() == isolated(currentText());
        QToolTip::showText(static_cast<QHelpEvent*>(event)->globalPos(), isWhole ? QString() : currentText().toHtmlEscaped(), this);
        return true;
    }
    void paintEvent(QPaintEvent*) override {
        QStylePainter painter(this);
        painter.setPen(palette().color(QPalette::Text));
        QStyleOptionComboBox option;
        initStyleOption(&option);
        option.currentText = shownText(option);
        painter.drawComplexControl(QStyle::CC_ComboBox, option);
        painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    }

  private:
    static constexpr int beside_text = 3;  // two, and what a letter's width is rounded by
    QString shownText(const QStyleOptionComboBox& option) const {
        const QRect edit = style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
        const int icon = option.currentIcon.isNull() ? 0 : option.iconSize.width() + 4;
        const QFontMetricsF metrics{font()};
        const double room = edit.width() - icon - 2;
        const QString lead = option.currentText.startsWith(m_lead) ? m_lead : QString();
        return lead + elidedName(option.currentText.mid(lead.size()), metrics, room - metrics.horizontalAdvance(lead));
    }

    QString m_lead;
};

}  // namespace faceter::desktop
