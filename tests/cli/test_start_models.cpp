#include <QDir>

#include "checkpoint/hub_server.h"
#include "cli/program.h"
#include "common/file.h"
#include "record/run_directory.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What `faceter check` refuses before anything starts: a start model that a variant cannot begin with, a setting that several processes
/// cannot compute.
class TestStartModels : public QObject {
    Q_OBJECT

    Outcome check(const fs::path& model, const std::string& method, const std::vector<std::string>& options = {},
                  const std::string& more = "") const {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "pairs.jsonl", "{\"query\": \"a\", \"document\": \"b\"}\n");
        write_file_atomic(folder.path() / "x.yaml",
                          "name: x\nmodel: " + model.string() +
                              "\ntasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                              "variants:\n  V: {method: " +
                              method + "}\nevaluation: {baseline: false, datasets: []}\n" + more);
        std::vector<std::string> arguments = {"check", (folder.path() / "x.yaml").string()};
        arguments.insert(arguments.end(), options.begin(), options.end());
        return faceter::testing::faceter(arguments);
    }

    /// A project of five finished runs, which an earlier version wrote.
    static void copy_project(const fs::path& folder) {
        fs::copy(fs::path(FACETER_SOURCE_DIR) / "tests/versions/0.1.0/project", folder, fs::copy_options::recursive);
    }

  private Q_SLOTS:
    void a_run_is_a_model_by_its_name_and_a_wrong_name_is_told_the_nearest() {
        qputenv("HF_HUB_OFFLINE", "1");
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project";
        copy_project(project);
        const std::vector<std::string> here = {"--project", project.string(), "--json"};
        const Outcome start = check("routed-1", "instruction", here);
        QVERIFY2(start.code == 0, start.err.c_str());
        const auto settings = [](const Outcome& outcome) { return parse_json(outcome.out, "check").at("runs").at(0).at("settings"); };
        const fs::path run = project / "runs/kept-routed-s1-20261123-013413-7124";
        QCOMPARE(settings(start).at("model").get<std::string>(), run.string());
        QCOMPARE(settings(check("ROUTED-1", "instruction", here)).at("model").get<std::string>(), run.string());
        QCOMPARE(settings(check(run.filename(), "instruction", here)).at("model").get<std::string>(), run.string());

        const Outcome teacher = check(run, "instruction", here, "objective: {method: gist, teacher: routed-1}\n");
        QVERIFY2(teacher.code == 0, teacher.err.c_str());
        QCOMPARE(settings(teacher).at("objective").at("teacher").get<std::string>(), run.string());
        const Outcome stages = check("routed-1", "instruction", here,
                                     "stages: [{name: one, tasks: [retrieval], objective: {method: gist, teacher: routed-1}}]\n");
        QVERIFY2(stages.code == 0, stages.err.c_str());
        QCOMPARE(settings(stages).at("stages").at(0).at("objective").at("teacher").get<std::string>(), run.string());

        HAS(check("routd-1", "instruction", here).err, "did you mean the run 'routed-1' of this project?");
        HAS(check(run, "instruction", here, "objective: {method: gist, teacher: rooted-1}\n").err, "did you mean the run 'routed-1'");
        HAS(check("mote-1", "instruction", here).err, "export one of its tasks");
        HAS(check("mote-2", "instruction", here).err, "has no final model");
        QVERIFY(check("routed", "instruction", here).code != 0);  // which run a variant's name means changes with the next one
        QVERIFY(check("routed-1", "instruction").code != 0);      // of no project
        const Outcome described = faceter::testing::faceter({"describe", "--model", "routd-1", "--project", project.string()});
        HAS(described.err, "did you mean the run 'routed-1'");
        qputenv("FACETER_PROJECT", project.c_str());
        QCOMPARE(check("routed-1", "instruction").code, 0);
        qunsetenv("FACETER_PROJECT");
    }

