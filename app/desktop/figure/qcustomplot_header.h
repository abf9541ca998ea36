#ifndef FACETER_QCUSTOMPLOT_HEADER_H
#define FACETER_QCUSTOMPLOT_HEADER_H
// QCustomPlot's header says `signals:` and `foreach`, words that QT_NO_KEYWORDS takes away. Include it through here only.
// A guard by name, as this header is precompiled (../pch.h says why `#pragma once` will not do).
#ifndef signals
#define signals Q_SIGNALS
#define foreach Q_FOREACH
#define FACETER_QT_WORDS_LENT
#endif
#include <qcustomplot.h>
#ifdef FACETER_QT_WORDS_LENT
#undef signals
#undef foreach
#undef FACETER_QT_WORDS_LENT
#endif
#endif
