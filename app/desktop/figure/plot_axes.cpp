#include "figure/plot_axes.h"

#include <algorithm>
#include <cmath>

#include "figure/ticks.h"

namespace faceter::desktop {

QString tickText(const std::string& label) {
    static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString text = QString::fromStdString(label);
    const auto e = text.indexOf(QLatin1Char('e'));
    QString power;
    if (e > 0) {
        for (const QChar c : QString::number(text.mid(e + 1).toInt()))
            power += c == QLatin1Char('-') ? QChar(0x207B) : digits[c.digitValue()];
        const QString factor = text.left(e);
        text = factor == QLatin1String("1") ? QStringLiteral("10") : factor + QStringLiteral("·10");
    }
    const bool negative = text.startsWith(QLatin1Char('-'));
    const auto digitsEnd = text.indexOf(QLatin1Char('.')) < 0 ? text.size() : text.indexOf(QLatin1Char('.'));
    if (e <= 0 && digitsEnd - negative > 4)
        for (auto i = digitsEnd - 3; i > negative; i -= 3) text.insert(i, QChar(0x2009));
    if (negative) text[0] = QChar(0x2212);
    return text + power;
}

namespace {

constexpr double turnedBy = -35, longestTurned = 130, closestTurned = 24;
constexpr int mostNumbers = 12;

/// `factors` times the powers of ten within the range, every `step`-th power.
std::vector<double> powers(const QCPRange& range, const std::vector<double>& factors, int step) {
    std::vector<double> places;
    const int first = static_cast<int>(std::floor(std::log10(range.lower))), last = static_cast<int>(std::ceil(std::log10(range.upper)));
    for (int e = first; e <= last; ++e)
        for (const double factor : factors)
            if (const double v = factor * std::pow(10.0, e); e % step == 0 && range.contains(v)) places.push_back(v);
    return places;
}

std::vector<Tick> linearPlaces(const QCPRange& range, bool whole, int count) {
    return whole ? whole_ticks(range.lower, range.upper, count) : linear_ticks(range.lower, range.upper, count);
}

/// The finest of 1-2-5, 1-3 and 1 times powers of ten that is not more than `count` places; below a decade linear places do better.
std::vector<Tick> logPlaces(const QCPRange& range, bool whole, int count) {
    const double decades = std::log10(range.upper / range.lower);
    std::vector<double> places;
    if (decades > 1)
        for (const std::vector<double>& factors : {std::vector<double>{1, 2, 5}, std::vector<double>{1, 3}, std::vector<double>{1}}) {
            places = powers(range, factors, 1);
            if (static_cast<int>(places.size()) <= count) break;
        }
    for (int step = 2; static_cast<int>(places.size()) > std::max(count, 1) && step < 400; ++step) places = powers(range, {1}, step);
    if (places.empty()) return linearPlaces(range, whole, count);
    const bool asPowers = places.back() >= 1e6 || places.front() < 1e-3;  // all in one writing
    std::vector<Tick> ticks;
    for (const double v : places) {
        const int e = static_cast<int>(std::floor(std::log10(v) + 1e-9));
        const std::string factor = QString::number(v / std::pow(10.0, e), 'f', 0).toStdString();
        ticks.push_back({v, asPowers ? factor + "e" + std::to_string(e) : QString::number(v, 'g', 7).toStdString()});
    }
    return ticks;
}

QStringList namesOf(const std::vector<std::string>& names) {
    QStringList all;
    for (const std::string& name : names) all << plainText(name);
    return all;
}

void dressAxis(QCPAxis* axis, const PlotStyle& style) {
    const ThemeColours& c = style.colours;
    axis->setTickLabelFont(style.font);
    axis->setLabelFont(style.font);
    axis->setTickLabelColor(c.secondary);
    axis->setLabelColor(c.text);
    axis->setTickLength(0, 4);
    axis->setSubTickLength(0, 2);
    axis->setTickLabelPadding(3);
    axis->setLabelPadding(7);
    axis->setNumberFormat(QStringLiteral("g"));  // no beautified powers: they would rewrite names such as "run 1e5"
    axis->setSelectableParts(QCPAxis::spNone);
}

void setNames(QCPAxis* axis, const QStringList& names) {
    axis->setScaleType(QCPAxis::stLinear);
    axis->setTicker(QSharedPointer<NameTicker>::create(names));
}

void setNumbers(QCPAxis* axis, bool logarithmic, bool whole) {
    axis->setScaleType(logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    axis->setTicker(QSharedPointer<RoundTicker>::create(logarithmic, whole));
    axis->setTickLabelRotation(0);
}

/// Two lines of at most `width`, or nothing where the text does not fit so.
QString wrapped(const QString& text, double width, const QFontMetricsF& metrics) {
    if (metrics.horizontalAdvance(text) <= width) return text;
    for (qsizetype i = text.size() / 2, step = 0; step < text.size(); ++step) {
        i += step % 2 == 0 ? -step : step;  // from the middle outwards
        if (i <= 0 || i >= text.size() || text[i] != QLatin1Char(' ')) continue;
        const QString upper = text.left(i), lower = text.mid(i + 1);
        if (metrics.horizontalAdvance(upper) <= width && metrics.horizontalAdvance(lower) <= width)
            return upper + QLatin1Char('\n') + lower;
    }
    return {};
}

void fitHorizontalNames(QCPAxis* axis, NameTicker& ticker, const QFontMetricsF& metrics) {
    const double slot = std::abs(axis->coordToPixel(1) - axis->coordToPixel(0));
    const QStringList& names = ticker.names();
    const qsizetype looked = std::min<qsizetype>(names.size(), 400);  // thousands cannot fit anyway
    QStringList lines;
    bool fit = names.size() == looked;
    for (qsizetype i = 0; i < looked && fit; ++i) {
        lines << wrapped(names[i], slot - 8, metrics);
        fit = !lines.last().isEmpty() || names[i].isEmpty();
    }
    if (fit) {
        axis->setTickLabelRotation(0);
        return ticker.setShown(lines, 1);
    }
    QStringList cut;
    for (const QString& name : names) cut << metrics.elidedText(name.left(200), Qt::ElideRight, longestTurned);
    axis->setTickLabelRotation(turnedBy);
    ticker.setShown(cut, std::max(1, static_cast<int>(std::ceil(closestTurned / std::max(slot, 1e-3)))));
}

void fitVerticalNames(QCPAxis* axis, NameTicker& ticker, const QFontMetricsF& metrics) {
    const double slot = std::abs(axis->coordToPixel(1) - axis->coordToPixel(0));
    QStringList cut;
    const double room = std::min(200.0, axis->parentPlot()->viewport().width() * 0.3);
    for (const QString& name : ticker.names()) cut << metrics.elidedText(name.left(300), Qt::ElideRight, room);
    ticker.setShown(cut, std::max(1, static_cast<int>(std::ceil(metrics.height() / std::max(slot, 1e-3)))));
}

/// More of them where there are fewer than two: one number alone is no scale.
void fitVerticalNumbers(const QCPAxis* axis, RoundTicker& ticker, const QFontMetricsF& metrics) {
    const int usual = std::clamp(static_cast<int>(axis->axisRect()->height() / 27), 2, mostNumbers);
    for (int count = usual; count <= mostNumbers; ++count) {
        ticker.setCount(count);
        QVector<double> ticks;
        ticker.generate(axis->range(), {}, {}, 0, ticks, nullptr, nullptr);
        if (ticks.size() < 2) continue;
        if (count == usual || std::abs(axis->coordToPixel(ticks[1]) - axis->coordToPixel(ticks[0])) >= metrics.height()) return;
        break;
    }
    ticker.setCount(usual);
}

/// How many of `count` numbers stand along a horizontal axis; negative where two of them touch.
qsizetype numbersApart(const QCPAxis* axis, RoundTicker& ticker, const QFontMetricsF& metrics, int count) {
    ticker.setCount(count);
    QVector<double> ticks;
    QVector<QString> labels;
    ticker.generate(axis->range(), {}, {}, 0, ticks, nullptr, &labels);
    for (qsizetype i = 1; i < ticks.size(); ++i) {
        const double between = axis->coordToPixel(ticks[i]) - axis->coordToPixel(ticks[i - 1]);
        if (between < (metrics.horizontalAdvance(labels[i]) + metrics.horizontalAdvance(labels[i - 1])) / 2 + 10) return -1;
    }
    return ticks.size();
}

/// As many as have room; more of them where there would be fewer than two.
void fitHorizontalNumbers(const QCPAxis* axis, RoundTicker& ticker, const QFontMetricsF& metrics) {
    int count = std::clamp(static_cast<int>(axis->axisRect()->width() / 52), 2, mostNumbers);
    while (count > 1 && numbersApart(axis, ticker, metrics, count) < 0) --count;
    if (numbersApart(axis, ticker, metrics, count) >= 2) return;
    for (int more = count + 1; more <= mostNumbers; ++more)
        if (numbersApart(axis, ticker, metrics, more) >= 2) return;
    ticker.setCount(count);
}

void fitNumbers(const QCPAxis* axis, RoundTicker& ticker, const QFontMetricsF& metrics) {
    axis->orientation() == Qt::Vertical ? fitVerticalNumbers(axis, ticker, metrics) : fitHorizontalNumbers(axis, ticker, metrics);
}

}  // namespace

void RoundTicker::generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks, QVector<double>* subTicks,
                           QVector<QString>* labels) {
    ticks.clear();
    if (subTicks) subTicks->clear();
    if (labels) labels->clear();
    for (const Tick& tick : m_logarithmic ? logPlaces(range, m_whole, m_count) : linearPlaces(range, m_whole, m_count)) {
        ticks.append(tick.value);
        if (labels) labels->append(tickText(tick.label));
    }
    if (!subTicks || !m_logarithmic || range.lower <= 0 || range.upper / range.lower > 1e6) return;
    for (double decade = std::pow(10.0, std::floor(std::log10(range.lower))); decade < range.upper; decade *= 10)
        for (int factor = 2; factor < 10; ++factor)
            if (factor * decade > range.lower && factor * decade < range.upper) subTicks->append(factor * decade);
}

void NameTicker::generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks, QVector<double>* subTicks,
                          QVector<QString>* labels) {
    ticks.clear();
    if (subTicks) subTicks->clear();
    if (labels) labels->clear();
    const double last = static_cast<double>(m_shown.size()) - 1;
    const auto from = static_cast<qsizetype>(std::clamp(std::ceil(range.lower), 0.0, last + 1));
    const auto to = static_cast<qsizetype>(std::clamp(std::floor(range.upper), -1.0, last));
    for (qsizetype i = (from + m_every - 1) / m_every * m_every; i <= to; i += m_every) {
        ticks.append(static_cast<double>(i));
        if (labels) labels->append(m_shown[i]);
    }
}

