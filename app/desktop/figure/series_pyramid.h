#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace faceter::desktop {

/// What a column of pixels shows of a series: its first and last value and the extremes between them.
struct SeriesColumn {
    double xFirst = 0, xLast = 0;
    double first = 0, last = 0, min = 0, max = 0;
    bool followsGap = false;  ///< before its first point stood some that are not finite
};

/// The columns of [xMin, xMax] from left to right; columns without a point are left out. Where points are few a column is one point.
struct SeriesSample {
    double xMin = 0, xMax = 0;
    std::vector<SeriesColumn> columns{};
};

struct SeriesExtent {
    double xMin = 0, xMax = 0, yMin = 0, yMax = 0;
};

/// Points in memory under a pyramid of minima and maxima: a sample costs a few comparisons a column however many points there are.
/// Points that are not finite are left out; x is sorted where it is not ascending, and knows no gaps then.
class SeriesPyramid {
  public:
    SeriesPyramid(std::vector<double> x, std::vector<double> y);
    /// Ends of all finite points; nothing where there are none.
    std::optional<SeriesExtent> range() const;
    /// About `pixelColumns` columns of [xMin, xMax] and the points next to its ends; `logX`: columns of equal width in log x.
    SeriesSample sample(double xMin, double xMax, int pixelColumns, bool logX) const;
    std::size_t size() const { return m_x.size(); }

  private:
    struct Extremes {
        double min, max;
    };
    void keepFinite();
    void sortByX();
    void buildPyramid();
    Extremes extremes(std::size_t from, std::size_t to) const;
    SeriesColumn column(std::size_t from, std::size_t to) const;

    std::vector<double> m_x, m_y;
    std::vector<std::size_t> m_afterGaps;         ///< points that follow some that are not finite, ascending
    std::vector<std::vector<Extremes>> m_levels;  ///< level k: blocks of 8^(k+1) points
};

}  // namespace faceter::desktop
