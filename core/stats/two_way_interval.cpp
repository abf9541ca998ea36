#include "stats/two_way_interval.h"

#include <algorithm>
#include <cmath>

#include "common/error.h"
#include "stats/distributions.h"

namespace faceter {
namespace {

/// A mean square and its degrees of freedom.
struct MeanSquare {
    double value = 0, df = 0;
};

double square(double x) { return x * x; }

/// Sum over `means` of the squared distance to their mean, each standing for `cells` cells.
MeanSquare between(const std::vector<double>& means, double all, double cells) {
    MeanSquare result{0, static_cast<double>(means.size()) - 1};
    for (const double m : means) result.value += cells * square(m - all);
    if (result.df > 0) result.value /= result.df;
    return result;
}

struct Table {
    std::vector<double> row_means, column_means;
    double all = 0;
    explicit Table(std::span<const std::vector<double>> rows) : column_means(rows.front().size(), 0.0) {
        for (const auto& row : rows) {
            if (row.size() != column_means.size())
                throw usage_error("a two-way interval needs rows of one length, found {} and {}", column_means.size(), row.size());
            row_means.push_back(mean(row));
            for (std::size_t c = 0; c < row.size(); ++c) column_means[c] += row[c] / static_cast<double>(rows.size());
        }
        all = mean(row_means);
    }
};

MeanSquare rest_of(std::span<const std::vector<double>> rows, const Table& table) {
    MeanSquare rest{0, static_cast<double>((table.row_means.size() - 1) * (table.column_means.size() - 1))};
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t c = 0; c < rows[r].size(); ++c)
            rest.value += square(rows[r][c] - table.row_means[r] - table.column_means[c] + table.all);
    if (rest.df > 0) rest.value /= rest.df;
    return rest;
}

}  // namespace

Interval two_way_t_interval(std::span<const std::vector<double>> rows, double confidence) {
    if (rows.empty() || rows.front().empty() || rows.size() * rows.front().size() < 2)
        throw usage_error("a two-way interval needs two cells at least");
    const Table table(rows);
    const double cells = static_cast<double>(table.row_means.size() * table.column_means.size());
    const MeanSquare parts[] = {between(table.row_means, table.all, static_cast<double>(table.column_means.size())),
                                between(table.column_means, table.all, static_cast<double>(table.row_means.size())), rest_of(rows, table)};
    const MeanSquare& largest =
        *std::max_element(std::begin(parts), std::end(parts), [](const auto& a, const auto& b) { return a.value < b.value; });
    const double sum = parts[0].value + parts[1].value - parts[2].value;
    double df = largest.df, variance = largest.value;
    if (sum > largest.value) {
        double weights = 0;
        for (const MeanSquare& part : parts)
            if (part.df > 0) weights += square(part.value) / part.df;
        df = std::min(df, std::max(1.0, square(sum) / weights));  // no more than the part has that counts most
        variance = sum;
    }
    const double half = variance > 0 ? student_t_upper_quantile((1 - confidence) / 2, df) * std::sqrt(variance / cells) : 0;
    return {table.all - half, table.all + half};
}

}  // namespace faceter
