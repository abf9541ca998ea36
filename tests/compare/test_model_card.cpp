#include "compare/model_card.h"

#include "compare/result_files.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

bool says(const std::string& card, std::string_view text) { return card.find(text) != std::string::npos; }

/// A finished run of the sample experiment, and the start model's where wanted.
RunDirectory finished_run(const fs::path& project, bool with_start) {
    const RunDirectory run = sample_run(project);
    write_attempt(run, 1, 2, "finished");
    write_results(run, 3);
    if (!with_start) return run;
    const Experiment experiment = parse_sample();
    for (const ResolvedRun& one : experiment.runs()) {
        if (one.method != "start") continue;
        const RunDirectory start = RunDirectory::create(project, experiment, one, false);
        write_attempt(start, 1, 1, "finished");
        write_results(start, 0);
    }
    return run;
}

}  // namespace

class TestModelCard : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

  private Q_SLOTS:
    void it_says_what_the_folder_is_and_how_to_load_it() {
        const RunDirectory run = finished_run(folder_.path() / "one", false);
        ExportedFolder folder{"onnx", "", {{"retrieval.query", "search query: "}}, "", "", "verified: by faceter\n", {}};
        const std::string card = model_card(run, folder);
        for (const char* text :
             {"library_name: sentence-transformers", "backend=\"onnx\"", "prompt_name=\"retrieval.query\"",
              "`retrieval.query`: `'search query: '`", "encode_query() and encode_document() put nothing in front",
              "- retrieval (retrieval): pairs, at most 100 examples", "verified: by faceter\n", "Its folder does not name one"})
            QVERIFY2(says(card, text), (std::string(text) + "\n" + card).c_str());
        QVERIFY(!says(card, "model_qint8"));
        folder.int8 = "1 of 37 weights stay in float32, as they lose most: a.weight";
        const std::string int8 = model_card(run, folder);
        QVERIFY2(
            says(int8, "int8, of which 1 of 37 weights stay in float32") && says(int8, "\"file_name\": \"model_qint8_avx512_vnni.onnx\""),
            int8.c_str());
        folder.target = "peft";
        folder.adapters = {{"retrieval", "retrieval.query, retrieval.document"}, {"gate", ""}};
        const std::string peft = model_card(run, folder);
        for (const char* text :
             {"PeftModel.from_pretrained(model[0].model", "model.encode(texts, prompt_name=\"retrieval.query\")",
              "- `retrieval`: texts of `retrieval.query, retrieval.document`", "- `gate`: the run's router chose its texts",
              "Where this folder was moved, load it as above, or write the new place of `base` there"})
            QVERIFY2(says(peft, text), (std::string(text) + "\n" + peft).c_str());
        folder = {"faceter", "", {{"retrieval.query", "search query: "}}, "", "its blocks have task experts", "", {}};
        const std::string own = model_card(run, folder);
        QVERIFY(says(own, "Faceter alone loads this folder: its blocks have task experts."));
        QVERIFY2(says(own, "faceter embed --model FOLDER --task retrieval.query --output"), own.c_str());
        QVERIFY(!says(own, "library_name") && says(own, "tags: [feature-extraction, faceter]\n"));
    }
    void scores_stand_with_intervals_and_the_test_against_the_start_model() {
        const RunDirectory run = finished_run(folder_.path() / "two", true);
        const std::string card = model_card(run, {"sentence-transformers", "", {}, "", "", "", {}});
        QVERIFY2(says(card, "| set0") && says(card, "43.00"), card.c_str());
        QVERIFY2(says(card, "against the start model") && says(card, "+3.00 \\[3.00, 3.00\\], p = 0.0002"), card.c_str());
        QVERIFY(says(card, "paired bootstrap over examples"));
        const std::string alone =
            model_card(finished_run(folder_.path() / "three", false), {"sentence-transformers", "", {}, "", "", "", {}});
        QVERIFY2(says(alone, "| set0") && !says(alone, "against the start model"), alone.c_str());
    }
    void a_backup_beside_a_result_does_not_take_its_place() {
        const RunDirectory run = finished_run(folder_.path() / "backup", false);
        const auto card = [&] { return model_card(run, {"sentence-transformers", "", {}, "", "", "", {}}); };
        const std::string before = card();
        Json older = read_json(run.results() / "set0.json");
        older["score"] = 1.25;
        for (const char* name : {"set0-backup.json", "_set0.json", "zz.json"}) write_file_atomic(run.results() / name, older.dump());
        QCOMPARE(card(), before);
        QCOMPARE(scored_results(run).at("set0").at("score").get<double>(), 43.0);
    }
    void a_start_model_of_other_settings_or_data_is_none() {
        for (const bool other_settings : {true, false}) {
            const fs::path project = folder_.path() / (other_settings ? "settings" : "data");
            const RunDirectory run = finished_run(project, true);
            Project(project, false).each_run([&](const RunDirectory& start) {
                if (!start.info().is_baseline()) return;
                if (other_settings) {
                    Json json = read_json(start.folder() / "run.json");
                    json["settings"]["max_length"] = 7;
                    write_file_atomic(start.folder() / "run.json", json.dump());
                    return;
                }
                for (const RunDirectory& one : {run, start}) {
                    Json result = read_json(one.results() / "set0.json");
                    result["settings"]["data_fingerprint"] = one.info().id;
                    one.write_result("set0", result);
                }
            });
            const std::string card = model_card(run, {"sentence-transformers", "", {}, "", "", "", {}});
            QVERIFY2(!says(card, "+3.00"), card.c_str());
            QCOMPARE(says(card, "+3.30"), !other_settings);  // of set1
        }
    }
    void a_start_model_is_named_without_its_place_on_this_machine() {
        const RunDirectory run = finished_run(folder_.path() / "five", false);
        const std::pair<const char*, const char*> names[] = {
            {"/home/me/models/bert-tiny", "bert-tiny"},
            {"/home/me/models/bert-tiny/", "bert-tiny"},
            {"/home/me/project/runs/q-ic-s1-20260101-000000-aaaa/model", "q-ic-s1-20260101-000000-aaaa"},
            {"minilm", "minilm"},
            {"org/name", "org/name"}};
        for (const auto& [model, name] : names) {
            Json json = read_json(run.folder() / "run.json");
            json["settings"]["model"] = model;
            write_file_atomic(run.folder() / "run.json", json.dump());
            const std::string card = model_card(RunDirectory(run.folder()), {"sentence-transformers", "", {}, "", "", "", {}});
            QVERIFY2(says(card, " on `" + std::string(name) + "`, seed") && !says(card, "/home/me"), card.c_str());
        }
    }
    void training_data_without_a_name_have_their_files() {
        const RunDirectory run = finished_run(folder_.path() / "seven", false);
        Json json = read_json(run.folder() / "run.json");
        Json& entry = json["settings"]["tasks"]["retrieval"]["train"][0];
        const auto card_of = [&] {
            write_file_atomic(run.folder() / "run.json", json.dump());
            return model_card(RunDirectory(run.folder()), {"sentence-transformers", "", {}, "", "", "", {}});
        };
        entry.erase("view");
        entry["name"] = nullptr;
        entry["source"] = "file";
        entry["path"] = "/home/me/data/questions.jsonl";
        QVERIFY2(says(card_of(), "- retrieval (retrieval): questions.jsonl, at most 100 examples\n"), card_of().c_str());
        entry.erase("path");
        entry["source"] = "debian";
        entry["view"] = "use";
        QVERIFY2(says(card_of(), "- retrieval (retrieval): debian\\_use, at most 100 examples\n"), card_of().c_str());
    }
    void the_hubs_name_of_a_base_model_is_that_of_the_cache_and_no_guess() {
        const RunDirectory run = finished_run(folder_.path() / "six", false);
        Json json = read_json(run.folder() / "run.json");
        json["settings"]["model"] = "models/mine";  // a folder that is gone
        write_file_atomic(run.folder() / "run.json", json.dump());
        const auto card_from = [&](const fs::path& start) {
            return model_card(RunDirectory(run.folder()), {"sentence-transformers", "", {}, "", "", "", start});
        };
        for (const char* start : {"", "/home/me/models/mine", "/hub/models--org--name", "/hub/models--name/snapshots/0a"})
            QVERIFY2(!says(card_from(start), "base_model"), start);
        const std::string card = card_from("/hub/models--org--a--name/snapshots/0a");
        QVERIFY2(says(card, "\nbase_model: \"org/a--name\"\n"), card.c_str());
    }
    void the_licence_is_the_start_models_own_word() {
        const fs::path start = folder_.path() / "start";
        make_directories(start);
        QCOMPARE(licence_of(start), std::string());
        write_file_atomic(start / "README.md", "---\nlanguage: en\nlicense: \"apache-2.0\"\n---\nlicense: other\n");
        QCOMPARE(licence_of(start), std::string("apache-2.0"));
        const RunDirectory run = finished_run(folder_.path() / "four", false);
        const std::string card = model_card(run, {"sentence-transformers", "", {}, "", "", "", start});
        QVERIFY2(card.starts_with("---\nlicense: apache-2.0\n") && says(card, "apache-2.0, as its README.md says."), card.c_str());
        write_file_atomic(start / "README.md", "---\nlicense: mit\\n[evil](http://x)\n---\n");
        QCOMPARE(licence_of(start), std::string());
        write_file_atomic(start / "README.md", "no front matter\nlicense: mit\n");
        QCOMPARE(licence_of(start), std::string());
    }
};

FACETER_TEST(TestModelCard)
#include "test_model_card.moc"