void dressAxes(QCPAxis* x, QCPAxis* y, const Figure& figure, const PlotStyle& style) {
    const ThemeColours& c = style.colours;
    const bool heatMap = figure.kind == FigureKind::heat_map;
    dressAxis(x, style);
    dressAxis(y, style);
    const QPen base(c.secondary, 1);
    x->setBasePen(heatMap ? QPen(Qt::NoPen) : base);
    y->setBasePen(Qt::NoPen);
    x->setTickPen(heatMap ? QPen(Qt::NoPen) : base);
    y->setTickPen(heatMap ? QPen(Qt::NoPen) : QPen(c.line, 1));
    x->setSubTickPen(base);
    y->setSubTickPen(QPen(c.line, 1));
    x->setLabel(axisTitle(figure.x));
    y->setLabel(axisTitle(figure.y));
    x->grid()->setVisible(false);
    y->grid()->setVisible(!heatMap);
    y->grid()->setPen(QPen(c.line, 1));
    y->grid()->setZeroLinePen(figure.kind == FigureKind::bars ? base : QPen(c.line, 1));
    const QStringList names = heatMap ? namesOf(figure.heat_map.columns) : namesOf(category_names(figure));
    if (names.isEmpty())
        setNumbers(x, figure.x.log, has_whole_x(figure));
    else
        setNames(x, names);
    if (heatMap)
        setNames(y, namesOf(figure.heat_map.rows));
    else
        setNumbers(y, figure.y.log, false);
    x->setTickLabelColor(names.isEmpty() ? c.secondary : c.text);
    y->setTickLabelColor(heatMap ? c.text : c.secondary);
    y->setRangeReversed(heatMap);
}

