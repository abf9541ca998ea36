#pragma once
#include <QWidget>

#include "pages/compare/compare_data.h"

class QComboBox;
class QToolButton;

namespace faceter::desktop {

/// What is compared with what, and how: baseline, test, which seed, published columns, copy and export.
class CompareBar : public QWidget {
    Q_OBJECT
  public:
    explicit CompareBar(std::vector<PublishedTable> published, QWidget* parent = nullptr);

    /// Copy and export, for the page's head; owned by whoever takes it into a layout.
    QWidget* actions() const { return m_actions; }
    void setGroups(const Comparison& comparison, std::optional<std::size_t> baseline);
    int baseline() const;
    /// Where neither a test nor published figures have a say.
    void setBaselineOnly(bool only);
    CompareTest test() const;
    SeedValue value() const;
    /// All models of the chosen table, or those of one; nothing for "none".
    std::vector<PublishedColumn> published() const;
    QString publishedId() const;
    /// By name and id; unknown ones are left (another version wrote them).
    void restore(const QString& test, int value, const QString& published);

  Q_SIGNALS:
    void baselineChosen(int group);
    void choiceChanged();
    void publishedChanged();
    void copyAsked(faceter::TableFormat format);
    void exportAsked(faceter::ComparisonLayout layout, faceter::TableFormat format);

  private:
    void fillTests();
    void fillPublished();
    QToolButton* makeCopy();
    QToolButton* makeExport();

    std::vector<PublishedTable> m_tables;
    QWidget* m_actions;
    QComboBox* m_baseline;
    QComboBox* m_test;
    QComboBox* m_value;
    QComboBox* m_published;
};

}  // namespace faceter::desktop
