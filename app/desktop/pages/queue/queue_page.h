#pragma once
#include <QTimer>

#include "pages/page.h"
#include "pages/queue/queue_data.h"
#include "workspace/store_query.h"

class QLabel;
class QPushButton;
class QStackedWidget;

namespace faceter::desktop {

class DataTable;
class EmptyState;
class ErrorBar;
class QueueModel;

/// What runs, waits or runs elsewhere, how fast, until when and with how much memory against the forecast; the order of what waits, by drag
/// or keys; pause, stop, cancel, resume; and what is being launched just now.
class QueuePage : public Page {
    Q_OBJECT
  public:
    explicit QueuePage(Workspace& workspace);
    bool isReady() const override { return !m_query->isBusy(); }
    QStringList selectedRuns() const override;

  protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

  private:
    QWidget* makeHead();
    QWidget* makeActions();
    QPushButton* makeAction(const QString& text, const QString& name, const QString& tip, const std::function<void()>& act);
    void connectQuery();
    std::function<QueueDataPtr(Store&)> question() const;
    void clear();
    void take(const QueueDataPtr& data);
    void showLaunches();
    void showActions();
    QStringList chosen(const std::function<bool(const QueueRow&)>& wanted) const;
    void move(int by);
    void moveTo(const QString& run, int place);

    StoreQuery<QueueDataPtr>* m_query;
    QueueModel* m_model;
    DataTable* m_table;
    QLabel* m_summary;
    QLabel* m_launches;
    ErrorBar* m_error;
    QStackedWidget* m_stack;
    QWidget* m_blank;
    EmptyState* m_empty;
    QPushButton* m_pause;
    QPushButton* m_stop;
    QPushButton* m_resume;
    QPushButton* m_earlier;
    QPushButton* m_later;
    QTimer m_look;   ///< another program may pause or move as well
    QTimer m_clock;  ///< how long a launch has been under way
    QueueDataPtr m_data;
};

}  // namespace faceter::desktop
