#include "store/filter.h"

#include <algorithm>

#include "common/error.h"
#include "common/random.h"
#include "common/strings.h"
#include "store/list_columns.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Start (seed 1), EM (1, 2) and Mix (1, 2) with scores set0 (retrieval), set1 (classification), set2 (clustering); Mix 2 has none.
struct Fixture {
    TemporaryDirectory project;
    std::unique_ptr<Store> store;
    std::vector<RunRow> rows;
    FilterNames names;

    Fixture() {
        const auto resolved = parse_sample().runs();
        for (std::size_t i = 0; i < resolved.size(); ++i) {
            const RunDirectory run = sample_run(project.path(), i);
            if (i + 1 < resolved.size()) write_results(run, static_cast<double>(i));
            if (i == 1) run.append_user_event({{"tag", "paper"}});
            if (i == 1) run.append_user_event({{"tag", "Best One"}});
            if (i == 2) write_attempt(run, 1, 10, "failed");
            if (i == 3) run.append_user_event({{"pinned", true}});
        }
        store = std::make_unique<Store>(project.path());
        store->ingest_all();
        rows = store->runs();
        names = filter_names(*store);
    }
    /// "EM1 EM2": variant and seed of the rows that pass, sorted.
    std::string pass(const std::string& text) const {
        const Filter filter = Filter::parse(text, names);
        const std::vector<bool> kept = filter.matches(FilterData(*store, filter, rows));
        std::vector<std::string> found;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (kept[i]) found.push_back(rows[i].info.variant + std::to_string(rows[i].info.seed));
        std::sort(found.begin(), found.end());
        return join(found, " ");
    }
};

const char* const all_rows = "EM1 EM2 Mix1 Mix2 start1";

}  // namespace

class TestFilter : public QObject {
    Q_OBJECT
    Fixture f_;

  private Q_SLOTS:
    void a_value_of_a_series_chooses_runs() {
        QCOMPARE(f_.pass("loss:last < 0.2"), std::string("EM2"));  // 1 / step, and ten steps of one run alone
        QCOMPARE(f_.pass("loss:1 = 1"), std::string("EM2"));
        QCOMPARE(f_.pass("not loss:max > 0"), std::string("EM1 Mix1 Mix2 start1"));
        QCOMPARE(f_.pass("lr:min <= 1e-5 or seed = 1"), std::string("EM1 EM2 Mix1 start1"));
        QVERIFY_THROWS_EXCEPTION(Error, f_.pass("lss:last < 1"));  // misspelt
        QCOMPARE(f_.pass("loss:best < 0.2"), std::string("EM2"));  // the least of a loss
        QCOMPARE(f_.pass("not loss:best >= 0.2"), std::string("EM1 EM2 Mix1 Mix2 start1"));
        EXPECT_ERROR(Filter::parse("lr:best < 1", f_.names), "write :min or :max");
        QVERIFY_THROWS_EXCEPTION(Error, Filter::parse("loss:most < 1", f_.names));
        QVERIFY_THROWS_EXCEPTION(Error, Filter::parse("loss:last ~ 1", f_.names));
    }

