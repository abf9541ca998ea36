#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "common/random.h"
#include "compare/rank_intervals.h"
#include "data/child_process.h"
#include "stats/bootstrap.h"
#include "stats/distributions.h"
#include "stats/equivalence.h"
#include "stats/multiple_testing.h"
#include "stats/power.h"
#include "stats/two_way_bootstrap.h"
#include "stats/two_way_interval.h"
#include "support/checkout.h"
#include "support/stats_fixture.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Matrix = std::vector<std::vector<double>>;

constexpr std::size_t resamples = 20000;
constexpr double monte_carlo = 0.03;  // of a standard error, which some 20,000 resamples on either side leave

Matrix random_table(std::size_t rows, std::size_t columns, RandomStream& random) {
    Matrix table(rows, std::vector<double>(columns));
    std::vector<double> of_column(columns);
    for (double& value : of_column) value = random.normal();
    for (auto& row : table) {
        const double of_row = random.normal();
        for (std::size_t c = 0; c < columns; ++c) row[c] = of_row + of_column[c] + random.normal();
    }
    return table;
}

std::vector<double> normals(std::size_t n, double middle, RandomStream& random) {
    std::vector<double> values(n);
    for (double& value : values) value = middle + random.normal();
    return values;
}

struct PowerCase {
    PowerDesign design;
    double effect, alpha;
    std::int64_t n;
    Alternative alternative;
    Json to_json() const {
        return {{"design", design == PowerDesign::paired_t ? "paired_t" : "welch"},
                {"effect", effect},
                {"alpha", alpha},
                {"n", n},
                {"alternative", alternative_name(alternative)}};
    }
};

std::vector<PowerCase> random_plans(RandomStream& random) {
    std::vector<PowerCase> cases;
    for (const PowerDesign design : {PowerDesign::paired_t, PowerDesign::welch})
        for (const Alternative alternative : {Alternative::two_sided, Alternative::greater, Alternative::less})
            for (int i = 0; i < 5; ++i)
                cases.push_back({design, 2 * random.uniform() - 0.5, 0.01 + 0.1 * random.uniform(),
                                 2 + static_cast<std::int64_t>(random.below(40)), alternative});
    return cases;
}

Comparison compared(const Matrix& scores) {
    Comparison comparison;
    for (std::size_t set = 0; set < scores.front().size(); ++set) comparison.sets.push_back({"set" + std::to_string(set), "sts", "score"});
    for (const std::vector<double>& own : scores) {
        RunGroup group;
        group.name = std::to_string(comparison.groups.size());
        group.runs.resize(1);
        for (std::size_t set = 0; set < own.size(); ++set) group.scores["set" + std::to_string(set)] = {own[set]};
        comparison.groups.push_back(group);
    }
    return comparison;
}

}  // namespace

/// What studies and comparisons conclude by, against SciPy, NumPy and statsmodels on random numbers.
class TestPeerStatistics : public QObject {
    Q_OBJECT
    Json numbers_, peer_;
    std::vector<PowerCase> plans_;
    std::string skipped_ = "no Python with statsmodels (FACETER_PEERS)";

    void ask_the_peer() {
        const char* python = std::getenv("FACETER_PEERS");
        if (!python) return;
        const TemporaryDirectory folder;
        const fs::path in = folder.path() / "in.json", out = folder.path() / "out.json";
        write_file_atomic(in, numbers_.dump());
        const ChildResult answer = run_child({python, FACETER_SOURCE_DIR "/tests/compare/peer_statistics.py", in.string(), out.string()},
                                             std::chrono::seconds(300), 1 << 20);
        if (answer.exit_code == 3) skipped_ = "the peers' Python has no statsmodels";
        if (answer.exit_code == 3) return;
        QVERIFY2(answer.exit_code == 0, answer.last_lines.c_str());
        peer_ = read_json(out);
        skipped_.clear();
    }