void fitTicks(QCPAxis* x, QCPAxis* y, const PlotStyle& style) {
    const QFontMetricsF metrics(style.font);
    for (QCPAxis* axis : {x, y}) {
        if (auto* names = dynamic_cast<NameTicker*>(axis->ticker().data()))
            axis->orientation() == Qt::Horizontal ? fitHorizontalNames(axis, *names, metrics) : fitVerticalNames(axis, *names, metrics);
        if (auto* numbers = dynamic_cast<RoundTicker*>(axis->ticker().data())) fitNumbers(axis, *numbers, metrics);
    }
}

void fitTitle(QCPAxis* axis, const QString& title, const PlotStyle& style) {
    const QFontMetricsF metrics(style.font);
    const bool isHorizontal = axis->orientation() == Qt::Horizontal;
    const QRect area = axis->axisRect()->rect();
    const QRect view =
        isHorizontal ? axis->parentPlot()->viewport() : axis->parentPlot()->plotLayout()->rect();  // below the figure's title
    const double centre =
        (isHorizontal ? area.left() + area.right() : area.top() + area.bottom()) / 2.0;  // it stands in the middle of the axis
    const double room =
        2 * (isHorizontal ? std::min(centre - view.left(), view.right() - centre) : std::min(centre - view.top(), view.bottom() - centre)) -
        8;
    axis->setLabel(fittedTitle(title, room, metrics));
}