    void columns_are_named_as_filters_name_them() {
        const auto columns =
            list_columns(*f_.store, {"variant", "set0", "retrieval", "training.learning_rate", "loss:best", "loss:2", "pinned"}, f_.rows);
        const auto row = static_cast<std::size_t>(
            std::find_if(f_.rows.begin(), f_.rows.end(), [](const RunRow& one) { return one.info.variant == "EM" && one.info.seed == 2; }) -
            f_.rows.begin());
        QCOMPARE(columns[0].cells[row].text, std::string("EM"));
        QCOMPARE(columns[1].cells[row].value, 42.0);
        QCOMPARE(columns[2].cells[row].value, 42.0);
        QCOMPARE(columns[3].cells[row].kind, Cell::Kind::text);
        QCOMPARE(columns[4].cells[row].value, 0.1);
        QCOMPARE(columns[4].column.better, Better::lower);
        QCOMPARE(columns[5].cells[row].value, 0.5);
        QCOMPARE(columns[6].cells[row].text, std::string("no"));
        for (std::size_t other = 0; other < f_.rows.size(); ++other)
            if (other != row) QCOMPARE(columns[4].cells[other].kind, Cell::Kind::empty);
        EXPECT_ERROR(list_columns(*f_.store, {"varient"}, f_.rows), "did you mean 'variant'");
        EXPECT_ERROR(list_columns(*f_.store, {"lss:last"}, f_.rows), "no run has a value 'lss:last'");
    }
    void a_series_of_runs_that_were_not_chosen_leaves_the_cells_of_the_others_empty() {
        std::vector<RunRow> others;
        for (const RunRow& row : f_.rows)
            if (row.state.phase != RunPhase::failed) others.push_back(row);
        QVERIFY(!others.empty() && others.size() < f_.rows.size());
        const std::vector<ListColumn> columns = list_columns(*f_.store, {"loss:last"}, others);
        for (const Cell& cell : columns.front().cells) QCOMPARE(cell.kind, Cell::Kind::empty);
        EXPECT_ERROR(list_columns(*f_.store, {"lss:last"}, others), "no run has a value 'lss:last'");
    }
    void means_of_runs_that_lack_data_sets_are_left_out() {
        const TemporaryDirectory project;
        const auto make = [&](std::size_t index, const std::string& ending, int num_sets) {
            const RunDirectory run = sample_run(project.path(), index);
            write_attempt(run, 1, 10, ending);
            write_results(run, static_cast<double>(index), num_sets);
        };
        make(1, "finished", 3);
        make(2, "finished", 3);
        make(3, "failed", 1);
        Store store(project.path());
        store.ingest_all();
        const std::vector<RunRow> rows = store.runs();
        QCOMPARE(partly_scored(store, rows), (std::vector<bool>{false, false, true}));
        const std::vector<ListColumn> columns = list_columns(store, {"score", "retrieval", "set0"}, rows);
        QCOMPARE(columns[0].cells[0].kind, Cell::Kind::number);
        QCOMPARE(columns[0].cells[2].kind, Cell::Kind::empty);
        QCOMPARE(columns[1].cells[2].kind, Cell::Kind::empty);
        QCOMPARE(columns[2].cells[2].kind, Cell::Kind::number);  // of the set itself
        QVERIFY(columns[1].is_mean && !columns[2].is_mean);
    }
    void a_run_that_goes_on_is_partly_scored_until_it_has_what_its_experiment_names() {
        const TemporaryDirectory project;
        ResolvedRun resolved = parse_sample().runs().at(1);
        Json& sets = resolved.settings["evaluation"]["datasets"];
        sets.push_back(sets[0]);
        sets[1]["name"] = "other";
        const RunDirectory run = RunDirectory::create(project.path(), parse_sample(), resolved, false);
        write_attempt(run, 1, 10, "");
        write_results(run, 1, 1);
        Store store(project.path());
        store.ingest_all();
        QCOMPARE(partly_scored(store, store.runs()), std::vector<bool>{true});
        write_results(run, 1, 2);
        store.ingest_all();
        QCOMPARE(partly_scored(store, store.runs()), std::vector<bool>{false});
    }
    void rows_without_a_value_stand_last_in_both_orders() {
        for (const bool descending : {false, true}) {
            std::vector<RunRow> rows = f_.rows;
            sort_rows(*f_.store, "loss:best", descending, rows);
            QCOMPARE(rows.front().info.variant + std::to_string(rows.front().info.seed), std::string("EM2"));
            sort_rows(*f_.store, "set0", descending, rows);
            QCOMPARE(rows.back().info.variant + std::to_string(rows.back().info.seed), std::string("Mix2"));
            QCOMPARE(rows.front().info.variant, std::string(descending ? "Mix" : "start"));
            sort_rows(*f_.store, "variant", descending, rows);  // texts
            QCOMPARE(rows.front().info.variant, std::string(descending ? "start" : "EM"));
        }
    }

