#include "sample_figures.h"

#include <cmath>
#include <random>

namespace faceter::testing {
namespace {

const std::vector<std::string> variants{
    "MoTE",     "IC",          "EM",        "TLR MoE",    "SEM",       "MoTE, averaged",   "Data-CUBE + IC",
    "gate net", "every block", "batch 512", "LoRA r = 8", "2 experts", "frozen embeddings"};
const std::vector<std::string> tasks{"retrieval", "classification", "clustering", "reranking", "pair classification", "summarisation"};

std::string variant(int i) { return variants[static_cast<std::size_t>(i) % variants.size()]; }

double bell(double x, double mean, double spread) { return std::exp(-0.5 * std::pow((x - mean) / spread, 2)) / (spread * 2.5066282746); }

}  // namespace

Figure sample_lines(int num_series, int num_points) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.006);
    Figure f;
    f.kind = FigureKind::lines;
    f.name = "validation";
    f.title = "Validation nDCG@10";
    f.x.label = "examples seen";
    f.y.label = "nDCG@10";
    for (int s = 0; s < num_series; ++s) {
        Series one;
        one.name = variant(s);
        for (int i = 0; i < num_points; ++i) {
            const double t = static_cast<double>(i) / num_points;
            one.x.push_back(i * 256.0);
            one.y.push_back(0.74 - 0.03 * s - 0.28 * std::exp(-5 * t) + noise(random));
            if (num_series > 3) continue;
            one.low.push_back(one.y.back() - 0.012);
            one.high.push_back(one.y.back() + 0.012);
        }
        f.series.push_back(one);
    }
    f.notes = {"Mean and spread over 3 seeds."};
    return f;
}

Figure sample_bars(int num_series) {
    Figure f;
    f.kind = FigureKind::bars;
    f.name = "gain";
    f.title = "Gain over EM by task";
    f.y.label = "gain";
    f.y.unit = "points";
    f.x.categories = tasks;
    for (int s = 0; s < num_series; ++s) {
        Series one;
        one.name = variant(s);
        for (std::size_t i = 0; i < tasks.size(); ++i) {
            one.y.push_back(1.6 - 0.45 * static_cast<double>(i) + 0.3 * s);
            one.low.push_back(one.y.back() - 0.35);
            one.high.push_back(one.y.back() + 0.4);
        }
        f.series.push_back(one);
    }
    f.notes = {"95 % intervals by paired bootstrap over examples."};
    return f;
}

Figure sample_densities(int num_series) {
    Figure f;
    f.kind = FigureKind::densities;
    f.name = "similarity";
    f.title = "classification · clustering";
    f.x.label = "cosine similarity";
    f.y.label = "density";
    for (int s = 0; s < num_series; ++s) {
        Series one;
        one.name = variant(s);
        const double mean = 0.84 + 0.09 * s - 0.14 * (s > 1), spread = 0.05 - 0.01 * s + 0.02 * (s > 1);
        for (int i = 0; i <= 200; ++i) {
            one.x.push_back(0.4 + 0.6 * i / 200);
            one.y.push_back(bell(one.x.back(), mean, std::abs(spread)));
        }
        one.mean = mean;
        f.series.push_back(one);
    }
    return f;
}

Figure sample_scatter(int num_series, bool labels) {
    std::mt19937 random(11);
    std::normal_distribution<double> noise(0, 3);
    Figure f;
    f.kind = FigureKind::scatter;
    f.name = "ab";
    f.title = "MoTE against EM, one point a data set";
    f.x.label = "EM";
    f.x.unit = "nDCG@10";
    f.y.label = "MoTE";
    f.y.unit = "nDCG@10";
    const std::vector<std::string> sets{"NFCorpus", "SciFact", "ArguAna", "TREC-COVID", "FiQA", "Quora", "DBpedia", "HotpotQA"};
    for (int s = 0; s < num_series; ++s) {
        Series one;
        one.name = variant(s);
        for (std::size_t i = 0; i < sets.size(); ++i) {
            one.x.push_back(30 + 6.0 * static_cast<double>(i) + noise(random));
            one.y.push_back(one.x.back() + 2 * s + noise(random));
            one.low.push_back(one.y.back() - 1.5);
            one.high.push_back(one.y.back() + 1.5);
            if (labels) one.labels.push_back(sets[i]);
        }
        f.series.push_back(one);
    }
    return f;
}

