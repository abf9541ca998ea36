#include <cmath>
#include <fstream>

#include "common/random.h"
#include "compare/study_exclusions.h"
#include "compare/study_report.h"
#include "experiment/run_models.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
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

/// Of the sample experiment, with all that it names.
Study sample_study(const fs::path& folder, const std::string& seeds) {
    overwrite(folder / "quick.yaml", std::string("model: IC-1\n") + sample_experiment());
    overwrite(folder / "pairs.tsv", "a\tb\n");
    write_scifact(folder);
    overwrite(folder / "s.yaml", "name: s\nquestion: q\nhypothesis: h\nseeds: " + seeds +
                                     "\nclaims:\n  - {claim: Mix over EM, better: Mix, than: EM}\nexperiments:\n  - {file: quick.yaml}\n");
    return read_study(folder / "s.yaml");
}

/// How many runs the study of such a folder has, once its claims are checked.
std::size_t checked(const fs::path& folder) {
    const Study study = read_study(folder / "s.yaml");
    check_claims(study, study_experiments(study, sample_catalogue(), false));
    return study_runs(study, sample_catalogue(), folder / "p", false).size();
}

/// What was made for a study without records, and how often its start model was looked for.
std::pair<std::size_t, int> made_runs(const std::string& seeds) {
    const TemporaryDirectory folder;
    const Study study = sample_study(folder.path(), seeds);
    const fs::path project = folder.path() / "p";
    int looks = 0;
    use_run_models({[&](const std::string&) { return ++looks, fs::path(); }, {}});
    std::vector<StudyRun> planned = study_runs(study, sample_catalogue(), project, false);
    const StudyStart start = begin_study(study_experiments(study, sample_catalogue(), false), std::move(planned), project, false);
    use_run_models({});
    return {start.runs.size(), looks};
}

/// A study of three runs, one of which is done.
struct StudyWithRecord {
    StudyWithRecord() {
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        write_attempt(RunDirectory::create(project, experiment, experiment.runs().at(1), false), 1, 2, "finished");
    }
    int done() const {
        const std::vector<StudyRun> runs = study_runs(study, sample_catalogue(), project, false);
        return static_cast<int>(std::count_if(runs.begin(), runs.end(), [](const StudyRun& run) { return run.done; }));
    }
    void change_experiment(const std::string& part, const std::string& other) const {
        std::string text = read_file(folder.path() / "quick.yaml");
        text.replace(text.find(part), part.size(), other);
        overwrite(folder.path() / "quick.yaml", text);
    }
    const TemporaryDirectory folder;
    const Study study = sample_study(folder.path(), "[1]");
    const fs::path project = folder.path() / "p";
};

/// What a study may conclude, from made scores whose truth is known.
class TestStudy : public QObject {
    Q_OBJECT
    static Study study() {
        Study made;
        made.name = "made";
        made.seeds = {1, 2, 3, 4, 5};
        made.pilot_deviation = 0.3;
        return made;
    }
    static StudyClaim claim(bool higher = true) { return {"A over B", "A", "B", higher, StudyMeasure::score, {}, 0.5}; }
    static ClaimOutcome judged(const Matrix& a, const Matrix& b, bool higher = true) {
        return judged_together({measured(a, b, study(), higher)}, study()).front();
    }
    static ClaimOutcome measured(const Matrix& a, const Matrix& b, const Study& of, bool higher = true) {
        return measure_claim(claim(higher), {1, 2, 3, 4, 5}, {"x", "y", "z"}, a, b, of);
    }
    static std::vector<ClaimOutcome> judged_together(std::vector<ClaimOutcome> claims, const Study& of) {
        judge_claims(of, claims);
        return claims;
    }
    static std::string study_text(const std::string& more) {
        return "name: s\nquestion: q\nhypothesis: h\npilot_deviation: 0.3\nseeds: [1, 2, 3, 4, 5]\n" + more;
    }
    static constexpr const char* claims = "claims:\n  - {claim: A over B, better: A, than: B}\nexperiments:\n  - {file: e.yaml}\n";

