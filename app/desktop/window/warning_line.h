#pragma once
#include <QStringList>
#include <QWidget>

namespace faceter::desktop {

class ElidedLabel;
class Workspace;

/// What could not be taken in whole (torn journals, folders that are no runs): one quiet line that names the file, until it is dismissed or
/// over.
class WarningLine : public QWidget {
    Q_OBJECT
  public:
    explicit WarningLine(Workspace& workspace, QWidget* parent = nullptr);
    QStringList warnings() const { return m_warnings; }

  private:
    void add(const QStringList& warnings);
    void drop(const QStringList& warnings);
    void clear();
    void showWarnings();

    Workspace& m_workspace;
    QStringList m_warnings;
    ElidedLabel* m_text;
};

}  // namespace faceter::desktop
