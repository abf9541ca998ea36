#pragma once
#include <QJsonObject>
#include <QWidget>

#include "pages/compare/compare_data.h"

class QComboBox;
class QLineEdit;
class QListWidget;

namespace faceter::desktop {

class FilterEdit;
class PopupPanel;

/// What is read beside the scores: values of series as rows ("loss:best"), the order of the groups, and which runs take part.
class WishBar : public QWidget {
    Q_OBJECT
  public:
    explicit WishBar(QWidget* parent = nullptr);
    /// Series that can be chosen, and what the filter may name.
    void setOffers(const std::vector<std::string>& series, std::shared_ptr<const FilterNames> names);
    CompareWish wish() const;
    bool hasFilter() const;
    bool isSettled() const;
    QJsonObject state() const;
    void restore(const QJsonObject& state);

  Q_SIGNALS:
    void changed();

  private:
    PopupPanel* buildChooser(class QToolButton* button);
    void fillSeries();
    void addValue(const QString& name);
    void search(const QString& text);
    void take();
    void fillOrders();

    std::vector<std::string> m_series;
    std::shared_ptr<const FilterNames> m_names;
    QStringList m_chosen;  ///< SeriesValue::text()
    QLineEdit* m_search;
    QListWidget* m_list;
    QComboBox* m_order;
    FilterEdit* m_filter;
};

}  // namespace faceter::desktop
