#include "figure/elided_name.h"

#include <QRegularExpression>
#include <algorithm>

namespace faceter::desktop {

QString initials(const QString& key) {
    QString letters;
    for (const QString& word : key.section(QLatin1Char('.'), -1).split(QLatin1Char('_'), Qt::SkipEmptyParts)) letters += word.front();
    return letters;
}

namespace {

struct Parts {
    QString front;   ///< "IC · "
    QString values;  ///< "lr=2e-5,bs=16"; empty: there is no point
    QString tail;    ///< " (n = 3)", " (baseline)"
};

Parts shortKeyed(const QString& name) {
    // Behind a dot values may hold spaces; behind a space, as comparisons name groups, a point is one word, or several of a key each:
    // "curriculum=data_cube instance_level=false", a method that is swept with its settings.
    static const QRegularExpression point(
        QStringLiteral("(?:^| · )([a-z][\\w.]*=[^=]*?(?:[, ][a-z][\\w.]*=[^=]*?)*)( \\((?:n = \\d+|baseline)\\))?$")),
        word(QStringLiteral("^[^=]* ([a-z][\\w.]*=[^=\\s]*(?:[, ][a-z][\\w.]*=[^=\\s]*)*)( \\([^()]*\\))?$")),
        key(QStringLiteral("([a-z][\\w.]*)="));
    const bool isDotted = point.match(name).hasMatch();
    const QRegularExpressionMatch found = (isDotted ? point : word).match(name);
    if (!found.hasMatch()) return {name, {}, {}};
    const QString values = found.captured(1);
    Parts parts{name.left(found.capturedStart(1)), {}, isDotted ? found.captured(2) : QString()};
    qsizetype end = 0;
    for (auto each = key.globalMatch(values); each.hasNext();) {
        const QRegularExpressionMatch match = each.next();
        parts.values += values.mid(end, match.capturedStart() - end) + initials(match.captured(1)) + QLatin1Char('=');
        end = match.capturedEnd();
    }
    parts.values += values.mid(end);
    if (!isDotted) parts.values += found.captured(2);  // the experiment, where it tells two groups apart
    return parts;
}

bool isWrittenLeftwards(QChar sign) {
    const QChar::Direction direction = sign.direction();
    return direction == QChar::DirR || direction == QChar::DirAL || direction == QChar::DirRLE || direction == QChar::DirRLO;
}

bool isWrittenLeftwards(const QString& text) {
    return std::any_of(text.begin(), text.end(), [](QChar sign) { return isWrittenLeftwards(sign); });
}

/// "IC · " to "IC ".
QString withoutDot(QString front) {
    static const QRegularExpression dot(QStringLiteral(" · $"));
    return front.replace(dot, QStringLiteral(" "));
}

/// Beginnings of both: without the first, points of different variants would be one name, without the second the points of a variant.
QString beginnings(const QString& front, const QString& values, const QFontMetricsF& metrics, double room) {
    const QString least = QStringLiteral("M…");
    const QString cut = metrics.elidedText(withoutDot(front), Qt::ElideRight, room / 2);
    const double left = room - metrics.horizontalAdvance(cut);
    if (room / 2 < metrics.horizontalAdvance(least) || left < metrics.horizontalAdvance(least))
        return metrics.elidedText(front + values, Qt::ElideRight, room);
    return cut + metrics.elidedText(values, Qt::ElideRight, left);
}

/// Where there is room for less than the keys' first letters: "IC · 2e-5,16", then "IC 2e-5,16", then of both the beginnings, "IC 2e…":
/// values alone would be one name for points of several variants.
QString bareValues(const QString& front, QString values, const QFontMetricsF& metrics, double room) {
    static const QRegularExpression key(QStringLiteral("(^|[, ])[a-z][\\w.]*=(?!true\\b|false\\b)"));  // these say nothing alone
    values.replace(key, QStringLiteral("\\1"));
    const double left = room - metrics.horizontalAdvance(values);
    if (metrics.horizontalAdvance(front) <= left) return front + values;
    if (const QString close = withoutDot(front) + values; metrics.horizontalAdvance(close) <= room) return close;
    if (left < metrics.horizontalAdvance(QStringLiteral("MMM…")))
        return front.isEmpty() ? metrics.elidedText(values, Qt::ElideRight, room) : beginnings(front, values, metrics, room);
    return metrics.elidedText(front, Qt::ElideRight, left) + values;
}

}  // namespace

QString isolated(const QString& name) {
    if (!isWrittenLeftwards(name)) return name;
    static const QRegularExpression bracket(QStringLiteral("^(.*?\\S)(\\s*\\([^()]*\\)\\s*|\\s*)$"));
    const QString dot = QStringLiteral(" · ");
    QStringList parts = name.split(dot);
    for (QString& part : parts) {
        const QRegularExpressionMatch found = bracket.match(part);
        if (!found.hasMatch() || !isWrittenLeftwards(found.captured(1))) continue;
        part = QChar(0x2068) + found.captured(1) + QChar(0x2069) + found.captured(2);
    }
    return parts.join(dot);
}

QString elidedName(const QString& name, const QFontMetricsF& metrics, double room) {
    if (metrics.horizontalAdvance(name) <= room) return isolated(name);
    const auto [front, values, tail] = shortKeyed(name);
    if (values.isEmpty()) return isolated(metrics.elidedText(name, Qt::ElideMiddle, room));
    const auto width = [&metrics](const QString& text) { return metrics.horizontalAdvance(text); };
    const double left = room - width(values), leftOfTail = left - width(tail);
    if (width(front) <= leftOfTail) return isolated(front) + isolated(values) + tail;
    if (leftOfTail >= width(QStringLiteral("MMMM…")))
        return isolated(metrics.elidedText(front, Qt::ElideRight, leftOfTail)) + isolated(values) + tail;
    if (width(front) <= left) return isolated(front) + isolated(values);
    if (left < width(QStringLiteral("M…"))) return isolated(bareValues(front, values, metrics, room));
    return isolated(metrics.elidedText(front, Qt::ElideRight, left)) + isolated(values);
}

QString withShortKeys(const QString& name) {
    const auto [front, values, tail] = shortKeyed(name);
    return isolated(front) + isolated(values) + tail;
}

QString nameInWords(const QString& name, const QFontMetrics& metrics) {
    constexpr int most = 24;  // letters
    return elidedName(name, metrics, most * metrics.averageCharWidth());
}

}  // namespace faceter::desktop
