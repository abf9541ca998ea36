#pragma once
#include <QWidget>

#include "pages/compare/compare_data.h"

class QFormLayout;
class QVBoxLayout;

namespace faceter::desktop {

/// The page's part of the inspector: settings that differ between the groups, the test in words, test data seen in training, the runs'
/// notes.
class CompareInspector : public QWidget {
    Q_OBJECT
  public:
    explicit CompareInspector(QWidget* parent = nullptr);
    void show(const CompareData& data, const Comparison& comparison, const ComparisonView& view);
    void clear();

  private:
    void addHeading(const QString& text);
    /// A name in it that is cut, and the whole of it as tooltip.
    void addText(const QString& text, const QString& name = {});
    void addSettings(const CompareData& data, const Comparison& comparison);
    void addNotes(const std::vector<std::string>& notes);
    void addTest(const Comparison& comparison, const ComparisonView& view);

    QVBoxLayout* m_layout;
};

}  // namespace faceter::desktop