    void every_command_takes_a_runs_name_and_tells_the_nearest() {
        qputenv("HF_HUB_OFFLINE", "1");
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project";
        copy_project(project);
        const auto texts = (folder.path() / "texts.txt").string();
        write_file_atomic(texts, "a text\n");
        const auto in_project = [&](std::vector<std::string> arguments) {
            arguments.insert(arguments.end(), {"--project", project.string()});
            return faceter::testing::faceter(arguments);
        };
        const Outcome tokens = in_project({"tokenize", "--model", "routed-1", texts});
        QVERIFY2(tokens.code == 0, tokens.err.c_str());
        const Outcome by_folder = faceter::testing::faceter(
            {"tokenize", "--model", (project / "runs/kept-routed-s1-20261123-013413-7124/model").string(), texts});
        QCOMPARE(tokens.out, by_folder.out);
        HAS(in_project({"tokenize", "--model", "routd-1", texts}).err, "did you mean the run 'routed-1'");
        HAS(in_project({"conform", "--model", "routd-1"}).err, "did you mean the run 'routed-1'");
        HAS(in_project({"convert", "routd-1", (folder.path() / "out").string()}).err, "did you mean the run 'routed-1'");
        HAS(in_project({"router", "list", "gaets-1"}).err, "did you mean the run 'gates-1'");
        HAS(in_project({"serve", "routd-1", "--port", "0"}).err, "did you mean the run 'routed-1'");
        HAS(in_project({"serve", "motte-1", "--port", "0", "--resident", "1"}).err, "did you mean the run 'mote-1'");
        HAS(in_project({"export", "routd-1", (folder.path() / "out").string()}).err, "did you mean 'routed-1'");
        const Outcome converted = in_project({"convert", "mote-1", (folder.path() / "out").string()});
        HAS(converted.err, "has task experts");  // found, and refused for what it is
    }

    void the_hub_is_not_asked_for_what_is_called_like_a_run() {
        const HttpServer hub([](const ServerRequest&) { return ServerAnswer{404, {"X-Error-Code: RepoNotFound"}, ""}; });
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project";
        copy_project(project);
        const auto asked_of = [&](const std::string& model) {
            return faceter::testing::faceter({"describe", "--model", model, "--project", project.string()},
                                             {"HF_HUB_OFFLINE=0", "HF_ENDPOINT=" + hub.url(), "HF_HOME=" + folder.path().string()});
        };
        const Outcome misspelt = asked_of("routd-1");
        QCOMPARE(misspelt.code, 4);
        HAS(misspelt.err,
            "model 'routd-1' was not found; did you mean the run 'routed-1' of this project? A model of the Hugging Face hub "
            "is named with its organisation: org/routd-1");
        QVERIFY(hub.requests().empty());
        HAS(asked_of("routed1").err, "did you mean the run 'routed-1'");
        QVERIFY(!hub.requests().empty());
        const std::string advice = "run of this name; to see its runs: faceter list --project '" + project.string() + "'\n";
        HAS(asked_of("baseline").err, advice);
        const Outcome at_hand = faceter::testing::faceter(
            {"describe", "--model", "baseline"},
            {"FACETER_PROJECT=" + project.string(), "HF_HUB_OFFLINE=0", "HF_ENDPOINT=" + hub.url(), "HF_HOME=" + folder.path().string()});
        HAS(at_hand.err, advice);
    }

    void a_name_that_is_none_is_not_answered_by_the_run_in_whose_folder_it_is_asked() {
        qputenv("HF_HUB_OFFLINE", "1");
        const TemporaryDirectory folder;
        copy_project(folder.path() / "project");
        const QString before = QDir::currentPath();
        QVERIFY(QDir::setCurrent(QString::fromStdString((folder.path() / "project/runs/kept-routed-s1-20261123-013413-7124").string())));
        const Outcome outcome = faceter::testing::faceter({"tokenize", "--model", "nowhere", "-"}, {}, "a text\n");
        QDir::setCurrent(before);
        QVERIFY2(outcome.code != 0 && outcome.out.empty(), outcome.out.c_str());
    }

    void a_name_of_several_runs_or_of_one_in_the_trash_is_said_to_be_that() {
        qputenv("HF_HUB_OFFLINE", "1");
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project";
        copy_project(project);
        const auto describe = [](const std::string& name) { return faceter::testing::faceter({"describe", "--model", name}); };
        QVERIFY(describe("routed-1").code != 0);
        qputenv("FACETER_PROJECT", project.c_str());
        QCOMPARE(describe("routed-1").code, 0);
        HAS(describe("kept").err, "'kept' stands for several runs");
        QCOMPARE(faceter::testing::faceter({"delete", "routed-1"}).code, 0);
        HAS(describe("routed-1").err, "is in the trash; faceter restore routed-1 --project '" + project.string() + "'");
        qunsetenv("FACETER_PROJECT");
    }

