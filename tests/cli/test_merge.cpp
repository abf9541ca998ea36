#include <cmath>
#include <fstream>
#include <map>

#include "checkpoint/safetensors.h"
#include "cli/program.h"
#include "cli/tiny_experiment.h"
#include "record/journal.h"

using namespace faceter;
using namespace faceter::testing;

/// `faceter merge` on runs that were really trained: the numbers of what it makes, and what it refuses.
class TestMerge : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string project_;
    std::vector<RunDirectory> trained_;  ///< IC of seeds 1 and 2, then MoTE of 1 and 2

    using Weights = std::map<std::string, std::vector<float>>;
    static Weights weights_of(const fs::path& path) {
        const SafetensorsFile file(path);
        Weights weights;
        for (const TensorInfo& tensor : file.tensors()) {
            if (tensor.dtype != DType::f32) continue;
            auto& values = weights[tensor.name];
            values.resize(static_cast<std::size_t>(tensor.numel()));
            file.read(tensor, values.data());
        }
        return weights;
    }
    static Weights weights_of(const RunDirectory& run) { return weights_of(run.folder() / "model/model.safetensors"); }

    Outcome call(std::vector<std::string> arguments) const {
        arguments.insert(arguments.end(), {"--project", project_});
        return faceter::testing::faceter(arguments);
    }
    RunDirectory merged(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), "merge");
        arguments.push_back("--json");
        const Outcome outcome = call(arguments);
        if (outcome.code != 0) throw std::runtime_error(outcome.err);
        return RunDirectory(fs::path(json_of(outcome).at("runs").at(0).at("folder").get<std::string>()));
    }
    const std::string& id(std::size_t i) const { return trained_[i].info().id; }

    void write_experiment() const {
        write_tiny_pairs(folder_.path() / "pairs.jsonl");
        std::ofstream(folder_.path() / "tiny.yaml")
            << "name: tiny\nmodel: " << (shared_folder() / "fixtures/bert").string()
            << "\nmax_length: 32\nthreads: 1\nseeds: [1, 2]\n"
               "tasks:\n  retrieval:\n    instructions: {query: \"search query: \", document: \"search document: \"}\n"
               "    train: [{name: pairs, source: file, path: pairs.jsonl, max_examples: 60}]\n"
               "    validation: [{name: held_out, source: file, path: pairs.jsonl, task: retrieval, max_queries: 20}]\n"
               "variants:\n  IC: {method: instruction}\n  MoTE: {method: mote, placement: every}\n  LoRA: {method: task_lora}\n"
               "training: {batch_size: 8, steps: 4, learning_rate: 1.0e-3}\n"
               "evaluation: {baseline: false, datasets: [{name: all, source: file, path: pairs.jsonl, task: retrieval, max_queries: "
               "30}]}\n";
    }
    /// Runs of the experiment with what stands between two of its lines replaced.
    std::vector<RunDirectory> trained_with(const std::string& from, const std::string& to, const std::string& part,
                                           std::vector<std::string> arguments = {}) const {
        const std::string file = (folder_.path() / "other.yaml").string();
        std::string text = read_file(folder_.path() / "tiny.yaml");
        const std::size_t begin = text.find(from);
        text.replace(begin, text.find(to) - begin, part);
        write_file_atomic(file, text);
        arguments.insert(arguments.begin(), {"run", file, "--json"});
        const Outcome outcome = call(arguments);
        if (outcome.code != 0) throw std::runtime_error(outcome.err);
        std::vector<RunDirectory> runs;
        const Json printed = json_of(outcome);
        for (const Json& run : printed.at("runs")) runs.emplace_back(fs::path(run.at("folder").get<std::string>()));
        return runs;
    }
    std::vector<RunDirectory> trained_variants(const std::string& variants, const std::vector<std::string>& arguments = {}) const {
        return trained_with("  IC:", "training:", variants, arguments);
    }
    static void compare_mean(const Weights& mean, const Weights& a, const Weights& b) {
        QVERIFY(a.size() == mean.size() && !mean.empty());
        double apart = 0;
        for (const auto& [name, values] : mean)
            for (std::size_t i = 0; i < values.size(); ++i) {
                QVERIFY2(std::abs(values[i] - (a.at(name)[i] + b.at(name)[i]) / 2) <= 1e-7F, name.c_str());
                apart = std::max(apart, static_cast<double>(std::abs(a.at(name)[i] - b.at(name)[i])));
            }
        QVERIFY(apart > 1e-4);  // the parents differ
    }
    /// `sum` is start + 0.5 of what a and b have learned since, tensor by tensor.
    static void compare_sum(const Weights& sum, const Weights& a, const Weights& b, const Weights& start) {
        std::size_t compared = 0;
        for (const auto& [name, values] : sum) {
            if (!start.contains(name)) continue;
            ++compared;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const float s = start.at(name)[i], wanted = s + 0.5F * (a.at(name)[i] - s) + 0.5F * (b.at(name)[i] - s);
                QVERIFY2(std::abs(values[i] - wanted) < 1e-6F, name.c_str());
            }
        }
        QVERIFY(compared > 10);
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        project_ = (folder_.path() / "project").string();
        write_experiment();
        const Outcome outcome = call({"run", (folder_.path() / "tiny.yaml").string(), "--json"});
        QVERIFY2(outcome.code == 0, outcome.err.c_str());
        const Json said = json_of(outcome);
        for (const Json& run : said.at("runs")) trained_.emplace_back(fs::path(run.at("folder").get<std::string>()));
        QCOMPARE(trained_.size(), std::size_t{6});
        std::stable_sort(trained_.begin(), trained_.end(),
                         [](const RunDirectory& a, const RunDirectory& b) { return a.info().variant < b.info().variant; });
        std::rotate(trained_.begin() + 2, trained_.begin() + 4, trained_.end());  // IC, MoTE, LoRA
    }

    void the_mean_is_that_of_every_weight_and_is_scored_as_its_parents() {
        NEED_SHARED();
        const RunDirectory run = merged({id(0), id(1)});
        compare_mean(weights_of(run), weights_of(trained_[0]), weights_of(trained_[1]));
        QVERIFY(fs::exists(run.results() / "all.json"));
        QCOMPARE(run.settings().at("variant").at("runs").size(), std::size_t{2});
        QCOMPARE(run.settings().at("variant").at("runs")[1].get<std::string>(), trained_[1].folder().string());
        QCOMPARE(run.info().variant, std::string("merged-mean"));
        const std::string vectors = (folder_.path() / "v.npy").string(), texts = (folder_.path() / "t.txt").string();
        std::ofstream(texts) << "a text\n";
        QCOMPARE(call({"embed", "--model", run.info().id, "--task", "retrieval.query", "--output", vectors, texts}).code, 0);
        QCOMPARE(faceter::testing::faceter({"export", run.info().id, (folder_.path() / "out").string(), "--project", project_}).code, 0);
    }

    void experts_that_tokens_choose_are_merged_as_all_weights_are() {
        NEED_SHARED();
        const std::vector<RunDirectory> routed = trained_variants("  TLR: {method: token_routed_moe, experts: 2}\n");
        const Weights a = weights_of(routed.at(0)), b = weights_of(routed.at(1));
        QVERIFY(std::ranges::any_of(a, [](const auto& one) { return one.first.ends_with("mlp.experts.mlp.w2"); }));
        compare_mean(weights_of(merged({routed[0].info().id, routed[1].info().id})), a, b);
    }

    void experts_in_another_order_of_tasks_are_not_merged() {
        NEED_SHARED();
        const auto trained = [&](const std::vector<std::string>& names) {
            std::string tasks = "tasks:\n";
            for (const std::string& name : names)
                tasks += "  " + name + ":\n    type: retrieval\n    instructions: {query: \"" + name + " query: \", document: \"" + name +
                         " text: \"}\n    train: [{name: " + name + ", source: file, path: pairs.jsonl, max_examples: 60}]\n";
            return trained_with("tasks:", "training:", tasks + "variants:\n  MoTE: {method: mote}\n", {"--seeds", "1"}).front().info().id;
        };
        const std::string one = trained({"facts", "faq"}), same = trained({"facts", "faq"}), other = trained({"faq", "facts"});
        QCOMPARE(call({"merge", one, same}).code, 0);
        const Outcome refused = call({"merge", one, other});
        QCOMPARE(refused.code, 2);
        HAS(refused.err, "that of 'facts' stands in another place");
    }

    void task_arithmetic_adds_what_each_has_learned_to_the_start_model() {
        NEED_SHARED();
        const RunDirectory run = merged({id(0), id(1), "--how", "task_arithmetic", "--weight", "0.7", "--name", "sum"});
        const Weights a = weights_of(trained_[0]), b = weights_of(trained_[1]), sum = weights_of(run),
                      start = weights_of(shared_folder() / "fixtures/bert/model.safetensors");
        std::size_t compared = 0;
        for (const auto& [name, values] : sum) {
            if (!start.contains(name)) continue;
            ++compared;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const float s = start.at(name)[i];
                QVERIFY2(std::abs(values[i] - (s + 0.7F * (a.at(name)[i] - s) + 0.7F * (b.at(name)[i] - s))) < 1e-6F, name.c_str());
            }
        }
        QVERIFY(compared > 10);
        QCOMPARE(run.info().variant, std::string("sum"));
        QCOMPARE(call({"merge", id(0), id(1), "--weight", "0.7"}).code, 2);  // a mean has no use for it
        const Weights less = weights_of(merged({id(0), id(1), "--how", "task_arithmetic", "--weight", "-0.7"}));
        for (const auto& [name, values] : less)
            if (start.contains(name)) QVERIFY2(std::abs(values[0] + sum.at(name)[0] - 2 * start.at(name)[0]) < 1e-6F, name.c_str());
    }

    void task_arithmetic_on_another_start_model_than_the_runs_began_from_is_refused() {
        NEED_SHARED();
        const fs::path other = folder_.path() / "other", pooling = other / "1_Pooling/config.json";
        fs::copy(shared_folder() / "fixtures/bert", other, fs::copy_options::recursive);
        fs::permissions(pooling.parent_path(), fs::perms::owner_write, fs::perm_options::add);
        const std::string recorded = read_json(trained_[0].folder() / "run.json")["settings"]["model"];
        const auto in_place_of = [&](const std::string& model) {
            for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
                const fs::path record = trained_[i].folder() / "run.json";
                Json changed = read_json(record);
                changed["settings"]["model"] = model;
                write_file_atomic(record, changed.dump());
            }
        };
        const std::vector<std::string> arithmetic = {"merge", id(0), id(1), "--how", "task_arithmetic", "--weight", "0.5"};
        in_place_of(other.string());
        const Outcome same = call(arithmetic);  // the same in another place
        Json config = read_json(pooling);
        config["pooling_mode_mean_tokens"] = false;
        config["pooling_mode_cls_token"] = true;
        fs::remove(pooling);
        write_file_atomic(pooling, config.dump());
        const Outcome differs = call(arithmetic);
        in_place_of(recorded);
        QVERIFY2(same.code == 0, same.err.c_str());
        QCOMPARE(differs.code, 4);
        HAS(differs.err, "is not as it was when the run began");
    }

    void two_ways_to_write_one_start_model_are_one() {
        NEED_SHARED();
        const fs::path record = trained_[0].folder() / "run.json", journal = trained_[0].attempt_journal(1);
        const std::string whole = read_file(record), noted = read_file(journal);
        Json elsewhere = read_json(record);
        fs::create_directory_symlink(shared_folder() / "fixtures/bert", folder_.path() / "elsewhere");
        elsewhere["settings"]["model"] = (folder_.path() / "elsewhere").string();
        write_file_atomic(record, elsewhere.dump());
        const Outcome known = call({"merge", id(0), id(1)});
        write_file_atomic(journal, "");  // as of a version that noted no start models
        const Outcome unknown = call({"merge", id(0), id(1)});
        write_file_atomic(journal, noted);
        write_file_atomic(record, whole);
        QVERIFY2(known.code == 0, known.err.c_str());
        QCOMPARE(unknown.code, 2);
        HAS(unknown.err, "did not begin as the same model");
    }

    void task_arithmetic_on_merged_and_averaged_runs_begins_at_their_start_model() {
        NEED_SHARED();
        const Weights start = weights_of(shared_folder() / "fixtures/bert/model.safetensors");
        const std::vector<std::string> half = {"--how", "task_arithmetic", "--weight", "0.5"};
        const auto sum_of = [&](const RunDirectory& one, const RunDirectory& other) {
            std::vector<std::string> arguments = {one.info().id, other.info().id};
            arguments.insert(arguments.end(), half.begin(), half.end());
            compare_sum(weights_of(merged(arguments)), weights_of(one), weights_of(other), start);
        };
        sum_of(merged({id(0), id(1)}), trained_[1]);
        sum_of(merged({id(2), "--fold-experts"}), merged({id(3), "--fold-experts"}));
        std::map<std::string, std::vector<RunDirectory>> averaged;
        for (const RunDirectory& made : trained_variants("  EA: {method: mote, placement: every, final_form: averaged}\n"
                                                         "  LA: {method: task_lora, final_form: averaged}\n"))
            averaged[made.info().variant].push_back(made);
        for (const auto& [variant, runs] : averaged) sum_of(runs.at(0), runs.at(1));
        QCOMPARE(averaged.size(), std::size_t{2});
    }

    void a_greedy_soup_keeps_what_does_not_lower_the_validation_score() {
        NEED_SHARED();
        const RunDirectory run = merged({id(0), id(1), "--how", "soup"});
        Json event;
        for (const JournalEvent& one : read_journal(run.attempt_journal(1)).events)
            if (one.type == "merged") event = one.fields;
        QCOMPARE(event.at("parents").size(), std::size_t{2});
        const auto alone = event.at("validation").at("alone").get<std::vector<double>>();
        const double best = *std::max_element(alone.begin(), alone.end()), soup = event.at("validation").at("soup").get<double>();
        QVERIFY(soup >= best);
        const std::string first = trained_[alone[1] > alone[0] ? 1 : 0].folder().string();
        QCOMPARE(event.at("kept")[0].get<std::string>(), first);
        const Weights soup_weights = weights_of(run), kept = weights_of(RunDirectory(fs::path(first)));
        if (event.at("kept").size() == 1) QVERIFY(soup_weights == kept);
    }

    void folding_experts_is_motes_average() {
        NEED_SHARED();
        const RunDirectory run = merged({id(2), "--fold-experts"});
        const Weights experts = weights_of(trained_[2]), dense = weights_of(run);
        std::size_t folded = 0;
        for (const auto& [name, values] : experts) {
            const std::size_t at = name.find("experts.0.");
            if (at == std::string::npos) continue;
            std::string second = name, plain = name;
            second.replace(at, 10, "experts.1.");
            plain.erase(at, 10);
            QVERIFY2(dense.contains(plain), plain.c_str());
            for (std::size_t i = 0; i < values.size(); ++i)
                QVERIFY2(std::abs(dense.at(plain)[i] - (values[i] + experts.at(second)[i]) / 2) <= 1e-7F, name.c_str());
            ++folded;
        }
        QVERIFY(folded > 4);
        for (const auto& [name, values] : dense) QVERIFY2(name.find("experts.") == std::string::npos, name.c_str());
        const RunDirectory both = merged({id(2), id(3), "--how", "task_arithmetic"});
        QVERIFY(weights_of(both).size() == experts.size());  // of experts, each with its own start
    }

    void a_parent_of_other_instructions_is_told_of() {
        NEED_SHARED();
        const std::string other = trained_variants("  EM: {method: dense}\n", {"--seeds", "1"}).front().info().id;
        HAS(call({"merge", other, id(0)}).err, "IC-1 puts other instructions in front of its texts than EM-1, or none");
        const Outcome alike = call({"merge", id(0), id(1)});
        QVERIFY2(alike.code == 0 && alike.err.find("instructions") == std::string::npos, alike.err.c_str());
    }
    void what_cannot_be_merged_is_refused_and_leaves_no_run() {
        NEED_SHARED();
        const auto before = Project(project_, false).run_ids();
        const auto refused = [&](const std::vector<std::string>& arguments, const std::string& reason) {
            std::vector<std::string> all = {"merge"};
            all.insert(all.end(), arguments.begin(), arguments.end());
            const Outcome outcome = call(all);
            QCOMPARE(outcome.code, 2);
            HAS(outcome.err, reason);
        };
        refused({id(0)}, "two runs or more");
        refused({id(0), id(2)}, "one shape");
        refused({id(4), id(5)}, "low-rank adapters");
        refused({id(0), "nobody"}, "nobody");
        refused({id(0), "--fold-experts"}, "has no task experts, which --fold-experts averages");
        for (const char* name : {"start", "a/b", "v1.0"}) refused({id(0), id(1), "--name", name}, "cannot be a variant's name");
        QCOMPARE(Project(project_, false).run_ids(), before);
    }

    /// As in the project of a bundle that was opened.
    void a_run_that_is_done_and_has_no_model_here_is_not_to_be_resumed() {
        NEED_SHARED();
        const fs::path model = trained_[0].folder() / "model", away = folder_.path() / "away";
        fs::rename(model, away);
        const Outcome outcome = call({"merge", id(0), id(1)});
        fs::rename(away, model);
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "its model is not here");
        HAS(outcome.err, "faceter rerun " + trained_[0].info().shown_name());
        QVERIFY2(outcome.err.find("resume") == std::string::npos, outcome.err.c_str());
    }
    void task_arithmetic_on_merged_runs_finds_what_they_began_from_where_the_project_was_moved() {
        NEED_SHARED();
        const std::vector<std::string> arithmetic = {"--how", "task_arithmetic", "--weight", "0.5"};
        const std::string dense = merged({id(0), id(1)}).info().id, experts = merged({id(2), id(3)}).info().id;
        const std::string moved = (folder_.path() / "moved").string();
        fs::rename(project_, moved);
        project_ = moved;
        const auto with = [&](const std::string& one, const std::string& other) {
            std::vector<std::string> arguments = {one, other};
            arguments.insert(arguments.end(), arithmetic.begin(), arithmetic.end());
            return arguments;
        };
        QVERIFY(!weights_of(merged(with(experts, id(3)))).empty());
        for (const std::size_t gone : {std::size_t{0}, std::size_t{2}}) QCOMPARE(call({"delete", id(gone)}).code, 0);
        QVERIFY(!weights_of(merged(with(dense, id(1)))).empty());  // what is dense began as the start model
        std::vector<std::string> refused = with(experts, id(3));
        refused.insert(refused.begin(), "merge");
        const Outcome outcome = call(refused);
        QCOMPARE(outcome.code, 2);
        HAS(outcome.err, "which is no longer there");
        const fs::path record = Project(project_, false).find_run(experts).folder() / "run.json";
        Json itself = read_json(record);
        itself["settings"]["variant"]["runs"][0] = record.parent_path().string();
        write_file_atomic(record, itself.dump());
        const Outcome endless = call(refused);
        QCOMPARE(endless.code, 4);
        HAS(endless.err, "lead back to more than 100 others");
    }
};

FACETER_TEST(TestMerge)
#include "test_merge.moc"
