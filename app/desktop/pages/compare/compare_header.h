#pragma once
#include <QHeaderView>

namespace faceter::desktop {

/// A header whose sections take the colour that the model says: a style sheet's colour would win over it otherwise.
class CompareHeader : public QHeaderView {
    Q_OBJECT
  public:
    explicit CompareHeader(QWidget* parent = nullptr);

  protected:
    void paintSection(QPainter* painter, const QRect& rect, int section) const override;
};

}  // namespace faceter::desktop