QString fittedTitle(const QString& title, double room, const QFontMetricsF& metrics) {
    const QString lines = wrapped(title, room, metrics);
    return lines.isEmpty() ? metrics.elidedText(title, Qt::ElideMiddle, room) : lines;
}

int overhang(const QCPAxis* x, const PlotStyle& style) {
    if (x->tickLabelRotation() == 0) return 0;
    const QFontMetricsF metrics(style.font);
    const double left = x->axisRect()->left(), edge = x->parentPlot()->viewport().left() + 8;
    const double across = std::cos(turnedBy * M_PI / 180);
    double reach = 0;
    for (qsizetype i = 0; i < x->tickVector().size() && i < 8; ++i)
        reach = std::max(reach,
                         metrics.horizontalAdvance(x->tickVectorLabels()[i]) * across + 8 - (x->coordToPixel(x->tickVector()[i]) - left));
    return static_cast<int>(std::ceil(reach + edge - x->parentPlot()->plotLayout()->rect().left()));
}

QCPRange homeRange(const Figure& figure, Qt::Orientation orientation) {
    const bool horizontal = orientation == Qt::Horizontal;
    if (figure.kind == FigureKind::heat_map) {
        const std::size_t count = horizontal ? figure.heat_map.columns.size() : figure.heat_map.rows.size();
        return {-0.5, std::max<double>(1, static_cast<double>(count)) - 0.5};
    }
    Range range = horizontal ? data_range_x(figure) : data_range_y(figure);
    if (!horizontal && figure.kind == FigureKind::bars && !figure.y.log) {  // the numbers at the ends of the bars
        const double room = 0.06 * (range.high - range.low), above = range.high - room, below = range.low + room;
        const auto reaches = [&figure](auto beyond) {  // a bar of 100 % does, whatever the axis ends at
            return std::any_of(figure.series.begin(), figure.series.end(),
                               [&](const Series& one) { return std::any_of(one.y.begin(), one.y.end(), beyond); });
        };
        if (range.high > 0 && (!figure.y.max || reaches([above](double y) { return y > above; }))) range.high += room;
        if (range.low < 0 && (!figure.y.min || reaches([below](double y) { return y < below; }))) range.low -= room;
    }
    constexpr double largest = 1e200, smallest = 1e-200;  // beyond that QCustomPlot's ranges fail
    const bool logarithmic = horizontal ? figure.x.log && category_names(figure).empty() : figure.y.log;
    QCPRange home(std::clamp(range.low, logarithmic ? smallest : -largest, largest),
                  std::clamp(range.high, logarithmic ? smallest : -largest, largest));
    if (!(home.lower < home.upper)) home = logarithmic ? QCPRange(1, 10) : QCPRange(0, 1);
    const double magnitude = std::max(std::abs(home.lower), std::abs(home.upper));
    if (!logarithmic && home.size() < 1e-12 * magnitude) home = {home.lower - 1e-9 * magnitude, home.upper + 1e-9 * magnitude};
    return home;
}

}  // namespace faceter::desktop
