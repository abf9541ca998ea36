#pragma once
#include <QFrame>

#include "pages/runs/curve_figure.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QStackedLayout;

namespace faceter::desktop {

class ElidedLabel;
class FigureView;

/// Below the table: one series of the chosen runs, mean and spread over seeds, by step. Follows runs that go on.
class CurveCard : public QFrame {
    Q_OBJECT
  public:
    explicit CurveCard(Workspace& workspace, QWidget* parent = nullptr);
    /// Draws these; `anew` where their points may have changed. Not `all`: there are more than can be told apart, and it says so.
    void show(const std::vector<CurveGroup>& groups, bool anew, bool all = true);
    void clear();
    QString series() const { return m_wanted; }
    void setSeries(const QString& name) { m_wanted = name; }
    bool isReady() const { return !m_query->isBusy(); }
    FigureView* view() const { return m_view; }

  private:
    void say(const QString& text);
    void take(const CurveAnswer& answer);

    StoreQuery<CurveAnswer>* m_query;
    QLabel* m_title;
    ElidedLabel* m_what;
    QComboBox* m_choice;
    QLabel* m_none;
    FigureView* m_view;
    QStackedLayout* m_stack;
    std::vector<CurveGroup> m_groups;
    QString m_wanted;
    std::string m_shown;               ///< CurveAnswer::series of the figure
    std::vector<std::string> m_drawn;  ///< series
    bool m_filling = false;
    bool m_asked = false;  ///< of the groups, none of them included
};

}  // namespace faceter::desktop
