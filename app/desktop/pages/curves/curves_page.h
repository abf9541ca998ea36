#pragma once
#include <QTimer>

#include "curves/curve_data.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QSlider;
class QStackedWidget;
class QToolButton;

namespace faceter::desktop {

class CursorLink;
class CurvePanel;
class PanelBoard;
class SavedViews;
struct PanelSpec;

/// Any series of the shown groups, one or several a panel, over steps, examples, tokens or time, with a band over seeds, smoothing, log
/// axes and linked cursors. What stands on the board is kept as a view of the project, by a name.
class CurvesPage : public Page {
    Q_OBJECT
  public:
    explicit CurvesPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override;
    void shown() override;

  private:
    enum { empty_index, board_index, loading_index, bare_index };  // of the stack
    void buildBar(class QVBoxLayout* layout);
    void clear();
    std::function<std::vector<std::string>(Store&)> nameQuestion() const;
    void askNames();
    void takeNames(const QStringList& names);
    /// Panels whose patterns stay keep what was zoomed in them.
    void setPanels(const QList<PanelSpec>& specs);
    CurvePanel* makePanel(const PanelSpec& spec);
    void drop(CurvePanel* panel);
    void close(CurvePanel* panel);
    void move(CurvePanel* panel, CurvePanel* place);
    /// By a person: from now on the page no longer chooses by itself.
    void addPanel(const QStringList& patterns);
    void takeChoice();
    void takeFocus();
    void showBoard();
    void showMatches();
    CurvePanel* panelOf(const QString& name) const;
    void sendRequests();
    void refreshGrowing();
    CurveRequest request() const;
    std::vector<CurveGroup> shownCurves() const;
    void fillSeriesMenu();
    void fillViewsMenu(QMenu* menu);
    void askToKeepView();

    StoreQuery<std::vector<std::string>>* m_query;
    QStringList m_names;
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
    QLineEdit* m_pattern;
    QLabel* m_patternProblem;
    SavedViews* m_views;
    QStackedWidget* m_stack;
    QLabel* m_loading;
    PanelBoard* m_board;
    QTimer m_growing;
    int m_grown = 0;         ///< times that it has asked
    bool m_onlyNew = false;  ///< the names are asked for in case that there are others
};

}  // namespace faceter::desktop
