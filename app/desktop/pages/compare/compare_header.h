#pragma once
#include <QHeaderView>

namespace faceter::desktop {

/// A header whose sections take the colour that the model says: a style sheet's colour would win over it otherwise. A group's name that is
/// wider than its section goes on in a second line.
class CompareHeader : public QHeaderView {
    Q_OBJECT
  public:
    explicit CompareHeader(QWidget* parent = nullptr);
    /// What stands in a section, a line each.
    QStringList linesOf(int section) const;

  protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
    QSize sectionSizeFromContents(int section) const override;

  private:
    QString countOf(int section) const;
    QFont nameFont() const;
};

}  // namespace faceter::desktop
