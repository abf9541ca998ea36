#include <QProcess>

#include "cli/program.h"
#include "matrix/harness/checkpoints.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter conform` on a checkpoint that it has never seen.
class SlowConform : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void a_strangers_checkpoint_keeps_the_laws_of_a_variant_and_the_files_stay_where_asked() {
        const TemporaryDirectory folder;
        const fs::path model = matrix::start_model(matrix::made_rows().front(), folder.path());
        const Outcome outcome = faceter::testing::faceter({"conform", "--model", model.string(), "--method", "instruction", "--laws",
                                                           "rerun,resume,embed,export", "--keep", (folder.path() / "kept").string()});
        QVERIFY2(outcome.code == 0, (outcome.out + outcome.err).c_str());
        HAS(outcome.out, "1 cells: 1 hold, 0 refused, 0 wrong");
        HAS(outcome.out, "| start model | instruction |");
        QVERIFY(fs::exists(folder.path() / "kept/texts/pairs.jsonl"));
        const fs::path runs = folder.path() / "kept" / (model.filename().string() + "-x-instruction") / "project/runs";
        std::string resumed;  // was killed behind its first step
        for (const fs::directory_entry& run : fs::directory_iterator(runs))
            if (fs::exists(run.path() / "journal/2")) resumed = read_file(run.path() / "journal/1/rank-0.jsonl");
        HAS(resumed, R"("event":"step")");
    }

    void a_law_that_compares_embeddings_is_tried_without_the_law_that_makes_them() {
        const TemporaryDirectory folder;
        const fs::path model = matrix::start_model(matrix::made_rows().front(), folder.path());
        const Outcome outcome =
            faceter::testing::faceter({"conform", "--model", model.string(), "--method", "dense", "--laws", "company,export", "--json"});
        QVERIFY2(outcome.code == 0, (outcome.out + outcome.err).c_str());
        QCOMPARE(parse_json(outcome.out, "faceter conform")["cells"][0]["held"].dump(),
                 std::string(R"(["check","train","embed","company","export"])"));
        const Outcome peers = faceter::testing::faceter({"conform", "--model", model.string(), "--laws", "peers"});
        QCOMPARE(peers.code, 2);  // which nothing here would try
    }

    void a_checkpoint_that_no_run_can_start_from_is_refused_by_every_variant() {
        const TemporaryDirectory folder;
        const fs::path model = matrix::start_model(matrix::made_rows().front(), folder.path());
        Json config = read_json(model / "config.json");
        config["model_type"] = "of_tomorrow";
        write_file_atomic(model / "config.json", config.dump());
        const Outcome outcome = faceter::testing::faceter({"conform", "--model", model.string(), "--method", "dense"});
        QCOMPARE(outcome.code, 0);
        HAS(outcome.out, "refused  dense");
        HAS(outcome.out, "of_tomorrow");
    }

    /// All cells of MiniLM together are more than most disks for temporary files hold.
    void a_cell_that_is_tried_leaves_no_files_and_a_stop_ends_what_was_started() {
        const TemporaryDirectory folder;
        const fs::path model = matrix::start_model(matrix::made_rows().front(), folder.path()), temporary = folder.path() / "tmp";
        make_directories(temporary);
        const auto cells = [&] {
            std::vector<std::string> names;
            std::error_code gone;
            for (const fs::directory_entry& entry : fs::recursive_directory_iterator(temporary, gone))
                if (entry.path().filename().string().find("-x-") != std::string::npos) names.push_back(entry.path().filename().string());
            return names;
        };
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("TMPDIR", temporary.c_str());
        process.setProcessEnvironment(environment);
        process.start(FACETER_BINARY_DIR "/bin/faceter",
                      {"conform", "--model", model.c_str(), "--method", "instruction", "--method", "specialists", "--laws", "train"});
        QByteArray said;
        while (!said.contains("[1/") && process.waitForReadyRead(200'000)) said += process.readAllStandardOutput();
        QVERIFY2(said.contains("holds    instruction"), said.constData());
        QTRY_VERIFY_WITH_TIMEOUT(!cells().empty(), 60'000);  // the second is at work
        for (const std::string& name : cells()) QVERIFY2(!name.ends_with("-x-instruction"), name.c_str());
        process.terminate();
        QVERIFY(process.waitForFinished(60'000));
        const QByteArray error = process.readAllStandardError();
        QCOMPARE(process.exitCode(), 6);
        QVERIFY2(error.contains("stopped after 1 of "), error.constData());
        QVERIFY(cells().empty());
    }

    void a_variant_that_nobody_offers_is_a_wrong_call() {
        const Outcome outcome = faceter::testing::faceter({"conform", "--method", "of_tomorrow"});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "no variant or objective 'of_tomorrow'");
    }

    void a_folder_without_plugins_is_a_wrong_call_and_not_a_trial_of_ours() {
        const TemporaryDirectory folder;
        const Outcome outcome = faceter::testing::faceter({"conform", "--plugin-dir", folder.path().string()});
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "no plugin there offers a variant or an objective");
    }

    void json_has_each_cell_with_its_laws_and_nothing_else_is_on_standard_output() {
        const TemporaryDirectory folder;
        const fs::path model = matrix::start_model(matrix::made_rows().front(), folder.path());
        const Outcome outcome =
            faceter::testing::faceter({"conform", "--model", model.string(), "--method", "cosent", "--laws", "embed", "--json"});
        QVERIFY2(outcome.code == 0, (outcome.out + outcome.err).c_str());
        const Json answer = parse_json(outcome.out, "faceter conform");
        QCOMPARE(answer["hold"].get<std::size_t>(), answer["cells"].size());
        QCOMPARE(answer["cells"][0]["held"].dump(), std::string(R"(["check","train","embed"])"));
        HAS(outcome.err, "holds    cosent");
    }
};

FACETER_TEST(SlowConform)
#include "slow_conform.moc"
