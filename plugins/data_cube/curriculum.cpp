#include "curriculum.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <thread>

#include "common/error.h"
#include "common/hash.h"
#include "difficulty.h"
#include "train/process_group.h"

namespace faceter::data_cube {
namespace {

/// A task of the tour: one data set of the experiment, or what the stage's budget leaves of it. The plan counts its examples from 0.
struct Leaf {
    std::uint32_t set = 0;
    const TrainingSet* data = nullptr;
    const Task* task = nullptr;
    std::vector<std::uint32_t> examples;
    bool is_whole() const { return examples.size() == data->examples.size(); }
};

std::vector<Leaf> leaves_of(const CurriculumContext& context) {
    std::vector<Leaf> leaves;
    for (const Task& task : context.tasks)
        for (std::size_t s = 0; s < context.sets.size(); ++s)
            if (context.sets[s]->task == task.name) {
                Leaf leaf{static_cast<std::uint32_t>(s), context.sets[s], &task, {}};
                for (const ExampleReference& example : examples_of(context, s)) leaf.examples.push_back(example.example);
                if (!leaf.examples.empty()) leaves.push_back(std::move(leaf));
            }
    if (leaves.empty()) throw data_error("data_cube: no task of this stage has training examples; add data sets under tasks.*.train");
    return leaves;
}

class DataCube final : public Curriculum {
  public:
    DataCube(const CurriculumContext& context, const std::vector<Leaf>& leaves, Plan plan) : plan_(std::move(plan)) {
        const auto own = json_at<Json>(context.settings, "temperature", "curriculum");
        for (const Leaf& leaf : leaves)
            leaves_.push_back({leaf.set, leaf.task->name, own.is_null() ? leaf.task->temperature : own.get<double>(), leaf.examples});
    }

    BatchPlan next() override {
        if (batch_ == plan_.num_batches()) {
            plan_.begin_epoch(++epoch_);
            batch_ = 0;
        }
        const Plan::Batch batch = plan_.batch(batch_++);
        const Source& source = leaves_[batch.task];
        BatchPlan result{{}, source.task, source.temperature, {}};
        for (const std::uint32_t example : batch.examples) {
            result.items.push_back({source.set, source.examples[example]});
            if (plan_.masks(batch.task)) result.keep.push_back(plan_.gives_loss(batch.task, example));
        }
        return result;
    }

    std::int64_t num_examples() const override { return static_cast<std::int64_t>(plan_.num_examples()); }
    std::int64_t num_batches() const override { return static_cast<std::int64_t>(plan_.num_batches()); }
    Json state() const override { return {{"plan", plan_.hash()}, {"epoch", epoch_}, {"batch", batch_}}; }

    void restore(const Json& state) override {
        if (const auto hash = json_at<std::string>(state, "plan", "curriculum"); hash != plan_.hash())
            throw data_error(
                "data_cube: the checkpoint was made under the plan {}, but this run's is {}; data, batch size or settings differ: start a "
                "new run",
                hash, plan_.hash());
        epoch_ = json_at<std::uint64_t>(state, "epoch", "curriculum");
        batch_ = json_at<std::size_t>(state, "batch", "curriculum");
        if (batch_ > plan_.num_batches()) throw data_error("data_cube: the checkpoint is at batch {} of {}", batch_, plan_.num_batches());
        plan_.begin_epoch(epoch_);
    }

