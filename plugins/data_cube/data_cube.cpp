#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "common/error.h"
#include "common/random.h"
#include "curriculum.h"
#include "data/noise.h"
#include "difficulty.h"
#include "eval/embedder.h"
#include "noise_report.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/own_manifest.h"
#include "plugin/registry.h"
#include "plugin/run_model.h"
#include "plugin/teacher.h"
#include "report.h"
#include "settings/check.h"

namespace faceter::data_cube {
namespace {

/// The start model under the run's lengths, or another one, with its own limit where that is shorter.
std::unique_ptr<Teacher> open_teacher(const CurriculumContext& context) {
    constexpr std::size_t remembered = std::size_t(64) << 20;  // hardly a text is asked for twice
    const auto name = json_at<std::string>(context.settings, "teacher", "curriculum");
    if (name.empty()) return std::make_unique<ModelTeacher>(open_start_model(context.run), context.device, context.group, remembered);
    return std::make_unique<ModelTeacher>(name, json_or<std::size_t>(context.run, "max_length", 0, "settings"), context.device,
                                          context.group, remembered);
}

std::unique_ptr<Curriculum> make_curriculum(const CurriculumContext& context) {
    return make_data_cube(
        context, [&] { return open_teacher(context); }, cache_directory() / "difficulties");
}

class Report final : public Analysis {
  public:
    explicit Report(const Json& settings)
        : margin_(json_at<double>(settings, "margin", "analyses")),
          examples_(json_at<std::size_t>(settings, "examples_per_task", "analyses")),
          random_orders_(json_at<std::int64_t>(settings, "random_orders", "analyses")),
          difficulty_(difficulty_settings(settings, "analyses")) {}

    AnalysisResult run(const AnalysisContext& context) const override {
        if (!context.training_sets) throw failure("data_cube_report works on runs only: it needs their training data");
        AnalysisResult result;
        const std::vector<TaskFit> fits = measure_fits(context);
        result.result = {{"margin", margin_}, {"underfitting", underfitting_json(fits)}};
        result.tables.emplace_back("data_cube_underfitting", underfitting_table(fits, margin_, context.run_name));
        result.figures.emplace_back("data_cube_underfitting", underfitting_figure(fits, margin_, context.run_name));
        result.figures.emplace_back("data_cube_difficulty", difficulty_figure(fits, context.run_name));
        const fs::path folder = context.run_folder / "curriculum", whole = plan_path(folder, "train");
        std::optional<Plan> of_all;  // a stage's own may be of examples that it has filtered: not those whose noise is known
        if (const std::vector<fs::path> files = plans_in(folder); files.size() == 1) {
            const PlanRecord record = read_plan(files.front());
            Plan plan = plan_of(record);
            describe_plan(record, plan, context, result);
            if (files.front() == whole) of_all = std::move(plan);
        } else if (files.size() > 1) {
            result.result["note"] = fmt::format(
                "the run has {} plans, one a stage: the tour is shown of runs with one alone; they lie in its folder curriculum",
                files.size());
        }
        describe_noise_of(fits, of_all ? &*of_all : nullptr, context, result);
        return result;
    }

  private:
    static std::vector<fs::path> plans_in(const fs::path& folder) {
        std::vector<fs::path> files;
        std::error_code error;  // runs of other curricula have no such folder
        for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
            if (at->path().extension() == ".plan") files.push_back(at->path());
        return files;
    }

    std::vector<std::uint32_t> sample(const TrainingSet& set) const {
        std::vector<std::uint32_t> chosen(set.examples.size());
        std::iota(chosen.begin(), chosen.end(), 0U);
        if (examples_ == 0 || examples_ >= chosen.size()) return chosen;
        chosen.clear();
        for (const std::size_t i : RandomStream(0, "data_cube/report/" + set.name).sample(set.examples.size(), examples_))
            chosen.push_back(static_cast<std::uint32_t>(i));
        return chosen;
    }

