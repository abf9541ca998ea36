#pragma once
#include <QFontMetrics>
#include <QString>

#include "pages/facets/facets_data.h"

namespace faceter::desktop {

/// Sentences and headings with the names of the picture's runs as nameInWords() has them.
QString namesInWords(QString text, const FacetsPicture& picture, const QFontMetrics& metrics);

}  // namespace faceter::desktop