  private:
    struct Source {
        std::uint32_t set;
        std::string task;
        double temperature;
        std::vector<std::uint32_t> examples;
    };
    Plan plan_;
    std::vector<Source> leaves_;
    std::uint64_t epoch_ = 0;
    std::size_t batch_ = 0;
};

SetInstructions instructions_under(const Json& settings, const Leaf& leaf) {
    return json_at<bool>(settings, "teacher_instructions", "curriculum") ? instructions_of(*leaf.data, *leaf.task) : SetInstructions{};
}

/// What one task's difficulties depend on, besides the teacher.
std::string measurement_key(const Json& settings, const Leaf& leaf) {
    const SetInstructions in = instructions_under(settings, leaf);
    Json key = {3, leaf.data->name, leaf.data->fingerprint, in.query, in.document, in.negative, settings.at("negatives")};
    if (!leaf.is_whole())
        key.push_back(hash128({reinterpret_cast<const char*>(leaf.examples.data()), leaf.examples.size() * sizeof leaf.examples[0]}).hex());
    return hash128(key.dump()).hex();
}

struct Measured {
    TaskDifficulty difficulty;
    TaskVector vector;
};

/// A task's vector is the mean of queries that are drawn by the run's seed: what is kept of it is kept by seed.
TaskVector measure_vector(const Json& settings, const Leaf& leaf, std::uint64_t seed, const EmbedSide& embed,
                          const fs::path& difficulty_file) {
    const auto queries = json_at<std::size_t>(settings, "queries_per_task", "curriculum");
    const fs::path file =
        difficulty_file.empty() ? fs::path() : fs::path(fmt::format("{}.{}-{}.json", difficulty_file.string(), queries, seed));
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) {
        try {
            const Json kept = read_json(file);
            return {json_at<std::vector<float>>(kept, "vector", file.string()), json_at<std::size_t>(kept, "not_finite", file.string())};
        } catch (const Error&) {  // damaged: measured again and replaced
        }
    }
    const TaskVector vector = task_vector(*leaf.data, leaf.examples, embed, queries, seed);
    if (!file.empty()) write_file_atomic(file, Json({{"vector", vector.values}, {"not_finite", vector.not_finite}}).dump());
    return vector;
}

/// Kept in the form of a plan of one task.
TaskDifficulty measure_difficulties(const Json& settings, const Leaf& leaf, const EmbedSide& embed, const fs::path& file) {
    std::error_code ignored;
    if (fs::is_regular_file(file, ignored)) {
        try {
            PlanRecord kept = read_plan(file);
            if (kept.tasks.size() == 1 && kept.tasks[0].phi.size() == leaf.examples.size()) return std::move(kept.tasks[0]);
        } catch (const Error&) {  // damaged: measured again and replaced
        }
    }
    TaskDifficulty measured = measure_difficulty(*leaf.data, leaf.examples, embed, difficulty_settings(settings, "curriculum"));
    if (file.empty()) return measured;
    PlanRecord record;
    record.tasks = {measured};
    record.similarities = Similarities(1);
    record.tour.tour = {0};
    write_plan(file, record);
    return measured;
}

Measured measure(const Json& settings, const Leaf& leaf, std::uint64_t seed, Teacher& teacher, const fs::path& file) {
    const SetInstructions in = instructions_under(settings, leaf);
    const EmbedSide embed = [&](std::span<const std::string_view> texts, PairSide side) {
        return teacher.embed(texts, {side == PairSide::query ? in.query : side == PairSide::positive ? in.document : in.negative});
    };
    TaskDifficulty difficulty = measure_difficulties(settings, leaf, embed, file);
    return {std::move(difficulty), measure_vector(settings, leaf, seed, embed, file)};
}

/// What a person should know of a task's data, one sentence each.
void describe_oddities(const Measured& measured, std::vector<std::string>& notes) {
    std::size_t counts[4] = {};
    for (const std::uint8_t marks : measured.difficulty.marks)
        for (int bit = 0; bit < 4; ++bit) counts[bit] += marks >> bit & 1;
    const std::string& name = measured.difficulty.name;
    if (counts[0] > 0)
        notes.push_back(
            fmt::format("{}: {} examples have no negative; another positive of the task stands in for their difficulty.", name, counts[0]));
    if (counts[1] > 0)
        notes.push_back(fmt::format(
            "{}: {} examples have no negative and the task no other positive; their difficulty is sim(q, s+) alone and never masked.", name,
            counts[1]));
    if (counts[2] > 0)
        notes.push_back(fmt::format(
            "{}: {} examples have an embedding under the teacher that is not finite; they come last and give no loss.", name, counts[2]));
    if (counts[3] > 0) notes.push_back(fmt::format("{}: {} examples have a negative with the text of their positive.", name, counts[3]));
    if (measured.difficulty.phi.size() == 1)
        notes.push_back(fmt::format("{}: the task has one example, so that its batch has no in-batch negative.", name));
    if (measured.vector.not_finite > 0)
        notes.push_back(
            fmt::format("{}: {} of its sampled queries have an embedding that is not finite; the task's vector is the mean of the others.",
                        name, measured.vector.not_finite));
}

bool walks_a_tour(const Json& settings) { return json_at<bool>(settings, "task_level", "curriculum"); }

/// Tasks as they stand, where their order is drawn anew every epoch.
TourResult no_tour(const Similarities& similarities) {
    TourResult result;
    result.tour.resize(similarities.num_tasks());
    std::iota(result.tour.begin(), result.tour.end(), 0U);
    result.total = tour_total(similarities, result.tour);
    return result;
}

PlanRecord compute(const CurriculumContext& context, const std::vector<Leaf>& leaves, Teacher& teacher, const fs::path& cache) {
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    const std::string fingerprint = teacher.fingerprint();
    PlanRecord record;
    std::vector<std::vector<float>> vectors;
    std::vector<std::string> notes;
    for (const Leaf& leaf : leaves) {
        const fs::path file =
            cache.empty() ? fs::path() : cache / (hash128(fingerprint + measurement_key(context.settings, leaf)).hex() + ".plan");
        Measured measured = measure(context.settings, leaf, context.run_seed, teacher, file);
        describe_oddities(measured, notes);
        vectors.push_back(std::move(measured.vector.values));
        record.tasks.push_back(std::move(measured.difficulty));
    }
    const double measured_seconds = seconds();
    record.similarities = Similarities::cosine(vectors);
    record.tour = walks_a_tour(context.settings) ? solve_tour(record.similarities, tour_settings(context.settings, context.seed))
                                                 : no_tour(record.similarities);
    record.details = {{"teacher", json_at<std::string>(context.settings, "teacher", "curriculum")},
                      {"teacher_fingerprint", fingerprint},
                      {"settings", context.settings},
                      {"batch_size", context.batch_size},
                      {"seed", context.seed},
                      {"measuring_s", measured_seconds},
                      {"tour_s", seconds() - measured_seconds},
                      {"notes", notes}};
    return record;
}

std::string record_key(const CurriculumContext& context, const std::vector<Leaf>& leaves) {
    Json key = {2,
                context.settings,
                context.seed,
                context.run_seed,
                context.batch_size,
                json_or<std::string>(context.run, "model", "", "settings")};
    for (const Leaf& leaf : leaves) key.push_back({leaf.set, measurement_key(context.settings, leaf)});
    return hash128(key.dump()).hex();
}

Plan plan_of(const PlanRecord& record, const CurriculumContext& context) {
    return plan_of_record(record, context.settings, context.batch_size, context.seed);
}

/// The stored record where it fits; nothing where there is none. A damaged one is computed again and said.
std::optional<PlanRecord> stored(const fs::path& file, const std::string& key, const CurriculumContext& context) {
    std::error_code ignored;
    if (file.empty() || !fs::is_regular_file(file, ignored)) return std::nullopt;
    try {
        PlanRecord record = read_plan(file);
        if (record.key == key) return record;
        if (context.warn)
            context.warn(fmt::format("{}: the stored plan is of other data or settings; it is computed again", file.string()));
    } catch (const Error& error) {
        if (context.warn) context.warn(error.what());
    }
    return std::nullopt;
}

/// Rank 0 measures, and the others embed for it.
std::optional<PlanRecord> computed(const CurriculumContext& context, const std::vector<Leaf>& leaves, const OpenTeacher& open,
                                   const fs::path& cache, const std::string& key) {
    const std::unique_ptr<Teacher> teacher = open();
    if (context.group && context.group->rank() != 0) {
        teacher->serve();
        return std::nullopt;
    }
    PlanRecord record = compute(context, leaves, *teacher, cache);
    teacher->let_go();
    record.key = key;
    record.plan_hash = plan_of(record, context).hash();
    return record;
}

Plan make_plan(const CurriculumContext& context, const std::vector<Leaf>& leaves, const OpenTeacher& open, const fs::path& cache) {
    const fs::path file = context.folder.empty() ? fs::path() : plan_path(context.folder, context.stage);
    const std::string key = record_key(context, leaves);
    const bool first = context.group == nullptr || context.group->rank() == 0;
    std::optional<PlanRecord> record;
    if (first) record = stored(file, key, context);
    const std::string wanted = record ? "" : "measure";
    if ((context.group ? text_of_root(*context.group, wanted) : wanted) == "measure") {
        record = computed(context, leaves, open, cache, key);
        if (record && !file.empty()) write_plan(file, *record);
    }
    if (context.group) context.group->barrier();  // the other ranks read what the first has written
    if (!record) record = stored(file, key, context);
    if (!record)
        throw data_error("{}: rank {} cannot read the plan that rank 0 wrote; do all nodes see the run's folder?", file.string(),
                         context.group->rank());
    Plan plan = plan_of(*record, context);
    if (plan.hash() != record->plan_hash)
        throw data_error(
            "{}: the plan made of the stored difficulties has the hash {}, stored is {}; another version of Faceter wrote it: start a new "
            "run",
            file.string(), plan.hash(), record->plan_hash);
    return plan;
}

}  // namespace