    std::vector<TaskFit> measure_fits(const AnalysisContext& context) const {
        const EmbeddingModel& trained = context.embedder.model();
        const auto start = open_start_model(context.run);
        CachedEmbedder before(*start);
        std::vector<TaskFit> fits;
        for (const TrainingSet& set : context.training_sets()) {
            const auto examples = sample(set);
            TaskFit fit;
            fit.name = set.name;
            fit.examples = examples;
            fit.before = measure_difficulty(
                set, examples,
                [&](auto texts, PairSide side) {
                    const Route route = route_of(trained, set, side);
                    return before.embed(texts, {route.instruction});
                },
                difficulty_);
            fit.after = measure_difficulty(
                set, examples, [&](auto texts, PairSide side) { return context.embedder.embed(texts, route_of(trained, set, side)); },
                difficulty_);
            fit.ratio_before = underfitting_ratio(fit.before, margin_);
            fit.ratio_after = underfitting_ratio(fit.after, margin_);
            fits.push_back(std::move(fit));
        }
        return fits;
    }

    static Json settings_of(const PlanRecord& record) {
        return filled_in(plugin_manifest().curricula.front().schema, json_at<Json>(record.details, "settings", "plan"));
    }

    static Plan plan_of(const PlanRecord& record) {
        return plan_of_record(record, settings_of(record), json_at<std::int64_t>(record.details, "batch_size", "plan"),
                              json_at<std::uint64_t>(record.details, "seed", "plan"));
    }

    /// Where noise was injected into the training data.
    static void describe_noise_of(const std::vector<TaskFit>& fits, const Plan* plan, const AnalysisContext& context,
                                  AnalysisResult& result) {
        std::vector<std::vector<char>> noisy;
        for (const TrainingSet& set : context.training_sets()) noisy.push_back(noisy_examples(set));
        if (std::all_of(noisy.begin(), noisy.end(), [](const std::vector<char>& of_set) { return of_set.empty(); })) return;
        const auto found = find_noise(fits, noisy, plan);
        result.result["noise"] = noise_json(found);
        result.tables.emplace_back("data_cube_noise", noise_table(found, context.run_name));
    }

    void describe_plan(const PlanRecord& record, const Plan& plan, const AnalysisContext& context, AnalysisResult& result) const {
        Table table = plan_table(record, plan, context.run_name);
        Json kept = {{"hash", plan.hash()}, {"details", record.details}};
        if (json_at<bool>(settings_of(record), "task_level", "curriculum")) {
            describe_tour(record, context, kept, result);
            result.result["plan"] = std::move(kept);
        } else {
            table.footnotes.emplace_back("No tour was walked (task_level is false): tasks came in random order.");
            result.result["order"] = std::move(kept);
        }
        result.tables.emplace_back("data_cube_plan", std::move(table));
    }

    void describe_tour(const PlanRecord& record, const AnalysisContext& context, Json& kept, AnalysisResult& result) const {
        const RandomOrders random = random_orders(record.similarities, random_orders_, 1);
        result.tables.emplace_back("data_cube_tour", tour_table(record, random, context.run_name));
        result.figures.emplace_back("data_cube_tour", tour_figure(record, random, context.run_name));
        result.figures.emplace_back("data_cube_energy", energy_figure(record, random, context.run_name));
        result.figures.emplace_back("data_cube_similarity", similarity_figure(record, context.run_name));
        Json tour = Json::array();
        for (const std::uint32_t task : record.tour.tour) tour.push_back(record.tasks[task].name);
        kept.update({{"total", record.tour.total}, {"random_mean", random.mean}, {"random_std", random.deviation}, {"tour", tour}});
    }

    double margin_;
    std::size_t examples_;
    std::int64_t random_orders_;
    DifficultySettings difficulty_;
};

void register_all(Registry& registry) {
    registry.add_curriculum("data_cube", make_curriculum);
    registry.add_analysis("data_cube_report", [](const Json& settings) { return std::make_unique<Report>(settings); });
}

}  // namespace
}  // namespace faceter::data_cube

FACETER_PLUGIN("data_cube", faceter::data_cube::register_all)