  private Q_SLOTS:
    void runs_that_wait_in_a_queue_are_not_begun_again() {
        const TemporaryDirectory folder;
        const Study study = sample_study(folder.path(), "[1]");
        const fs::path project = folder.path() / "p";
        const auto begun = [&] {
            return begin_study(study_experiments(study, sample_catalogue(), false), study_runs(study, sample_catalogue(), project, false),
                               project, false);
        };
        use_run_models({[](const std::string&) { return fs::path(); }, {}});
        const StudyStart first = begun();
        write_supervisor(first.runs.front(), ProcessIdentity::own());
        const StudyStart second = begun();
        use_run_models({});
        QCOMPARE(second.under_way.size(), std::size_t{1});
        QVERIFY(second.under_way.front().ends_with("is queued already"));
        QCOMPARE(second.runs.size() + 1, first.runs.size());
    }
    void the_verdict_follows_the_scores_data() {
        QTest::addColumn<QList<double>>("above");
        QTest::addColumn<double>("wobble");
        QTest::addColumn<QString>("verdict");
        QTest::newRow("better on all") << QList<double>{2, 3, 2} << 0.4 << "holds";
        QTest::newRow("better on one, worse on one") << QList<double>{4, -4, 0} << 0.4 << "holds in part";
        QTest::newRow("better over all, worse on one") << QList<double>{5, 5, -3} << 0.4 << "holds in part";
        QTest::newRow("better on one by what does not matter") << QList<double>{0.3, 0, 0} << 0.05 << "does not hold here";
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
    /// As in a comparison: scores are shares of few examples, and two or three of them may well be apart by the same.
    void seeds_that_do_not_differ_decide_nothing() {
        const Matrix plain(5, {50, 50, 50});
        const ClaimOutcome same = judged(Matrix(5, {52, 52.1, 53}), plain);
        QCOMPARE(same.verdict, Verdict::undecided);
        QVERIFY2(same.sentence.find("(t interval); the seeds do not differ") != std::string::npos, same.sentence.c_str());
        QVERIFY(same.to_json().at("p").is_null() && same.to_json().at("equivalence").at("p").is_null());
        const ClaimOutcome on_one = judged({{53, 60, 60}, {53, 40, 40}, {53, 55, 55}, {53, 45, 45}, {53, 50, 50}}, plain);
        QVERIFY2(on_one.verdict == Verdict::undecided, on_one.sentence.c_str());
        QVERIFY(std::isnan(on_one.sets.at(0).p));
        const ClaimOutcome against = judged({{55, 54, 47}, {56, 55, 47}, {54, 56, 47}, {55.5, 55, 47}, {54.5, 55, 47}}, plain);
        QVERIFY2(against.sentence.ends_with("the opposite on z."), against.sentence.c_str());
    }
    void a_verdict_on_fewer_seeds_than_planned_says_so() {
        Study longer = study();
        const Matrix better = scores({2, 3, 2}, 0.4, 1), plain = scores({0, 0, 0}, 0.4, 2);
        QVERIFY(judged(better, plain).sentence.find("not final") == std::string::npos);
        longer.seeds.push_back(6);
        const ClaimOutcome outcome = judged_together({measured(better, plain, longer)}, longer).front();
        QVERIFY2(outcome.sentence.ends_with(" 5 of the 6 planned seeds: not final."), outcome.sentence.c_str());
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
        const ClaimOutcome outcome = judged_together({measure_claim(claim(), {1}, {"x"}, {{60}}, {{50}}, study())}, study()).front();
        QCOMPARE(outcome.verdict, Verdict::undecided);
        QVERIFY(outcome.to_json().at("effect").is_null());
    }
    /// Found by chance once in 25 studies, it is not found among ten claims; one that no runs speak of yet counts among them.
    void the_claims_of_a_study_are_one_family() {
        const ClaimOutcome faint = measured(Matrix{{51, 51, 51}, {52, 52, 52}, {49.6, 49.6, 49.6}, {52, 52, 52}, {50.4, 50.4, 50.4}},
                                            Matrix(5, std::vector<double>(3, 50.0)), study());
        QVERIFY(faint.test.p > 0.02 && faint.test.p < 0.05);
        QCOMPARE(judged_together({faint}, study()).front().verdict, Verdict::holds);
        Study of_three = study();
        of_three.claims.assign(3, claim());
        const ClaimOutcome strong = measured(scores({2, 3, 2}, 0.4, 1), scores({0, 0, 0}, 0.4, 2), of_three);
        const ClaimOutcome pending = measure_claim(claim(), {}, {}, {}, {}, of_three);
        const auto together = judged_together({faint, strong, pending}, of_three);
        QCOMPARE(together[0].verdict, Verdict::undecided);
        QCOMPARE(together[1].verdict, Verdict::holds);
        QCOMPARE(together[2].verdict, Verdict::undecided);
        QCOMPARE(together[1].adjusted.holds, 3 * strong.test.p);
        QCOMPARE(together[0].adjusted.holds, 2 * faint.test.p);
        QCOMPARE(together[0].to_json().at("p_holm").get<double>(), 2 * faint.test.p);
    }
    void power_is_planned_at_what_holm_leaves_each_claim() {
        Study of_ten = study();
        of_ten.claims.assign(10, claim());
        const Matrix a = scores({1, 1, 1}, 2, 1), b = scores({0, 0, 0}, 2, 2);
        const ClaimOutcome alone = measured(a, b, study()), one_of_ten = measured(a, b, of_ten);
        QVERIFY(one_of_ten.power < alone.power);
        QVERIFY(one_of_ten.seeds_needed > alone.seeds_needed);
    }
    /// Its planning once ended the report of all claims with an error.
    void differences_far_from_what_matters_do_not_end_a_report_data() {
        QTest::addColumn<double>("spread");
        QTest::newRow("a difference that is lost in the noise") << 1e8;
        QTest::newRow("seeds that differ in the last bits") << 1e-7;
    }
    void differences_far_from_what_matters_do_not_end_a_report() {
        QFETCH(double, spread);
        const ClaimOutcome outcome =
            judged({{0, 0, 0}, {spread, 0, 0}, {0, 0, 0}, {-spread, 0, 0}, {0, 0, 0}}, Matrix(5, std::vector<double>(3, 0.0)));
        QCOMPARE(outcome.verdict, spread > 1 ? Verdict::undecided : Verdict::does_not_hold);
        QCOMPARE(outcome.seeds_needed, spread > 1 ? 0 : 2);
        if (spread > 1) QVERIFY2(outcome.sentence.find("more than a million seeds") != std::string::npos, outcome.sentence.c_str());
    }
    void a_pilot_decides_nothing_and_says_the_deviation() {
        Study pilot = study();
        pilot.pilot_deviation = 0;
        const ClaimOutcome measured_one = measured(scores({2, 3, 2}, 0.4, 1), scores({0, 0, 0}, 0.4, 2), pilot);
        const ClaimOutcome outcome = judged_together({measured_one}, pilot).front();
        QCOMPARE(outcome.verdict, Verdict::undecided);
        QVERIFY2(outcome.sentence.starts_with("A pilot decides nothing") &&
                     outcome.sentence.find(fmt::format("deviation over seeds {:.3g}", outcome.test.std_difference)) != std::string::npos,
                 outcome.sentence.c_str());
    }
    void many_seeds_without_a_pilot_are_not_begun() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\n";
        const auto written = [&](const std::string& seeds) {
            std::ofstream(folder.path() / "s.yaml") << "name: s\nquestion: q\nhypothesis: h\nseeds: " << seeds << "\n" << claims;
            return read_study(folder.path() / "s.yaml");
        };
        check_planned(written("[101, 102, 103]"), "s.yaml");
        EXPECT_ERROR(check_planned(written("[1, 2, 3, 4]"), "s.yaml"), "s.yaml: no pilot says that 4 seeds are enough");
    }
    /// Once each missing run made all runs of its experiment again.
    void an_experiment_is_read_as_often_for_many_seeds_as_for_few() {
        const auto [few, looks] = made_runs("[1]");
        const auto [many, more_looks] = made_runs("[1, 2, 3, 4, 5, 6]");
        QCOMPARE(few, std::size_t{3});
        QCOMPARE(many, std::size_t{13});
        QCOMPARE(more_looks, looks);
    }
    void a_record_that_is_done_stands_before_a_newer_one_that_failed() {
        const TemporaryDirectory folder;
        const Study study = sample_study(folder.path(), "[1, 2]");
        const fs::path project = folder.path() / "p";
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        const RunDirectory done = RunDirectory::create(project, experiment, experiment.runs().at(1), false);
        const RunDirectory failed = RunDirectory::create(project, experiment, experiment.runs().at(1), false);
        const RunDirectory smoke = RunDirectory::create(project, experiment, experiment.runs().at(2), true);
        write_attempt(done, 1, 2, "finished");
        write_attempt(failed, 1, 2, "failed");
        write_attempt(smoke, 1, 2, "finished");
        const std::vector<StudyRun> runs = study_runs(study, sample_catalogue(), project, false);
        QCOMPARE(runs.size(), std::size_t{5});
        for (const StudyRun& run : runs) {
            const bool has_record = run.wanted.variant == "EM" && run.wanted.seed == 1;
            QCOMPARE(run.done, has_record);
            QCOMPARE(run.record.string(), has_record ? done.folder().string() : std::string());
            QCOMPARE(run.wanted.settings.empty(), has_record);  // those of a record are its own
            if (has_record) QCOMPARE(run.record_name, done.info().shown_name());
            if (has_record) QVERIFY(run.state.phase == RunPhase::done);
        }
    }
    void a_record_of_other_data_is_none() {
        const StudyWithRecord of;
        const fs::path other = of.folder.path() / "other/pairs.tsv";
        QCOMPARE(of.done(), 1);
        of.change_experiment("pairs.tsv", "other/pairs.tsv");
        make_directories(other.parent_path());
        overwrite(other, "a\tc\n");
        QCOMPARE(of.done(), 0);
        overwrite(other, "a\tb\n");
        QCOMPARE(of.done(), 1);  // the same bytes at another place
        overwrite(other, "a\tc\n");
        fs::remove(of.folder.path() / "pairs.tsv");
        QCOMPARE(of.done(), 1);  // as a record of another machine, where nothing can be compared
    }
    /// Otherwise it would be made again without a word.
    void a_record_that_does_not_count_is_said_why() {
        const StudyWithRecord of;
        const auto unlike = [&] {
            std::vector<std::string> said;
            for (const StudyRun& run : study_runs(read_study(of.folder.path() / "s.yaml"), sample_catalogue(), of.project, false))
                if (!run.unlike.empty()) said.push_back(run.unlike);
            return said;
        };
        QVERIFY(unlike().empty());
        of.change_experiment("max_examples: 100", "max_examples: 90");
        QCOMPARE(unlike().size(), std::size_t{1});
        const std::string said = unlike().front();
        QVERIFY2(said.ends_with(" does not count: its tasks.retrieval.train[0].max_examples is 100, the study's 90"), said.c_str());
        of.change_experiment("evaluation:", "training: {steps: 7}\nevaluation:");
        QVERIFY2(unlike().front().find(", the study's 90 (") != std::string::npos, unlike().front().c_str());
        std::string text = read_file(of.folder.path() / "s.yaml");
        text.replace(text.find("[1]"), 3, "[2]");
        overwrite(of.folder.path() / "s.yaml", text);
        QVERIFY(unlike().empty());  // it is of another seed
    }
    void what_tools_hide_in_a_folder_is_none_of_its_data() {
        const StudyWithRecord of;
        const fs::path other = of.folder.path() / "other/scifact";
        of.change_experiment("path: scifact", "path: other/scifact");
        write_scifact(other.parent_path());
        overwrite(other / ".directory", "a file manager's");
        QCOMPARE(of.done(), 1);
        overwrite(other / "corpus.jsonl", "{}");
        QCOMPARE(of.done(), 0);
    }
    void what_a_claim_is_measured_on_is_there_or_refused_before_a_run() {
        const TemporaryDirectory folder;
        const auto planned = [&](const std::string& claim) {
            sample_study(folder.path(), "[1]");
            std::string text = read_file(folder.path() / "s.yaml");
            text.replace(text.find("Mix, than: EM"), 13, claim);
            overwrite(folder.path() / "s.yaml", text);
            return checked(folder.path());
        };
        QCOMPARE(planned("Mix, than: EM, sets: [scifact]"), std::size_t{3});
        EXPECT_ERROR(planned("Mix, than: EM, sets: [scifcat]"), "claim 'Mix over EM'", "no data set 'scifcat'", "scifact");
        EXPECT_ERROR(planned("Mix, than: EM, measure: inter_task_similarity"), "of 'Mix' has no analysis 'inter_task_similarity'");
        EXPECT_ERROR(planned("Mix, than: EM, measure: router_study"), "none of its experiments has the analysis 'router_study'");
        EXPECT_ERROR(planned("Mix, than: quick/Mix"), "the same runs");
        std::string text = read_file(folder.path() / "s.yaml");
        text.replace(text.find("quick/Mix"), 9, "EM");
        overwrite(folder.path() / "s.yaml", text + "  - {file: quick.yaml, set: [training.steps=7]}\n");
        const auto runs = [&] { return checked(folder.path()); };
        EXPECT_ERROR(runs(), "study s, claim 'Mix over EM': experiments[0] and experiments[1] both make 'quick/Mix'", "set: [name=other]");
        overwrite(folder.path() / "s.yaml", text + "  - {file: quick.yaml, set: [training.steps=7, name=other]}\n");
        EXPECT_ERROR(runs(), "'Mix' is the name of several configurations", "other/Mix");
    }
    /// Read at the report alone, it cost all runs.
    void what_an_exclusion_speaks_of_is_planned_or_refused_before_a_run() {
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "p";
        const auto excluded = [&](const std::string& where) {
            sample_study(folder.path(), "[1]");
            const fs::path file = folder.path() / "s.yaml";
            overwrite(file, read_file(file) + "exclusions:\n  - {where: " + where + ", reason: r}\n");
            const Study study = read_study(file);
            check_exclusions(study, study_names(study_experiments(study, sample_catalogue(), false)));
            return report_study(study, sample_catalogue(), project, false).excluded;
        };
        const auto all_are_read = [&] {
            for (const char* where : {"loss > 20", "scifact < 0.5", "retrieval < 10 and training.steps = 7", "not steps < 1 and sts < 5"})
                QCOMPARE(excluded(where).size(), std::size_t{0});
        };
        all_are_read();
        const Experiment experiment = study_experiments(read_study(folder.path() / "s.yaml"), sample_catalogue(), false).front();
        write_attempt(RunDirectory::create(project, experiment, experiment.runs().at(1), false), 1, 2, "finished");
        all_are_read();  // of which no run has a score yet
        QCOMPARE(excluded("loss < 20").size(), std::size_t{1});
        EXPECT_ERROR(excluded("scifcat < 0.5"), "study s, exclusions[0].where: filter, column 1", "did you mean 'scifact'");
        QCOMPARE(excluded("'loss:max < 20'").size(), std::size_t{1});
        EXPECT_ERROR(excluded("'losss:max > 20'"), "study s, exclusions[0].where: no run of it will have the series 'losss'",
                     "did you mean 'loss'");
        const auto unheard = excluded("'mined_share:last > 0.5'");  // of a plugin's objective, perhaps
        QCOMPARE(unheard, std::vector<std::string>{"none by 'mined_share:last > 0.5': no run has 'mined_share:last' yet"});
        for (const char* of_a_plugin : {"z_loss:max", "loss_b:max", "mlm:max"})  // each near a series of every run
            QCOMPARE(excluded(fmt::format("'{} > 20'", of_a_plugin)),
                     std::vector<std::string>{fmt::format("none by '{0} > 20': no run has '{0}' yet", of_a_plugin)});
        EXPECT_ERROR(excluded("loss >"), "study s, exclusions[0].where", "a value is expected");
    }
    void scores_during_the_training_are_a_figure() {
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "p";
        sample_study(folder.path(), "[1, 2]");
        const Study study = read_study(folder.path() / "s.yaml");
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        const auto figure = [&] {
            for (const Figure& one : report_study(study, sample_catalogue(), project, false).figures)
                if (one.name == "scores_over_steps") return one;
            return Figure();
        };
        double score = 40;
        for (const ResolvedRun& resolved : experiment.runs()) {
            const RunDirectory run = RunDirectory::create(project, experiment, resolved, false);
            if (resolved.variant == "Mix") {
                JournalWriter journal(run, run.begin_attempt(), {});
                for (const int step : {10, 20})
                    journal.event("evaluation", {{"step", step}, {"scores", {{"scifact", score + step}, {"other", 0.0}}}});
                journal.flush();
                score += 8;
            }
            QVERIFY(figure().series.empty());  // of a run that is not done
            if (resolved.variant != "Mix") write_attempt(run, 1, 2, "finished");
        }
        Project(project, false).each_run([&](const RunDirectory& run) {
            if (run.info().variant == "Mix") write_attempt(run, 1, 2, "finished");
        });
        const Figure found = figure();
        QCOMPARE(found.series.size(), std::size_t{1});
        QCOMPARE(found.series[0].name, std::string("Mix"));
        QCOMPARE(found.series[0].x, (std::vector<double>{10, 20}));
        QCOMPARE(found.series[0].y, (std::vector<double>{27, 32}));  // mean of 50 and 58 over two sets, one of which has 0
        QCOMPARE(found.series[0].low, (std::vector<double>{25, 30}));
        QCOMPARE(found.notes.at(0), std::string("Lines: mean over seeds; bands: all seeds. Data sets: other, scifact."));
    }
    void experiments_that_share_the_start_model_alone_are_told_apart() {
        const TemporaryDirectory folder;
        sample_study(folder.path(), "[1]");
        const std::string text = read_file(folder.path() / "s.yaml");
        const std::string two = text.substr(0, text.find("experiments:")) +
                                "experiments:\n  - {file: quick.yaml, set: ['variants={Mix: {method: dense}}']}\n"
                                "  - {file: quick.yaml, set: ['variants={EM: {method: dense}}']}\n";
        overwrite(folder.path() / "s.yaml", two);
        QCOMPARE(checked(folder.path()), std::size_t{4});
        std::string of_start = two;
        of_start.replace(of_start.find("than: EM"), 8, "than: start");
        overwrite(folder.path() / "s.yaml", of_start);
        QCOMPARE(checked(folder.path()), std::size_t{4});
    }
    /// Of a study that is finished, whatever was found since to be wrong with a claim.
    void a_study_with_a_claim_that_cannot_be_decided_is_still_reported() {
        const TemporaryDirectory folder;
        sample_study(folder.path(), "[1]");
        std::string text = read_file(folder.path() / "s.yaml");
        text.replace(text.find("than: EM"), 8, "than: EM, sets: [scifcat]");
        overwrite(folder.path() / "s.yaml", text);
        EXPECT_ERROR(checked(folder.path()), "no data set 'scifcat'");
        const Study study = read_study(folder.path() / "s.yaml");
        QCOMPARE(report_study(study, sample_catalogue(), folder.path() / "p", false).planned, std::size_t{3});
    }
    void the_text_before_a_slash_is_a_setting() {
        const TemporaryDirectory folder;
        const Study study = sample_study(folder.path(), "[1]");
        const fs::path project = folder.path() / "p";
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs().at(1), false);
        write_attempt(run, 1, 2, "finished");
        Json json = read_json(run.folder() / "run.json");
        json["settings"]["tasks"]["clustering"]["instructions"]["text"] = "other/clustering: ";
        write_file_atomic(run.folder() / "run.json", json.dump());
        for (const StudyRun& one : study_runs(study, sample_catalogue(), project, false)) QVERIFY(!one.done);
    }
    void the_start_model_stands_beside_every_seed() {
        const TemporaryDirectory folder;
        sample_study(folder.path(), "[1, 2]");
        std::string text = read_file(folder.path() / "s.yaml");
        text.replace(text.find("than: EM"), 8, "than: start");
        overwrite(folder.path() / "s.yaml", text);
        const Study study = read_study(folder.path() / "s.yaml");
        const fs::path project = folder.path() / "p";
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        for (const std::size_t index : {std::size_t{0}, std::size_t{3}, std::size_t{4}}) {
            const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs().at(index), false);
            write_attempt(run, 1, 2, "finished");
            write_results(run, static_cast<double>(index));
        }
        const ClaimOutcome claim = report_study(study, sample_catalogue(), project, false).claims.at(0);
        QCOMPARE(claim.seeds, (std::vector<std::uint64_t>{1, 2}));
        QVERIFY(std::abs(claim.effect.estimate - 3.5 * 1.1) < 1e-9);
    }
    /// They were averaged as if they were seeds of one.
    void variants_of_one_name_in_two_experiments_are_told_apart() {
        const TemporaryDirectory folder;
        sample_study(folder.path(), "[1, 2]");
        std::string text = read_file(folder.path() / "s.yaml");
        text.replace(text.find("Mix, than: EM"), 13, "quick/Mix, than: quick/EM");
        overwrite(folder.path() / "s.yaml", text + "  - {file: quick.yaml, set: [training.steps=7, name=other]}\n");
        const Study study = read_study(folder.path() / "s.yaml");
        const fs::path project = folder.path() / "p";
        double shift = 0;
        const std::vector<Experiment> experiments = study_experiments(study, sample_catalogue(), false);
        for (const Experiment& experiment : experiments)
            for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) {
                const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs().at(index), false);
                write_attempt(run, 1, 2, "finished");
                write_results(run, ++shift);
            }
        const StudyReport report = report_study(study, sample_catalogue(), project, false);
        const Table& scores = report.tables.at(2);
        QCOMPARE(scores.columns.size(), std::size_t{3});
        QCOMPARE(scores.columns[1].name, std::string("EM (other)"));
        QCOMPARE(scores.columns[2].name, std::string("EM (quick)"));
        QCOMPARE(scores.rows[0].cells[1].value, 43.5);
        QCOMPARE(scores.rows[0].cells[2].value, 41.5);
        QCOMPARE(scores.rows[0].cells[2].n, std::int64_t{2});
        QCOMPARE(report.costs.size(), std::size_t{2});
        QCOMPARE(report.figures.back().series.size(), std::size_t{2});
    }
    void a_score_that_is_not_a_number_is_none() {
        const TemporaryDirectory folder;
        const Study study = sample_study(folder.path(), "[1, 2]");
        const fs::path project = folder.path() / "p";
        const Experiment experiment = study_experiments(study, sample_catalogue(), false).front();
        for (std::size_t index = 1; index <= 4; ++index) {
            const RunDirectory run = RunDirectory::create(project, experiment, experiment.runs().at(index), false);
            write_attempt(run, 1, 2, "finished");
            write_results(run, static_cast<double>(index));
            run.write_result("flat", {{"name", "flat"}, {"task_type", "sts"}, {"metric", "m"}, {"score", nullptr}, {"n", 3}});
        }
        const StudyReport report = report_study(study, sample_catalogue(), project, false);
        QCOMPARE(report.claims.at(0).seeds.size(), std::size_t{2});
        QCOMPARE(report.claims.at(0).sets.size(), std::size_t{3});
        QVERIFY(report.claims.at(0).sentence.find("Without") == std::string::npos);  // no run has one
        fs::remove(RunDirectory(study_runs(study, sample_catalogue(), project, false).back().record).results() / "set1.json");
        const std::string torn = report_study(study, sample_catalogue(), project, false).claims.at(0).sentence;
        QVERIFY2(torn.ends_with("Without set1, which not every run has a score of."), torn.c_str());
    }
    void an_experiment_is_said_to_be_none() {
        EXPECT_ERROR(read_study(fs::path(FACETER_SOURCE_DIR) / "experiments/quickstart.yaml"), "is an experiment, not a study",
                     "faceter run");
    }
    void the_json_has_what_scripts_read() {
        const Json json = judged(scores({2, 3, 2}, 0.4, 1), scores({0, 0, 0}, 0.4, 2)).to_json();
        for (const char* member : {"claim", "verdict", "effect", "interval", "n", "p", "p_holm", "power", "equivalence", "sets"})
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
        for (const std::string& one :
             read_study_record(written("alpha: 0.1\nexclusions:\n  - {where: seed = 1, reason: r}\n"), folder.path()).deviations)
            QVERIFY2(one.find("exclusions was []") == std::string::npos, one.c_str());  // it read as if they had been taken away
    }
    void a_change_late_in_a_long_text_is_a_deviation() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\n";
        const auto written = [&](const std::string& end) {
            std::ofstream(folder.path() / "s.yaml") << study_text("budget: " + std::string(300, 'x') + end + "\n") << claims;
            return read_study(folder.path() / "s.yaml");
        };
        record_study(written(" of one"), folder.path());
        const auto deviations = read_study_record(written(" of two"), folder.path()).deviations;
        QCOMPARE(deviations.size(), std::size_t{1});
        QVERIFY2(deviations[0].find("budget was ...x") != std::string::npos &&
                     deviations[0].find("x of one\", is ...x") != std::string::npos && deviations[0].ends_with("x of two\""),
                 deviations[0].c_str());
    }
    void a_record_that_was_edited_or_cut_is_refused_with_its_name() {
        const TemporaryDirectory folder;
        std::ofstream(folder.path() / "e.yaml") << "name: e\ntraining: {steps: 5}\n";
        std::ofstream(folder.path() / "s.yaml") << study_text("") << claims;
        const Study study = read_study(folder.path() / "s.yaml");
        record_study(study, folder.path());
        const fs::path file = fs::directory_iterator(folder.path() / "studies")->path();
        const Json whole = read_json(file);
        for (const char* member : {"plan", "latest", "deviations"})
            for (const bool gone : {true, false}) {
                Json changed = whole;
                changed.erase(member);
                if (!gone && std::string_view(member) != "deviations") continue;
                if (!gone) changed[member] = "none";
                write_file_atomic(file, changed.dump());
                EXPECT_ERROR(read_study_record(study, folder.path()), file.string(), std::string(member));
                EXPECT_ERROR(record_study(study, folder.path()), file.string(), std::string(member));
            }
    }
    void every_study_that_is_shipped_can_be_read() {
        int count = 0;
        for (const auto& entry : fs::directory_iterator(fs::path(FACETER_SOURCE_DIR) / "experiments/studies")) {
            if (entry.path().extension() != ".yaml") continue;
            QVERIFY(!read_study(entry.path()).claims.empty());
            ++count;
        }
        QCOMPARE(count, 6);
    }
};

FACETER_TEST(TestStudy)
#include "test_study.moc"