    void a_run_starts_from_the_model_of_a_run_that_is_named() {
        const TemporaryDirectory folder;
        const fs::path project = folder.path() / "project";
        copy_project(project);
        std::string pairs;
        for (int i = 0; i < 12; ++i)
            pairs += "{\"query\": \"q " + std::to_string(i) + "\", \"document\": \"d " + std::to_string(i) + "\"}\n";
        write_file_atomic(folder.path() / "pairs.jsonl", pairs);
        write_file_atomic(folder.path() / "next.yaml",
                          "name: next\nmodel: routed-1\nmax_length: 16\nthreads: 1\n"
                          "tasks:\n  retrieval:\n    train: [{name: pairs, source: file, path: pairs.jsonl}]\n"
                          "variants:\n  Next: {method: instruction}\nobjective: {method: gist, teacher: routed-1}\n"
                          "training: {batch_size: 4, steps: 2}\nevaluation: {baseline: false, datasets: []}\n");
        const Outcome run = faceter::testing::faceter({"run", (folder.path() / "next.yaml").string(), "--project", project.string()});
        QVERIFY2(run.code == 0, run.err.c_str());
        const RunDirectory made = Project(project, false).find_run("Next-1");
        const std::string start = (project / "runs/kept-routed-s1-20261123-013413-7124").string();
        QCOMPARE(made.settings().at("model").get<std::string>(), start);
        QCOMPARE(made.settings().at("objective").at("teacher").get<std::string>(), start);
        QVERIFY(fs::exists(made.folder() / "model/config.json"));
    }

