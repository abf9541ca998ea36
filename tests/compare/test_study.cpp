#include <cmath>
#include <fstream>

#include "common/random.h"
#include "compare/study_report.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// Scores of five seeds on three data sets: `by_set` above 50, with a wobble over seeds.
Matrix scores(const std::vector<double>& by_set, double wobble, std::uint64_t stream) {
    RandomStream random(stream, "test.study");
    Matrix rows(5);
    for (auto& row : rows)
        for (const double above : by_set) row.push_back(50 + above + wobble * (random.uniform() - 0.5));
    return rows;
}

}  // namespace

/// What a study may conclude, from made scores whose truth is known.
class TestStudy : public QObject {
    Q_OBJECT
    static Study study() {
        Study made;
        made.name = "made";
        made.seeds = {1, 2, 3, 4, 5};
        return made;
    }
    static StudyClaim claim(bool higher = true) { return {"A over B", "A", "B", higher, StudyMeasure::score, {}, 0.5}; }
    static ClaimOutcome judged(const Matrix& a, const Matrix& b, bool higher = true) {
        return judge_claim(claim(higher), {1, 2, 3, 4, 5}, {"x", "y", "z"}, a, b, study());
    }
    static std::string study_text(const std::string& more) {
        return "name: s\nquestion: q\nhypothesis: h\npilot_deviation: 0.3\nseeds: [1, 2, 3, 4, 5]\n" + more;
    }
    static constexpr const char* claims = "claims:\n  - {claim: A over B, better: A, than: B}\nexperiments:\n  - {file: e.yaml}\n";

  private Q_SLOTS:
    void the_verdict_follows_the_scores_data() {
        QTest::addColumn<QList<double>>("above");
        QTest::addColumn<double>("wobble");
        QTest::addColumn<QString>("verdict");
        QTest::newRow("better on all") << QList<double>{2, 3, 2} << 0.4 << "holds";
        QTest::newRow("better on one, worse on one") << QList<double>{4, -4, 0} << 0.4 << "holds in part";
        QTest::newRow("better over all, worse on one") << QList<double>{5, 5, -3} << 0.4 << "holds in part";
        QTest::newRow("the same") << QList<double>{0, 0, 0} << 0.1 << "does not hold here";
        QTest::newRow("worse") << QList<double>{-2, -3, -2} << 0.4 << "does not hold here";
        QTest::newRow("too noisy to say") << QList<double>{0, 0, 0} << 12.0 << "undecided";
    }
    void the_verdict_follows_the_scores() {
        QFETCH(QList<double>, above);
        QFETCH(double, wobble);
        QFETCH(QString, verdict);
        const ClaimOutcome outcome = judged(scores({above.begin(), above.end()}, wobble, 1), scores({0, 0, 0}, wobble, 2));
        QVERIFY2(QString::fromStdString(std::string(verdict_name(outcome.verdict))) == verdict, outcome.sentence.c_str());
        QVERIFY(outcome.effect.interval.low <= outcome.effect.estimate && outcome.effect.estimate <= outcome.effect.interval.high);
    }
    void a_claim_of_less_is_judged_the_other_way() {
        const Matrix low = scores({-2, -2, -2}, 0.3, 1), plain = scores({0, 0, 0}, 0.3, 2);
        QCOMPARE(judged(low, plain, false).verdict, Verdict::holds);
        QCOMPARE(judged(low, plain, true).verdict, Verdict::does_not_hold);
    }
    void what_is_undecided_says_how_many_seeds_it_takes() {
        const ClaimOutcome outcome = judged(scores({0, 0, 0}, 12, 1), scores({0, 0, 0}, 12, 2));
        QVERIFY(outcome.seeds_needed > 5);
        QVERIFY(outcome.power < 0.8);
        QVERIFY(outcome.sentence.find(fmt::format("takes {} seeds", outcome.seeds_needed)) != std::string::npos);
    }
    void one_seed_decides_nothing() {
        const ClaimOutcome outcome = judge_claim(claim(), {1}, {"x"}, {{60}}, {{50}}, study());
        QCOMPARE(outcome.verdict, Verdict::undecided);
        QVERIFY(outcome.to_json().at("effect").is_null());
    }
    void the_json_has_what_scripts_read() {
        const Json json = judged(scores({2, 3, 2}, 0.4, 1), scores({0, 0, 0}, 0.4, 2)).to_json();
        for (const char* member : {"claim", "verdict", "effect", "interval", "n", "p", "power", "equivalence", "sets"})
            QVERIFY2(json.contains(member), member);
        QCOMPARE(json.at("n").get<int>(), 5);
    }
    void a_plan_with_too_few_seeds_is_refused() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\n";
        std::ofstream(folder.path() / "s.yaml") << "name: s\nquestion: q\nhypothesis: h\npilot_deviation: 2\nseeds: [1, 2]\n" << claims;
        EXPECT_ERROR(read_study(folder.path() / "s.yaml"), "2 seeds are too few", "faceter stats power");
    }
    void what_a_study_does_not_know_is_refused_with_its_place() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\n";
        std::ofstream(folder.path() / "s.yaml") << study_text("hypotesis: x\n") << claims;
        EXPECT_ERROR(read_study(folder.path() / "s.yaml"), "s.yaml:6:", "hypotesis");
    }
    void what_is_changed_after_the_first_run_is_a_deviation() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\ntraining: {steps: 5}\n";
        const auto written = [&](const std::string& more) {
            std::ofstream(folder.path() / "s.yaml") << study_text(more) << claims;
            return read_study(folder.path() / "s.yaml");
        };
        const Study first = written("");
        QVERIFY(read_study_record(first, folder.path()).first_run.empty());
        record_study(first, folder.path());
        QVERIFY(read_study_record(first, folder.path()).deviations.empty());
        const Study later = written("alpha: 0.1\n");
        QVERIFY(later.hash != first.hash);
        record_study(later, folder.path());
        record_study(later, folder.path());
        std::ofstream(folder.path() / "e.yaml") << "name: e\ntraining: {steps: 6}\n";
        const StudyRecord record = read_study_record(written("alpha: 0.1\n"), folder.path());
        QCOMPARE(record.hash, first.hash);
        QCOMPARE(record.deviations.size(), std::size_t{2});
        QVERIFY(record.deviations[0].find("alpha was 0.05, is 0.1") != std::string::npos);
        QVERIFY(record.deviations[1].find("steps was 5, is 6") != std::string::npos);
    }
    void every_study_that_is_shipped_can_be_read() {
        int count = 0;
        for (const auto& entry : fs::directory_iterator(fs::path(FACETER_SOURCE_DIR) / "experiments/studies")) {
            if (entry.path().extension() != ".yaml") continue;
            QVERIFY(!read_study(entry.path()).claims.empty());
            ++count;
        }
        QCOMPARE(count, 3);
    }
};

FACETER_TEST(TestStudy)
#include "test_study.moc"
