#pragma once
#include <QString>
#include <memory>

#include "common/lock_file.h"

namespace faceter::desktop {

/// Where a workbench keeps the state of its pages among the user's settings. One that is opened beside another has a place of its own, so
/// that neither writes over what is being composed in the other.
class StatePlace {
  public:
    /// The first place that nobody has; locks lie in `folder`.
    explicit StatePlace(const fs::path& folder);
    /// Of this process, for as long as it lives.
    static StatePlace& own();

    int number() const { return m_number; }
    /// "pages/compose"; of a second workbench "pages-2/compose".
    QString key(const QString& page) const { return keyAt(m_number, page); }
    /// What the page is restored from: its own state, else that of the first workbench. A draft that a workbench left which is not open any
    /// more comes where there is none here, and is kept no longer there.
    QByteArray state(const QString& page) const;

  private:
    static QString keyAt(int number, const QString& page);
    fs::path lockAt(int number) const;

    fs::path m_folder;
    std::unique_ptr<LockFile> m_lock;
    int m_number = 1;
};

}  // namespace faceter::desktop