    void task_experts_on_token_routed_blocks_are_refused_before_anything_starts() {
        NEED_SHARED();
        const Outcome outcome = check(shared_folder() / "fixtures/nomic_moe", "mote");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "variant 'V' (mote) needs a dense start model");
        HAS(outcome.err, "token-routed blocks");
        HAS(outcome.err, "name a dense model under 'model'");
        QCOMPARE(check(shared_folder() / "fixtures/nomic_moe", "token_routed_moe").code, 0);
        QCOMPARE(check(shared_folder() / "fixtures/nomic_bert", "mote").code, 0);
    }

    void settings_of_new_token_routed_blocks_are_refused_where_the_models_own_stay() {
        NEED_SHARED();
        const fs::path routed = shared_folder() / "fixtures/nomic_moe", dense = shared_folder() / "fixtures/nomic_bert";
        const Json config = read_json(routed / "config.json");
        const auto experts = config.at("num_experts").get<int>();
        const std::string more = "token_routed_moe, experts: " + std::to_string(experts + 1);
        const Outcome outcome = check(routed, more);
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "variants.V.experts is " + std::to_string(experts + 1));
        HAS(outcome.err, "has token-routed blocks, which stay as they are (" + std::to_string(experts) + ")");
        HAS(check(routed, "token_routed_moe, router_scale: 0.1").err, "variants.V.router_scale is 0.1");
        QCOMPARE(check(dense, more).code, 0);
        const std::string own = "token_routed_moe, experts: " + std::to_string(experts) +
                                ", top_k: " + std::to_string(config.at("moe_top_k").get<int>()) + ", jitter: 0.1";
        QCOMPARE(check(routed, own).code, 0);
        const TemporaryDirectory folder;
        copy_project(folder.path() / "project");
        const fs::path run = folder.path() / "project/runs/kept-routed-s1-20261123-013413-7124";
        HAS(check(run, "token_routed_moe, experts: 7").err, "has token-routed blocks, which stay as they are");
    }

    void a_release_with_adapters_of_its_tasks_starts_without_them_and_says_so() {
        NEED_SHARED();
        const Outcome outcome = check(shared_folder() / "fixtures/jina_embeddings_v3/released_layout", "dense");
        QCOMPARE(outcome.code, 0);
        HAS(outcome.err, "without the adapters of its tasks (retrieval.query, retrieval.passage");
        HAS(outcome.err, "has no tokenizer; that of");
        const Outcome native = check(shared_folder() / "fixtures/jina_embeddings_v3", "dense");  // in folders of their own
        QCOMPARE(native.code, 0);
        HAS(native.err, "without the adapters of its tasks (retrieval_passage, retrieval_query, text_matching)");
        QVERIFY(check(shared_folder() / "fixtures/bert", "dense").err.find("adapters of its tasks") == std::string::npos);
    }

    void lengths_and_prefixes_beyond_the_models_are_refused_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const auto refused = [&](const std::string& more, const std::string& message) {
            const Outcome outcome = check(model, "instruction", {}, "max_length: 24\n" + more);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, message);
        };
        refused("training: {query_length: 30}\n", "training.query_length is 30, beyond max_length, which is 24 here");
        refused("objective: {method: infonce, matryoshka_dims: [16, 64]}\n", "objective.matryoshka_dims has 64, but the embeddings");
        refused("stages: [{name: one}, {name: two, training: {document_length: 25}}]\n", "stage 'two': training.document_length is 25");
        QCOMPARE(check(model, "instruction", {},
                       "max_length: 24\ntraining: {query_length: 24}\nobjective: {method: infonce, matryoshka_dims: [48, 16]}\n")
                     .code,
                 0);
        const Outcome nothing = check(model, "dense", {}, "max_length: 2\n");
        QCOMPARE(nothing.code, 3);
        HAS(nothing.err, "max_length is 2, and 2 special tokens stand around each text");
        refused("training: {document_length: 2}\n", "training.document_length is 2, and 2 special tokens stand around each text");
        refused("stages: [{name: one, training: {query_length: 2}}]\n", "stage 'one': training.query_length is 2, and 2 special tokens");
    }

    void an_instruction_that_leaves_nothing_of_a_text_is_warned_of_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const auto warned = [&](const std::string& length, const std::string& more) {
            const Outcome outcome = check(model, "instruction", {"--set", "tasks.retrieval.instructions.query=one two three four "},
                                          "max_length: " + length + "\n" + more);
            if (outcome.code != 0) return outcome.err;
            const std::size_t at = outcome.err.find("takes all");
            return at == std::string::npos ? "" : outcome.err.substr(at, outcome.err.find(':', at) - at);
        };
        QCOMPARE(warned("6", ""), std::string("takes all 6 tokens that are read of a query (max_length)"));
        QCOMPARE(warned("24", ""), std::string());
        QCOMPARE(warned("24", "training: {query_length: 6}\n"),
                 std::string("takes all 6 tokens that are read of a query (training.query_length)"));
        QCOMPARE(warned("24", "training: {document_length: 6}\n"), std::string());
        QCOMPARE(warned("24", "stages: [{name: one, training: {query_length: 5}}]\n"),
                 std::string("takes all 5 tokens that are read of a query (training.query_length)"));
    }

    void layers_that_the_model_does_not_have_are_refused_with_those_that_it_has() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        for (const std::string method : {"task_lora", "router_retriever"}) {
            const Outcome outcome = check(model, method + ", targets: [value, qery]");
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, "variant 'V' (" + method + "), on ");
            HAS(outcome.err, "no linear layer of the model is called 'qery'; did you mean 'query'? (known: query, key, value, dense)");
            for (const char* right : {"[query, output.dense]", "[all-linear]", "[word_embeddings]", "[]"})
                QCOMPARE(check(model, method + ", targets: " + right).code, 0);
        }
        HAS(check(shared_folder() / "fixtures/qwen3_embedding", "task_lora, targets: [query]").err,
            "known: q_proj, k_proj, v_proj, o_proj");
    }

    void names_and_numbers_of_a_variant_that_do_not_fit_are_refused_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const auto refused = [&](const std::string& method, const std::string& message) {
            const Outcome outcome = check(model, method);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, message);
        };
        refused("token_routed_moe, top_k: 5", "variants.V.top_k is 5, more than variants.V.experts, which is 4");
        refused("mote, experts: {retrieval.querry: a}", "variants.V.experts names 'retrieval.querry', which is not there");
        refused("router_retriever, single_gates: [law]", "variants.V.single_gates names 'law', which is not there (known: retrieval)");
        refused("router_retriever, gates: {law: x}", "variants.V.gates names 'law', which is not there");
        refused("router_retriever, router: fixed, fixed_gate: law", "variants.V.fixed_gate names 'law'");
        refused("router_retriever, router: fixed, fixed_gate: multi-task, multi_task: false",
                "variants.V.multi_task is false and variants.V.fixed_gate is multi-task: that gate is not trained then");
        QCOMPARE(check(model, "router_retriever, router: fixed, fixed_gate: base, multi_task: false").code, 0);
        refused("router_retriever, single_gates: [retrieval]", "no task would be left as a domain to route to");
        refused("router_retriever, router: fixed, fixed_gate: multi-task",
                "names 'multi-task', which is not there (known: base, retrieval)");
        const auto of_three = [&](const std::string& settings) {
            std::vector<std::string> tasks;
            for (const std::string name : {"law", "music"})
                for (const std::string setting : {"type=retrieval", "train=[{source: file, path: pairs.jsonl}]"})
                    tasks.insert(tasks.end(), {"--set", "tasks." + name + "." + setting});
            return check(model, "router_retriever, " + settings, tasks);
        };
        const std::string fixed = "router: fixed, fixed_gate: ";
        HAS(of_three("budget: equal_total, single_gates: [law, music]").err, "of 1 at most, which has 2");
        HAS(of_three(fixed + "multi-task of 2").err, "names 'multi-task of 2'");
        HAS(of_three(fixed + "multi-task of 3, multi_task_curve: true").err, "did you mean 'multi-task of 2'?");
        HAS(of_three(fixed + "law of 5, training_sizes: [5], single_gates: [law]").err, "names 'law of 5'");
        for (const std::string& right : {fixed + "multi-task", fixed + "multi-task of 2, multi_task_curve: true",
                                         fixed + "law of 5, training_sizes: [5]", std::string("budget: equal_total, single_gates: [law]")})
            QCOMPARE(of_three(right).code, 0);
        const auto beside_a_task = [&](const std::string& name, const std::string& settings) {
            const std::string task = "tasks." + name + ".";
            return check(model, "router_retriever" + settings,
                         {"--set", task + "type=retrieval", "--set", task + "train=[{source: file, path: pairs.jsonl}]"});
        };
        HAS(beside_a_task("multi-task", "").err, "two of what fixed_gate may name would be called 'multi-task'");
        HAS(beside_a_task("retrieval-of-5", ", training_sizes: [5]").err, "be kept in one folder, a task among them");
        HAS(beside_a_task("base", "").err, "would be called 'base'");
        QCOMPARE(beside_a_task("multi-task", ", multi_task: false").code, 0);
        QCOMPARE(beside_a_task("retrieval-of-5", ", training_sizes: [6, 6]").code, 0);
        QCOMPARE(check(model, "mote, experts: {retrieval.query: a, '*': b}").code, 0);
        QCOMPARE(check(model, "token_routed_moe, top_k: 4").code, 0);
    }

    void what_a_variant_cannot_train_is_refused_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const std::vector<std::string> second = {"--set", "tasks.other.type=sts"};  // without data
        for (const std::string method : {"specialists", "task_lora, training: one_by_one", "router_retriever, multi_task: false"}) {
            const Outcome outcome = check(model, method, second);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, "trains each task by itself, and task 'other' has no training data");
            QCOMPARE(check(model, method).code, 0);
        }
        for (const std::string method : {"dense", "instruction", "mote", "token_routed_moe", "task_lora"})
            QCOMPARE(check(model, method, second).code, 0);
        for (const std::string method : {"task_lora", "router_retriever"})
            HAS(check(model, method, {}, "objective: {method: masked_language}\n").err,
                "trains low-rank adapters, and objective masked_language");
        QCOMPARE(check(model, "mote", {}, "objective: {method: masked_language}\n").code, 0);
    }

    void masked_language_modelling_wants_a_head_and_a_mask_token() {
        NEED_SHARED();
        const std::string masked = "objective: {method: masked_language}\n",
                          stages = "stages: [{name: a, objective: {method: masked_language}}]\n";
        const fs::path fixtures = shared_folder() / "fixtures";
        for (const char* name : {"qwen3_embedding", "eurobert", "gte", "t5"})
            for (const std::string& more : {masked, stages}) {
                const Outcome outcome = check(fixtures / name, "dense", {}, more);
                QCOMPARE(outcome.code, 3);
                HAS(outcome.err, "has no head for masked-language modelling; BERT, ");
            }
        for (const char* name : {"roberta", "modernbert", "distilbert", "nomic_bert"}) {
            const Outcome outcome = check(fixtures / name, "dense", {}, masked);
            QVERIFY2(outcome.code == 0, outcome.err.c_str());
        }
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model";
        fs::copy(fixtures / "bert", model, fs::copy_options::recursive);
        fs::remove(model / "special_tokens_map.json");
        write_file_atomic(model / "tokenizer_config.json", Json{{"tokenizer_class", "PreTrainedTokenizerFast"}}.dump());
        std::string tokenizer = read_file(model / "tokenizer.json");
        const std::string mask = "\"[MASK]\"";
        for (std::size_t at; (at = tokenizer.find(mask)) != std::string::npos;) tokenizer.replace(at, mask.size(), "\"[masked]\"");
        write_file_atomic(model / "tokenizer.json", tokenizer);
        const Outcome outcome = check(model, "dense", {}, masked);
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "its tokenizer has no mask token");
    }

    void what_an_analysis_would_miss_when_the_training_is_over_is_refused_before_it() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const Outcome texts = check(model, "dense", {}, "analyses: [{method: context_preference, path: nowhere.jsonl}]\n");
        QCOMPARE(texts.code, 4);
        HAS(texts.err, "nowhere.jsonl: no such file or folder");
        HAS(texts.err, "relative to the experiment file");
        QCOMPARE(check(model, "dense", {}, "analyses: [{method: context_preference, path: pairs.jsonl}]\n").code, 0);
        const Outcome prefix = check(model, "dense", {}, "analyses: [{method: embedding_forms, prefixes: [16, 49]}]\n");
        QCOMPARE(prefix.code, 3);
        HAS(prefix.err, "analyses[0].prefixes has 49, but the embeddings of ");
        HAS(prefix.err, "have 48 elements");
        QCOMPARE(check(model, "dense", {}, "analyses: [{method: embedding_forms, prefixes: [48]}]\n").code, 0);
        const Outcome gate = check(model, "router_retriever", {}, "analyses: [{method: router_study, second_gates: [law]}]\n");
        QCOMPARE(gate.code, 3);
        HAS(gate.err, "analyses[0].second_gates names 'law', which is not there (known: retrieval)");
    }

    void gates_of_other_runs_are_looked_for_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const TemporaryDirectory folder;
        copy_project(folder.path() / "project");
        const fs::path run = folder.path() / "project/runs/kept-gates-s1-20261123-013413-157a";
        QVERIFY(fs::exists(run / "model/gates/retrieval"));
        QCOMPARE(check(model, "router_retriever, gates: {retrieval: " + (run / "gates/retrieval").string() + "}").code, 0);
        const Outcome outcome = check(model, "router_retriever, gates: {retrieval: " + (run / "gates/law").string() + "}");
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, "gates/law: no such file or folder");
    }

    void a_model_of_one_block_is_refused_where_experts_begin_at_the_second() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/bert", folder.path() / "one", fs::copy_options::recursive);
        Json config = read_json(folder.path() / "one/config.json");
        config["num_hidden_layers"] = 1;
        write_file_atomic(folder.path() / "one/config.json", config.dump());
        for (const std::string method : {"mote", "token_routed_moe"}) {
            const Outcome outcome = check(folder.path() / "one", method);
            QCOMPARE(outcome.code, 3);
            HAS(outcome.err, "variant 'V' (" + method + ") begins at the second block (placement=every_other)");
            QCOMPARE(check(folder.path() / "one", method + ", placement: every").code, 0);
        }
    }

    void a_folder_whose_parts_are_of_several_models_is_refused_data() {
        QTest::addColumn<QString>("changed");
        QTest::addColumn<QString>("said");
        QTest::newRow("no tokenizer") << "tokenizer"
                                      << "tokenizer";
        QTest::newRow("a tokenizer of more words") << "words"
                                                   << "the tokenizer beside it gives ids up to";
        QTest::newRow("a layer of another width") << "width"
                                                  << "layer '2_Dense' behind pooling takes 7 features";
        QTest::newRow("a block of another size") << "block"
                                                 << "they are not of the same model";
        QTest::newRow("a layer that lacks its bias") << "bias"
                                                     << "2_Dense/config.json says bias: ";
    }
    void a_folder_whose_parts_are_of_several_models_is_refused() {
        NEED_SHARED();
        QFETCH(QString, changed);
        QFETCH(QString, said);
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model";
        fs::copy(shared_folder() / "fixtures/bert", model, fs::copy_options::recursive);
        QCOMPARE(check(model, "dense").code, 0);
        if (changed == "tokenizer")
            for (const char* file : {"tokenizer.json", "vocab.txt"}) fs::remove(model / file);
        if (changed == "words") {
            Json config = read_json(model / "config.json");
            config["vocab_size"] = 100;
            write_file_atomic(model / "config.json", config.dump());
        }
        if (changed == "block") {
            Json config = read_json(model / "config.json");
            config["intermediate_size"] = config.at("intermediate_size").get<int>() - 1;
            write_file_atomic(model / "config.json", config.dump());
        }
        if (changed == "bias") {
            fs::remove_all(model);
            fs::copy(shared_folder() / "fixtures/t5", model, fs::copy_options::recursive);
            QCOMPARE(check(model, "dense").code, 0);
            Json dense = read_json(model / "2_Dense/config.json");
            dense["bias"] = !json_or<bool>(dense, "bias", true, "2_Dense");
            fs::remove(model / "2_Dense/config.json");
            write_file_atomic(model / "2_Dense/config.json", dense.dump());
        }
        if (changed == "width") {
            Json modules = read_json(model / "modules.json");
            const Json layer = {{"idx", 2}, {"path", "2_Dense"}, {"type", "sentence_transformers.models.Dense"}};
            modules.insert(modules.begin() + 2, layer);
            write_file_atomic(model / "modules.json", modules.dump());
            fs::copy(shared_folder() / "fixtures/distilbert/2_Dense", model / "2_Dense");
            Json dense = read_json(model / "2_Dense/config.json");
            dense["in_features"] = 7;
            write_file_atomic(model / "2_Dense/config.json", dense.dump());
        }
        const Outcome outcome = check(model, "dense");
        QCOMPARE(outcome.code, 4);
        HAS(outcome.err, said.toStdString());
    }

    void tokens_that_the_model_was_not_resized_for_are_told_and_refuse_no_folder() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        const fs::path model = folder.path() / "model";
        fs::copy(shared_folder() / "fixtures/bert", model, fs::copy_options::recursive);
        const auto rows = read_json(model / "config.json").at("vocab_size").get<int>();
        Json config = read_json(model / "tokenizer_config.json");
        config["extra_special_tokens"] = {"[X1]"};
        write_file_atomic(model / "tokenizer_config.json", config.dump());
        const Outcome outcome = check(model, "dense");
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        HAS(outcome.out + outcome.err, "'[X1]' (id " + std::to_string(rows) + ") on, and the model embeddings for " + std::to_string(rows) +
                                           "; a text that holds one is refused");
    }

    void a_limit_on_a_batch_is_refused_in_several_processes() {
        NEED_SHARED();
        const fs::path model = shared_folder() / "fixtures/bert";
        const Outcome outcome = check(model, "token_routed_moe, capacity: 1.5", {"--devices", "2"});
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "variants.V.capacity is 1.5, and 2 processes shall train together");
        HAS(outcome.err, "(--devices 1)");
        QCOMPARE(check(model, "token_routed_moe, capacity: 1.5").code, 0);
        QCOMPARE(check(model, "token_routed_moe", {"--devices", "2"}).code, 0);
    }

    void texts_longer_than_the_model_takes_are_refused_before_anything_starts() {
        NEED_SHARED();
        const fs::path model = fs::canonical(shared_folder() / "fixtures/bert");
        const auto positions = json_at<int>(read_json(model / "config.json"), "max_position_embeddings", "config.json");
        const Outcome outcome = check(model, "instruction", {}, "max_length: " + std::to_string(positions + 1) + "\n");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "max_length is " + std::to_string(positions + 1) + ", and the model in " + model.string() + " takes at most");
        HAS(outcome.err, "or leave it out");
        QCOMPARE(check(model, "instruction", {}, "max_length: 8\n").code, 0);
    }

    void a_folder_that_names_a_shorter_text_is_no_limit_and_one_without_positions_has_none() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        const fs::path bert = folder.path() / "bert", t5 = folder.path() / "t5";
        fs::copy(shared_folder() / "fixtures/bert", bert, fs::copy_options::recursive);
        write_file_atomic(bert / "sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": false})");
        const auto positions = read_json(bert / "config.json").at("max_position_embeddings").get<int>();
        QCOMPARE(check(bert, "instruction", {}, "max_length: " + std::to_string(positions) + "\n").code, 0);
        QCOMPARE(check(bert, "instruction", {}, "max_length: " + std::to_string(positions + 1) + "\n").code, 3);
        fs::copy(shared_folder() / "fixtures/t5", t5, fs::copy_options::recursive);
        fs::remove(t5 / "sentence_bert_config.json");
        Json tokenizer = read_json(t5 / "tokenizer_config.json");
        tokenizer.erase("model_max_length");
        write_file_atomic(t5 / "tokenizer_config.json", tokenizer.dump());
        QCOMPARE(check(t5, "instruction", {}, "max_length: 2048\n").code, 0);
    }

    void a_model_of_several_is_refused_as_a_start_and_as_a_teacher() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/bert", folder.path() / "experts", fs::copy_options::recursive);
        write_file_atomic(folder.path() / "experts/faceter.json",
                          R"({"faceter_model": 1, "encoders": 1, "blocks": [{}, {"task_experts": 2}]})");
        const Outcome outcome = check(folder.path() / "experts", "instruction");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "has task experts");
        HAS(outcome.err, "faceter export RUN DIR --task");

        const std::string teacher = "{method: gist, teacher: " + (folder.path() / "experts").string() + "}";
        const Outcome guided = check(shared_folder() / "fixtures/bert", "instruction", {}, "objective: " + teacher + "\n");
        QCOMPARE(guided.code, 3);
        HAS(guided.err, "has task experts, and knows nothing of task 'retrieval', whose texts a loss asks it for");
        const Outcome filters = check(shared_folder() / "fixtures/bert", "instruction", {},
                                      "stages: [{name: a, filter: {teacher: " + (folder.path() / "experts").string() + ", top_k: 2}}]\n");
        QCOMPARE(filters.code, 3);
        HAS(filters.err, "has task experts, and a teacher is one model");
    }

    void a_run_guides_a_loss_over_tasks_that_it_knows_and_others_where_these_go_one_way() {
        const TemporaryDirectory folder;
        copy_project(folder.path() / "project");
        write_file_atomic(folder.path() / "pairs.jsonl", "{\"query\": \"a\", \"document\": \"b\"}\n");
        const std::string train = "train: [{name: pairs, source: file, path: pairs.jsonl}]}\n";
        const auto guided = [&](const std::string& tasks, const std::string& more) {
            write_file_atomic(folder.path() / "x.yaml", "name: x\nmodel: routed-1\ntasks:\n" + tasks +
                                                            "variants: {V: {method: instruction}}\n"
                                                            "evaluation: {baseline: false, datasets: []}\n" +
                                                            more);
            return faceter::testing::faceter(
                {"check", (folder.path() / "x.yaml").string(), "--project", (folder.path() / "project").string()});
        };
        const std::string retrieval = "  retrieval: {type: retrieval, " + train,
                          other = "  classification: {type: classification, " + train;
        const std::string gist = "objective: {method: gist, teacher: routed-1}\n";
        const std::string unknown = "  unknown: {type: retrieval, " + train;
        QCOMPARE(guided(retrieval + other, gist).code, 0);    // each text as its task's
        QCOMPARE(guided(retrieval + unknown, gist).code, 0);  // goes retrieval's way
        const Outcome several = guided(retrieval + other + unknown, gist);
        QCOMPARE(several.code, 3);
        HAS(several.err, "embeds texts of task 'retrieval' otherwise than those of 'classification', and knows nothing of 'unknown'");
        HAS(several.err, "faceter export RUN DIR --task TASK");
        QCOMPARE(guided(retrieval + other + unknown,
                        "stages: [{name: a, tasks: [retrieval, classification], " + gist.substr(0, gist.size() - 1) + "}]\n")
                     .code,
                 0);
        QCOMPARE(guided(retrieval + other, "stages: [{name: a, filter: {teacher: routed-1, top_k: 2}}]\n").code,
                 0);  // is asked task by task
    }

    void a_router_of_gates_is_refused_as_a_start_and_as_a_teacher() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        const fs::path gates = folder.path() / "gates";
        fs::copy(shared_folder() / "fixtures/bert", gates, fs::copy_options::recursive);
        write_file_atomic(gates / "router.json", R"({"method": "router_retriever"})");
        const Outcome outcome = check(gates, "instruction");
        QCOMPARE(outcome.code, 3);
        HAS(outcome.err, "has gates that a router chooses from, and a run starts from one model");
        HAS(outcome.err, "start from the model that its gates were trained on");

        const std::string teacher = "objective: {method: gist, teacher: " + gates.string() + "}\n";
        const Outcome taught = check(shared_folder() / "fixtures/bert", "instruction", {}, teacher);
        QCOMPARE(taught.code, 3);
        HAS(taught.err, "a teacher is one model; name the model that its gates were trained on");
    }
};

FACETER_TEST(TestStartModels)
#include "test_start_models.moc"
