#pragma once
#include <QWidget>

namespace faceter::desktop {

class Workspace;

/// In place of a page while the store cannot be read: what is wrong, and what can be done. The run folders are the record; the store can
/// always be made again from them.
class StoreProblemPage : public QWidget {
    Q_OBJECT
  public:
    StoreProblemPage(Workspace& workspace, const QString& message, QWidget* parent = nullptr);
};

}  // namespace faceter::desktop
