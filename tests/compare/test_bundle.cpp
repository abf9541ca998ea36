#include <QRegularExpression>
#include <numeric>
#include <thread>

#include "common/archive.h"
#include "common/command.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "compare/bundle.h"
#include "compare/data_cards.h"
#include "store/store.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const fs::path references_folder = FACETER_SOURCE_DIR "/resources/references";

/// A card that is far longer than one of so few files can be.
void write_bundle_of_one_card(const fs::path& file, const std::string& card) {
    ArchiveWriter writer(file);
    writer.add("a/bundle.json", card);
    writer.finish();
}

QString text_of(const fs::path& path) { return QString::fromStdString(path.string()); }

}  // namespace

/// Runs as one file, and what strangers could have done to it.
class TestBundle : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path project_ = folder_.path() / "mine", archive_ = folder_.path() / "supplement.tar.gz";
    std::vector<RunDirectory> runs_;

    Report report() const {
        Store store(project_);
        store.ingest_all();
        const auto rows = store.runs();
        Comparison comparison = compare_runs(store, rows, "");
        ComparisonView view = view_comparison(comparison, {}, {});
        return gather_report(Project(project_, false), store, rows, std::move(comparison), std::move(view), "Two | runs");
    }
    Project new_project(const std::string& name) const { return Project(folder_.path() / name, true); }

    /// The bundle again, after `change` has been at its unpacked files; with `reseal`, bundle.json is put right.
    fs::path changed(const std::function<void(const fs::path& top)>& change, bool reseal) const {
        const TemporaryDirectory work;
        extract_archive(archive_, work.path());
        const fs::path top = work.path() / "supplement", out = folder_.path() / "changed.tar.gz";
        change(top);
        Json card = read_json(top / "bundle.json");
        if (reseal) card["files"] = Json::array();
        std::vector<std::pair<std::string, std::string>> files;
        for (const auto& entry : fs::recursive_directory_iterator(top))
            if (const std::string name = entry.path().lexically_relative(top).string(); entry.is_regular_file() && name != "bundle.json")
                files.emplace_back(name, read_file(entry.path()));
        ArchiveWriter writer(out);
        for (const auto& [name, content] : files) {
            writer.add("supplement/" + name, content);
            if (reseal) card["files"].push_back({{"path", name}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
        }
        writer.add("supplement/bundle.json", card.dump());
        writer.finish();
        return out;
    }
    void refuses(const fs::path& archive, const std::string& piece) const {
        const Project project = new_project("theirs");
        try {
            open_bundle(archive, project);
            QFAIL("it was taken");
        } catch (const Error& error) {
            QVERIFY2(std::string(error.what()).find(piece) != std::string::npos, error.what());
        }
        QCOMPARE(project.run_ids().size(), std::size_t{0});
        QVERIFY(!fs::exists(project.folder() / "bundles/.opening"));
        QVERIFY(!fs::exists(project.folder() / "bundles/changed"));
    }

  private Q_SLOTS:
    void initTestCase() {
        for (const std::size_t index : {0, 1}) {
            runs_.push_back(sample_run(project_, index));
            write_attempt(runs_.back(), 1, 3, "finished");
            write_results(runs_.back(), static_cast<double>(index));
            write_file_atomic(runs_.back().control() / "launch.json", "{}");
            write_file_atomic(runs_.back().folder() / "checkpoints/weights", "large");
        }
        Catalogue catalogue = sample_catalogue();
        write_bundle(archive_, report(), runs_, catalogue, {{"study/report.md", "# asked before\n"}});
    }
    void runs_come_back_with_their_scores_and_without_what_is_no_record() {
        const Project project = new_project("round");
        const OpenedBundle opened = open_bundle(archive_, project);
        QCOMPARE(opened.runs.size(), std::size_t{2});
        for (const RunDirectory& run : runs_) {
            const RunDirectory other(project.runs_folder() / run.info().id);
            QCOMPARE(other.settings().dump(), run.settings().dump());
            QCOMPARE(read_state(other).phase, RunPhase::done);
            QCOMPARE(read_file(other.results() / "set0.json"), read_file(run.results() / "set0.json"));
            QVERIFY(!fs::exists(other.control() / "launch.json"));
            QVERIFY(!fs::exists(other.checkpoints() / "weights"));
            QVERIFY(fs::is_directory(other.control()));
        }
        Store store(project.folder());
        QCOMPARE(store.ingest_all().size(), std::size_t{0});
        QCOMPARE(store.runs().size(), std::size_t{2});
        for (const char* file : {"README.md", "report.html", "data.json", "data.md", "references.bib", "bundle.json", "study/report.md"})
            QVERIFY2(fs::exists(opened.folder / file), file);
        QVERIFY(read_file(opened.folder / "references.bib").find("oord2018infonce") != std::string::npos);
        QVERIFY(!fs::exists(opened.folder / "runs"));
    }
    void data_cards_say_counts_licence_and_hash_as_text() {
        Report report;
        const fs::path data = folder_.path() / "pairs.jsonl";
        write_file_atomic(data, "{}\n");
        write_file_atomic(folder_.path() / "README.md", "---\nlicense: cc-by-4.0\n---\n");
        report.data.push_back(
            {"pairs | <b>",
             "training",
             "retrieval",
             {{"path", data.string()}, {"counts", {{"examples", 120}, {"by_label", {{"a", 3}}}}}, {"warnings", Json::array()}}});
        const Json cards = data_cards(report);
        QCOMPARE(cards["data"][0]["licence"], Json("cc-by-4.0"));
        QCOMPARE(cards["data"][0]["sha256"], Json(sha256_hex("{}\n")));
        const std::string text = data_cards_to_markdown(cards);
        for (const char* piece : {"## pairs \\| ", "- examples: 120\n", "- licence: cc-by-4.0\n"})
            QVERIFY2(text.find(piece) != text.npos, text.c_str());
        QVERIFY(text.find("by_label") == text.npos);
    }
    void hashing_one_large_file_says_how_far_it_is_and_can_be_ended() {
        const fs::path data = folder_.path() / "large.jsonl";
        const std::string content((std::size_t(3) << 20) + 17, 'x');
        write_file_atomic(data, content);
        const ReportData large{"large", "training", "retrieval", {{"path", data.string()}}};
        std::vector<std::uint64_t> bytes;
        QCOMPARE(data_card(large, [&](std::uint64_t so_far) { bytes.push_back(so_far); })["sha256"], Json(sha256_hex(content)));
        QVERIFY(bytes.size() >= 3 && bytes.back() == content.size());
        int calls = 0;
        const auto end_at_second = [&](std::uint64_t) {
            if (++calls == 2) throw std::runtime_error("no longer wanted");
        };
        QVERIFY_THROWS_EXCEPTION(std::runtime_error, data_card(large, end_at_second));
        QCOMPARE(calls, 2);
    }
    /// Titles and authors as the papers give them of themselves; arXiv numbers do not stand in the texts that we have.
    void references_are_what_the_papers_say_of_themselves_data() {
        QTest::addColumn<QString>("references");
        QTest::addColumn<QString>("paper");
        QTest::newRow("MoTE") << "mote"
                              << "mote-arxiv-pdf.txt";
        QTest::newRow("Nomic Embed v2") << "token_routed_moe"
                                        << "nomic-embed-v2-moe.txt";
        QTest::newRow("RouterRetriever") << "router_retriever"
                                         << "router-retriever.txt";
        QTest::newRow("Data-CUBE") << "data_cube"
                                   << "data-cube.txt";
        QTest::newRow("InfoNCE, cited") << "core"
                                        << "mote-arxiv-pdf.txt";
    }
    void references_are_what_the_papers_say_of_themselves() {
        NEED_SHARED();
        QFETCH(QString, references);
        QFETCH(QString, paper);
        const auto letters = [](const QString& text) { return text.toLower().remove(QRegularExpression("[^a-z]")); };
        const QString said = letters(QString::fromStdString(read_file(shared_folder() / "papers" / paper.toStdString())));
        const QString all =
            QString::fromStdString(read_file(FACETER_SOURCE_DIR "/resources/references/" + references.toStdString() + ".bib"));
        const QString entry = all.section("@article", -1);
        const auto member = [&](const char* name) {
            return QRegularExpression(QString("%1 = \\{(.*)\\},?\\n").arg(name)).match(entry).captured(1);
        };
        QVERIFY2(said.contains(letters(member("title"))), qPrintable(member("title")));
        for (const QString& author : member("author").split(" and "))
            QVERIFY2(said.contains(letters(author.section(',', 1) + author.section(',', 0, 0))), qPrintable(author));
        QVERIFY2(member("journal").contains(QRegularExpression("arXiv:\\d{4}\\.\\d{5}$")), qPrintable(member("journal")));
        QVERIFY(member("year").startsWith("20"));
    }
    void every_plugin_has_entries_with_the_papers_that_it_cites() {
        const QRegularExpression number("\\d{4}\\.\\d{5}");
        for (const auto& plugin : fs::directory_iterator(FACETER_SOURCE_DIR "/plugins")) {
            if (!plugin.is_directory()) continue;
            const fs::path file = references_folder / (plugin.path().filename().string() + ".bib");
            QVERIFY2(fs::exists(file), file.c_str());
            const QString entries = QString::fromStdString(read_file(file));
            const QString settings = QString::fromStdString(read_file(plugin.path() / "settings.cpp"));
            const QString citation = settings.section("citation =", 1).section(';', 0, 0);
            for (auto match = number.globalMatch(citation); match.hasNext();)
                if (const QString cited = match.next().captured(); !entries.contains("arXiv:" + cited))
                    QFAIL(qPrintable(text_of(file) + " lacks " + cited));
        }
    }
    /// Of the losses that are sentence-transformers', what it says itself.
    void references_of_losses_are_what_sentence_transformers_cites() {
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("FACETER_PEERS names no Python with sentence-transformers");
        const CommandResult place =
            run_command({python.toStdString(), "-c",
                         "import importlib.util as u; print(u.find_spec('sentence_transformers').submodule_search_locations[0])"});
        QVERIFY2(place.code == 0, place.complaint.c_str());
        QString said;
        for (const auto& source : fs::recursive_directory_iterator(std::string(trim(place.output))))
            if (source.path().extension() == ".py" && source.path().string().find("/losses/") != std::string::npos)
                said += QString::fromStdString(read_file(source.path()));
        const auto letters = [](const QString& text) {
            return text.normalized(QString::NormalizationForm_D).toLower().remove(QRegularExpression("[^a-z]"));
        };
        said = letters(said);
        for (const char* name : {"distillation", "pair_losses"}) {
            const QString entries = QString::fromStdString(read_file(references_folder / (std::string(name) + ".bib")));
            const QRegularExpression title("title = \\{(.*)\\},\\n"), author("author = \\{(.*)\\},\\n");
            for (auto match = title.globalMatch(entries); match.hasNext();) {
                const QString words = match.next().captured(1);
                QVERIFY2(said.contains(letters(words)), qPrintable(words));
            }
            for (auto match = author.globalMatch(entries); match.hasNext();)
                for (const QString& person : match.next().captured(1).split(" and "))
                    QVERIFY2(said.contains(letters(person)) || said.contains(letters(person.section(',', 1) + person.section(',', 0, 0))),
                             qPrintable(person));
        }
    }
    void a_project_keeps_the_runs_that_it_has() {
        const fs::path copy = folder_.path() / "supplement-2.tar.gz";
        fs::copy_file(archive_, copy);
        const Project project(project_, false);
        const OpenedBundle opened = open_bundle(copy, project);
        QCOMPARE(opened.known.size(), std::size_t{2});
        QVERIFY(fs::exists(runs_[0].checkpoints() / "weights"));
        QVERIFY_THROWS_EXCEPTION(Error, open_bundle(copy, project));  // opened before
    }
    void a_run_of_other_results_than_the_project_has_is_told() {
        const Project project = new_project("newer");
        QCOMPARE(open_bundle(archive_, project).differing, std::vector<std::string>{});
        const std::string id = runs_[1].info().id;
        write_results(RunDirectory(project.runs_folder() / id), 7);
        const fs::path copy = folder_.path() / "supplement-3.tar.gz";
        fs::copy_file(archive_, copy);
        QCOMPARE(open_bundle(copy, project).differing, std::vector<std::string>{id});
    }
    /// It was taken again, and then neither the one could be restored nor the other be deleted.
    void a_run_that_lies_in_the_trash_is_not_taken_again() {
        const Project project = new_project("deleted");
        const std::string id = open_bundle(archive_, project).runs.front();
        project.trash(id);
        const fs::path copy = folder_.path() / "supplement-4.tar.gz";
        fs::copy_file(archive_, copy);
        EXPECT_ERROR(open_bundle(copy, project), std::string("is in the trash"), "faceter restore " + id);
        QVERIFY(!fs::exists(project.folder() / "bundles/supplement-4"));
        project.restore(id);
        QCOMPARE(open_bundle(copy, project).known.size(), std::size_t{2});
    }
    void several_that_are_opened_at_once_do_not_meet() {
        constexpr int count = 6;
        const Project project = new_project("at-once");
        std::vector<std::size_t> taken(count), known(count);
        std::vector<std::thread> threads;
        for (int i = 0; i < count; ++i) {
            const fs::path copy = folder_.path() / fmt::format("copy-{}.tar.gz", i);
            fs::copy_file(archive_, copy);
            threads.emplace_back([&, i, copy] {
                try {
                    const OpenedBundle opened = open_bundle(copy, project);
                    taken[static_cast<std::size_t>(i)] = opened.runs.size();
                    known[static_cast<std::size_t>(i)] = opened.known.size();
                } catch (const std::exception&) {  // its numbers stay 0
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        QCOMPARE(std::accumulate(taken.begin(), taken.end(), std::size_t{0}), std::size_t{2});
        QCOMPARE(std::accumulate(known.begin(), known.end(), std::size_t{0}), std::size_t{2 * (count - 1)});
        QCOMPARE(project.run_ids().size(), std::size_t{2});
        QVERIFY(!fs::exists(project.folder() / "bundles/.opening"));
    }
    void a_run_that_is_not_over_is_refused() {
        const RunDirectory waits = sample_run(folder_.path() / "other", 1);
        QVERIFY_THROWS_EXCEPTION(Error, write_bundle(folder_.path() / "no.tar.gz", report(), {waits}, sample_catalogue(), {}));
        QVERIFY(!fs::exists(folder_.path() / "no.tar.gz"));
    }
    void what_was_changed_is_refused() {
        const std::string id = runs_[0].info().id;
        refuses(changed([&](const fs::path& top) { overwrite(top / "runs" / id / "results/set0.json", "{}"); }, false), "SHA-256 differs");
        refuses(changed([&](const fs::path& top) { fs::remove(top / "data.md"); }, false), "'data.md' is missing");
        refuses(changed([&](const fs::path& top) { overwrite(top / "extra", ""); }, false), "does not list");
    }
    void what_no_bundle_holds_is_refused_although_its_hash_is_right() {
        const std::string id = runs_[0].info().id;
        for (const char* name :
             {"control/launch.json", "checkpoints/x", "model/config.json", "results/.json", "results/a/b.json", "logs/1/rank-0.log"})
            refuses(changed(
                        [&](const fs::path& top) {
                            fs::create_directories((top / "runs" / id / name).parent_path());
                            overwrite(top / "runs" / id / name, "{}");
                        },
                        true),
                    "which no bundle holds");
        refuses(changed([&](const fs::path& top) { fs::rename(top / "runs" / id, top / "runs" / "another"); }, true), "lacks the run");
        refuses(changed([&](const fs::path& top) { overwrite(top / "runs" / id / "run.json", "{}"); }, true),
                "changed.tar.gz: supplement/runs/" + id + "/run.json: ");
        refuses(changed(
                    [&](const fs::path& top) {
                        fs::create_directories(top / "runs/stranger");
                        overwrite(top / "runs/stranger/run.json", "{}");
                    },
                    true),
                "does not name");
    }
    void names_of_runs_that_lead_elsewhere_are_refused_data() {
        QTest::addColumn<QString>("id");
        for (const char* id : {"..", "../..", "/tmp", "a/b", "", "."}) QTest::newRow(*id ? id : "empty") << id;
    }
    void names_of_runs_that_lead_elsewhere_are_refused() {
        QFETCH(QString, id);
        refuses(changed(
                    [&](const fs::path& top) {
                        Json card = read_json(top / "bundle.json");
                        card["runs"].push_back(id.toStdString());
                        overwrite(top / "bundle.json", card.dump());
                    },
                    true),
                "names a run");
    }
    void other_archives_are_refused() {
        const fs::path other = folder_.path() / "changed.tar.gz";
        ArchiveWriter writer(other);
        writer.add("a/file", "x");
        writer.finish();
        refuses(other, "is no bundle");
        write_bundle_of_one_card(other, std::string(3 << 20, ' '));
        refuses(other, "bundle.json: larger than");
        overwrite(other, "no archive");
        refuses(other, "is no .tar.gz");
        refuses(folder_.path() / "nowhere.tar.gz", "no such file");
    }
};

FACETER_TEST(TestBundle)
#include "test_bundle.moc"
