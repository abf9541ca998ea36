#include <QProcess>
#include <array>

#include "common/file.h"
#include "common/json.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* worker = FACETER_BINARY_DIR "/bin/faceter-worker";

void write(const fs::path& file, const std::string& text) {
    make_directories(file.parent_path());
    write_file_atomic(file, text);
}

/// Standard output of `faceter-worker evaluate`; empty where it failed.
Json evaluated(const QStringList& arguments) {
    QProcess process;
    process.start(QString::fromUtf8(worker), QStringList{QStringLiteral("evaluate"), QStringLiteral("--json")} + arguments);
    if (!process.waitForFinished(120'000) || process.exitCode() != 0) return Json::array();
    return parse_json(process.readAllStandardOutput().toStdString(), "output").at("datasets");
}

/// What `faceter-worker describe --json` says of a reference case.
Json described(const std::string& fixture) {
    QProcess process;
    process.start(QString::fromUtf8(worker), {QStringLiteral("describe"), QStringLiteral("--json"), QStringLiteral("--model"),
                                              QString::fromStdString((shared_folder() / "fixtures" / fixture).string())});
    if (!process.waitForFinished(120'000) || process.exitCode() != 0) return Json::object();
    return parse_json(process.readAllStandardOutput().toStdString(), "output");
}

QString text_of(const fs::path& path) { return QString::fromStdString(path.string()); }

}  // namespace

/// `faceter evaluate` and `describe` on a released model's folder: which of its prompts stands in front of which texts, what it is.
class TestReleasePrompts : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    /// A model with these prompts.
    QString model(const std::string& name, const Json& prompts, const std::string& standard = "") const {
        const fs::path copy = folder_.path() / name;
        fs::copy(shared_folder() / "fixtures/bert", copy, fs::copy_options::recursive);
        const fs::path file = copy / "config_sentence_transformers.json";
        fs::permissions(file, fs::perms::owner_write, fs::perm_options::add);
        write_file_atomic(file, Json{{"prompts", prompts}, {"default_prompt_name", standard.empty() ? Json() : Json(standard)}}.dump());
        return text_of(copy);
    }
    /// What stood in front of queries and documents of the retrieval set, then of the texts of the classification set.
    std::array<std::string, 3> instructions(const QStringList& options) const {
        const Json sets =
            evaluated(options + QStringList{"--data", text_of(folder_.path() / "search"), "--data", text_of(folder_.path() / "classes")});
        if (sets.size() != 2) return {"failed", "", ""};
        const auto of = [&](std::size_t set, const char* side) {
            return sets[set].at("settings").at("instructions").at(side).get<std::string>();
        };
        return {of(0, "query"), of(0, "document"), of(1, "query")};
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        std::string corpus, queries, qrels = "query-id\tcorpus-id\tscore\n", texts;
        for (int i = 0; i < 4; ++i) {
            const std::string n = std::to_string(i);
            corpus += "{\"_id\": \"d" + n + "\", \"text\": \"a document about " + n + "\"}\n";
            queries += "{\"_id\": \"q" + n + "\", \"text\": \"what about " + n + "\"}\n";
            qrels += "q" + n + "\td" + n + "\t1\n";
        }
        for (int i = 0; i < 24; ++i)
            texts += "{\"text\": \"text " + std::to_string(i) + (i % 2 == 0 ? " of cats" : " of dogs") +
                     "\", \"label\": " + std::to_string(i % 2) + "}\n";
        write(folder_.path() / "search/corpus.jsonl", corpus);
        write(folder_.path() / "search/queries.jsonl", queries);
        write(folder_.path() / "search/qrels/test.tsv", qrels);
        for (const char* split : {"train", "test"}) write(folder_.path() / "classes" / (std::string(split) + ".jsonl"), texts);
    }

    void prompts_are_found_by_the_names_under_which_mteb_looks_for_them() {
        using Three = std::array<std::string, 3>;
        const Json gemma = {{"query", "q: "},
                            {"document", "d: "},
                            {"Retrieval", "r: "},
                            {"Retrieval-query", "rq: "},
                            {"Retrieval-document", "rd: "},
                            {"Classification", "c: "}};
        QCOMPARE(instructions({"--model", model("gemma", gemma)}), (Three{"rq: ", "rd: ", "c: "}));
        QCOMPARE(instructions({"--model", model("kind", {{"Retrieval", "r: "}, {"query", "q: "}})}), (Three{"r: ", "r: ", ""}));
        QCOMPARE(instructions({"--model", model("set", {{"search-query", "s: "}, {"Retrieval", "r: "}, {"classes", "k: "}})}),
                 (Three{"s: ", "r: ", "k: "}));
        QCOMPARE(
            instructions({"--model", model("nomic", {{"search_query", "q: "}, {"search_document", "d: "}, {"classification", "c: "}})}),
            (Three{"q: ", "d: ", "c: "}));
        QCOMPARE(instructions({"--model", model("e5", {{"query", "q: "}, {"passage", "p: "}}, "query")}), (Three{"q: ", "p: ", "q: "}));
        QCOMPARE(instructions({"--model", model("other", {{"web_search", "w: "}})}), (Three{"", "", ""}));
    }

    void a_description_says_how_the_release_attends() {
        const Json gemma = described("embedding_gemma");
        QCOMPARE(json_or<std::string>(gemma, "type", "", "gemma"), std::string("gemma3_text"));
        QCOMPARE(gemma.at("attention").value("causal", true), false);
        QCOMPARE(gemma.at("attention").value("positions", ""), std::string("rotary"));
        QCOMPARE(gemma.at("attention").value("tokens_before", 0), gemma.at("attention").value("tokens_after", 1));
        QVERIFY(gemma.at("attention").value("windowed_blocks", 0) > 0 && gemma.at("prompts").contains("query") &&
                gemma.contains("licence"));
        const auto positions = [](const std::string& fixture) { return described(fixture).at("attention").value("positions", ""); };
        QCOMPARE(described("qwen3_embedding").at("attention"), (Json{{"causal", true}, {"positions", "rotary"}, {"windowed_blocks", 0}}));
        QCOMPARE(described("mistral").at("attention").value("tokens_after", 1), 0);
        QCOMPARE(positions("mpnet"), std::string("absolute and relative"));
        QCOMPARE(positions("deberta_v2"), std::string("disentangled"));
        QCOMPARE(positions("t5"), std::string("relative"));
    }

    void one_prompt_or_none_can_be_asked_for() {
        using Three = std::array<std::string, 3>;
        const QString prompted = model("asked", {{"query", "q: "}, {"document", "d: "}}, "query");
        QCOMPARE(instructions({"--model", prompted, "--task", "document"}), (Three{"d: ", "d: ", "d: "}));
        QCOMPARE(instructions({"--model", prompted, "--instruction", ""}), (Three{"", "", ""}));
        QCOMPARE(instructions({"--model", prompted}), (Three{"q: ", "d: ", "q: "}));
    }
};

FACETER_TEST(TestReleasePrompts)
#include "test_release_prompts.moc"
