#include "figure/series_pyramid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace faceter::desktop {
namespace {

constexpr std::size_t fanOut = 8;

/// The upper border of column `i` of `count` over [low, high].
double border(double low, double high, int i, int count, bool logarithmic) {
    const double t = static_cast<double>(i) / count;
    return logarithmic ? low * std::pow(high / low, t) : low + (high - low) * t;
}

}  // namespace

SeriesPyramid::SeriesPyramid(std::vector<double> x, std::vector<double> y) : m_x(std::move(x)), m_y(std::move(y)) {
    m_x.resize(std::min(m_x.size(), m_y.size()));
    m_y.resize(m_x.size());
    keepFinite();
    sortByX();
    buildPyramid();
}

void SeriesPyramid::keepFinite() {
    std::size_t kept = 0, skipped = 0;
    for (std::size_t i = 0; i < m_x.size(); ++i) {
        if (!std::isfinite(m_x[i]) || !std::isfinite(m_y[i])) continue;
        if (i > kept + skipped) {
            m_afterGaps.push_back(kept);
            skipped = i - kept;
        }
        m_x[kept] = m_x[i];
        m_y[kept++] = m_y[i];
    }
    m_x.resize(kept);
    m_y.resize(kept);
}

void SeriesPyramid::sortByX() {
    if (std::is_sorted(m_x.begin(), m_x.end())) return;
    m_afterGaps.clear();
    std::vector<std::size_t> order(m_x.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) { return m_x[a] < m_x[b]; });
    std::vector<double> x, y;
    x.reserve(order.size());
    y.reserve(order.size());
    for (const std::size_t i : order) {
        x.push_back(m_x[i]);
        y.push_back(m_y[i]);
    }
    m_x = std::move(x);
    m_y = std::move(y);
}

void SeriesPyramid::buildPyramid() {
    std::vector<Extremes> level;
    for (std::size_t i = 0; i < m_y.size(); i += fanOut) {
        const auto [low, high] = std::minmax_element(m_y.begin() + static_cast<std::ptrdiff_t>(i),
                                                     m_y.begin() + static_cast<std::ptrdiff_t>(std::min(i + fanOut, m_y.size())));
        level.push_back({*low, *high});
    }
    while (level.size() > 1) {
        m_levels.push_back(level);
        std::vector<Extremes> above;
        for (std::size_t i = 0; i < level.size(); i += fanOut) {
            Extremes e = level[i];
            for (std::size_t j = i + 1; j < std::min(i + fanOut, level.size()); ++j)
                e = {std::min(e.min, level[j].min), std::max(e.max, level[j].max)};
            above.push_back(e);
        }
        level = std::move(above);
    }
}

/// Of points [from, to), not empty: single points up to the first block's border, then ever larger blocks, then down again.
SeriesPyramid::Extremes SeriesPyramid::extremes(std::size_t from, std::size_t to) const {
    Extremes e{m_y[from], m_y[from]};
    const auto add = [&e](const Extremes& other) { e = {std::min(e.min, other.min), std::max(e.max, other.max)}; };
    while (from < to) {
        std::size_t size = 1, level = 0;
        while (level < m_levels.size() && from % (size * fanOut) == 0 && from + size * fanOut <= to) {
            size *= fanOut;
            ++level;
        }
        add(level == 0 ? Extremes{m_y[from], m_y[from]} : m_levels[level - 1][from / size]);
        from += size;
    }
    return e;
}

SeriesColumn SeriesPyramid::column(std::size_t from, std::size_t to) const {
    const Extremes e = extremes(from, to);
    const bool followsGap = std::binary_search(m_afterGaps.begin(), m_afterGaps.end(), from);
    return {m_x[from], m_x[to - 1], m_y[from], m_y[to - 1], e.min, e.max, followsGap};
}

std::optional<SeriesExtent> SeriesPyramid::range() const {
    if (m_x.empty()) return std::nullopt;
    const Extremes e = extremes(0, m_x.size());
    return SeriesExtent{m_x.front(), m_x.back(), e.min, e.max};
}

SeriesSample SeriesPyramid::sample(double xMin, double xMax, int pixelColumns, bool logX) const {
    SeriesSample out{xMin, xMax};
    const auto index = [this](auto it) { return static_cast<std::size_t>(it - m_x.begin()); };
    std::size_t from = index(std::lower_bound(m_x.begin(), m_x.end(), xMin));
    std::size_t to = index(std::upper_bound(m_x.begin(), m_x.end(), xMax));
    if (from > 0) --from;
    if (to < m_x.size()) ++to;
    const auto columns = static_cast<std::size_t>(std::max(1, pixelColumns));
    if (to - from <= 2 * columns) {
        for (std::size_t i = from; i < to; ++i) out.columns.push_back(column(i, i + 1));
        return out;
    }
    out.columns.reserve(columns + 2);
    const bool logarithmic = logX && xMin > 0;
    for (std::size_t c = 0, at = from; c <= columns && at < to; ++c) {
        const double end = border(xMin, xMax, static_cast<int>(c) + 1, static_cast<int>(columns), logarithmic);
        const auto last = m_x.begin() + static_cast<std::ptrdiff_t>(to);
        std::size_t next = c == columns ? to : index(std::upper_bound(m_x.begin() + static_cast<std::ptrdiff_t>(at), last, end));
        if (next > at) out.columns.push_back(column(at, next));
        at = next;
    }
    return out;
}

}  // namespace faceter::desktop
