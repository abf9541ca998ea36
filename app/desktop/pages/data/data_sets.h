#pragma once
#include <QStringList>
#include <vector>

#include "figure/table.h"

namespace faceter::desktop {

/// A data set that a run's settings name.
struct DataSetRef {
    QString name, task;  ///< task: of training data
    bool isTraining = true;
    std::size_t index = 0;  ///< place among its task's training data, or among the test data
    /// What the worker is asked about (app/worker/session/set_views.cpp), with the settings themselves.
    Json question(const Json& settings) const;
};

/// Training data by task, then test data.
std::vector<DataSetRef> dataSetsOf(const Json& settings);

/// Rows of a table, and of each the whole text that a line of a table cannot hold.
struct RowsWithTexts {
    Table table;
    QStringList texts;
};

// What the worker answered, as tables; a failure where it is not that.
Table cardTable(const Json& card);
RowsWithTexts exampleRows(const Json& answer);
RowsWithTexts duplicateRows(const Json& answer);
RowsWithTexts overlapRows(const Json& answer);
QString duplicatesText(const Json& answer);

}  // namespace faceter::desktop
