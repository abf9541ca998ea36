#pragma once
// What nearly every file of the workbench includes: read once, so that a page compiles in seconds on a small machine.
// No header of this project may stand here. GCC knows a `#pragma once` header of a precompiled one by its contents; ccache calls two of
// them equal where only comments differ, and then every file that includes such a header defines all of it twice.
#include <QtConcurrent/QtConcurrentRun>
#include <QtCore/QtCore>
#include <QtGui/QtGui>
#include <QtWidgets/QtWidgets>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>
