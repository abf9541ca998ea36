#include <ATen/ATen.h>
#include <fmt/format.h>

#include <csignal>
#include <fstream>
#include <random>
#include <set>

#include "common/file.h"
#include "common/json.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "data/sources.h"
#include "eval/embedder.h"
#include "eval/set_mining.h"
#include "model/task_adapters.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// Pairs over a small vocabulary, so that there are near misses, repeated queries and documents with the same text.
std::vector<std::pair<std::string, std::string>> some_pairs(int count) {
    std::mt19937 random(7);
    const char* things[] = {"editor",  "compiler", "browser", "game",   "library", "font",  "kernel",
                            "printer", "camera",   "archive", "server", "shell",   "theme", "clock"};
    const char* kinds[] = {"small", "graphical", "fast", "portable", "old", "modular", "tiny", "networked", "secure", "simple"};
    const auto word = [&](const auto& list) { return std::string(list[random() % std::size(list)]); };
    std::vector<std::pair<std::string, std::string>> pairs;
    for (int i = 0; i < count; ++i) {
        const std::string thing = word(things), kind = word(kinds);
        pairs.emplace_back("a " + kind + " " + thing + (i % 3 ? " number " + std::to_string(i) : ""),
                           "This " + thing + " is " + kind + " and " + word(kinds) + ", made for " + word(things) + " users of type " +
                               std::to_string(random() % 400));
    }
    return pairs;
}

Json read_lines(const fs::path& file) {
    Json lines = Json::array();
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
    return lines;
}

}  // namespace

