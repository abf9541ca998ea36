// What every test of this folder and the gallery parse anyway.
#include <QtTest/QtTest>
#include <QtWidgets/QtWidgets>

#include "figure/qcustomplot_header.h"
