#pragma once
#include <initializer_list>

#include "workspace/store_query.h"

class QComboBox;
class QMenu;

namespace faceter::desktop {

/// What pages that show what the store answers are put together from.

/// A page's title, and at its right `actions` with the page's choices and the menu that exports. Objects are named after `page`.
QWidget* pageHead(const QString& page, const QString& title, QWidget* actions, std::initializer_list<QComboBox*> choices, QMenu* exports);

/// The keyboard goes to the first stop of Tab in `part`, the page's main list or plot; while that has none the page itself keeps it, and
/// calls this again when it has focus and something comes.
void focusPart(QWidget& page, QWidget* part);

/// Lets `loading` say `text` once the answer to `query` is late.
void sayWhenLate(QWidget* loading, const QString& text, StoreQueryBase* query);

}  // namespace faceter::desktop
