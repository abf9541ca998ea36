#include "pages/compose/worker_panel.h"

#include <QHBoxLayout>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/labels.h"

namespace faceter::desktop {

WorkerPanel::WorkerPanel(ExperimentDocument& document, const QString& ask, const QString& hint, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_hint(hint),
      m_ask(new QPushButton(ask)),
      m_cancel(new QPushButton(tr("Cancel"))),
      m_progress(new QProgressBar),
      m_status(new ElidedLabel),
      m_error(new ErrorBar),
      m_bar(new QHBoxLayout),
      m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 6, 0, 0);
    m_column->setSpacing(6);
    m_bar->setSpacing(8);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(120, 4);
    m_status->setProperty("role", QStringLiteral("secondary"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_ask, m_cancel, m_progress}) m_bar->addWidget(widget);
    m_bar->addWidget(m_status, 1);
    m_column->addLayout(m_bar);
    m_column->addWidget(m_error);
    connect(m_ask, &QPushButton::clicked, this, &WorkerPanel::pressed);
    connect(m_cancel, &QPushButton::clicked, this, [this] {
        if (m_busy) m_call.cancel();
    });
    connect(&m_document, &ExperimentDocument::checked, this, &WorkerPanel::takeReport);
    setBusy(false);
}

WorkerPanel::~WorkerPanel() {
    if (m_busy) m_call.cancel();
}

void WorkerPanel::addToBar(QWidget* widget) { m_bar->insertWidget(m_bar->indexOf(m_ask), widget); }
void WorkerPanel::setStatus(const QString& text) { m_status->setFullText(text); }

void WorkerPanel::setBusy(bool busy) {
    m_busy = busy;
    m_cancel->setVisible(busy);
    m_progress->setVisible(busy);
    m_ask->setEnabled(!busy && m_document.report().experiment);
}

void WorkerPanel::takeReport() {
    const auto& experiment = m_document.report().experiment;
    if (experiment) takeExperiment(*experiment);
    setBusy(m_busy);
    if (m_busy || !m_error->message().isEmpty()) return;
    if (!experiment)
        setStatus(tr("Mend the experiment first."));
    else if (!hasAnswer())
        setStatus(m_hint);
    else if (m_askedRevision != m_document.report().revision)
        setStatus(tr("The experiment has changed since."));
}

void WorkerPanel::pressed() {
    const auto experiment = m_document.report().experiment;
    if (!experiment || m_busy) return;
    m_askedRevision = m_document.report().revision;
    m_error->setMessage({});
    setBusy(true);
    ask(*experiment);
}

void WorkerPanel::call(const QString& method, const Json& params, const QString& what, std::function<void(const Json&)> take) {
    m_progress->setRange(0, 0);
    setStatus(what);
    const QPointer<WorkerPanel> panel(this);
    m_call = WorkerClient::shared().request(method, params, [panel, what](const WorkerProgress& progress) {
        if (panel && panel->m_busy) panel->showProgress(what, progress);
    });
    // onFailed comes last: Qt 6.4's lets a cancelled call without a result through as if it had ended well, and onCanceled behind it never
    // hears of it.
    m_call.then(this, [take = std::move(take)](const WorkerAnswer& answer) { take(*answer); })
        .onCanceled(this, [this] { finish(tr("cancelled")); })
        .onFailed(this, [this](const std::exception& error) {
            finish({});
            m_error->setMessage(QString::fromUtf8(error.what()));
        });
}

void WorkerPanel::showProgress(const QString& what, const WorkerProgress& progress) {
    setStatus(what.isEmpty() ? progress.what : what + QStringLiteral(" · ") + progress.what);
    m_progress->setRange(0, static_cast<int>(progress.total));
    m_progress->setValue(static_cast<int>(progress.done));
}

void WorkerPanel::finish(const QString& status) {
    setBusy(false);
    setStatus(status);
}

}  // namespace faceter::desktop
