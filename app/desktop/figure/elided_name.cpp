#include "figure/elided_name.h"

#include <QRegularExpression>

namespace faceter::desktop {
namespace {

/// "training.learning_rate" to "lr".
QString initials(const QString& key) {
    QString letters;
    for (const QString& word : key.section(QLatin1Char('.'), -1).split(QLatin1Char('_'), Qt::SkipEmptyParts)) letters += word.front();
    return letters;
}

struct Shortened {
    QString text;
    qsizetype point = -1;  ///< where the first key begins; negative: there is none
};

Shortened with_short_keys(const QString& name) {
    static const QRegularExpression point(QStringLiteral("(?:^| · )([a-z][\\w.]*=[^=]*(?:,[a-z][\\w.]*=[^=]*)*)$")),
        key(QStringLiteral("([a-z][\\w.]*)="));
    const QRegularExpressionMatch found = point.match(name);
    if (!found.hasMatch()) return {name};
    const QString values = found.captured(1);
    Shortened shortened{name.left(found.capturedStart(1)), found.capturedStart(1)};
    qsizetype end = 0;
    for (auto each = key.globalMatch(values); each.hasNext();) {
        const QRegularExpressionMatch match = each.next();
        shortened.text += values.mid(end, match.capturedStart() - end) + initials(match.captured(1)) + QLatin1Char('=');
        end = match.capturedEnd();
    }
    shortened.text += values.mid(end);
    return shortened;
}

}  // namespace

QString elidedName(const QString& name, const QFontMetricsF& metrics, double room) {
    if (metrics.horizontalAdvance(name) <= room) return name;
    const auto [text, point] = with_short_keys(name);
    if (point < 0 || metrics.horizontalAdvance(text) <= room) return metrics.elidedText(text, Qt::ElideMiddle, room);
    const QString values = text.mid(point);
    const double front = room - metrics.horizontalAdvance(values);
    if (front < metrics.horizontalAdvance(QStringLiteral("M…"))) return metrics.elidedText(values, Qt::ElideMiddle, room);
    return metrics.elidedText(text.left(point), Qt::ElideRight, front) + values;
}

}  // namespace faceter::desktop