/// `faceter data mine` and `filter` as a person runs them, on the tiny reference model.
class TestMining : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path pairs_, teacher_;
    std::vector<std::pair<std::string, std::string>> texts_;

    std::unique_ptr<QProcess> start(const QStringList& arguments) const {
        auto process = std::make_unique<QProcess>();
        process->start(FACETER_BINARY_DIR "/bin/faceter", QStringList{"data"} + arguments);
        return process;
    }
    int run(const QStringList& arguments) {
        const auto process = start(arguments);
        process->waitForFinished(120000);
        error_ = process->readAllStandardError().toStdString();
        return process->exitCode();
    }
    QStringList mine(const char* output, const QStringList& more = {}) const {
        return QStringList{"mine", "--model", teacher_.c_str(), "--output", (folder_.path() / output).c_str(), pairs_.c_str()} + more;
    }
    std::string error_;

    at::Tensor embedded(const std::vector<std::string>& texts) const {
        const auto model = EmbeddingModel::open(ModelFolder::open(teacher_));
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        return normalize_rows(embed_texts(*model, views, {}));
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        teacher_ = shared_folder() / "fixtures/bert";
        texts_ = some_pairs(2000);
        pairs_ = folder_.path() / "pairs.jsonl";
        std::ofstream out(pairs_);
        for (const auto& [query, document] : texts_) out << Json{{"query", query}, {"document", document}}.dump() << "\n";
    }

    void mined_negatives_equal_every_score_compared() {
        NEED_SHARED();
        QVERIFY2(run(mine("mined.jsonl", {"--negatives", "5", "--margin", "0.95", "--depth", "1500"})) == 0, error_.c_str());
        const Json lines = read_lines(folder_.path() / "mined.jsonl");
        QCOMPARE(lines.size(), texts_.size());
        std::vector<std::string> queries, documents;
        std::set<std::string> seen;
        std::map<std::string, std::set<std::string>> positives;
        for (const auto& [query, document] : texts_) {
            queries.push_back(query);
            positives[query].insert(document);
            if (seen.insert(document).second) documents.push_back(document);
        }
        const at::Tensor q = embedded(queries), d = embedded(documents), scores = at::matmul(q, d.t());
        std::map<std::string, std::size_t> place;
        for (std::size_t i = 0; i < documents.size(); ++i) place[documents[i]] = i;
        int unlike = 0, complete = 0;
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            const float* row = scores[static_cast<std::int64_t>(i)].data_ptr<float>();
            std::vector<std::size_t> order(documents.size());
            for (std::size_t j = 0; j < order.size(); ++j) order[j] = j;
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
            const double limit = row[place[texts_[i].second]] * 0.95;
            const auto below = [&](double most) {
                std::vector<std::string> wanted;
                int looked_at = 0;
                for (const std::size_t j : order) {
                    if (wanted.size() == 5 || looked_at == 1500) break;
                    if (positives[texts_[i].first].contains(documents[j])) continue;
                    ++looked_at;
                    if (row[j] < most) wanted.push_back(documents[j]);
                }
                return wanted;
            };
            complete += below(limit).size() == 5;
            // Scores that agree to the last bits may stand in either order, and on either side of the limit: compare as sets of scores.
            const auto got = lines[i].at("negatives").get<std::vector<std::string>>();
            const auto equals = [&](const std::vector<std::string>& wanted) {
                bool same = got.size() == wanted.size();
                for (std::size_t n = 0; same && n < got.size(); ++n) same = std::abs(row[place[got[n]]] - row[place[wanted[n]]]) < 1e-6;
                return same;
            };
            const bool same = equals(below(limit)) || equals(below(limit - 2e-7)) || equals(below(limit + 2e-7));
            for (const std::string& negative : got) QVERIFY(!positives[texts_[i].first].contains(negative));
            unlike += !same;
        }
        QCOMPARE(unlike, 0);
        QVERIFY2(complete > 200, std::to_string(complete).c_str());
        const Json report = read_json(folder_.path() / "mined.jsonl.report.json");
        QCOMPARE(report.at("counts").at("examples with all negatives").get<int>(), complete);
        QVERIFY(!fs::exists(folder_.path() / "mined.jsonl.work"));
    }

    void mining_that_was_stopped_goes_on_and_ends_the_same() {
        NEED_SHARED();
        QVERIFY2(run(mine("whole.jsonl")) == 0, error_.c_str());
        const fs::path work = folder_.path() / "stopped.jsonl.work";
        for (int stops = 0; stops < 200 && !fs::exists(folder_.path() / "stopped.jsonl"); ++stops) {
            const auto process = start(mine("stopped.jsonl"));
            if (stops < 3)  // killed at different moments, the last time let go on
                QTest::qWait(150 + 250 * stops), process->kill();
            process->waitForFinished(120000);
        }
        QVERIFY(fs::exists(folder_.path() / "stopped.jsonl"));
        QCOMPARE(read_file(folder_.path() / "stopped.jsonl"), read_file(folder_.path() / "whole.jsonl"));
        QVERIFY(!fs::exists(work));
    }

    void work_that_was_kept_has_no_part_in_the_rate() {
        NEED_SHARED();
        const fs::path report = folder_.path() / "kept.jsonl.report.json";
        make_directories(report);  // all is done when this is met
        QVERIFY(run(mine("kept.jsonl")) != 0);
        QVERIFY(!fs::exists(folder_.path() / "kept.jsonl"));
        fs::remove(report);
        QVERIFY2(run(mine("kept.jsonl")) == 0, error_.c_str());
        int told = 0;
        for (const std::string_view line : split(error_, '\n'))
            if (line.starts_with("embed ") || line.starts_with("mine ")) {
                ++told;
                QVERIFY2(line.find("/s ") == std::string::npos, error_.c_str());
            }
        QCOMPARE(told, 3);
    }

    void two_with_one_output_do_not_work_in_one_folder() {
        NEED_SHARED();
        const fs::path work = folder_.path() / "both.jsonl.work";
        make_directories(work);
        for (const QStringList& more : {QStringList{}, QStringList{"--restart"}}) {
            LockFile other(work);
            QCOMPARE(other.try_lock(), LockOutcome::taken);
            QCOMPARE(run(mine("both.jsonl", more)), 2);
            QVERIFY2(error_.find("another 'faceter data' is at work in it") != std::string::npos, error_.c_str());
            QVERIFY(fs::is_empty(work) && !fs::exists(folder_.path() / "both.jsonl"));
        }
        QVERIFY2(run(mine("both.jsonl")) == 0, error_.c_str());
        QVERIFY(!fs::exists(work));
    }

    void work_of_other_settings_is_not_taken_up() {
        NEED_SHARED();
        const fs::path work = folder_.path() / "other.jsonl.work";
        make_directories(work);
        write_file_atomic(work / "plan.json", "{}");
        QCOMPARE(run(mine("other.jsonl")), 2);
        QVERIFY2(error_.find("--restart") != std::string::npos, error_.c_str());
        QCOMPARE(run(mine("other.jsonl", {"--restart"})), 0);
    }

    void a_folder_that_somebody_else_made_is_not_taken_for_the_work() {
        NEED_SHARED();
        const fs::path work = folder_.path() / "mine.jsonl.work";
        make_directories(work);
        write_file_atomic(work / "thesis.tex", "years of work");
        for (const QStringList& more : {QStringList{}, QStringList{"--restart"}}) {
            QCOMPARE(run(mine("mine.jsonl", more)), 2);
            QVERIFY2(error_.find("was not made by this command") != std::string::npos, error_.c_str());
            QCOMPARE(read_file(work / "thesis.tex"), std::string("years of work"));
        }
    }

    /// A task that the teacher has not was none: the texts went in without an instruction, and nothing was said.
    void a_task_that_the_teacher_does_not_have_is_refused() {
        NEED_SHARED();
        QCOMPARE(run(mine("unknown.jsonl", {"--task", "clasification"})), 2);
        QVERIFY2(error_.find("has no tasks that differ; leave it out, or give --query-instruction") != std::string::npos, error_.c_str());
    }

    void a_file_that_is_missing_is_wrong_data() {
        NEED_SHARED();
        const QString output = (folder_.path() / "missing.jsonl").c_str();
        for (const char* command : {"mine", "filter", "score"}) {
            QCOMPARE(run({command, "--model", teacher_.c_str(), "--output", output, "/nowhere/pairs.jsonl"}), 4);
            QVERIFY2(error_.find("/nowhere/pairs.jsonl: no such file") != std::string::npos, error_.c_str());
        }
        QCOMPARE(run(mine("missing.jsonl", {"--corpus", "/nowhere/corpus.txt"})), 4);
        QVERIFY2(error_.find("/nowhere/corpus.txt") != std::string::npos, error_.c_str());
        QVERIFY(!fs::exists(folder_.path() / "missing.jsonl.work"));
    }
    void a_folder_in_the_place_of_the_output_is_refused_before_anything_is_embedded() {
        NEED_SHARED();
        make_directories(folder_.path() / "there");
        QCOMPARE(run(mine("there")), 2);
        QVERIFY2(error_.find("is a folder; give the file to write") != std::string::npos, error_.c_str());
        QVERIFY(!fs::exists(folder_.path() / "there.work"));
    }

    void the_pairs_are_not_replaced_by_what_is_made_of_them() {
        NEED_SHARED();
        const std::string before = read_file(pairs_);
        QCOMPARE(run(mine("pairs.jsonl")), 2);
        QVERIFY2(error_.find("is a file that this command reads") != std::string::npos, error_.c_str());
        write_file_atomic(folder_.path() / "corpus.txt", "a further document\n");
        QCOMPARE(run(mine("corpus.txt", {"--corpus", (folder_.path() / "corpus.txt").c_str()})), 2);
        for (const char* command : {"filter", "score"})
            QCOMPARE(run({command, "--model", teacher_.c_str(), "--output", pairs_.c_str(), pairs_.c_str()}), 2);
        QCOMPARE(read_file(pairs_), before);
        QVERIFY(!fs::exists(folder_.path() / "pairs.jsonl.work") && !fs::exists(folder_.path() / "corpus.txt.work"));
    }

    void what_is_mined_keeps_the_instructions_of_its_pairs() {
        NEED_SHARED();
        const fs::path own = folder_.path() / "own.jsonl", output = folder_.path() / "own_mined.jsonl";
        {
            std::ofstream out(own);
            for (std::size_t i = 0; i < 50; ++i)
                out << Json{{"query", texts_[i].first},
                            {"document", texts_[i].second},
                            {"query_instruction", "find: "},
                            {"document_instruction", "text: "},
                            {"negative_instruction", "not: "}}
                           .dump()
                    << "\n";
        }
        QVERIFY2(run({"mine", "--model", teacher_.c_str(), "--output", output.c_str(), own.c_str()}) == 0, error_.c_str());
        const Json lines = read_lines(output);
        QVERIFY(!lines.empty());
        for (const Json& line : lines) {
            QCOMPARE(line.at("query_instruction").get<std::string>(), std::string("find: "));
            QCOMPARE(line.at("document_instruction").get<std::string>(), std::string("text: "));
            QCOMPARE(line.at("negative_instruction").get<std::string>(), std::string("not: "));
            for (const Json& negative : line.at("negatives")) QVERIFY(negative.get<std::string>() != "not: ");
        }
    }

    void given_negatives_above_the_margin_are_dropped() {
        NEED_SHARED();
        const fs::path triplets = folder_.path() / "triplets.jsonl";
        {
            std::ofstream out(triplets);
            for (std::size_t i = 0; i < 50; ++i)
                out << Json{{"query", texts_[i].first},
                            {"document", texts_[i].second},
                            {"negatives", {texts_[i].second + " ", texts_[i + 60].second}}}
                           .dump()
                    << "\n";
        }
        const fs::path output = folder_.path() / "kept.jsonl";
        QVERIFY2(run({"mine", "--model", teacher_.c_str(), "--filter-given", "--output", output.c_str(), triplets.c_str()}) == 0,
                 error_.c_str());
        for (const Json& line : read_lines(output))
            for (const Json& negative : line.at("negatives"))
                QVERIFY(negative.get<std::string>() != line.at("document").get<std::string>() + " ");
    }

    void scoring_writes_what_the_teacher_says_the_positives_first() {
        const fs::path triplets = folder_.path() / "to_score.jsonl", output = folder_.path() / "scored.jsonl";
        std::ofstream(triplets)
            << R"({"query": "a fast editor", "document": "This editor is fast", "negatives": ["a slow shell", "a clock"]})"
            << "\n"
            << R"({"query": "an old game", "document": "This game is old", "scores": [7]})"
            << "\n";
        QVERIFY2(run({"score", "--model", teacher_.c_str(), "--output", output.c_str(), triplets.c_str()}) == 0, error_.c_str());
        const Json lines = read_lines(output);
        QCOMPARE(lines.size(), std::size_t{2});
        QCOMPARE(lines[0]["scores"].size(), std::size_t{3});
        QCOMPARE(lines[1]["scores"].size(), std::size_t{1});
        const at::Tensor rows = embedded({"a fast editor", "This editor is fast", "a slow shell", "a clock"});
        for (std::int64_t i = 1; i < 4; ++i) {
            const double expected = at::cosine_similarity(rows[0], rows[i], 0).item<double>(),
                         got = lines[0]["scores"][static_cast<std::size_t>(i - 1)].get<double>();
            QVERIFY2(std::abs(got - expected) < 1e-5, (std::to_string(got) + " against " + std::to_string(expected)).c_str());
        }
        QVERIFY(lines[0]["negatives"][1] == "a clock");
        const TrainingSet set = load_training_set({{{"source", "file"}, {"path", output.string()}}, folder_.path()}, "retrieval");
        QCOMPARE(scores_of(set, set.examples[0]).size(), std::size_t{3});
        QCOMPARE(scores_of(set, set.examples[1])[0], lines[1]["scores"][0].get<float>());
        QVERIFY(!fs::exists(output.string() + ".work"));
    }
    /// As sentence-transformers' similarity functions have it: a distance with a minus.
    void a_teacher_judges_by_the_similarity_of_its_folder() {
        NEED_SHARED();
        const fs::path teacher = folder_.path() / "euclidean", triplets = folder_.path() / "far.jsonl",
                       scored = folder_.path() / "far_scored.jsonl", mined = folder_.path() / "far_mined.jsonl";
        fs::copy(teacher_, teacher, fs::copy_options::recursive);
        write_file_atomic(teacher / "config_sentence_transformers.json", R"({"similarity_fn_name": "euclidean"})");
        std::ofstream(triplets)
            << R"({"query": "a fast editor", "document": "This editor is fast", "negatives": ["a slow shell", "a clock"]})"
            << "\n";
        QVERIFY2(run({"score", "--model", teacher.c_str(), "--output", scored.c_str(), triplets.c_str()}) == 0, error_.c_str());
        const auto model = EmbeddingModel::open(ModelFolder::open(teacher));
        const at::Tensor rows =
            embed_texts(*model, std::vector<std::string_view>{"a fast editor", "This editor is fast", "a slow shell", "a clock"}, {});
        const Json scores = read_lines(scored)[0]["scores"];
        for (std::int64_t i = 1; i < 4; ++i) {
            const double expected = -(rows[0] - rows[i]).norm().item<double>(), got = scores[static_cast<std::size_t>(i - 1)].get<double>();
            QVERIFY2(std::abs(got - expected) < 1e-4 * std::abs(expected),
                     (std::to_string(got) + " against " + std::to_string(expected)).c_str());
        }
        // The limit of a positive below 0 lies beyond it: 2 - margin times as far.
        QVERIFY2(
            run({"mine", "--model", teacher.c_str(), "--output", mined.c_str(), "--filter-given", "--margin", "1", triplets.c_str()}) == 0,
            error_.c_str());
        std::size_t below = 0;
        for (const std::size_t i : {1u, 2u}) below += scores[i].get<double>() < scores[0].get<double>();
        QCOMPARE(read_lines(mined)[0].at("negatives").size(), below);
    }
    void an_empty_instruction_is_none() {
        NEED_SHARED();
        const fs::path teacher = folder_.path() / "prompted", triplets = folder_.path() / "plain.jsonl",
                       scored = folder_.path() / "plain_scored.jsonl";
        fs::copy(teacher_, teacher, fs::copy_options::recursive);
        write_file_atomic(teacher / "config_sentence_transformers.json", R"({"prompts": {"query": "query: ", "document": "passage: "}})");
        std::ofstream(triplets) << R"({"query": "a fast editor", "document": "This editor is fast"})"
                                << "\n";
        QVERIFY2(run({"score", "--model", teacher.c_str(), "--query-instruction", "", "--output", scored.c_str(), triplets.c_str()}) == 0,
                 error_.c_str());
        const Json told = read_json(scored.string() + ".report.json").at("instructions");
        QCOMPARE(told.at("query").get<std::string>(), std::string());
        QCOMPARE(told.at("document").get<std::string>(), std::string("passage: "));
    }
    void what_is_of_negatives_that_are_looked_for_does_not_go_with_those_that_are_given() {
        for (const char* option : {"--negatives", "--depth", "--corpus"}) {
            QCOMPARE(run(mine("neither.jsonl", {"--filter-given", option, "3"})), 2);
            QVERIFY2(error_.find(std::string(option) + " is of negatives that are looked for") != std::string::npos, error_.c_str());
        }
    }
    void a_text_of_the_querys_own_class_is_no_negative() {
        TrainingSet set;
        for (const char* text : {"q", "same class", "other class", "another query"}) set.texts.add(text);
        Example first, second, third;
        first.anchor = 0, first.positive = 1, first.label = 4;
        second.anchor = 3, second.positive = 1, second.label = 4;
        third.anchor = 3, third.positive = 2, third.label = 5;
        set.examples = {first, second, third};
        const Positives positives(set);
        const std::vector<std::uint32_t> queries{0}, documents{3, 2, 17};  // the last of a further corpus
        const PassedOver own_class = positives.own_class(queries, documents);
        QVERIFY(own_class(0, 0));
        QVERIFY(!own_class(0, 1) && !own_class(0, 2));
        for (Example& example : set.examples) example.label = -1;
        QVERIFY(!Positives(set).own_class(queries, documents));
    }
    /// A good teacher puts all of the query's own class before the first text of another.
    void negatives_are_found_behind_a_class_that_is_larger_than_the_depth() {
        constexpr std::uint32_t in_class = 60;
        TrainingSet set;
        for (std::uint32_t i = 0; i < 2 * in_class; ++i) set.texts.add(fmt::format("{} {}", i / in_class, i % in_class));
        for (std::uint32_t i = 0; i < 2 * in_class; ++i) {
            Example example;
            example.anchor = i, example.positive = i % in_class == 0 ? i + 1 : i - 1,
            example.label = static_cast<std::int32_t>(i / in_class);
            set.examples.push_back(example);
        }
        const TeacherEmbedder teacher{[](std::span<const std::string_view> texts, Role) {
            std::vector<float> angles;
            for (const std::string_view text : texts)
                angles.push_back((text[0] == '0' ? 0.0f : 1.4f) + 0.001f * std::stof(std::string(text.substr(2))));
            const at::Tensor all = at::tensor(angles);
            return at::stack({all.cos(), all.sin()}, 1);
        }};
        MiningSettings settings;
        settings.depth = 10;
        const Tally tally = mine_negatives(set, teacher, settings, false);
        QCOMPARE(tally.at("examples with all negatives"), std::size_t{2 * in_class});
        for (const Example& example : set.examples)
            for (const std::uint32_t text : given_negatives(set, example)) QVERIFY(text / in_class != example.anchor / in_class);
    }
    void a_negative_that_a_row_gives_twice_is_written_once() {
        NEED_SHARED();
        const fs::path triplets = folder_.path() / "twice.jsonl", scored = folder_.path() / "scored_once.jsonl",
                       kept = folder_.path() / "kept_once.jsonl";
        std::ofstream(triplets) << Json{{"query", "a fast editor"},
                                        {"document", "This editor is fast"},
                                        {"negatives", {"a slow shell", "a clock", "a slow shell"}}}
                                       .dump()
                                << "\n";
        QVERIFY2(run({"score", "--model", teacher_.c_str(), "--output", scored.c_str(), triplets.c_str()}) == 0, error_.c_str());
        const Json line = read_lines(scored)[0];
        QCOMPARE(line.at("negatives").dump(), std::string(R"(["a slow shell","a clock"])"));
        QCOMPARE(line.at("scores").size(), std::size_t{3});
        QVERIFY2(
            run({"mine", "--model", teacher_.c_str(), "--filter-given", "--margin", "1", "--output", kept.c_str(), triplets.c_str()}) == 0,
            error_.c_str());
        QCOMPARE(read_lines(kept)[0].at("negatives").dump(), std::string(R"(["a slow shell","a clock"])"));
        QCOMPARE(read_json(kept.string() + ".report.json").at("counts").at("given negatives kept").get<int>(), 2);
        for (const fs::path& file : {scored, kept})
            QCOMPARE(
                read_json(file.string() + ".report.json").at("counts").at("given negatives that stand there again, left out").get<int>(),
                1);
    }
    void a_release_scores_with_the_prompts_and_adapters_that_it_has_for_queries_and_documents() {
        NEED_SHARED();
        const fs::path release = shared_folder() / "fixtures/jina_embeddings_v3", triplets = folder_.path() / "for_jina.jsonl",
                       output = folder_.path() / "by_jina.jsonl";
        std::ofstream(triplets) << R"({"query": "a fast editor", "document": "This editor is fast"})"
                                << "\n";
        QVERIFY2(run({"score", "--model", release.c_str(), "--output", output.c_str(), triplets.c_str()}) == 0, error_.c_str());
        const ModelFolder files = ModelFolder::open(release);
        const auto model = EmbeddingModel::open(files);
        open_task_adapters(*model, files);
        const auto embed = [&](std::string_view text, const char* task) {
            const auto adapter = find_task_adapter(*model, task);
            if (!adapter) throw std::runtime_error(task);
            const Route route{files.prompt(task), 0, Path::of_adapter(static_cast<int>(*adapter))};
            return embed_texts(*model, std::vector<std::string_view>{text}, route);
        };
        const at::Tensor query = embed("a fast editor", "retrieval.query"), document = embed("This editor is fast", "retrieval.passage");
        const double expected = at::cosine_similarity(query, document).item<double>(),
                     got = read_lines(output)[0]["scores"][0].get<double>();
        QVERIFY2(std::abs(got - expected) < 1e-5, (std::to_string(got) + " against " + std::to_string(expected)).c_str());
    }
    void filtering_keeps_the_pairs_whose_document_is_among_the_best() {
        NEED_SHARED();
        const fs::path output = folder_.path() / "filtered.jsonl";
        QVERIFY2(
            run({"filter", "--model", teacher_.c_str(), "--top-k", "2", "--shard", "500", "--output", output.c_str(), pairs_.c_str()}) == 0,
            error_.c_str());
        std::set<std::pair<std::string, std::string>> kept, wanted;
        for (const Json& line : read_lines(output)) kept.emplace(line.at("query"), line.at("document"));
        for (std::size_t begin = 0; begin < texts_.size(); begin += 500) {
            std::vector<std::string> queries, documents;
            std::set<std::string> seen;
            for (std::size_t i = begin; i < begin + 500; ++i) {
                queries.push_back(texts_[i].first);
                if (seen.insert(texts_[i].second).second) documents.push_back(texts_[i].second);
            }
            const at::Tensor scores = at::matmul(embedded(queries), embedded(documents).t());
            for (std::size_t i = 0; i < 500; ++i) {
                const at::Tensor row = scores[static_cast<std::int64_t>(i)];
                const auto at = std::find(documents.begin(), documents.end(), texts_[begin + i].second) - documents.begin();
                if ((row > row[at] + 1e-6).sum().item<std::int64_t>() < 2) wanted.emplace(texts_[begin + i]);
            }
        }
        QVERIFY(wanted.size() > 10 && wanted.size() < texts_.size());
        QCOMPARE(kept.size(), wanted.size());
        QVERIFY(kept == wanted);
    }

    void a_margin_moves_the_limit_away_from_a_positive_below_zero_too() {
        MiningSettings settings;
        QCOMPARE(settings.limit(0.8), 0.8 * 0.95);
        QVERIFY(settings.limit(-0.2) < -0.2);
        settings.absolute_margin = 0.3;
        QVERIFY(std::abs(settings.limit(0.8) - 0.5) < 1e-12);
    }
};

FACETER_TEST(TestMining)
#include "test_mining.moc"
