#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "compare/router_methods.h"
#include "data/child_process.h"
#include "eval/tasks.h"
#include "experiment/catalogue.h"
#include "experiment/experiment.h"
#include "experiment/unread_settings.h"
#include "plugin/run_model.h"
#include "record/journal.h"
#include "router_retriever/router_model.h"
#include "router_retriever/study.h"
#include "support/checkout.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// A run of the method on the tiny reference model: three domains of made-up pairs, then what a user does with its router.
class TestRouterRun : public QObject {
    Q_OBJECT
    TemporaryDirectory project_;
    std::optional<RunDirectory> run_;

    static std::string words(std::size_t domain, int i, int count) {
        static const std::vector<std::vector<const char*>> all = {{"river", "stone", "water", "boat", "fish", "lake"},
                                                                  {"music", "song", "guitar", "drum", "voice", "dance"},
                                                                  {"bread", "salt", "sugar", "milk", "egg", "cake"}};
        std::string text;
        for (int k = 0; k < count; ++k) text += std::string(all[domain][static_cast<std::size_t>(i * 7 + k * (i % 5 + 1)) % 6]) + " ";
        return text;
    }

    void write_domain(const std::string& name, std::size_t domain) const {
        std::ofstream pairs(project_.path() / (name + ".jsonl"));
        for (int i = 0; i < 40; ++i)
            pairs << Json{{"query", words(domain, i, 2) + std::to_string(i)}, {"document", words(domain, i, 6) + std::to_string(i)}}.dump()
                  << "\n";
        const fs::path folder = project_.path() / (name + "_test");
        make_directories(folder / "qrels");
        std::ofstream corpus(folder / "corpus.jsonl"), queries(folder / "queries.jsonl"), qrels(folder / "qrels/test.tsv");
        qrels << "query-id\tcorpus-id\tscore\n";
        for (int i = 40; i < 60; ++i) {
            corpus << Json{{"_id", "d" + std::to_string(i)}, {"title", ""}, {"text", words(domain, i, 6) + std::to_string(i)}}.dump()
                   << "\n";
            queries << Json{{"_id", "q" + std::to_string(i)}, {"text", words(domain, i, 2) + std::to_string(i)}}.dump() << "\n";
            qrels << "q" << i << "\td" << i << "\t1\n";
        }
    }

    std::string experiment_text(const std::string& variant, const std::string& empty_domain = "") const {
        std::string text = "name: r\nmodel: " + (shared_folder() / "fixtures/bert").string() + "\nmax_length: 24\nthreads: 1\ntasks:\n";
        for (const char* name : {"nature", "music", "food"})
            text +=
                std::string("  ") + name + ":\n    type: retrieval\n" +
                (name == empty_domain ? "" : std::string("    train: [{name: ") + name + ", source: file, path: " + name + ".jsonl}]\n") +
                "    validation: [{name: " + name + " held out, path: " + name + "_test}]\n";
        text += "variants:\n  RR: {method: router_retriever, rank: 2, library_examples: 25" + variant + "}\n";
        text += "training: {batch_size: 8, steps: 6, learning_rate: 1.0e-2, evaluate_every_steps: 2, early_stopping: {patience: 2}}\n";
        text += "evaluation:\n  baseline: false\n  datasets:\n";
        for (const char* name : {"nature", "music", "food"})
            text += std::string("    - {name: ") + name + ", path: " + name + "_test, as: " + name + "}\n";
        text += "analyses: [{method: router_study, clusters: [1, 2], orders: 2, second_gates: [music]}]\n";
        return text;
    }

