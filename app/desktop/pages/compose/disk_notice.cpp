#include "pages/compose/disk_notice.h"

#include <QDir>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QPushButton>

#include "common/hash.h"
#include "project/project_session.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int pause_ms = 200;  // who writes in several parts is given the time

}  // namespace

DiskNotice::DiskNotice(ExperimentDocument& document, QWidget* parent)
    : QWidget(parent),
      m_document(document),
      m_text(new ElidedLabel({}, Qt::ElideMiddle)),
      m_reload(new QPushButton(tr("Reload"))),
      m_keep(new QPushButton(tr("Keep mine"))) {
    setObjectName(QStringLiteral("diskNotice"));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    m_text->setObjectName(QStringLiteral("diskNoticeText"));
    m_reload->setObjectName(QStringLiteral("reloadFromDisk"));
    m_reload->setToolTip(tr("Takes what lies on the disk; undo brings back what is here."));
    m_keep->setObjectName(QStringLiteral("keepMine"));
    m_keep->setToolTip(tr("Saving writes what is here over what lies on the disk."));
    layout->addWidget(m_text, 1);
    layout->addWidget(m_reload);
    layout->addWidget(m_keep);
    m_pause.setSingleShot(true);
    m_pause.setInterval(pause_ms);
    connect(&m_pause, &QTimer::timeout, this, &DiskNotice::look);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_pause, qOverload<>(&QTimer::start));
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, &m_pause, qOverload<>(&QTimer::start));
    connect(&m_document, &ExperimentDocument::fileChanged, this, &DiskNotice::watch);
    connect(qGuiApp, &QGuiApplication::applicationStateChanged, this, [this](Qt::ApplicationState state) {
        if (state == Qt::ApplicationActive) look();
    });
    connect(m_reload, &QPushButton::clicked, this, &DiskNotice::reload);
    connect(m_keep, &QPushButton::clicked, this, &DiskNotice::keep);
    hide();
}

QString DiskNotice::fingerprint(const std::string& bytes) { return QString::fromStdString(hash128(bytes).hex()); }

void DiskNotice::setKnown(const QString& fingerprint) {
    m_known = fingerprint;
    ++m_generation;
    hide();
    look();
}

/// The folder too: who writes by renaming puts another file in the place, which the watch of the old one does not follow.
void DiskNotice::watch() {
    if (!m_watcher.files().isEmpty()) m_watcher.removePaths(m_watcher.files());
    if (!m_watcher.directories().isEmpty()) m_watcher.removePaths(m_watcher.directories());
    ++m_generation;
    if (m_document.file().isEmpty()) {
        m_known.clear();
        hide();
        return;
    }
    if (QFileInfo::exists(m_document.file())) m_watcher.addPath(m_document.file());
    m_watcher.addPath(QFileInfo(m_document.file()).absolutePath());
}

DiskNotice::Found DiskNotice::read(const QString& file) {
    try {
        return {true, true, readExperiment(file.toStdString())};
    } catch (const std::exception&) {
        return {QFileInfo::exists(file), false, {}};  // there, but no experiment any more: too large, no UTF-8, a folder
    }
}

void DiskNotice::look() {
    if (m_looking || m_known.isEmpty() || m_document.file().isEmpty()) return;
    m_looking = true;
    ProjectSession::background([file = m_document.file()] {
        return read(file);
    }).then(this, [this, generation = m_generation](const Found& found) {
        m_looking = false;
        if (generation == m_generation)
            take(found);
        else
            look();  // it was read or written here meanwhile
    });
}

void DiskNotice::take(const Found& found) {
    if (m_known.isEmpty()) return;
    m_found = found;
    if (found.there && !m_watcher.files().contains(m_document.file())) m_watcher.addPath(m_document.file());
    const QString name = QDir::toNativeSeparators(m_document.file());
    m_text->setFullText(!found.there ? tr("%1 is gone; saving writes it again.").arg(name)
                        : !found.readable
                            ? tr("%1 is no text that can be read here (too large, or not UTF-8); saving writes over it.").arg(name)
                            : tr("%1 was changed by another program.").arg(name));
    m_reload->setVisible(found.readable);
    setVisible(!found.there || fingerprint(found.bytes) != m_known);
}

/// What lies there now: it may have been half written when it was noticed.
void DiskNotice::reload() {
    ProjectSession::background([file = m_document.file()] {
        return read(file);
    }).then(this, [this, generation = m_generation](const Found& found) {
        if (!found.readable || generation != m_generation) return look();
        m_document.reload(QString::fromStdString(found.bytes));
        setKnown(fingerprint(found.bytes));
    });
}

/// What is here differs from what lies there, and counts as not saved.
void DiskNotice::keep() {
    m_document.text().setModified(true);
    if (m_found.there)
        setKnown(fingerprint(m_found.bytes));
    else
        m_known.clear(), hide();
}

}  // namespace faceter::desktop
