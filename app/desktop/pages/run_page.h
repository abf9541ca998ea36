#pragma once
#include <memory>

#include "pages/page.h"
#include "pages/trained_run.h"
#include "workspace/store_query.h"

class QComboBox;
class QLabel;
class QMenu;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;

/// A page on one of the shown trained runs at a time, of which it has several views: the head with the choice of run and view and the menu
/// that exports, what is asked of the store, and what stands where there is nothing to show. A page names its views, fills them by the run
/// and says which of them have something.
class RunPage : public Page {
    Q_OBJECT
  public:
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;

  protected:
    struct Texts {
        QString id, title;  ///< objects are named after `id`
        QString subtitle;
        QString runs;     ///< what the choice of a run is for
        QString loading;  ///< while the store is read, once that takes long
    };
    struct Nothing {
        QString title, text;
    };
    RunPage(Workspace& workspace, const Texts& texts);
    void addView(const QString& title, QWidget* view);
    int viewIndex() const;
    void setViewIndex(int index);
    /// Last in a page's constructor.
    void start(StoreQueryBase* query);
    /// What the store has answered, or that it has failed: run and view are chosen anew.
    void showAnswer(const QString& problems);
    /// Whether this page shows it.
    bool isChosen(const TrainedRun& run) const;
    void setSubtitle(const QString& text);

    /// Those that can be chosen.
    virtual std::vector<TrainedRun> choices() const = 0;
    virtual bool hasData() const = 0;
    virtual bool isAsking() const = 0;
    /// Another project's runs must not stand under this one's name.
    virtual void forget() = 0;
    /// Fills the views by the chosen run.
    virtual void fillViews() = 0;
    virtual bool hasView(int view) const = 0;
    /// Whether the view is of the chosen run rather than of all.
    virtual bool isOfOneRun(int) const { return true; }
    /// Until a person chooses one: the first of these that has something. None: the first view.
    virtual std::vector<int> preferredViews() const { return {}; }
    /// Said in place of a view that has nothing.
    virtual Nothing nothing() const = 0;
    virtual void addExports(QMenu* menu) = 0;
    /// Whether what stands there grows while a shown run trains.
    virtual bool followsTraining() const { return false; }

  private:
    QWidget* makeHead(const Texts& texts);
    void setUpChoices(const Texts& texts);
    void clear();
    bool isTraining() const;
    void fillRuns();
    void showRun();
    void choosePreferred();
    void showView();
    void fillExportMenu(QMenu* menu);

    QComboBox* m_run;
    QComboBox* m_viewChoice;
    QWidget* m_actions;
    QLabel* m_subtitle;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_loading;
    EmptyState* m_empty;
    QString m_loadingText;
    std::vector<QWidget*> m_views;
    QString m_wantedRun;        // by a person: stays chosen where other runs are shown
    QString m_shownRun;         // the last one
    bool m_viewChosen = false;  // by a person
};

/// With `Run`'s data of each: `request` (TrainedRun) and what the page loads.
template <typename Run>
class RunPageOf : public RunPage {
  public:
    bool isReady() const override { return !m_query->isBusy(); }

  protected:
    using Runs = std::shared_ptr<const std::vector<Run>>;
    RunPageOf(Workspace& workspace, const Texts& texts)
        : RunPage(workspace, texts),
          m_query(new StoreQuery<Runs>(
              workspace, this, [this] { return question(); }, [this](const Runs& runs) { take(runs); })) {}
    /// Last in a page's constructor.
    void start() { RunPage::start(m_query); }
    const std::vector<Run>& runs() const { return *m_runs; }
    const Runs& sharedRuns() const { return m_runs; }
    /// Null: there is none.
    const Run* chosenRun() const {
        for (const Run& run : *m_runs)
            if (canBeChosen(run) && isChosen(run.request)) return &run;
        return nullptr;
    }
    /// What is asked on the store thread.
    virtual std::function<Runs(Store&)> question() const = 0;
    virtual const std::vector<std::string>& problemsOf(const Run& run) const = 0;
    virtual bool canBeChosen(const Run&) const { return true; }

  private:
    std::vector<TrainedRun> choices() const override {
        std::vector<TrainedRun> all;
        for (const Run& run : *m_runs)
            if (canBeChosen(run)) all.push_back(run.request);
        return all;
    }
    bool hasData() const override { return !m_runs->empty(); }
    bool isAsking() const override { return m_query->isBusy(); }
    void forget() override { take(std::make_shared<const std::vector<Run>>()); }
    void take(const Runs& runs) {
        m_runs = runs;
        QStringList problems;
        for (const Run& run : *m_runs)
            for (const std::string& problem : problemsOf(run)) problems << QString::fromStdString(problem);
        showAnswer(problems.join(QLatin1Char('\n')));
    }

    StoreQuery<Runs>* m_query;
    Runs m_runs = std::make_shared<const std::vector<Run>>();
};

}  // namespace faceter::desktop