Figure sample_box() {
    std::mt19937 random(5);
    Figure f;
    f.kind = FigureKind::box;
    f.name = "seeds";
    f.title = "Score over seeds";
    f.y.label = "nDCG@10";
    for (int s = 0; s < 5; ++s) {
        std::student_t_distribution<double> draw(3);
        Series one;
        one.name = variant(s);
        for (int i = 0; i < 60; ++i) one.y.push_back(64 + s + 0.8 * draw(random));
        f.series.push_back(one);
    }
    return f;
}

Figure sample_heat_map(int num_rows, int num_columns, bool diverging) {
    Figure f;
    f.kind = FigureKind::heat_map;
    f.name = "matrix";
    f.title = diverging ? "Difference to the baseline" : "Similarity between tasks";
    f.heat_map.label = diverging ? "difference" : "cosine similarity";
    if (diverging) f.heat_map.centre = 0;
    const auto name = [](int i) { return i < 6 ? tasks[static_cast<std::size_t>(i)] : "data set " + std::to_string(i); };
    for (int r = 0; r < num_rows; ++r) f.heat_map.rows.push_back(name(r));
    for (int c = 0; c < num_columns; ++c) f.heat_map.columns.push_back(name(c));
    for (int r = 0; r < num_rows; ++r)
        for (int c = 0; c < num_columns; ++c)
            f.heat_map.values.push_back(diverging ? 0.3 * std::sin(1.7 * r + c) : r == c ? 1 : 0.62 + 0.3 * std::cos(1.3 * r * c));
    if (num_rows == 6 && num_columns == 6) f.heat_map.values[8] = NAN;
    return f;
}

Figure sample_log_axes() {
    Figure f;
    f.kind = FigureKind::lines;
    f.name = "speed";
    f.title = "Throughput against batch size";
    f.x.label = "batch";
    f.x.unit = "tokens";
    f.x.log = true;
    f.y.label = "throughput";
    f.y.unit = "tokens/s";
    f.y.log = true;
    for (int s = 0; s < 5; ++s) {
        Series one;
        one.name = variant(s);
        for (double x = 16; x <= 1e6; x *= 2) {
            one.x.push_back(x);
            one.y.push_back((900 + 400 * s) * std::pow(x, 0.45) / (1 + x / 4e5));
        }
        f.series.push_back(one);
    }
    return f;
}

std::vector<Figure> sample_figures() {
    std::vector<Figure> all{sample_lines(),
                            sample_lines(7),
                            sample_lines(20, 40),
                            sample_bars(1),
                            sample_bars(4),
                            sample_densities(),
                            sample_densities(3),
                            sample_densities(5),
                            sample_scatter(),
                            sample_scatter(4, false),
                            sample_box(),
                            sample_heat_map(),
                            sample_heat_map(4, 9, true),
                            sample_heat_map(120, 300),
                            sample_log_axes()};
    Figure one = sample_lines(1);
    one.title.clear();
    one.notes.clear();
    all.push_back(one);
    Figure empty = sample_lines(2);
    for (Series& s : empty.series) s.y.assign(s.y.size(), NAN);
    all.push_back(empty);
    Figure longNames = sample_bars(2);
    for (std::string& name : longNames.x.categories) name += " of the whole Debian archive, by section and source package";
    all.push_back(longNames);
    Figure many = sample_bars(1);
    many.x.categories.clear();
    many.series[0] = {};
    for (int i = 0; i < 60; ++i) {
        many.x.categories.push_back("expert " + std::to_string(i));
        many.series[0].y.push_back(1 + std::sin(0.3 * i));
    }
    all.push_back(many);
    return all;
}

}  // namespace faceter::testing
