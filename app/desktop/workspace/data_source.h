#pragma once
#include <QObject>
#include <QString>
#include <memory>

#include "common/json.h"

namespace faceter::desktop {

class Workspace;

/// An experiment whose data sets a person wants to look at though none of its runs is there: that of Compose, or the one that a table would
/// make.
struct DataSource {
    QString title;
    Json settings;                ///< resolved settings of one run; null: there is none
    std::shared_ptr<void> files;  ///< a folder that holds what they name, removed with the last source that does; may be null
};

/// What page Data was last asked to show beside the project's runs; one a workspace.
class DataSources : public QObject {
    Q_OBJECT
  public:
    static DataSources& of(Workspace& workspace);
    const DataSource& source() const { return m_source; }
    /// Shows it on page Data.
    void show(const DataSource& source);

  Q_SIGNALS:
    void asked();

  private:
    explicit DataSources(Workspace& workspace);
    Workspace& m_workspace;
    DataSource m_source;
};

}  // namespace faceter::desktop
