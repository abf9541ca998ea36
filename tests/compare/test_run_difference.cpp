#include "compare/run_difference.h"

#include <cmath>

#include "figure/text_width.h"
#include "store/store.h"
#include "support/lineage_project.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Part = RunDifference::Part;

Json machine_of(const std::string& commit, const std::string& host = "here") {
    return {{"host", host},
            {"cores", 2},
            {"memory_bytes", std::uint64_t{8} << 30},
            {"libtorch", "2.11.0"},
            {"faceter", "0.2.0"},
            {"commit", commit},
            {"plugins", {{"mote", {{"version", "0.2.0"}, {"library", "00112233445566aa"}}}}}};
}

Json card_of(const std::string& fingerprint, const std::string& sha256, int examples) {
    return {{"source", "file"},
            {"path", "/data/pairs.jsonl"},
            {"fingerprint", fingerprint},
            {"files", {{"count", 1}, {"bytes", 2048}, {"sha256", sha256}, {"list", Json::array()}}},
            {"counts", {{"examples", examples}}}};
}

/// An attempt of a program on a machine that read these cards.
void attempt(const RunDirectory& run, const Json& machine, const std::vector<Json>& cards) {
    JournalWriter journal(run, run.begin_attempt(), {"", 0, machine, 0});
    for (const Json& card : cards) journal.event("data", {{"use", "training"}, {"task", "retrieval"}, {"name", "pairs"}, {"card", card}});
    journal.event("finished");
}

RunDifference difference_of(const RunDirectory& before, const RunDirectory& after) {
    Store store(before.project());
    store.ingest(before);
    store.ingest(after);
    return run_difference(store, before, after);
}

/// "before -> after" of a line; empty where there is none.
std::string told(const RunDifference& difference, Part part, const std::string& key) {
    for (const RunDifference::Line& line : difference.lines)
        if (line.part == part && line.key == key) return line.before + " -> " + line.after;
    return "";
}

bool has_note(const RunDifference& difference, const std::string& piece) {
    return std::any_of(difference.notes.begin(), difference.notes.end(),
                       [&](const std::string& note) { return note.find(piece) != std::string::npos; });
}

}  // namespace

