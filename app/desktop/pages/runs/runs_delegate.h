#pragma once
#include <QStyledItemDelegate>

namespace faceter::desktop {

/// Cells of the runs table: the run's colour and a group's arrow before the name, a dot and a thin progress bar for the state, numbers on
/// one decimal point whether a spread follows or not, "Resume" behind what stopped a run.
class RunsDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    explicit RunsDelegate(QObject* parent = nullptr) : QStyledItemDelegate(parent) {}
    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    /// Where a click opens or closes the group of a name cell.
    static QRect arrowRect(const QRect& cell);
    /// Where a click resumes the run; null where the cell offers nothing.
    static QRect resumeRect(const QStyleOptionViewItem& option, const QModelIndex& index);
    /// How wide a cell wants to be.
    static int wantedWidth(const QModelIndex& index, const QFontMetrics& usual, bool spreads);
    /// Where there is no room for them spreads stand in the tooltip alone.
    void setSpreadsShown(bool shown) { m_spreads = shown; }
    bool areSpreadsShown() const { return m_spreads; }

  private:
    bool m_spreads = true;
};

}  // namespace faceter::desktop