TourSettings tour_settings(const Json& settings, std::uint64_t seed) {
    TourSettings tour;
    tour.solver = solver_from_name(json_at<std::string>(settings, "solver", "curriculum"));
    tour.steps = json_at<std::int64_t>(settings, "annealing_steps", "curriculum");
    tour.chains = json_at<std::int64_t>(settings, "restarts", "curriculum");
    tour.start_temperature = json_at<double>(settings, "start_temperature", "curriculum");
    tour.cooling = json_at<double>(settings, "cooling", "curriculum");
    tour.polish = json_at<bool>(settings, "polish", "curriculum");
    tour.threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    tour.seed = seed;
    return tour;
}

PlanSettings plan_settings(const Json& settings, std::int64_t batch_size, std::uint64_t seed) {
    const auto chosen = [&](const char* key) { return json_at<std::string>(settings, key, "curriculum"); };
    PlanSettings plan;
    plan.task_level = json_at<bool>(settings, "task_level", "curriculum");
    plan.instance_level = json_at<bool>(settings, "instance_level", "curriculum");
    plan.batch_size = batch_size;
    const std::string tail = chosen("tail"), noise = chosen("noise_mask");
    plan.tail = tail == "merge" ? PlanSettings::Tail::merge : tail == "drop" ? PlanSettings::Tail::drop : PlanSettings::Tail::keep;
    plan.noise = noise == "none"        ? PlanSettings::Noise::none
                 : noise == "threshold" ? PlanSettings::Noise::threshold
                                        : PlanSettings::Noise::quantile;
    plan.noise_quantile = json_at<double>(settings, "noise_quantile", "curriculum");
    plan.noise_threshold = json_at<double>(settings, "noise_threshold", "curriculum");
    plan.printed = chosen("noise_side") == "printed";
    plan.seed = seed;
    return plan;
}

Plan plan_of_record(const PlanRecord& record, const Json& settings, std::int64_t batch_size, std::uint64_t seed) {
    PlanSettings plan = plan_settings(settings, batch_size, seed);
    plan.drop_masked = record.drops_masked;
    return {record.tasks, record.tour.tour, plan};
}

/// A stage is named after its task, which may hold any letter.
fs::path plan_path(const fs::path& folder, const std::string& stage) {
    const bool plain = std::all_of(stage.begin(), stage.end(),
                                   [](unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    return folder /
           (plain && !stage.empty() && stage.size() < 60 ? stage + ".plan" : "stage-" + hash128(stage).hex().substr(0, 12) + ".plan");
}

std::unique_ptr<Curriculum> make_data_cube(const CurriculumContext& context, const OpenTeacher& open, const fs::path& cache) {
    const std::vector<Leaf> leaves = leaves_of(context);
    if (walks_a_tour(context.settings))
        require_solvable(tour_settings(context.settings, context.seed).solver, leaves.size());  // before the teacher measures them all
    return std::make_unique<DataCube>(context, leaves, make_plan(context, leaves, open, cache));
}

}  // namespace faceter::data_cube
