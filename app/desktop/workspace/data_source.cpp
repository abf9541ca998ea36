#include "workspace/data_source.h"

#include "workspace/workspace.h"

namespace faceter::desktop {

DataSources::DataSources(Workspace& workspace) : QObject(&workspace), m_workspace(workspace) {}

DataSources& DataSources::of(Workspace& workspace) {
    if (auto* known = workspace.findChild<DataSources*>(QString(), Qt::FindDirectChildrenOnly)) return *known;
    return *new DataSources(workspace);
}

void DataSources::show(const DataSource& source) {
    m_source = source;
    m_workspace.requestPage(QStringLiteral("data"));
    Q_EMIT asked();
}

}  // namespace faceter::desktop
