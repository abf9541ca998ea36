#pragma once
#include <initializer_list>

#include "workspace/store_query.h"
#include "workspace/workspace.h"

class QComboBox;
class QMenu;

namespace faceter::desktop {

/// What the pages that show one run at a time are put together from.

struct TrainedRun {
    std::string run, label;  ///< id; its group and seed
    bool done = false;       ///< its model is here to be asked
};
/// The trained runs of the shown groups (start models are not trained), as many as a page reads at once.
std::vector<TrainedRun> shownTrainedRuns(const Workspace& workspace);

/// A page's title, and at its right `actions` with the page's choices and the menu that exports. Objects are named after `page`.
QWidget* pageHead(const QString& page, const QString& title, QWidget* actions, std::initializer_list<QComboBox*> choices, QMenu* exports);

/// How the choice of a run, and of a view, is named and sized.
void setUpRunChoice(const QString& page, QComboBox* run, const QString& accessibleName);
void setUpViewChoice(const QString& page, QComboBox* view, const QStringList& views);

/// Lets `loading` say `text` once the answer to `query` is late.
void sayWhenLate(QWidget* loading, const QString& text, StoreQueryBase* query);

}  // namespace faceter::desktop
