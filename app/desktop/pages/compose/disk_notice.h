#pragma once
#include <QFileSystemWatcher>
#include <QTimer>
#include <QWidget>

#include "pages/compose/experiment_document.h"

class QPushButton;

namespace faceter::desktop {

class ElidedLabel;

/// Notices that somebody else wrote the file that is being edited, and offers to reload it or to keep what is here. Told by the file
/// system, and looked at anew when the window comes back to the front (of another machine's changes no file system tells).
class DiskNotice : public QWidget {
    Q_OBJECT
  public:
    explicit DiskNotice(ExperimentDocument& document, QWidget* parent = nullptr);

    /// Fingerprint of what a file holds.
    static QString fingerprint(const std::string& bytes);
    /// The document's file holds this as far as is known here: it was just read or written. Empty: not known, nothing is compared.
    void setKnown(const QString& fingerprint);
    QString known() const { return m_known; }
    /// Another program's change was noticed, and nobody has said what is to be done with it.
    bool isUndecided() const { return m_found.there && !isHidden(); }
    void look();

  private:
    struct Found {
        bool there = false, readable = false;
        std::string bytes;
    };
    static Found read(const QString& file);
    void watch();
    void take(const Found& found);
    void reload();
    void keep();

    ExperimentDocument& m_document;
    QFileSystemWatcher m_watcher;
    QTimer m_pause;
    ElidedLabel* m_text;
    QPushButton* m_reload;
    QPushButton* m_keep;
    QString m_known;
    Found m_found;
    int m_generation = 0;  ///< of what is known
    bool m_looking = false;
};

}  // namespace faceter::desktop
