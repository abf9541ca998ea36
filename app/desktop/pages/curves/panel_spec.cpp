#include "pages/curves/panel_spec.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QRegularExpression>
#include <algorithm>
#include <cmath>

namespace faceter::desktop {
namespace {

constexpr double finest_power = 3;  // the slider's end is a weight of 0.999

bool isExpression(const QString& pattern) {
    return pattern.size() > 2 && pattern.startsWith(QLatin1Char('/')) && pattern.endsWith(QLatin1Char('/'));
}

/// Qt's own conversion lets no '*' pass over a '/', and series are called loss/retrieval.
QString fromGlob(const QString& glob) {
    QString text = QRegularExpression::escape(glob);
    text.replace(QStringLiteral("\\*"), QStringLiteral(".*")).replace(QStringLiteral("\\?"), QStringLiteral("."));
    return QRegularExpression::anchoredPattern(text);
}

QRegularExpression expressionOf(const QString& pattern) {
    return QRegularExpression(isExpression(pattern) ? pattern.mid(1, pattern.size() - 2) : fromGlob(pattern));
}

template <typename Value>
void put(QJsonObject& json, const char* key, const std::optional<Value>& value) {
    if (value) json.insert(QLatin1String(key), *value);
}

}  // namespace

QJsonObject PanelSpec::toJson() const {
    QJsonObject json{{QStringLiteral("series"), QJsonArray::fromStringList(patterns)}};
    put(json, "smoothing", smoothing);
    put(json, "logX", logX);
    put(json, "logY", logY);
    put(json, "low", low);
    put(json, "high", high);
    if (clipped) json.insert(QStringLiteral("clipped"), true);
    if (width > 0) json.insert(QStringLiteral("width"), width);
    if (height > 0) json.insert(QStringLiteral("height"), height);
    return json;
}

PanelSpec PanelSpec::fromJson(const QJsonObject& json) {
    PanelSpec spec;
    for (const QJsonValue& pattern : json[QStringLiteral("series")].toArray()) spec.patterns << pattern.toString();
    const auto number = [&](const char* key) {
        const QJsonValue value = json[QLatin1String(key)];
        return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
    };
    const auto flag = [&](const char* key) {
        const QJsonValue value = json[QLatin1String(key)];
        return value.isBool() ? std::optional(value.toBool()) : std::nullopt;
    };
    if (const auto smoothing = number("smoothing")) spec.smoothing = static_cast<int>(std::clamp(*smoothing, 0.0, 100.0));
    spec.logX = flag("logX");
    spec.logY = flag("logY");
    spec.low = number("low");
    spec.high = number("high");
    spec.clipped = flag("clipped").value_or(false);
    spec.width = std::clamp(json[QStringLiteral("width")].toInt(), 0, board_columns);
    if (const int height = json[QStringLiteral("height")].toInt(); height > 0)
        spec.height = std::clamp(height, lowest_panel, highest_panel);
    return spec;
}

QStringList patternsFrom(const QString& text) {
    static const QRegularExpression one(QStringLiteral(R"(\s*(/(?:[^/\\]|\\.|/(?!\s*(?:,|$)))+/|(?:[^,\\]|\\.|\\$)*?)\s*(?:,|$))"));
    QStringList patterns;
    for (auto found = one.globalMatch(text); found.hasNext();) {
        QString pattern = found.next().captured(1);
        if (!isExpression(pattern)) pattern.replace(QStringLiteral("\\,"), QStringLiteral(","));
        if (!pattern.isEmpty() && !patterns.contains(pattern)) patterns << pattern;
    }
    return patterns;
}

QString patternsText(const QStringList& patterns) {
    QStringList written;
    for (const QString& pattern : patterns)
        written << (isExpression(pattern) ? pattern : QString(pattern).replace(QLatin1Char(','), QStringLiteral("\\,")));
    return written.join(QStringLiteral(", "));
}

QStringList matching(const QStringList& patterns, const QStringList& names) {
    QList<QRegularExpression> expressions;
    for (const QString& pattern : patterns) expressions << expressionOf(pattern);
    QStringList found;
    for (const QString& name : names)
        if (std::any_of(expressions.begin(), expressions.end(),
                        [&](const QRegularExpression& expression) { return expression.isValid() && expression.match(name).hasMatch(); }))
            found << name;
    return found;
}

QString patternProblem(const QStringList& patterns) {
    for (const QString& pattern : patterns)
        if (const QRegularExpression expression = expressionOf(pattern); !expression.isValid())
            return QCoreApplication::translate("PanelSpec", "%1 is no regular expression: %2 (at character %3)")
                .arg(pattern, expression.errorString())
                .arg(expression.patternErrorOffset() + 1);
    return {};
}

double smoothingWeight(int slider) { return slider == 0 ? 0 : 1 - std::pow(10.0, -slider / 100.0 * finest_power); }

}  // namespace faceter::desktop