    ChildResult execute(const RunDirectory& run) const {
        return run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "run", run.folder().string()}, std::chrono::seconds(200), 1 << 20);
    }
    ChildResult ask(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), FACETER_BINARY_DIR "/bin/faceter-worker");
        return run_child(arguments, std::chrono::seconds(100), 1 << 22);
    }

    RunDirectory make_run(const std::string& text) const {
        const Experiment experiment =
            Experiment::parse(text, project_.path() / "r.yaml", Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        return RunDirectory::create(project_.path(), experiment, experiment.runs().front(), false);
    }

    fs::path model_folder() const { return final_model_folder(*run_); }
    /// A copy of the run's model that a test may change.
    fs::path copy(const char* name) const {
        fs::copy(model_folder(), project_.path() / name, fs::copy_options::recursive);
        return project_.path() / name;
    }

    /// A study's claims may name each.
    static void check_method_names(const RunDirectory& run, const Json& study) {
        const std::vector<std::string> known = router_methods(run.settings());
        QVERIFY(study.at("methods").size() > 4);
        for (const Json& method : study.at("methods"))
            QVERIFY2(std::find(known.begin(), known.end(), method.at("name").get<std::string>()) != known.end(), method.dump().c_str());
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        write_domain("nature", 0);
        write_domain("music", 1);
        write_domain("food", 2);
        run_ = make_run(experiment_text(", multi_task_curve: true, training_sizes: [10]"));
        const ChildResult result = execute(*run_);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
    }

    void a_run_leaves_gates_a_library_and_the_base_as_it_was() {
        NEED_SHARED();
        const Json router = read_json(model_folder() / "router.json");
        QCOMPARE(router.at("method").get<std::string>(), std::string("router_retriever"));
        QCOMPARE(router.at("gates").size(), std::size_t{8});  // three gates, multi-task, multi-task of 2, three of size 10
        QVERIFY(router.at("provenance").at("pilots").size() >= 3);
        for (const char* gate : {"nature", "music", "food", "multi-task"}) {
            const AdapterFolder folder = AdapterFolder::open(model_folder() / "gates" / gate);
            QCOMPARE(folder.config.rank, std::int64_t{2});
        }
        const auto base = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        base->max_length = 24;
        QCOMPARE(router.at("base_fingerprint").get<std::string>(), base->base_fingerprint());
    }

    void routed_embeddings_are_those_of_each_texts_own_gate() {
        NEED_SHARED();
        const auto model = open_run_model(*run_);
        QVERIFY(model->router);
        std::vector<std::string> texts;
        for (std::size_t d = 0; d < 3; ++d)
            for (int i = 0; i < 15; ++i) texts.push_back(words(d, i, 2 + i % 4));
        const std::vector<std::string_view> views(texts.begin(), texts.end());
        const Route routed = model->route("music", Role::query);
        QVERIFY(routed.routed && !model->route("music", Role::document).routed);
        const at::Tensor base = embed_texts(*model, views, Route{}), got = embed_texts(*model, views, routed);
        const auto chosen = model->router->choose(base);
        for (std::size_t i = 0; i < views.size(); ++i) {
            const at::Tensor one = embed_texts(*model, {&views[i], 1}, Route{"", 0, chosen[i]});
            QVERIFY(max_difference(got[static_cast<std::int64_t>(i)], one[0]) < 1e-5);
        }
        QVERIFY(std::set<Path>(chosen.begin(), chosen.end()).size() > 1);
        CachedEmbedder cached(*model);
        QVERIFY(max_difference(cached.embed(views, routed), got) < 1e-5);
        const std::size_t misses = cached.misses();
        QVERIFY(max_difference(cached.embed(views, routed), got) < 1e-5);
        QCOMPARE(cached.misses(), misses);
    }

    void all_questions_of_a_context_preference_are_embedded_together() {
        NEED_SHARED();
        std::ofstream file(project_.path() / "questions.jsonl");
        for (int i = 0; i < 30; ++i)
            file << Json{{"query", words(0, i, 3)},
                         {"contexts",
                          {{{"kind", "original"}, {"text", words(0, i, 8)}}, {{"kind", "conflicting"}, {"text", words(1, i, 7)}}}}}
                        .dump()
                 << "\n";
        file.close();
        const auto model = EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert"));
        EmbedOptions options;
        int batches = 0;
        options.progress = [&](std::size_t) { ++batches; };
        CachedEmbedder embedder(*model, options);
        const auto analysis = make_context_preference({{"path", (project_.path() / "questions.jsonl").string()}});
        const Json result = analysis->run({.embedder = embedder, .tasks = model->tasks, .texts = {}, .run_name = "r"}).result;
        QCOMPARE(batches, 2);  // queries, then contexts: all of these fit into one pass each
        QCOMPARE(result.at("questions").get<int>(), 30);
        double first = 0;
        std::map<std::string, double> similarity;
        for (int i = 0; i < 30; ++i) {
            const std::string texts[] = {words(0, i, 3), words(0, i, 8), words(1, i, 7)};
            at::Tensor rows[3];
            for (int k = 0; k < 3; ++k) {
                const std::string_view view = texts[k];
                rows[k] = normalize_rows(embed_texts(*model, {&view, 1}, Route{}))[0];
            }
            const double original = rows[0].dot(rows[1]).item<double>(), other = rows[0].dot(rows[2]).item<double>();
            first += original >= other;
            similarity["original"] += original / 30;
            similarity["conflicting"] += other / 30;
        }
        QCOMPARE(result.at("kinds").at("original").at("first").get<double>(), first);
        for (const auto& [kind, value] : similarity)
            QVERIFY(std::abs(result.at("kinds").at(kind).at("mean_similarity").get<double>() - value) < 1e-4);
    }

    void the_map_of_documents_shows_those_that_each_sets_queries_ask_for() {
        NEED_SHARED();
        const Json figure = read_json(run_->folder() / "figures/router_document_map.json");
        QCOMPARE(figure.at("series").size(), std::size_t{3});
        QCOMPARE(figure.at("series")[0].at("x").size(), std::size_t{20});
        QVERIFY(figure.at("series")[0].at("x") != figure.at("series")[1].at("x"));
    }
    void the_study_agrees_with_the_runs_own_scores() {
        NEED_SHARED();
        const Json study = read_json(run_->results() / "router_study.json");
        const Json& pilot = study.at("methods").at(0);
        QCOMPARE(pilot.at("name").get<std::string>(), std::string("RouterRetriever"));
        for (const char* name : {"nature", "music", "food"}) {
            const double score = read_json(run_->results() / (std::string(name) + ".json")).at("score").get<double>();
            QVERIFY(std::abs(score - pilot.at("scores").at(name).get<double>()) < 1e-9);
        }
        check_method_names(*run_, study);
        double oracle = 0, best = 0;
        for (const Json& method : study.at("methods")) {
            if (method.at("name").get<std::string>().starts_with("Oracle")) oracle = method.at("mean").get<double>();
            if (method.at("name").get<std::string>().starts_with("Best")) best = method.at("mean").get<double>();
        }
        QVERIFY(oracle >= best && oracle >= pilot.at("mean").get<double>());
        for (const char* figure : {"router_best_gate", "router_routed_gate", "router_gate_count", "router_clusters", "router_matrix",
                                   "router_training_size", "router_query_map"}) {
            const fs::path file = run_->folder() / "figures" / (std::string(figure) + ".json");
            QVERIFY2(fs::exists(file), figure);
            Figure::from_json(read_json(file), figure).validate();
        }
        for (const char* figure : {"router_best_gate", "router_routed_gate"}) {  // one colour is one share in both
            const Figure map = Figure::from_json(read_json(run_->folder() / "figures" / (std::string(figure) + ".json")), figure);
            QVERIFY2(map.y.min == 0.0 && map.y.max == 1.0, figure);
        }
    }

    void a_router_folder_is_a_model_for_evaluate_and_embed() {
        NEED_SHARED();
        const fs::path folder = copy("as a model");
        const ChildResult result =
            ask({"evaluate", "--model", folder.string(), "--data", (project_.path() / "music_test").string(), "--json"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const double score = read_json(run_->results() / "music.json").at("score").get<double>();
        QVERIFY(std::abs(Json::parse(result.output).at("datasets").at(0).at("score").get<double>() - score) < 1e-9);
        std::ofstream(project_.path() / "texts.txt") << "a song\na lake\n";
        QCOMPARE(ask({"embed", "--model", folder.string(), "--output", (project_.path() / "t.npy").string(),
                      (project_.path() / "texts.txt").string()})
                     .exit_code,
                 0);
    }

    void explain_names_the_gate_and_its_similarities() {
        NEED_SHARED();
        const ChildResult result = ask({"router", "explain", run_->folder().string(), "a song of the guitar", "--json"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json json = Json::parse(result.output);
        double best = -2;
        std::string gate;
        for (const auto& [name, value] : json.at("values").items())
            if (value.get<double>() > best) best = value.get<double>(), gate = name;
        QCOMPARE(json.at("gate").get<std::string>(), gate);
        QVERIFY(json.at("pilots").size() >= 3);
        double second = -2;
        for (const auto& [name, value] : json.at("values").items())
            if (name != gate) second = std::max(second, value.get<double>());
        QCOMPARE(json.at("values").at(json.at("next_gate").get<std::string>()).get<double>(), second);
        double x = 0;  // pilots are centred
        for (const Json& pilot : json.at("pilots")) x += pilot.at("x").get<double>();
        QVERIFY(std::abs(x) < 1e-4 && json.at("place").at("y").is_number());
        QCOMPARE(ask({"router", "list", run_->folder().string()}).exit_code, 0);
        const std::string folder = model_folder().string();
        QCOMPARE(ask({"router", "explain", folder, "a song of the guitar", "--task", "music", "--json"}).output, result.output);
        const ChildResult unknown = ask({"router", "explain", folder, "a song", "--task", "musik"});
        QCOMPARE(unknown.exit_code, 2);
        QVERIFY2(unknown.last_lines.find("no task 'musik' in this model; did you mean 'music'?") != std::string::npos,
                 unknown.last_lines.c_str());
    }

    void a_gate_is_removed_and_added_again_without_training() {
        NEED_SHARED();
        const fs::path folder = copy("edited");
        const Json before = read_json(folder / "router.json");
        ChildResult result = ask({"router", "remove", folder.string(), "music"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json without = read_json(folder / "router.json");
        QCOMPARE(without.at("gates").size(), before.at("gates").size() - 1);
        for (const Json& pilot : without.at("provenance").at("pilots")) QVERIFY(pilot.at("gate") != "music");
        fs::path removed;
        for (const auto& entry : fs::directory_iterator(folder / "removed")) removed = entry.path();
        QVERIFY(fs::exists(removed / "adapter_model.safetensors") && !fs::exists(folder / "gates/music"));
        result = ask({"router", "add", folder.string(), removed.string(), "--name", "music", "--domain", "music"});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        // The same gates in another order: the same choices, by name.
        const auto first = open_folder_model(model_folder()), second = open_folder_model(folder);
        const auto& a = dynamic_cast<const RouterModel&>(*first->router).library();
        const auto& b = dynamic_cast<const RouterModel&>(*second->router).library();
        const at::Tensor base = a.domains[1].base;
        const auto x = first->router->choose(base), y = second->router->choose(base);
        for (std::size_t i = 0; i < x.size(); ++i) QCOMPARE(a.name_of(x[i].adapter + 1), b.name_of(y[i].adapter + 1));
        QCOMPARE(
            max_difference(b.domains[0].scores.select(1, b.expert_named("music")), a.domains[0].scores.select(1, a.expert_named("music"))),
            0.0);
    }

    void a_gate_with_its_own_pairs_becomes_a_domain() {
        NEED_SHARED();
        const fs::path folder = copy("wider");
        const ChildResult result = ask({"router", "add", folder.string(), (model_folder() / "gates/food").string(), "--name", "kitchen",
                                        "--train", (project_.path() / "food.jsonl").string()});
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json router = read_json(folder / "router.json");
        QCOMPARE(router.at("domains").size(), std::size_t{4});
        QCOMPARE(router.at("domains").back().at("instances").get<int>(), 25);  // as of the run's own (library_examples)
        QVERIFY(open_folder_model(folder)->router);
    }

    void a_gate_has_its_folders_name_however_that_is_written_and_never_none() {
        NEED_SHARED();
        const fs::path folder = copy("named");
        const std::string gate = (model_folder() / "gates/food").string();
        const std::string before = read_file(folder / "router.json");
        const auto refused = [&](const std::vector<std::string>& arguments, const std::string& why) {
            std::vector<std::string> all{"router", "add", folder.string()};
            all.insert(all.end(), arguments.begin(), arguments.end());
            const ChildResult result = ask(all);
            return result.exit_code == 2 && result.last_lines.find(why) != std::string::npos;
        };
        QVERIFY(refused({gate + "/"}, "there is a gate 'food' already"));
        QVERIFY(refused({gate, "--name", ""}, "--name is empty"));
        QVERIFY(refused({gate, "--name", "kitchen", "--domain", " "}, "--domain is empty"));
        QVERIFY(read_file(folder / "router.json") == before);
    }

    void a_stage_mines_by_the_gates_that_those_before_it_have_trained() {
        NEED_SHARED();
        const auto mined = [&](const std::string& teacher) {
            std::string text = experiment_text(", multi_task: false");
            const std::string training = "evaluate_every_steps: 2, early_stopping: {patience: 2}";
            text.replace(text.find(training), training.size(), "schedule: constant, warmup_ratio: 0");
            text.erase(text.find("analyses:"));
            text += "stages: [{name: one}, {name: two, mine: {negatives: 10, margin: 1.0" + teacher + "}}]\n";
            const RunDirectory run = make_run(text);
            const ChildResult result = execute(run);
            return result.exit_code == 0 ? read_file(run.folder() / "data/stage-1-mine-0.jsonl") : result.last_lines;
        };
        const std::string by_gates = mined(""), by_base = mined(", teacher: \"" + (shared_folder() / "fixtures/bert").string() + "\"");
        for (const std::string& lines : {by_gates, by_base}) QVERIFY2(lines.starts_with("{\"hash\""), lines.c_str());
        QVERIFY(by_gates != by_base);
    }

    void while_another_process_reads_nothing_is_changed() {
        NEED_SHARED();
        const fs::path folder = copy("read");
        const std::string before = read_file(folder / "router.json");
        const int reader = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
        QVERIFY(reader >= 0 && ::flock(reader, LOCK_SH) == 0);
        const ChildResult result = ask({"router", "remove", folder.string(), "music"});
        QVERIFY(result.exit_code == 5);
        QVERIFY2(result.last_lines.find("in use by another process; nothing was changed") != std::string::npos, result.last_lines.c_str());
        QVERIFY(read_file(folder / "router.json") == before && fs::exists(folder / "gates/music/adapter_model.safetensors"));
        ::close(reader);
        QCOMPARE(ask({"router", "remove", folder.string(), "music"}).exit_code, 0);
    }

    void a_failed_write_leaves_the_router_as_it_was() {
        NEED_SHARED();
        const fs::path folder = copy("full");
        const std::string before = read_file(folder / "router.json");
        bool done = false;
        int fail_at = 0;
        for (; !done && fail_at < 200; ++fail_at) {  // at every write, sync and rename
            const auto model = EmbeddingModel::open(ModelFolder::open(folder));
            int count = 0;
            set_file_fault_hook([&](FileOperation, const fs::path&) { return count++ == fail_at ? ENOSPC : 0; });
            try {
                edit_router_model(*model, folder, {{"action", "remove"}, {"gate", "music"}});
            } catch (const Error&) {
            }
            set_file_fault_hook({});
            QVERIFY(open_folder_model(folder)->router);  // whole, as before or as after
            done = read_file(folder / "router.json") != before;
        }
        QVERIFY(done && fail_at > 1);
    }

    void another_base_model_is_refused() {
        NEED_SHARED();
        const fs::path folder = copy("other base");
        auto model = EmbeddingModel::open(ModelFolder::open(folder));
        model->encoders.front()->blocks()[0].qkv.weight.add_(0.01);
        EXPECT_ERROR(open_router_model(*model, folder), "router.json", "another base model");
    }

    void a_gate_of_another_shape_is_refused_and_nothing_is_lost() {
        NEED_SHARED();
        const fs::path folder = copy("other shape");
        const std::string before = read_file(folder / "router.json");
        Encoder other(EncoderConfig::from_json(Json{{"model_type", "bert"},
                                                    {"num_hidden_layers", 2},
                                                    {"hidden_size", 24},
                                                    {"num_attention_heads", 3},
                                                    {"intermediate_size", 40},
                                                    {"vocab_size", 100}},
                                               "config", Weights(std::vector<fs::path>{})),
                      {}, at::kFloat);
        other.add_adapter("x", {2, 4, 0, false, {}, ""}, 1);
        make_directories(project_.path() / "foreign");
        other.write_adapter(0, project_.path() / "foreign");
        const ChildResult result = ask({"router", "add", folder.string(), (project_.path() / "foreign").string()});
        QCOMPARE(result.exit_code, 4);
        QVERIFY2(result.last_lines.find("another model") != std::string::npos, result.last_lines.c_str());
        QVERIFY(read_file(folder / "router.json") == before && !fs::exists(folder / "gates/foreign"));
    }

    void early_stopping_watches_the_validation_data_that_it_names() {
        NEED_SHARED();
        const fs::path alone = project_.path() / "alone_test";  // one document: every query finds it
        make_directories(alone / "qrels");
        write_file_atomic(alone / "corpus.jsonl", Json{{"_id", "d"}, {"title", ""}, {"text", "a song"}}.dump() + "\n");
        write_file_atomic(alone / "queries.jsonl", Json{{"_id", "q"}, {"text", "a voice"}}.dump() + "\n");
        write_file_atomic(alone / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq\td\t1\n");
        std::string text = experiment_text(", multi_task: false");
        const auto replace = [&text](const std::string& what, const std::string& by) { text.replace(text.find(what), what.size(), by); };
        replace("path: music_test}]", "path: music_test}, {name: alone, path: alone_test}]");
        replace("{patience: 2}", "{patience: 1, dataset: alone}");
        const RunDirectory run = make_run(text);
        const ChildResult result = execute(run);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        int scored = 0;
        for (const JournalEvent& event : read_journal(run.attempt_journal(1)).events) {
            const bool scores = event.type == "evaluation", keeps = event.type == "kept_best";
            if (!(scores || keeps) || json_or<int>(event.fields, "stage", 0, "journal") != 1) continue;  // music
            scored += scores;
            if (keeps) QCOMPARE(event.fields.at("step").get<int>(), 2);
        }
        QCOMPARE(scored, 2);
    }

    void similarity_is_read_by_the_router_of_nearest_instances_too() {
        const Catalogue catalogue = Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"});
        const auto remarks = [&](const std::string& variant) {
            std::string text = experiment_text(variant + ", pilot_similarity: dot");
            text.erase(text.find("analyses:"));  // the study has routers of its own
            const std::vector<std::string> all = unread_settings(Experiment::parse(text, project_.path() / "r.yaml", catalogue), catalogue);
            return std::count_if(all.begin(), all.end(), [](const std::string& remark) { return remark.find("pilot_") != remark.npos; });
        };
        for (const char* router : {"pilot", "dataset"}) QCOMPARE(remarks(std::string(", router: ") + router), std::ptrdiff_t{0});
    }

    void an_empty_domain_is_named() {
        NEED_SHARED();
        const RunDirectory run = make_run(experiment_text("", "music"));
        const ChildResult result = execute(run);
        QCOMPARE(result.exit_code, 4);
        QVERIFY2(result.last_lines.find("task 'music' has no training examples") != std::string::npos, result.last_lines.c_str());
    }

    void gates_of_another_run_are_taken_up_as_they_are() {
        NEED_SHARED();
        const RunDirectory run =
            make_run(experiment_text(", multi_task: false, base_gate: true, training_sizes: [10, 20], gates: {music: \"" +
                                     (run_->folder() / "gates/music").string() + "\"}"));
        const ChildResult result = execute(run);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const std::string name = "gates/music/adapter_model.safetensors";
        QCOMPARE(sha256_file(final_model_folder(run) / name), sha256_file(model_folder() / name));
        std::map<std::string, std::vector<double>> sizes;
        const Json figure = read_json(run.folder() / "figures/router_training_size.json");
        for (const Json& series : figure.at("series"))
            sizes[series.at("name").get<std::string>()] = series.at("x").get<std::vector<double>>();
        QCOMPARE(sizes.at("nature"), (std::vector<double>{10, 20, 40}));
        QCOMPARE(sizes.at("music"), (std::vector<double>{10, 20}));  // nobody knows on how many the given one was trained
    }

    void a_budget_of_multi_task_gates_that_nobody_trained_is_told() {
        NEED_SHARED();
        const RunDirectory run = make_run(experiment_text(", multi_task: false, budget: min_per_set"));
        const ChildResult result = execute(run);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QVERIFY(read_file(run.attempt_journal(1)).find("budget is min_per_set and had no effect") != std::string::npos);
    }

    void what_the_trained_gates_cannot_make_is_stood_in_for_or_left_out_and_the_run_is_finished() {
        NEED_SHARED();
        std::string text = experiment_text(", router: classification_head, single_gates: [nature, music]");
        const std::string second = "second_gates: [music]";
        text.replace(text.find(second), second.size(), "second_gates: [food]");  // without it no gate is left to route to
        const RunDirectory run = make_run(text);
        const ChildResult result = execute(run);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        QCOMPARE(read_json(final_model_folder(run) / "router.json").at("router").get<std::string>(), std::string("pilot"));
        const std::string journal = read_file(run.attempt_journal(1));
        QVERIFY(journal.find("router: classification_head could not be made, and router: pilot") != std::string::npos);
        const Json study = read_json(run.results() / "router_study.json");
        check_method_names(run, study);
        const std::string notes = study.at("notes").dump();
        QVERIFY2(notes.find("ClassificationHeadRouter is left out") != std::string::npos, notes.c_str());
        QVERIFY2(notes.find("router_second_gate is left out: a router needs a gate to choose") != std::string::npos, notes.c_str());
    }

    void the_papers_recipe_is_a_right_experiment() {
        const fs::path file = FACETER_SOURCE_DIR "/experiments/with_your_data/router_retriever_beir.yaml";
        const Experiment experiment = Experiment::load(file, Catalogue::load({FACETER_BINARY_DIR "/lib/faceter/plugins"}));
        QCOMPARE(experiment.runs().size(), std::size_t{2});
    }

    void gates_on_both_sides_search_the_corpus_of_each_gate() {
        NEED_SHARED();
        const RunDirectory run = make_run(experiment_text(", sides: both, similarity: dot"));
        const ChildResult result = execute(run);
        QVERIFY2(result.exit_code == 0, result.last_lines.c_str());
        const Json study = read_json(run.results() / "router_study.json");
        for (const char* name : {"nature", "music", "food"}) {
            const double score = read_json(run.results() / (std::string(name) + ".json")).at("score").get<double>();
            QVERIFY(std::abs(score - study.at("methods").at(0).at("scores").at(name).get<double>()) < 1e-9);
        }
        QVERIFY(!ModelFolder::open(final_model_folder(run)).normalize);
        candidates_go_the_path_of_their_query(*open_run_model(run));
    }

  private:
    /// Ranked anew are the candidates of each query as they are where its gate is the only one.
    static void candidates_go_the_path_of_their_query(const EmbeddingModel& model) {
        EvaluationSet set;
        set.task_type = "reranking";
        RerankingData data;
        for (std::size_t domain = 0; domain < 3; ++domain)
            for (int i = 0; i < 20; ++i) {
                RerankingData::Query query{data.texts.intern(words(domain, i, 2) + std::to_string(i)), {}, {}};
                query.positive.push_back(data.texts.intern(words(domain, i, 6) + std::to_string(i)));
                for (int other = 1; other < 4; ++other)
                    query.negative.push_back(data.texts.intern(words(domain, i + other, 6) + std::to_string(i)));
                data.queries.push_back(std::move(query));
            }
        const EvaluationRoutes routes{"nature", model.route("nature", Role::query), model.route("nature", Role::document)};
        QVERIFY(routes.query.routed && routes.document.routed);
        set.data = data;
        CachedEmbedder embedder(model);
        const std::vector<double> all = evaluate_set(embedder, set, routes).per_example;
        QCOMPARE(all.size(), data.queries.size());
        std::set<Path> used;
        for (std::size_t q = 0; q < all.size(); ++q) {
            const std::string_view text = data.texts[data.queries[q].query];
            EvaluationRoutes fixed = routes;
            fixed.query.path = fixed.document.path = embedder.choose({&text, 1}, routes.query).front();
            fixed.query.routed = fixed.document.routed = false;
            used.insert(fixed.query.path);
            RerankingData alone = data;
            alone.queries = {data.queries[q]};
            set.data = std::move(alone);
            QCOMPARE(evaluate_set(embedder, set, fixed).per_example.front(), all[q]);
        }
        QVERIFY(used.size() > 1);
    }
};

FACETER_TEST(TestRouterRun)
#include "test_router_run.moc"
