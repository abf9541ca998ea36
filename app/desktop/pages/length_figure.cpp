#include "pages/length_figure.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

struct LengthFigure {
    Q_DECLARE_TR_FUNCTIONS(LengthFigure)
};

/// Steps: each bin from its lower to its upper edge.
Series stepsOf(const Json& histogram) {
    Series series;
    series.name = histogram.at("role").get<std::string>();
    const double width = histogram.at("bin_width").get<double>();
    double at = 0;
    for (const Json& bin : histogram.at("bins")) {
        for (const double edge : {at, at + width}) {
            series.x.push_back(edge);
            series.y.push_back(bin.get<double>());
        }
        at += width;
    }
    series.x.push_back(at);
    series.y.push_back(0);
    return series;
}

/// `role`: empty where all sides have the same.
Series limitOf(const QString& role, double tokens, double height) {
    Series limit;
    const QString name = role.isEmpty() ? LengthFigure::tr("limit, %1 tokens").arg(tokens)
                                        : LengthFigure::tr("limit of %1, %2 tokens").arg(role).arg(tokens);
    limit.name = name.toStdString();
    limit.x = {tokens, tokens};
    limit.y = {0, height};
    limit.dashed = true;
    limit.colour = 7;  // the palette's grey
    return limit;
}

}  // namespace

Figure lengthFigure(const Json& lengths) {
    Figure figure;
    figure.kind = FigureKind::lines;
    figure.name = "lengths";
    figure.x.label = "length";
    figure.x.unit = "tokens";
    figure.x.min = 0;
    figure.y.label = "texts";
    figure.y.min = 0;
    double highest = 1;
    for (const Json& histogram : lengths) {
        figure.series.push_back(stepsOf(histogram));
        for (const double count : figure.series.back().y) highest = std::max(highest, count);
    }
    const bool alike = std::all_of(lengths.begin(), lengths.end(),
                                   [&](const Json& one) { return one.at("max_length") == lengths.at(0).at("max_length"); });
    for (const Json& histogram : lengths) {
        const QString role = alike ? QString() : qs(histogram.at("role").get<std::string>());
        figure.series.push_back(limitOf(role, histogram.at("max_length").get<double>(), highest));
        if (alike) break;
    }
    return figure;
}

QString lengthsText(const Json& lengths) {
    QStringList parts;
    for (const Json& histogram : lengths) {
        const auto cut = histogram.at("num_truncated").get<qint64>(), texts = histogram.at("num_texts").get<qint64>();
        parts << LengthFigure::tr("%1: %2 tokens on average, longest %3, %4 of %5 cut (%6 %)")
                     .arg(qs(histogram.at("role").get<std::string>()))
                     .arg(histogram.at("mean").get<double>(), 0, 'f', 1)
                     .arg(histogram.at("longest").get<int>())
                     .arg(countText(cut), countText(texts))
                     .arg(texts > 0 ? 100.0 * static_cast<double>(cut) / static_cast<double>(texts) : 0.0, 0, 'f', 1);
    }
    return parts.join(QStringLiteral(" · "));
}

}  // namespace faceter::desktop
