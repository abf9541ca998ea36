// usage: bench_learn_train MODEL TEXTS.jsonl [STEPS] [dense|mote|both]
// Pairs a second of training with InfoNCE, batch 64, 128 tokens, dropout as the model says; and a step of MoTE beside one of the
// instruction-conditioned model on the same batches, in turn. Peer: peer_train.py with the same file.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cstdlib>

#include "bench_texts.h"
#include "common/file.h"
#include "model/tensor_memory.h"
#include "plugin/loader.h"
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

Json task_tree() {
    return {{"retrieval", {{"instructions", {{"query", "search query: "}, {"document", "search document: "}}}, {"temperature", 0.05}}},
            {"classification", {{"instructions", {{"query", "classification: "}, {"document", "classification: "}}}}},
            {"clustering", {{"instructions", {{"query", "clustering: "}, {"document", "clustering: "}}}}}};
}

Bench make(const std::string& path, const std::string& method, const TrainingSet& set, const TemporaryDirectory& cache,
           const Objective& objective, ProcessGroup& group) {
    Bench b;
    b.model = EmbeddingModel::open(ModelFolder::open(resolve_model(path)));
    b.model->max_length = 128;
    b.model->tasks = read_tasks(task_tree());
    registry().make_variant(method, {{"method", method}, {"placement", "every"}})->prepare(*b.model);
    b.batcher = std::make_unique<PairBatcher>(*b.model, std::vector<const TrainingSet*>{&set}, cache.path(), 0);
    CurriculumContext context;
    context.tasks = {b.model->tasks.front()};
    context.sets = {&set};
    context.batch_size = 64;
    b.curriculum = make_task_aware_curriculum(context);
    TrainingSettings settings;
    settings.batch_size = 64;
    settings.steps = 1000;
    b.trainer = std::make_unique<Trainer>(*b.model, Stage{}, 0, *b.batcher, *b.curriculum, objective, settings, EarlyStopping{}, group);
    return b;
}

void step(Bench& b, bool counted) {
    const StepReport report = b.trainer->train_step();
    if (!counted) return;
    b.seconds.push_back(report.seconds);
    b.tokens += static_cast<double>(report.tokens);
}

void print(const char* name, const Bench& b) {
    const double middle = bench::median(b.seconds);
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    fmt::print("{}: {:.1f} pairs/s, {:.0f} tokens/s ({:.3f} s a step, {:.3f} to {:.3f}); peak {} MiB\n", name, 64 / middle,
               b.tokens / static_cast<double>(b.seconds.size()) / middle, middle, *std::min_element(b.seconds.begin(), b.seconds.end()),
               *std::max_element(b.seconds.begin(), b.seconds.end()), usage.ru_maxrss / 1024);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        fmt::print(stderr, "usage: bench_learn_train MODEL TEXTS.jsonl [STEPS] [dense|mote|both]\n");
        return 2;
    }
    use_frugal_memory();
    const int steps = argc > 3 ? std::atoi(argv[3]) : 20;
    const std::string what = argc > 4 ? argv[4] : "dense";
    TrainingSet set;
    set.name = "pairs";
    set.task = "retrieval";
    for (const auto& pair : bench::read_pairs(argv[2], static_cast<std::size_t>(64 * (steps + 3)))) {
        Example example;
        example.anchor = set.texts.intern(pair.query);
        example.positive = set.texts.intern(pair.document);
        set.examples.push_back(example);
    }
    const TemporaryDirectory cache;
    const InfoNce objective({});
    SingleProcess group;
    if (what == "dense") {
        Bench dense = make(argv[1], "dense", set, cache, objective, group);
        for (int i = 0; i < steps + 3; ++i) step(dense, i >= 3);
        print("train, dense", dense);
        return 0;
    }
    Bench ic = make(argv[1], "instruction", set, cache, objective, group), mote = make(argv[1], "mote", set, cache, objective, group);
    std::vector<double> ratios;
    for (int i = 0; i < steps + 3; ++i) {
        step(ic, i >= 3);
        step(mote, i >= 3);
        if (i >= 3) ratios.push_back(mote.seconds.back() / ic.seconds.back());
    }
    print("train, IC", ic);
    print("train, MoTE (every block)", mote);
    fmt::print("MoTE / IC: {:.3f} (median of {} steps on the same batches)\n", bench::median(ratios), ratios.size());
}
