#pragma once
#include <QAbstractTableModel>
#include <memory>

#include "pages/compare/compare_data.h"

namespace faceter::desktop {

/// Task types and data sets down, groups across, then published columns. A cell's display text is what is copied: "64.10 +2.88***".
class CompareModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// Parts of a cell, for the delegate that puts them on their places.
    enum Role { valueRole = Qt::UserRole + 1, deltaRole, starsRole, significantRole, bestRole, secondaryRole, meanRole, countRole };
    static constexpr int firstGroup = 2;

    explicit CompareModel(QObject* parent = nullptr);
    void setView(std::shared_ptr<const Comparison> comparison, std::shared_ptr<const ComparisonView> view, std::vector<int> colours);
    void setPublished(std::vector<PublishedColumn> columns);
    const std::vector<PublishedColumn>& published() const { return m_published; }
    const ComparedRow* row(int row) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    int groupOf(int column) const;      // -1: none
    int publishedOf(int column) const;  // -1: none
    QVariant groupData(const ComparedRow& row, const ComparedValue& value, int role) const;
    QVariant publishedData(const ComparedRow& row, const PublishedColumn& column, int role) const;
    QString namesText(const ComparedRow& row, int column, bool repeated) const;
    QString toolTip(const ComparedRow& row, const ComparedValue& value) const;

    std::shared_ptr<const Comparison> m_comparison;
    std::shared_ptr<const ComparisonView> m_view;
    std::vector<int> m_colours;
    std::vector<PublishedColumn> m_published;
};

}  // namespace faceter::desktop
