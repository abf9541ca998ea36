#pragma once
#include "compare/sweep.h"
#include "pages/page.h"
#include "pages/sweeps/sweeps_data.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QMenu;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class ParallelView;
class ReportCards;

/// What settings do to a score, over the ticked runs: a setting against the score, what each explains, parallel coordinates, and the
/// configurations from the best down with intervals over seeds.
class SweepsPage : public Page {
    Q_OBJECT
  public:
    explicit SweepsPage(Workspace& workspace);
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    void shown() override;
    bool isReady() const override { return !m_query->isBusy(); }
    const Sweep& sweep() const { return m_sweep; }

  private:
    QWidget* makeHead();
    QWidget* makeBody();
    void connectQuery();
    std::function<SweepsDataPtr(Store&)> question() const;
    void clear();
    void take(const SweepsDataPtr& data);
    void fillScores();
    void fillSettings();
    void showSweep();
    void showCards();
    void fillExportMenu(QMenu* menu);
    std::string scoreName() const;
    QString whyNothingExplains() const;

    StoreQuery<SweepsDataPtr>* m_query;
    QComboBox* m_score;
    QComboBox* m_setting;
    QWidget* m_actions;
    QLabel* m_subtitle;
    QLabel* m_left;
    QLabel* m_kept;
    QLabel* m_why;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_body;
    QWidget* m_loading;
    EmptyState* m_empty;
    ReportCards* m_cards;
    ParallelView* m_parallel;
    SweepsDataPtr m_data;
    Sweep m_sweep;
    QString m_wantedScore, m_wantedSetting;  // stay chosen where other runs are shown
};

}  // namespace faceter::desktop
