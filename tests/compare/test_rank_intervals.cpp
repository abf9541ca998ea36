#include "compare/rank_intervals.h"

#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Groups "a", "b" ... with one seed's scores on as many data sets.
Comparison compared(const std::vector<std::vector<double>>& scores) {
    Comparison comparison;
    for (std::size_t set = 0; set < scores.front().size(); ++set) comparison.sets.push_back({"set" + std::to_string(set), "sts", "score"});
    for (const std::vector<double>& own : scores) {
        RunGroup group;
        group.name = std::string(1, static_cast<char>('a' + comparison.groups.size()));
        group.runs.resize(1);
        for (std::size_t set = 0; set < own.size(); ++set) group.scores["set" + std::to_string(set)] = {own[set]};
        comparison.groups.push_back(group);
    }
    return comparison;
}

std::string ranks_of(const RankIntervals& ranks) {
    std::string text;
    for (const RankInterval& one : ranks.ranks)
        text += fmt::format("{}:{}[{}-{}]t{} ", one.group, one.rank, one.lowest, one.highest, fmt::join(one.ties, ","));
    return text;
}

}  // namespace

class TestRankIntervals : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_group_that_is_better_on_every_data_set_is_first_in_every_resample() {
        const Comparison comparison = compared({{1, 2, 3, 4}, {2, 3, 4, 5}, {9, 9, 9, 9}});
        const RankIntervals ranks = rank_intervals(comparison);
        QCOMPARE(ranks_of(ranks), std::string("2:1[1-1]t0 1:2[2-2]t1 0:3[3-3]t2 "));
        QCOMPARE(ranks.sentence(comparison),
                 std::string("Ranks by the mean over 4 data sets (95 % of resamples): 1 c [1-1]; 2 b [2-2]; 3 a [3-3]."));
    }
    /// b leads a on one of four sets alone: a resample misses that set with probability (3/4)^4 = 0.32, and a stands first then.
    void a_lead_that_rests_on_one_data_set_cannot_be_told_from_chance() {
        const Comparison comparison = compared({{2, 2, 2, 0}, {1, 1, 1, 9}, {0, 0, 0, 0}});
        const RankIntervals ranks = rank_intervals(comparison);
        QCOMPARE(ranks_of(ranks), std::string("1:1[1-2]t0 0:2[1-2]t0 2:3[3-3]t1 "));
        QVERIFY(ranks.sentence(comparison).find("1 b [1-2], 2 a [1-2] cannot be told apart; 3 c") != std::string::npos);
        QCOMPARE(ranks.to_json(comparison).at("rows").at(1).at("tie_groups"), Json({0}));
    }
    /// a leads b on two of eight sets, and b leads c on two others: a resample misses two with probability (6/8)^8 = 0.1, and all four, on
    /// which a leads c, with (4/8)^8 = 0.004.
    void ties_overlap_where_the_first_and_the_last_differ_and_one_between_them_differs_from_neither() {
        const Comparison comparison = compared({{9, 9, 9, 9, 1, 1, 1, 1}, {8, 8, 9, 9, 1, 1, 1, 1}, {8, 8, 8, 8, 1, 1, 1, 1}});
        const RankIntervals ranks = rank_intervals(comparison);
        QCOMPARE(ranks_of(ranks), std::string("0:1[1-1]t0 1:2[1-2]t0,1 2:3[2-3]t1 "));
        QCOMPARE(ranks.sentence(comparison), std::string("Ranks by the mean over 8 data sets (95 % of resamples): 1 a [1-1], 2 b [1-2] "
                                                         "cannot be told apart; b, 3 c [2-3] cannot be told apart."));
        QCOMPARE(ranks.to_json(comparison).at("rows").at(1).at("tie_groups"), Json({0, 1}));
    }
    /// Its lead rests on one of three seeds: other data sets would not change it, other seeds might.
    void a_lead_that_rests_on_one_seed_cannot_be_told_from_chance() {
        Comparison comparison = compared({{50, 50, 50, 50}, {51, 51, 51, 51}});
        QCOMPARE(ranks_of(rank_intervals(comparison)), std::string("1:1[1-1]t0 0:2[2-2]t1 "));
        for (RunGroup& group : comparison.groups) group.runs.resize(3);
        for (auto& [set, seeds] : comparison.groups[1].scores) seeds = {47, 47, 59};
        for (auto& [set, seeds] : comparison.groups[0].scores) seeds = {50, 50, 50};
        QCOMPARE(ranks_of(rank_intervals(comparison)), std::string("1:1[1-2]t0 0:2[1-2]t0 "));
    }
    void equal_means_share_the_better_rank() {
        QCOMPARE(ranks_of(rank_intervals(compared({{1, 2, 3}, {1, 2, 3}}))), std::string("0:1[1-1]t0 1:1[1-1]t0 "));
    }
    void data_sets_that_a_group_lacks_do_not_count() {
        Comparison comparison = compared({{1, 2, 3, 4}, {2, 3, 4, 5}});
        comparison.groups[1].scores.erase("set0");
        QCOMPARE(rank_intervals(comparison).num_sets, std::size_t{3});
        comparison.groups[1].scores.erase("set1");
        QCOMPARE(rank_intervals(comparison).reason, std::string("the rows share 2 data sets, at least 3 are needed"));
        QCOMPARE(rank_intervals(comparison).sentence(comparison), std::string());
        comparison.groups.pop_back();
        QCOMPARE(rank_intervals(comparison).reason, std::string("there is one row"));
    }
    /// The table's means leave such a set out, and its scores are not those of the seeds in the same places of the other sets.
    void a_data_set_that_one_run_lacks_does_not_count() {
        Comparison comparison = compared({{50, 50, 50, 0}, {51, 51, 51, 51}});
        RunGroup& group = comparison.groups[0];
        group.runs.resize(2);
        for (auto& [set, seeds] : group.scores) seeds = {50, 50};
        group.scores["set3"] = {90};
        const RankIntervals ranks = rank_intervals(comparison);
        QCOMPARE(ranks.num_sets, std::size_t{3});
        QCOMPARE(ranks_of(ranks), std::string("1:1[1-1]t0 0:2[2-2]t1 "));
        QCOMPARE(ranks.ranks[1].mean, 50.0);
    }
    void the_same_seed_gives_the_same_ranks_and_the_table_says_them() {
        const Comparison comparison = compared({{1, 5, 3, 4}, {2, 3, 4, 5}});
        QCOMPARE(ranks_of(rank_intervals(comparison, 7)), ranks_of(rank_intervals(comparison, 7)));
        const Table table = comparison_table(comparison);
        QVERIFY(std::find(table.footnotes.begin(), table.footnotes.end(), rank_intervals(comparison).sentence(comparison)) !=
                table.footnotes.end());
        QCOMPARE(comparison_json(comparison).at("ranks").at("rows").size(), std::size_t{2});
    }
};

FACETER_TEST(TestRankIntervals)
#include "test_rank_intervals.moc"