  private Q_SLOTS:
    void initTestCase() {
        RandomStream random(11, "test.peer_statistics");
        plans_ = random_plans(random);
        Json plans = Json::array();
        for (const PowerCase& plan : plans_) plans.push_back(plan.to_json());
        Matrix groups(4, std::vector<double>(12));
        for (std::size_t g = 0; g < groups.size(); ++g) groups[g] = normals(12, 0.6 * static_cast<double>(g), random);
        groups.push_back(groups[1]);  // a tie
        numbers_ = {{"p", {0.001, 0.04, 0.012, 0.5, 0.012, 0.9, 0.03}},
                    {"power", plans},
                    {"pair", {normals(7, 0.2, random), normals(7, 0, random)}},
                    {"margin", 0.8},
                    {"row", normals(15, 1, random)},
                    {"table", random_table(5, 8, random)},
                    {"groups", groups}};
        ask_the_peer();
    }
    void init() {
        if (!skipped_.empty()) QSKIP(skipped_.c_str());
    }
    void holm_is_that_of_statsmodels() {
        const auto adjusted = holm(numbers(numbers_.at("p")));
        for (std::size_t i = 0; i < adjusted.size(); ++i) EXPECT_CLOSE(adjusted[i], number(peer_.at("holm").at(i)), "p");
    }
    void power_is_that_of_statsmodels() {
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            const PowerCase& plan = plans_[i];
            const double found = power_of({plan.design, plan.effect, plan.alpha, plan.alternative}, plan.n);
            const double expected = number(peer_.at("power").at(i));  // its noncentral t is good to about 1e-8
            QVERIFY2(std::abs(found - expected) < 1e-7, plan.to_json().dump().c_str());
        }
    }
    void equivalence_is_that_of_statsmodels() {
        const Json& pair = numbers_.at("pair");
        const EquivalenceResult found = paired_equivalence(numbers(pair.at(0)), numbers(pair.at(1)), number(numbers_.at("margin")));
        EXPECT_CLOSE(found.p, number(peer_.at("tost").at(0)), "p");
        EXPECT_CLOSE(found.p_lower, number(peer_.at("tost").at(1)), "p_lower");
        EXPECT_CLOSE(found.p_upper, number(peer_.at("tost").at(2)), "p_upper");
    }
    /// The interval is made of the mean squares of a two-way analysis of variance: their sum, or the largest where that is more.
    void the_two_way_interval_is_made_of_statsmodels_mean_squares() {
        const Matrix table = numbers_.at("table").get<Matrix>();
        const auto squares = numbers(peer_.at("mean_squares"));
        const double sum = squares[0] + squares[1] - squares[2];
        QVERIFY(sum > *std::max_element(squares.begin(), squares.end()));
        const double weights = squares[0] * squares[0] / 4 + squares[1] * squares[1] / 7 + squares[2] * squares[2] / 28;
        const double largest_df = squares[0] > squares[1] ? 4 : 7;
        const double half = student_t_upper_quantile(0.025, std::min(largest_df, sum * sum / weights)) * std::sqrt(sum / 40);
        const Interval found = two_way_t_interval(table);
        EXPECT_CLOSE_TO((found.high - found.low) / 2, half, 1e-9, "half");
    }
    void the_two_way_bootstrap_is_numpys_pigeonhole() {
        const BootstrapResult found = two_way_bootstrap(numbers_.at("table").get<Matrix>(), {.resamples = resamples});
        check_bootstrap(found, numbers(peer_.at("pigeonhole")));
    }
    void the_bootstrap_over_one_row_is_scipys() {
        const std::vector<double> row = numbers(numbers_.at("row"));
        const auto expected = numbers(peer_.at("bootstrap"));
        check_bootstrap(bootstrap_mean(row, {.resamples = resamples}), expected);
        check_bootstrap(two_way_bootstrap(Matrix{row}, {.resamples = resamples}), expected);
    }
    void rank_intervals_are_those_of_scipys_ranks() {
        const RankIntervals found = rank_intervals(compared(numbers_.at("groups").get<Matrix>()));
        for (const RankInterval& one : found.ranks)
            QCOMPARE(Json({one.rank, one.lowest, one.highest}).dump(), peer_.at("ranks").at(one.group).dump());
    }

  private:
    static void check_bootstrap(const BootstrapResult& found, const std::vector<double>& expected) {
        const double error = expected[0];
        QVERIFY(std::abs(found.std_error - error) < monte_carlo * error);
        QVERIFY(std::abs(found.interval.low - expected[1]) < 3 * monte_carlo * error);
        QVERIFY(std::abs(found.interval.high - expected[2]) < 3 * monte_carlo * error);
    }
};

FACETER_TEST(TestPeerStatistics)
#include "test_peer_statistics.moc"
