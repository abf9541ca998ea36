#pragma once
#include <QTimer>

#include "curves/curve_data.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QSlider;
class QStackedWidget;
class QToolButton;

namespace faceter::desktop {

class CursorLink;
class CurvePanel;

/// Any series of the shown groups: one panel each, over steps, examples, tokens or time, with a band over seeds, smoothing, log axes and
/// linked cursors.
class CurvesPage : public Page {
    Q_OBJECT
  public:
    explicit CurvesPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    void shown() override;

  private:
    void buildBar(class QVBoxLayout* layout);
    void clear();
    std::function<std::vector<std::string>(Store&)> nameQuestion() const;
    void askNames();
    void takeNames(const QStringList& names);
    void choose(const QStringList& series);
    void layOutPanels();
    void sendRequests();
    void refreshGrowing();
    CurveRequest request() const;
    std::vector<CurveGroup> shownCurves() const;
    void fillSeriesMenu();

    StoreQuery<std::vector<std::string>>* m_query;
    QStringList m_names, m_chosen;
    bool m_namesKnown = false, m_choiceMade = false;
    QList<CurvePanel*> m_panels;
    CursorLink* m_link;
    QLabel* m_subtitle;
    QComboBox* m_x;
    QSlider* m_smoothing;
    QLabel* m_smoothingValue;
    QCheckBox* m_seeds;
    QCheckBox* m_logX;
    QCheckBox* m_logY;
    QCheckBox* m_linkRanges;
    QToolButton* m_series;
    QStackedWidget* m_stack;
    QLabel* m_loading;
    QWidget* m_board;
    QGridLayout* m_grid;
    QTimer m_growing;
};

}  // namespace faceter::desktop
