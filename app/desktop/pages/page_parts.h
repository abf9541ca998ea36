#pragma once
#include <initializer_list>

#include "workspace/store_query.h"

class QComboBox;
class QMenu;

namespace faceter::desktop {

/// What pages that show what the store answers are put together from.

/// A page's title, and at its right `actions` with the page's choices and the menu that exports. Objects are named after `page`.
QWidget* pageHead(const QString& page, const QString& title, QWidget* actions, std::initializer_list<QComboBox*> choices, QMenu* exports);

/// Lets `loading` say `text` once the answer to `query` is late.
void sayWhenLate(QWidget* loading, const QString& text, StoreQueryBase* query);

}  // namespace faceter::desktop
