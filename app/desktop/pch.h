#pragma once
// What nearly every file of the workbench includes: read once, so that a page compiles in seconds on a small machine.
#include <QtConcurrent/QtConcurrentRun>
#include <QtCore/QtCore>
#include <QtGui/QtGui>
#include <QtWidgets/QtWidgets>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "figure/table.h"
#include "store/store.h"
