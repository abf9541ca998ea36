#pragma once
#include <QDialog>

#include "pages/curves/panel_spec.h"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSlider;

namespace faceter::desktop {

/// What one panel shows, and its axes and smoothing where they are not the page's. What is changed is seen at once.
class PanelOptions : public QDialog {
    Q_OBJECT
  public:
    /// `pageSmoothing`, `pageLogY`: the page's choices, where the panel has none of its own.
    PanelOptions(const PanelSpec& spec, int pageSmoothing, bool pageLogY, QWidget* parent = nullptr);
    /// As it is filled in now.
    PanelSpec spec() const;

  Q_SIGNALS:
    void changed();

  private:
    void addScale(QFormLayout* form, QComboBox* box, const QString& label, const char* name, const std::optional<bool>& value);
    void addEnd(QFormLayout* form, QLineEdit* edit, const QString& label, const char* name, const std::optional<double>& value);
    QString problem() const;
    void showProblem(const QString& problem);
    void check();

    PanelSpec m_spec;  // what is not edited here
    bool m_pageLogY;
    QLineEdit* m_patterns;
    QLabel* m_problem;
    QCheckBox* m_ownSmoothing;
    QSlider* m_smoothing;
    QComboBox* m_logX;
    QComboBox* m_logY;
    QLineEdit* m_low;
    QLineEdit* m_high;
    QCheckBox* m_clipped;
};

}  // namespace faceter::desktop
