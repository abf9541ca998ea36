// usage: bench_learn_train MODEL TEXTS.jsonl [STEPS] [dense|bf16|cached|journaled|both|seven]
// Pairs a second of training with InfoNCE, batch 64, 128 tokens, dropout as the model says (dense); the same with products in bf16 (bf16),
// with 1,024 pairs in cached chunks of 32 (cached); what journaling each step adds to it (journaled); and a step of MoTE beside one of the
// instruction-conditioned model on the same batches, in turn, of one task (both) or of seven (seven). Peer: peer_train.py with the same
// file.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "bench_texts.h"
#include "common/file.h"
#include "model/tensor_memory.h"
#include "plugin/loader.h"
#include "record/journal.h"
#include "store_project.h"
#include "train/trainer.h"

using namespace faceter;

namespace {

struct Bench {
    std::unique_ptr<EmbeddingModel> model;
    std::unique_ptr<PairBatcher> batcher;
    std::unique_ptr<Curriculum> curriculum;
    std::unique_ptr<Trainer> trainer;
    std::vector<double> seconds;
    double tokens = 0;
};

/// How the batches are made.
struct Batches {
    std::int64_t size = 64, cached_chunk = 0, warm_steps = 3;
    int tasks = 1;  ///< in each batch
    bool bf16 = false;
};

constexpr std::array task_names = {"retrieval", "classification", "clustering", "similarity", "reranking", "bitext", "summaries"};

Json task_tree() {
    Json tree = Json::object();
    for (const std::string name : task_names)
        tree[name] = {{"instructions", {{"query", name + " query: "}, {"document", name + " document: "}}}, {"temperature", 0.05}};
    return tree;
}

/// The pairs of a file, in turn to the sets of so many tasks.
std::vector<TrainingSet> read_sets(const std::string& file, const Batches& batches, int steps) {
    std::vector<TrainingSet> sets(static_cast<std::size_t>(batches.tasks));
    for (std::size_t i = 0; i < sets.size(); ++i) sets[i].name = sets[i].task = task_names[i];
    std::size_t at = 0;
    for (const auto& pair : bench::read_pairs(file, static_cast<std::size_t>(batches.size * (steps + batches.warm_steps)))) {
        TrainingSet& set = sets[at++ % sets.size()];
        Example example;
        example.anchor = set.texts.intern(pair.query);
        example.positive = set.texts.intern(pair.document);
        set.examples.push_back(example);
    }
    return sets;
}

struct Setting {
    std::string model;
    Batches batches;
    std::vector<TrainingSet> sets;
    TemporaryDirectory cache{};
    InfoNce objective{InfoNceSettings{}};
    SingleProcess group{};
};

Bench make(Setting& setting, const std::string& method) {
    Bench b;
    b.model = EmbeddingModel::open(ModelFolder::open(resolve_model(setting.model)));
    b.model->max_length = 128;
    b.model->tasks = read_tasks(task_tree());
    registry().make_variant(method, {{"method", method}, {"placement", "every"}})->prepare(*b.model);
    CurriculumContext context;
    for (const TrainingSet& set : setting.sets) context.sets.push_back(&set);
    for (const Task& task : b.model->tasks)
        if (std::ranges::any_of(setting.sets, [&](const TrainingSet& set) { return set.task == task.name; })) context.tasks.push_back(task);
    context.batch_size = setting.batches.size;
    b.batcher = std::make_unique<PairBatcher>(*b.model, context.sets, setting.cache.path(), 0);
    b.curriculum = setting.batches.tasks > 1 ? make_static_curriculum(context) : make_task_aware_curriculum(context);
    TrainingSettings settings;
    settings.batch_size = setting.batches.size;
    settings.gradient_cache_chunk = setting.batches.cached_chunk;
    settings.steps = 1000;
    settings.bf16 = setting.batches.bf16;
    b.trainer = std::make_unique<Trainer>(*b.model, Stage{}, 0, *b.batcher, *b.curriculum, setting.objective, settings, EarlyStopping{},
                                          setting.group);
    return b;
}

void step(Bench& b, bool counted) {
    const StepReport report = b.trainer->train_step();
    if (!counted) return;
    b.seconds.push_back(report.seconds);
    b.tokens += static_cast<double>(report.tokens);
}

void print(const char* name, const Bench& b, const Batches& batches) {
    const double middle = bench::median(b.seconds);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    fmt::print("{}: {:.1f} pairs/s, {:.0f} tokens/s ({:.3f} s a step, {:.3f} to {:.3f}); peak {} MiB\n", name,
               static_cast<double>(batches.size) / middle, b.tokens / static_cast<double>(b.seconds.size()) / middle, middle,
               *std::min_element(b.seconds.begin(), b.seconds.end()), *std::max_element(b.seconds.begin(), b.seconds.end()),
               usage.ru_maxrss / 1024);
}

void train_dense(Setting& setting, int steps) {
    Bench dense = make(setting, "dense");
    for (std::int64_t i = -setting.batches.warm_steps; i < steps; ++i) step(dense, i >= 0);
    print("train, dense", dense, setting.batches);
}

/// A step's record as a run writes it (app/worker), beside the step itself.
void train_journaled(Setting& setting, int steps) {
    Bench dense = make(setting, "dense");
    bench::make_run(setting.cache.path(), 1);
    const RunDirectory run(setting.cache.path() / bench::place_of(1).id);
    JournalWriter journal(run, run.begin_attempt(), JournalWriter::Start{});
    std::vector<double> ratios;
    for (std::int64_t i = -setting.batches.warm_steps; i < steps; ++i) {
        const StepReport report = dense.trainer->train_step();
        const double seconds = bench::seconds_of([&] {
            journal.step({{"step", report.step}, {"loss", report.loss}, {"lr", report.learning_rate}, {"grad_norm", report.grad_norm}});
            journal.flush();
        });
        if (i >= 0) ratios.push_back(1 + seconds / report.seconds);
    }
    fmt::print("journaled / not: {:.5f} (median of {} steps, each written and synced)\n", bench::median(ratios), ratios.size());
}

void train_both(Setting& setting, int steps) {
    Bench ic = make(setting, "instruction"), mote = make(setting, "mote");
    std::vector<double> ratios;
    for (std::int64_t i = -setting.batches.warm_steps; i < steps; ++i) {
        step(ic, i >= 0);
        step(mote, i >= 0);
        if (i >= 0) ratios.push_back(mote.seconds.back() / ic.seconds.back());
    }
    print("train, IC", ic, setting.batches);
    print("train, MoTE (every block)", mote, setting.batches);
    fmt::print("MoTE / IC: {:.3f} (median of {} steps on the same batches, {} tasks in each)\n", bench::median(ratios), ratios.size(),
               setting.batches.tasks);
}

struct Mode {
    Batches batches;
    void (*train)(Setting&, int steps);
};

const std::map<std::string, Mode> modes = {{"dense", {{}, train_dense}},
                                           {"bf16", {{64, 0, 3, 1, true}, train_dense}},
                                           {"cached", {{1024, 32, 0, 1}, train_dense}},
                                           {"journaled", {{}, train_journaled}},
                                           {"both", {{}, train_both}},
                                           {"seven", {{64, 0, 3, 7}, train_both}}};

}  // namespace

int main(int argc, char** argv) {
    const auto mode = modes.find(argc > 4 ? argv[4] : "dense");
    if (argc < 3 || mode == modes.end()) {
        fmt::print(stderr, "usage: bench_learn_train MODEL TEXTS.jsonl [STEPS] [dense|bf16|cached|journaled|both|seven]\n");
        return 2;
    }
    use_frugal_memory();
    const int steps = argc > 3 ? std::atoi(argv[3]) : 20;
    Setting setting{argv[1], mode->second.batches, read_sets(argv[2], mode->second.batches, steps)};
    mode->second.train(setting, steps);
}
