#include "pages/facets/names_in_words.h"

#include <algorithm>

#include "figure/elided_name.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {

/// The longest first: a name may stand in another.
QString namesInWords(QString text, const FacetsPicture& picture, const QFontMetrics& metrics) {
    QStringList names;
    for (const SimilarityGroup& group : picture.groups) names << qs(group.name);
    std::stable_sort(names.begin(), names.end(), [](const QString& a, const QString& b) { return a.size() > b.size(); });
    for (const QString& name : names) text.replace(name, nameInWords(name, metrics));
    return text;
}

}  // namespace faceter::desktop
