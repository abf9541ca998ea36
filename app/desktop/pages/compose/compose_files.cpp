#include <QCloseEvent>
#include <QDir>
#include <QFileDialog>
#include <QMessageBox>

#include "actions/run_actions.h"
#include "common/file.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/disk_notice.h"
#include "pages/compose/estimate_panel.h"
#include "pages/compose/launch_bar.h"
#include "pages/compose/project_dialog.h"
#include "pages/compose/run_list_model.h"
#include "pages/compose/template_text.h"
#include "pages/compose/yaml_editor.h"
#include "record/run_directory.h"
#include "widgets/labels.h"
#include "window/navigator.h"

// Opening, saving and launching.

namespace faceter::desktop {
namespace {

/// Keeps a page's window open while texts are on their way to their files: who closes it has it closed when they have arrived. One that
/// could not be saved stays in sight.
class OpenWhileWriting : public QObject {
  public:
    explicit OpenWhileWriting(Page& page) : QObject(&page), m_workspace(page.workspace()), m_window(page.window()) {
        m_window->installEventFilter(this);
    }
    static OpenWhileWriting* of(const Page& page) {
        for (QObject* child : page.children())
            if (auto* open = dynamic_cast<OpenWhileWriting*>(child)) return open;
        return nullptr;
    }
    void fail(const QString& message) { m_failed = message; }
    void end() {
        m_window->removeEventFilter(this);
        if (m_closing) m_workspace.complain(m_failed);
        if (m_closing && m_failed.isEmpty()) QMetaObject::invokeMethod(m_window, &QWidget::close, Qt::QueuedConnection);
        delete this;
    }
    bool eventFilter(QObject* object, QEvent* event) override {
        if (object != m_window || event->type() != QEvent::Close) return QObject::eventFilter(object, event);
        m_closing = true;
        event->ignore();
        m_workspace.complain(QObject::tr("The window closes when the experiment has been saved."));
        return true;
    }

