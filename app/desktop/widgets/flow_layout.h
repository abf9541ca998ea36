#pragma once
#include <QLayout>

namespace faceter::desktop {

/// Widgets in a row that goes on below where the width ends: bars of controls on narrow windows.
class FlowLayout : public QLayout {
  public:
    explicit FlowLayout(QWidget* parent = nullptr, int spacing = 8);
    ~FlowLayout() override;
    /// One that takes what its row leaves, and has its smallest width before a row ends for it.
    void addStretched(QWidget* widget);
    void addItem(QLayoutItem* item) override { m_items.append(item); }
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int index) const override { return m_items.value(index); }
    QLayoutItem* takeAt(int index) override { return index >= 0 && index < m_items.size() ? m_items.takeAt(index) : nullptr; }
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
    void setGeometry(const QRect& rect) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;

  private:
    int place(const QRect& rect, bool move) const;
    QList<QLayoutItem*> m_items;
};

}  // namespace faceter::desktop