class TestRunDifference : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    RunDirectory run(const std::string& variant, const std::function<void(Json&)>& change = {}) const {
        return run_from(folder_.path(), variant, "some/model", "", change);
    }

  private Q_SLOTS:
    void settings_differ_by_their_path_and_seeds_count() {
        const RunDirectory a = run("A"), b = run("A", [](Json&settings) {
                                             settings["training"]["learning_rate"] = 0.5;
                                             settings["seed"] = 7;
                                         });
        const RunDifference difference = difference_of(a, b);
        QVERIFY(told(difference, Part::settings, "training.learning_rate").ends_with(" -> 0.5"));
        QVERIFY(told(difference, Part::settings, "seed").ends_with(" -> 7"));
        QVERIFY(difference.alike[0] > 10);
        QVERIFY(has_note(difference, "has not been started"));
    }

    void another_commit_plugin_and_machine_are_told() {
        const RunDirectory a = run("A"), b = run("A");
        attempt(a, machine_of("abc"), {});
        Json other = machine_of("def-dirty", "there");
        other["plugins"]["mote"]["library"] = "ffffffffffffffff";
        attempt(b, other, {});
        const RunDifference difference = difference_of(a, b);
        QCOMPARE(told(difference, Part::code, "commit"), std::string("abc -> def-dirty"));
        QCOMPARE(told(difference, Part::code, "plugin mote"), std::string("0.2.0 (library 001122334455) -> 0.2.0 (library ffffffffffff)"));
        QCOMPARE(told(difference, Part::machine, "host"), std::string("here -> there"));
        QCOMPARE(told(difference, Part::code, "libtorch"), std::string());
        QCOMPARE(difference.alike[static_cast<std::size_t>(Part::code)], std::size_t{2});
    }

    void a_run_that_two_programs_worked_at_tells_both() {
        const RunDirectory a = run("A"), b = run("A");
        attempt(a, machine_of("abc"), {});
        attempt(b, machine_of("abc"), {card_of("f1", "s1", 10)});
        attempt(b, machine_of("def"), {card_of("f2", "s2", 10)});
        const RunDifference difference = difference_of(a, b);
        QCOMPARE(told(difference, Part::code, "commit"), std::string("abc -> abc, then def"));
        QVERIFY(has_note(difference, "was other data in one attempt than in another"));
    }

    void another_file_other_counts_and_other_draws_are_told_apart() {
        const RunDirectory a = run("A"), file = run("A"), draws = run("A"), same = run("A");
        attempt(a, machine_of("abc"), {card_of("f1", "s1", 10)});
        attempt(file, machine_of("abc"), {card_of("f2", "s2", 12)});
        attempt(draws, machine_of("abc"), {card_of("f3", "s1", 10)});
        attempt(same, machine_of("abc"), {card_of("f1", "s1", 10)});
        const std::string set = "training retrieval/pairs";
        RunDifference difference = difference_of(a, file);
        QCOMPARE(told(difference, Part::data, set + ": files"), std::string("1 file, 2.0 KiB, sha256 s1 -> 1 file, 2.0 KiB, sha256 s2"));
        QCOMPARE(told(difference, Part::data, set + ": examples"), std::string("10 -> 12"));
        QCOMPARE(told(difference, Part::data, set + ": content"), std::string("f1 -> f2"));
        difference = difference_of(a, draws);
        QCOMPARE(told(difference, Part::data, set + ": content"), std::string("f1 -> f3"));
        QVERIFY(has_note(difference, "the same files"));
        difference = difference_of(a, same);
        QCOMPARE(difference.alike[static_cast<std::size_t>(Part::data)], std::size_t{1});
        QCOMPARE(told(difference, Part::data, set + ": content"), std::string());
    }

    void which_of_several_files_changed_is_named() {
        const auto card = [](const std::string& second) {
            Json made = card_of("f" + second, "all" + second, 5);
            made["files"]["count"] = 2;
            made["files"]["list"] = {{{"name", "corpus.jsonl"}, {"sha256", "same"}}, {{"name", "qrels/test.tsv"}, {"sha256", second}}};
            return made;
        };
        const RunDirectory a = run("A"), b = run("A");
        attempt(a, machine_of("abc"), {card("x")});
        attempt(b, machine_of("abc"), {card("y")});
        const RunDifference difference = difference_of(a, b);
        QCOMPARE(told(difference, Part::data, "training retrieval/pairs: file qrels/test.tsv"), std::string("sha256 x -> sha256 y"));
        QCOMPARE(told(difference, Part::data, "training retrieval/pairs: file corpus.jsonl"), std::string());
    }

    void what_an_older_faceter_has_not_recorded_is_said_and_never_called_alike() {
        const auto old_attempt = [](const RunDirectory& of) {
            JournalWriter journal(of, of.begin_attempt(), {"", 0, {{"host", "here"}, {"faceter", "0.1.0"}}, 0});
            journal.event("data", {{"use", "training"},
                                   {"task", "retrieval"},
                                   {"card", {{"source", "file"}, {"path", "/data/pairs.jsonl"}, {"counts", {{"examples", 3}}}}}});
        };
        const RunDirectory a = run("A"), b = run("A"), fresh = run("A");
        old_attempt(a);
        old_attempt(b);
        attempt(fresh, machine_of("abc"), {card_of("f1", "s1", 3)});
        const RunDifference both_old = difference_of(a, b);
        QVERIFY(has_note(both_old, "commit of neither run"));
        QVERIFY(has_note(both_old, "no fingerprint is recorded"));
        QCOMPARE(both_old.alike[static_cast<std::size_t>(Part::data)], std::size_t{0});
        const RunDifference one_old = difference_of(a, fresh);
        QCOMPARE(told(one_old, Part::code, "commit"), std::string("not recorded -> abc"));
        // Its event has no name of the set: the path tells that it is this one.
        QCOMPARE(told(one_old, Part::data, "training retrieval/pairs: content"), std::string("not recorded -> f1"));
    }

    void a_data_set_of_one_alone_and_scores_stand_beside() {
        const RunDirectory a = run("A"), b = run("B");
        attempt(a, machine_of("abc"), {card_of("f1", "s1", 10)});
        attempt(b, machine_of("abc"), {});
        write_results(a, 1, 2);
        write_results(b, 2, 3);
        const RunDifference difference = difference_of(a, b);
        QCOMPARE(told(difference, Part::data, "training retrieval/pairs"), std::string("10 examples, 1 file, 2.0 KiB, sha256 s1 -> —"));
        QCOMPARE(difference.scores.size(), std::size_t{3});
        QCOMPARE(difference.scores[0].after - difference.scores[0].before, 1.0);
        QVERIFY(std::isnan(difference.scores[2].before));
        const Table table = run_difference_table(difference);
        table.validate();
        QCOMPARE(table.rows.size(), difference.lines.size() + 3);
        const Json json = run_difference_to_json(difference);
        QVERIFY(json.at("scores").at(2).at("before").is_null());
        QCOMPARE(json.at("data").at("differing").size(), std::size_t{1});
    }

    void lines_fit_the_terminal_and_hold_no_escapes() {
        const RunDirectory a = run("A"), b = run("A", [](Json&settings) {
                                             settings["model"] = "/a/very/long/path\x1b[2J/" + std::string(300, 'x');
                                             settings[std::string(200, 'k')] = 1;
                                         });
        const RunDifference difference = difference_of(a, b);
        for (const int width : {100, 40})
            for (const std::string& line : run_difference_lines(difference, width)) {
                QVERIFY2(display_width(line) <= width, line.c_str());
                QVERIFY(line.find('\x1b') == std::string::npos);
            }
    }

    void a_run_against_itself_differs_in_nothing() {
        const RunDirectory a = run("A");
        attempt(a, machine_of("abc"), {card_of("f1", "s1", 10)});
        const RunDifference difference = difference_of(a, a);
        QVERIFY(difference.lines.empty() && difference.notes.empty());
    }
};

FACETER_TEST(TestRunDifference)
#include "test_run_difference.moc"
