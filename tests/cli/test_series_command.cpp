#include "cli/program.h"
#include "common/strings.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter series`: the points of a run's curves.
class TestSeriesCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string name_;

    Outcome series(std::vector<std::string> words) const {
        words.insert(words.begin(), "series");
        words.insert(words.end(), {"--project", folder_.path().string()});
        return faceter::testing::faceter(words);
    }

  private Q_SLOTS:
    void initTestCase() {
        const RunDirectory run = sample_run(folder_.path());
        write_attempt(run, 1, 3, "stopped");
        write_attempt(run, 3, 4, "finished", 8);  // resumed: its step 3 counts
        name_ = run.info().name;
    }
    void every_point_is_a_line_of_csv() {
        const Outcome outcome = series({name_, "--name", "loss"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        const std::vector<std::string_view> lines = split(outcome.out, '\n');
        QCOMPARE(lines.size(), std::size_t{6});
        QCOMPARE(std::string(lines[0]), std::string("run,series,step,time,value"));
        const std::vector<std::string> steps{"1", "2", "3", "4"}, values{"1", "0.5", "2.6666666666666665", "2"};
        for (std::size_t i = 0; i < steps.size(); ++i) {
            QVERIFY2(lines[i + 1].starts_with(name_ + ",loss," + steps[i] + ","), outcome.out.c_str());
            QVERIFY2(lines[i + 1].ends_with("," + values[i]), outcome.out.c_str());
        }
    }
    void a_pattern_chooses_and_one_that_fits_nothing_is_refused() {
        const Json json = json_of(series({name_, "--name", "l*", "--json"}));
        std::vector<std::string> names;
        for (const Json& one : json.at("runs").at(0).at("series")) names.push_back(one.at("name"));
        QCOMPARE(names, (std::vector<std::string>{"loss", "lr"}));
        QCOMPARE(json.at("runs").at(0).at("series").at(0).at("values").dump(), std::string("[1.0,0.5,2.6666666666666665,2.0]"));
        QCOMPARE(json.at("runs").at(0).at("series").at(0).at("steps").dump(), std::string("[1,2,3,4]"));
        const Outcome wrong = series({name_, "--name", "los"});
        QCOMPARE(wrong.code, 2);
        HAS(wrong.err, "--name 'los': none of the runs has a series of that name; did you mean 'loss'?");
    }
    void the_series_that_there_are_are_listed() {
        HAS(series({name_, "--list"}).out, "loss");
        for (const Json& one : json_of(series({name_, "--list", "--json"})).at("runs").at(0).at("series"))
            if (one.at("name") == "loss") {
                QCOMPARE(one.at("points").get<int>(), 4);
                QCOMPARE(one.at("max").get<double>(), 8.0 / 3);
            }
    }
    void a_file_gets_what_would_be_printed() {
        const std::string file = (folder_.path() / "curves.csv").string();
        QCOMPARE(series({name_, "--output", file}).code, 0);
        QCOMPARE(read_file(file), series({name_}).out);
        QCOMPARE(series({name_, "--output", file, "--list"}).code, 2);
    }
};

FACETER_TEST(TestSeriesCommand)
#include "test_series_command.moc"
