#include "cli/program.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What `faceter check` says of objectives and their teachers before anything starts.
class TestObjectiveSettings : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    /// On one example.
    Outcome check(const std::string& lines, const std::vector<std::string>& options = {},
                  const std::string& record = R"({"query": "a", "document": "b", "negatives": ["c"], "scores": [0.9, 0.1]})") const {
        write_file_atomic(folder_.path() / "pairs.jsonl", record + "\n");
        write_file_atomic(folder_.path() / "x.yaml",
                          "name: x\nmodel: " + (shared_folder() / "fixtures/bert").string() +
                              "\ntasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                              "variants:\n  V: {method: dense}\nevaluation: {baseline: false, datasets: []}\n" +
                              lines + "\n");
        std::vector<std::string> arguments = {"check", (folder_.path() / "x.yaml").string()};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return faceter::testing::faceter(arguments);
    }

  private Q_SLOTS:
    void every_objective_is_taken_with_the_gradient_cache_and_in_several_processes() {
        NEED_SHARED();
        fs::create_directories(folder_.path() / "teachers");
        fs::copy(shared_folder() / "fixtures/bert", folder_.path() / "teachers/tiny", fs::copy_options::recursive);
        for (const char* method : {"cosent", "angle", "triplet, distance: cosine, margin: 0.2", "cosine_similarity, highest_score: 5",
                                   "contrastive, margin: 0.4", "online_contrastive", "margin_mse, similarity: cosine", "kl, temperature: 2",
                                   "gist, teacher: teachers/tiny", "cosine_to_teacher, teacher: teachers/tiny"}) {
            const Outcome outcome = check(std::string("objective: {gradient_cache_chunk: 2, method: ") + method + "}", {"--devices", "2"});
            QVERIFY2(outcome.code == 0, (std::string(method) + ": " + outcome.err).c_str());
        }
        HAS(check("objective: {method: cosent, scale: 0}").err, "scale");
    }

    void an_objective_on_data_without_what_it_learns_from_is_refused() {
        NEED_SHARED();
        const std::string pair = R"({"query": "a", "document": "b"})", triplet = R"({"query": "a", "document": "b", "negatives": ["c"]})";
        const std::string scored = R"({"query": "a", "document": "b", "score": 0.5})";
        const auto refused = [&](const std::string& method, const std::string& record, const char* says) {
            const Outcome outcome = check("objective: {method: " + method + "}", {}, record);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, "tasks.retrieval.train[0] (pairs): objective " + method.substr(0, method.find(',')));
            HAS(outcome.err, says);
        };
        for (const char* method : {"cosent", "angle"}) {
            refused(method, pair, "neither scores nor negatives");
            QCOMPARE(check(std::string("objective: {method: ") + method + "}", {}, triplet).code, 0);
            QCOMPARE(check(std::string("objective: {method: ") + method + "}", {}, scored).code, 0);
        }
        for (const char* method : {"contrastive", "online_contrastive"}) {
            refused(method, pair, "which pairs belong together");
            QCOMPARE(check(std::string("objective: {method: ") + method + "}", {}, triplet).code, 0);
        }
        refused("cosine_similarity", triplet, "give each pair a 'score'");
        QCOMPARE(check("objective: {method: cosine_similarity}", {}, scored).code, 0);
        for (const char* method : {"margin_mse", "kl"}) {
            refused(method, triplet, "learns from scores, and these data have none");
            refused(method, scored, "does without: cosent, angle, cosine_similarity");
        }
        refused("triplet, margin: 0.2", pair, "does without: infonce, gist");
        QCOMPARE(check("objective: {method: infonce}", {}, pair).code, 0);
    }

    void a_teacher_that_is_not_there_is_named() {
        NEED_SHARED();
        const Outcome missing = check("objective: {method: gist, teacher: ./nobody/here}");
        QVERIFY(missing.code == 3 || missing.code == 4);
        HAS(missing.err, "teacher './nobody/here'");
        HAS(check("objective: {method: gist}").err, "teacher");
        HAS(check("stages: [{name: a, mine: {teacher: ./nobody/there}}]").err, "nobody/there");
        HAS(check("curriculum: {method: data_cube, teacher: ./nobody/orders}").err, "teacher './nobody/orders'");
    }

    void a_run_may_teach_and_one_without_a_model_is_named() {
        NEED_SHARED();
        const fs::path run = folder_.path() / "runs/a-run";
        fs::create_directories(run);
        write_file_atomic(run / "run.json", "{}");
        const Outcome unfinished = check("objective: {method: gist, teacher: runs/a-run}");
        QCOMPARE(unfinished.code, 4);
        HAS(unfinished.err, "a-run: is a run that has no final model");
        fs::copy(shared_folder() / "fixtures/bert", run / "model", fs::copy_options::recursive);
        for (const char* part : {"objective: {method: gist, teacher: runs/a-run}", "curriculum: {method: data_cube, teacher: runs/a-run}",
                                 "stages: [{name: a, mine: {teacher: runs/a-run}}]"}) {
            const Outcome outcome = check(part);
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
        }
    }

    void a_teacher_beside_the_experiment_is_known_by_its_whole_path() {
        NEED_SHARED();
        fs::create_directories(folder_.path() / "beside");
        fs::copy(shared_folder() / "fixtures/bert", folder_.path() / "beside/tiny", fs::copy_options::recursive);
        const Outcome outcome = check("objective: {method: gist, teacher: beside/tiny}", {"--json"});
        QCOMPARE(outcome.code, 0);
        QCOMPARE(json_of(outcome).at("runs").at(0).at("settings").at("objective").at("teacher").get<std::string>(),
                 (folder_.path() / "beside/tiny").string());
    }

    void prefixes_have_no_teachers_vector() {
        NEED_SHARED();
        const Outcome outcome = check("objective: {method: cosine_to_teacher, teacher: " + (shared_folder() / "fixtures/bert").string() +
                                      ", matryoshka_dims: [16]}");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "objective.teacher and objective.matryoshka_dims are both set");
        QCOMPARE(check("objective: {method: cosent, matryoshka_dims: [16]}").code, 0);
    }

    void what_a_sweep_takes_apart_may_stand_together_in_the_file() {
        NEED_SHARED();
        const std::string both = "objective: {method: cosine_to_teacher, teacher: " + (shared_folder() / "fixtures/bert").string() +
                                 ", matryoshka_dims: [16]}\n";
        QCOMPARE(check(both + "sweep: {objective.matryoshka_dims: [[]]}").code, 0);
        HAS(check(both + "sweep: {objective.matryoshka_dims: [[], [16]]}").err, "are both set");
    }
};

FACETER_TEST(TestObjectiveSettings)
#include "test_objective_settings.moc"