  private:
    Workspace& m_workspace;
    QWidget* m_window;
    QString m_failed;
    bool m_closing = false;
};

}  // namespace

void ComposePage::open(const QString& file) {
    m_editor->setFocus(Qt::OtherFocusReason);
    askAboutChanges([this, file] {
        if (!file.isEmpty()) return load(file);
        ++m_asked;
        m_runModel->tickAll();
        m_document.reset(QString::fromUtf8(template_text), {});
    });
}

void ComposePage::askAboutChanges(const std::function<void()>& then) {
    if (!m_document.text().isModified()) return then();
    auto* box = new QMessageBox(QMessageBox::Question, tr("Unsaved changes"), tr("The experiment has changes that are not saved."),
                                QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box->setObjectName(QStringLiteral("unsavedDialog"));
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    connect(box, &QMessageBox::buttonClicked, this, [this, box, then](QAbstractButton* button) {
        const auto chosen = box->standardButton(button);
        if (chosen == QMessageBox::Save) save(then);
        if (chosen == QMessageBox::Discard) then();
    });
    box->open();
}

/// What was asked for last is shown; who has typed while a slow disk gave it is asked again.
void ComposePage::load(const QString& file) {
    ++m_loading;
    ProjectSession::background([path = file.toStdString()] { return readExperiment(path); })
        .then(this,
              [this, file, asked = ++m_asked, before = m_document.plainText()](const std::string& text) {
                  --m_loading;
                  if (asked != m_asked) return;
                  const auto take = [this, file, text] {
                      m_error->setMessage({});
                      m_runModel->tickAll();
                      m_document.reset(QString::fromStdString(text), file);
                      m_disk->setKnown(DiskNotice::fingerprint(text));
                  };
                  if (m_document.plainText() == before) return take();
                  askAboutChanges(take);
              })
        .onFailed([this](const std::exception& error) {
            --m_loading;
            m_error->setMessage(QString::fromUtf8(error.what()));
        });
}

void ComposePage::chooseAndOpen() {
    const QString file = QFileDialog::getOpenFileName(this, tr("Open an experiment"), {}, tr("Experiments (*.yaml *.yml)"));
    if (!file.isEmpty()) open(file);
}

void ComposePage::save(const std::function<void()>& then) {
    if (m_document.file().isEmpty()) return saveAs(then);
    if (m_disk->isUndecided()) return askAboutTheirs(then);
    write(m_document.file(), then);
}

/// Who saves by the keyboard may not have seen the notice.
void ComposePage::askAboutTheirs(const std::function<void()>& then) {
    auto* box = new QMessageBox(QMessageBox::Warning, tr("Changed by another program"),
                                tr("%1 was changed by another program. Saving writes what is here over that.").arg(m_document.file()),
                                QMessageBox::Save | QMessageBox::Cancel, this);
    box->setObjectName(QStringLiteral("theirsDialog"));
    box->setTextFormat(Qt::PlainText);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setDefaultButton(QMessageBox::Cancel);
    connect(box, &QMessageBox::buttonClicked, this, [this, box, then, file = m_document.file()](QAbstractButton* button) {
        if (box->standardButton(button) == QMessageBox::Save && file == m_document.file()) write(file, then);
    });
    box->open();
}

void ComposePage::saveAs(const std::function<void()>& then) {
    const auto& experiment = m_document.report().experiment;
    const QString name = QString::fromStdString(safe_file_name(experiment ? experiment->name() : "experiment")) + QStringLiteral(".yaml");
    const ProjectSession* session = workspace().session();
    const QString folder = session ? QString::fromStdString(session->folder().string()) : QDir::homePath();
    auto* dialog = new QFileDialog(this, tr("Save the experiment"), folder, tr("Experiments (*.yaml *.yml)"));
    dialog->setObjectName(QStringLiteral("saveDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("yaml"));
    dialog->selectFile(name);
    connect(dialog, &QFileDialog::fileSelected, this, [this, then](const QString& file) { write(file, then); });
    dialog->open();
}

/// One after the other: on a slow disk, too, what was saved last is what stays.
void ComposePage::write(const QString& file, const std::function<void()>& then) {
    m_writes.append({file, m_document.plainText(), m_document.opened(), then});
    if (m_writes.size() > 1) return;
    new OpenWhileWriting(*this);
    writeNext();
}

void ComposePage::writeNext() {
    if (m_writes.isEmpty()) return OpenWhileWriting::of(*this)->end();
    ProjectSession::background([path = m_writes.first().file.toStdString(), bytes = m_writes.first().text.toStdString()] {
        write_file_atomic(path, bytes);
        return true;
    })
        .then(this,
              [this](bool) {
                  const Write done = m_writes.takeFirst();
                  writeNext();
                  takeWritten(done);
              })
        .onFailed([this](const std::exception& error) {
            m_writes.removeFirst();
            m_error->setMessage(QString::fromUtf8(error.what()));
            OpenWhileWriting::of(*this)->fail(m_error->message());
            writeNext();
        });
}

/// What is typed while it is written stays unsaved, and is asked about again; what was opened meanwhile is another experiment, of another
/// file, and was asked for later.
void ComposePage::takeWritten(const Write& write) {
    workspace().say(tr("%1 saved").arg(write.file));
    if (write.opened != m_document.opened()) return;
    m_error->setMessage({});
    if (m_document.plainText() == write.text) m_document.text().setModified(false);
    m_document.setFile(write.file);
    m_disk->setKnown(DiskNotice::fingerprint(write.text.toStdString()));
    if (write.then) askAboutChanges(write.then);
}

/// What stands there when the button is pressed; while it is being checked, when that is done.
void ComposePage::launch() {
    if (m_document.isChecked()) return launchChecked();
    m_launchRevision = m_document.revision();
    workspace().say(tr("Starts when the experiment has been checked"));
}

void ComposePage::launchChecked() {
    const auto experiment = m_document.report().experiment;
    if (!experiment) return m_error->setMessage(tr("The experiment was not started: it has problems to mend first."));
    if (m_runModel->ticked().empty()) return m_error->setMessage(tr("Nothing was started: no run is ticked."));
    if (workspace().session()) return startRuns(experiment);
    auto* dialog = new ProjectDialog(QString::fromStdString(safe_file_name(experiment->name())), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog, experiment] { launchInto(dialog->folder(), experiment); });
    dialog->open();
}

/// With what was estimated of them, so that it can be held against what they take.
void ComposePage::startRuns(const std::shared_ptr<const Experiment>& experiment) {
    LaunchPlace place = m_launch->place();
    place.forecasts = m_estimate->forecasts();
    workspace().actions().launch(experiment, m_document.smoke(), place);
}

/// Makes the project and starts the runs there. The experiment is the one that was checked when the button was pressed.
void ComposePage::launchInto(const QString& folder, const std::shared_ptr<const Experiment>& experiment) {
    ProjectSession::background([path = folder.toStdString()] {
        const Project made(path, true);
        return true;
    })
        .then(this,
              [this, folder, experiment](bool) {
                  rememberProject(folder);
                  workspace().openProject(folder.toStdString());
                  startRuns(experiment);
              })
        .onFailed([this](const std::exception& error) { m_error->setMessage(QString::fromUtf8(error.what())); });
}

}  // namespace faceter::desktop