    void expressions_choose_runs_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("expected");
        const std::pair<const char*, const char*> cases[] = {
            {"", all_rows},
            {"variant = em", "EM1 EM2"},
            {"variant == 'EM' and seed >= 2", "EM2"},
            {"variant in (em, mix) and not state = failed", "EM1 Mix1 Mix2"},
            {"variant not in (em, mix)", "start1"},
            {"variant != em", "Mix1 Mix2 start1"},
            {"tag = paper", "EM1"},
            {"tag = \"best one\"", "EM1"},
            {"tag != paper", "EM2 Mix1 Mix2 start1"},
            {"tag ~ BEST", "EM1"},
            {"pinned", "Mix1"},
            {"not pinned and variant = mix", "Mix2"},
            {"pinned = false", "EM1 EM2 Mix2 start1"},
            {"seed = 1 or seed = 2 and variant = em", "EM1 EM2 Mix1 start1"},
            {"(seed = 1 or seed = 2) and variant = em", "EM1 EM2"},
            {"set0 > 41.5", "EM2 Mix1"},
            {"set0 > 0.415", "EM2 Mix1"},
            {"retrieval > 41.5%", "EM2 Mix1"},
            {"retrieval < 100", "EM1 EM2 Mix1 start1"},
            {"set0 != 40", "EM1 EM2 Mix1 Mix2"},
            {"score >= 45", "EM1 EM2 Mix1 start1"},
            {"experiment ~ QUI", all_rows},
            {"experiment !~ qui", ""},
            {"created > 2020", all_rows},
            {"created < 2020-01-01", ""},
            {"state = failed", "EM2"},
            {"NOT state IN (failed)", "EM1 Mix1 Mix2 start1"},
            {"variant.placement = every_other", "Mix1 Mix2"},
            {"placement = every_other", "Mix1 Mix2"},
            {"placement != every_other", "EM1 EM2 start1"},
            {"training.learning_rate < 1", all_rows},
            {"training.learning_rate > 1", ""},
        };
        for (const auto& [text, expected] : cases) QTest::newRow(text) << text << expected;
    }
    void expressions_choose_runs() {
        QFETCH(QString, text);
        QFETCH(QString, expected);
        QCOMPARE(QString::fromStdString(f_.pass(text.toStdString())), expected);
    }
    void a_time_is_compared_as_far_as_it_is_written() {
        const std::string day = f_.rows.front().info.created.substr(0, 10);
        QCOMPARE(f_.pass("created = " + day), std::string(all_rows));
        QCOMPARE(f_.pass("created > " + day), std::string());
        QCOMPARE(f_.pass("created >= " + day), std::string(all_rows));
    }
    void errors_show_the_place_and_the_nearest_name() {
        const auto parse = [&](const char* text) { return Filter::parse(text, f_.names); };
        EXPECT_ERROR(parse("seed = 1 and varient = em"), "column 14", "unknown name 'varient'; did you mean 'variant'?",
                     "\n  seed = 1 and varient = em\n               ^");
        EXPECT_ERROR(parse("training.lerning_rate < 1"), "did you mean 'training.learning_rate'?");
        EXPECT_ERROR(parse("state = runing"), "did you mean 'running'?");
        EXPECT_ERROR(parse("seed > high"), "'high' is not a number");
        EXPECT_ERROR(parse("seed ~ 1"), "'seed' is a number");
        EXPECT_ERROR(parse("created > yesterday"), "is not a time");
        EXPECT_ERROR(parse("variant em"), "after 'variant' one of = !=");
        EXPECT_ERROR(parse("variant ="), "a value is expected");
        EXPECT_ERROR(parse("variant = em seed = 1"), "'seed' is not expected here");
        EXPECT_ERROR(parse("(variant = em"), "column 1", "not closed");
        EXPECT_ERROR(parse("variant in em"), "a list in parentheses");
        EXPECT_ERROR(parse("variant in (em"), "',' or ')'");
        EXPECT_ERROR(parse("variant = 'em"), "quote is not closed");
        EXPECT_ERROR(parse("and"), "unknown name 'and'");
        EXPECT_ERROR(parse("seed = 1 and"), "a comparison is expected");
        EXPECT_ERROR(parse("max_examples = 3 or bätch = 1"), "^");
        try {
            parse("varient = em");
        } catch (const Error& error) {
            QCOMPARE(error.code(), ExitCode::settings);
        }
    }
    void deep_and_long_expressions_are_refused() {
        EXPECT_ERROR(Filter::parse(std::string(3000, '('), f_.names), "nested more than 64 deep");
        std::string nots;
        for (int i = 0; i < 1000; ++i) nots += "not ";
        EXPECT_ERROR(Filter::parse(nots + "pinned", f_.names), "nested more than 64 deep");
        EXPECT_ERROR(Filter::parse(std::string(20'000, ' '), f_.names), "at most 10000");
        std::string wide = "seed = 1";
        for (int i = 0; i < 500; ++i) wide += " or seed = 1";
        QCOMPARE(f_.pass(wide), std::string("EM1 Mix1 start1"));
    }
    void whatever_is_typed_gives_a_filter_or_a_settings_error() {
        const std::string pieces[] = {"variant",  "set0",     "(",     ")",      "and",
                                      "or",       "not",      "in",    ",",      "=",
                                      "<",        "~",        "!",     "'",      "\"",
                                      "1e-4",     "0.4%",     "nan",   "inf",    "tag",
                                      "\xff\xfe", "\xc3\xa4", " ",     "\n",     "training.learning_rate",
                                      "created",  "2026-11",  "state", "failed", "pinned",
                                      "-",        "%"};
        RandomStream random(3, "filters");
        int good = 0;
        for (int trial = 0; trial < 20'000; ++trial) {
            std::string text;
            for (std::uint64_t i = random.below(12); i-- > 0;)
                text += pieces[random.below(std::size(pieces))] + (random.below(3) ? " " : "");
            try {
                const Filter filter = Filter::parse(text, f_.names);
                if (trial % 100 == 0) filter.matches(FilterData(*f_.store, filter, f_.rows));
                ++good;
            } catch (const Error& error) {
                QVERIFY2(error.code() == ExitCode::settings, text.c_str());
                QVERIFY(is_valid_utf8(error.what()));
            }
            const std::size_t cursor = random.below(text.size() + 2);
            const Completions found = completions(text, cursor, f_.names);
            QVERIFY(found.begin <= found.end && found.end <= text.size());
        }
        QVERIFY(good > 100);
    }
    void completions_fit_the_place() {
        const auto at = [&](const std::string& text) { return completions(text, text.size(), f_.names).words; };
        const auto has = [](const std::vector<std::string>& words, const std::string& word) {
            return std::find(words.begin(), words.end(), word) != words.end();
        };
        QCOMPARE(at("vari").front(), std::string("variant"));
        QVERIFY(has(at(""), "set0") && has(at(""), "retrieval") && has(at("learn"), "training.learning_rate"));
        QVERIFY(has(at("variant "), "=") && has(at("variant "), "in"));
        QCOMPARE(at("variant = e"), std::vector<std::string>{"EM"});
        QVERIFY(has(at("variant in (EM, "), "Mix"));
        QCOMPARE(at("state = fa"), std::vector<std::string>{"failed"});
        QCOMPARE(at("tag = be"), std::vector<std::string>{"\"Best One\""});
        QCOMPARE(at("variant = em "), (std::vector<std::string>{"and", "or"}));
        QVERIFY(has(at("variant = em and not "), "seed"));
        const Completions middle = completions("variant = em and stat = x", 21, f_.names);
        QCOMPARE(middle.begin, std::size_t{17});
        QCOMPARE(middle.words.front(), std::string("state"));
    }
    void what_is_completed_can_be_parsed() {
        for (const std::string& name : f_.names.settings) QVERIFY(!Filter::parse(name + " = 1", f_.names).empty());
        for (const std::string& tag : f_.names.values.at("tag")) QVERIFY(!f_.pass("tag = \"" + tag + "\"").empty());
    }
};

FACETER_TEST(TestFilter)
#include "test_filter.moc"
