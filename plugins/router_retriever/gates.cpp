#include "gates.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "checkpoint/run_part.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/strings.h"
#include "router_model.h"

namespace faceter {
namespace {

using Sizes = std::map<std::string, std::size_t>;
enum class Budget { all, equal_total, min_per_set };

/// A gate as the settings ask for it, in the order of expert numbers.
struct PlannedGate {
    GateInfo info;
    std::vector<std::string> tasks;
    std::string taken_from;   ///< a PEFT folder, or RUN/gates/NAME; empty: it is trained
    std::size_t at_most = 0;  ///< examples of each task; 0: as the budget says
};

class RouterRetriever final : public Variant {
  public:
    explicit RouterRetriever(const Json& settings)
        : settings_(settings), router_(RouterSettings::from_json(settings)), seed_(json_at<std::uint64_t>(settings, "seed", "variant")) {
        adapter_.rank = json_at<std::int64_t>(settings, "rank", "variant");
        adapter_.alpha = json_at<double>(settings, "alpha", "variant");
        adapter_.dropout = json_at<double>(settings, "gate_dropout", "variant");
        adapter_.targets = json_at<std::vector<std::string>>(settings, "targets", "variant");
        both_sides_ = text("sides") == "both";
        with_base_ = json_at<bool>(settings, "base_gate", "variant");
        const std::string budget = text("budget");
        budget_ = budget == "equal_total" ? Budget::equal_total : budget == "min_per_set" ? Budget::min_per_set : Budget::all;
    }

    void prepare(EmbeddingModel& model) const override {
        shape(model);
        Encoder& encoder = *model.encoders.front();
        for (const PlannedGate& gate : plan(model.tasks)) {
            AdapterConfig config = adapter_;
            config.base_model = model.folder.folder.string();
            if (gate.taken_from.empty())
                encoder.add_adapter(gate.info.name, config, seed_);
            else
                encoder.add_adapter(gate.info.name, AdapterFolder::open(part_of_run(absolute_path(gate.taken_from))));
        }
    }

    std::vector<Stage> stages(const EmbeddingModel& model) const override {
        std::vector<Stage> stages;
        const auto gates = plan(model.tasks);
        for (std::size_t i = 0; i < gates.size(); ++i) {
            if (!gates[i].taken_from.empty()) continue;
            Stage stage;
            stage.name = gates[i].info.name;
            stage.tasks = gates[i].tasks;
            stage.adapter = static_cast<int>(i);
            stage.adapt_documents = both_sides_;
            stage.budget = [this, gate = gates[i], domains = domain_names(model.tasks), single = single_names()](
                               const std::string& task, const Sizes& sizes) { return budget_of(gate, task, sizes, domains, single); };
            stages.push_back(std::move(stage));
        }
        return stages;
    }

    void finish(EmbeddingModel& model, const FinishContext& context) const override {
        Library library;
        library.base_fingerprint = model.base_fingerprint();
        const auto gates = plan(model.tasks);
        const Sizes sizes = sizes_of(context.training);
        for (const PlannedGate& gate : gates) {
            library.gates.push_back(gate.info);
            if (!gate.taken_from.empty()) continue;
            library.gates.back().examples = 0;
            for (const std::string& task : gate.tasks)
                if (const auto size = sizes.find(task); size != sizes.end())
                    library.gates.back().examples +=
                        std::min(size->second, budget_of(gate, task, sizes, domain_names(model.tasks), single_names()));
        }
        for (const Task& task : model.tasks) {
            std::vector<const TrainingSet*> sets;
            for (const TrainingSet& set : context.training)
                if (set.task == task.name) sets.push_back(&set);
            if (sets.empty() && is_taken_up(task.name)) continue;
            library.domains.push_back(
                scored(make_domain(task.name, sets, router_.library_examples, context.seed), task, document_texts(sets), model, context));
        }
        const bool of_several = std::any_of(gates.begin(), gates.end(), [](const PlannedGate& gate) { return gate.tasks.size() > 1; });
        if (budget_ == Budget::min_per_set && !of_several && context.event)
            context.event("warning", {{"message",
                                       "variant.budget is min_per_set and had no effect: it is of multi-task gates, and none was "
                                       "trained (multi_task, multi_task_curve)"}});
        if (context.phase) context.phase("build the router");
        RouterSettings wanted = router_;
        wanted.seed = context.seed;
        const auto [router, reason] = usable_router(library, library.candidates(with_base_), wanted);
        if (!reason.empty() && context.event)
            context.event("warning", {{"message", fmt::format("router: {} could not be made, and router: pilot with ties: margin stands in "
                                                              "for it: {}",
                                                              wanted.kind, reason)}});
        model.router = std::make_shared<RouterModel>(std::move(library), router, with_base_, both_sides_);
    }

  private:
    std::string text(const char* key) const { return json_at<std::string>(settings_, key, "variant"); }
    std::vector<std::string> single_names() const { return json_at<std::vector<std::string>>(settings_, "single_gates", "variant"); }
    bool is_domain(const std::string& task) const {
        const auto single = single_names();
        return std::find(single.begin(), single.end(), task) == single.end();
    }
    Json taken() const { return json_at<Json>(settings_, "gates", "variant"); }
    bool is_taken_up(const std::string& task) const { return taken().contains(task); }
    std::vector<std::string> domain_names(const std::vector<Task>& tasks) const {
        std::vector<std::string> names;
        for (const Task& task : tasks)
            if (is_domain(task.name)) names.push_back(task.name);
        return names;
    }

    /// Similarity, and routes: queries as the router chooses, documents by the frozen base (or with their query's gate).
    void shape(EmbeddingModel& model) const {
        if (text("similarity") == "dot") {
            model.folder.similarity = Similarity::dot;
            model.folder.normalize = false;
        }
        for (const Task& task : model.tasks) {
            model.routes[{task.name, Role::query}] = {task.query_instruction, 0, Path{}, true};
            model.routes[{task.name, Role::document}] = {task.document_instruction, 0, Path{}, both_sides_};
        }
    }

    void check_names(const std::vector<Task>& tasks) const {
        std::vector<std::string> known;
        for (const Task& task : tasks) known.push_back(task.name);
        const auto check = [&](const char* setting, const std::string& name) {
            if (std::find(known.begin(), known.end(), name) == known.end())
                throw settings_error("variant.{} names '{}', which is no task{}", setting, name, suggestion(name, known));
        };
        for (const std::string& name : single_names()) check("single_gates", name);
        const Json gates = taken();
        for (const auto& [name, folder] : gates.items()) check("gates", name);
        if (domain_names(tasks).empty())
            throw settings_error("no task is left as a domain to route to; variant.single_gates names all of them");
        if (budget_ == Budget::equal_total && single_names().size() != 1)
            throw settings_error(
                "variant.budget: equal_total needs one gate in variant.single_gates, whose number of examples the domains' gates get "
                "together");
    }

    /// Gates of domains first, then those for comparison: single gates, the multi-task gate, its curve, and smaller training sets.
    std::vector<PlannedGate> plan(const std::vector<Task>& tasks) const {
        check_names(tasks);
        const auto domains = domain_names(tasks);
        const Json gates = taken();
        std::vector<PlannedGate> all;
        for (const std::string& domain : domains) {
            const std::string from = gates.contains(domain) ? gates.at(domain).get<std::string>() : "";
            all.push_back({{domain, domain, "gate", 0, from}, {domain}, from});
        }
        for (const std::string& single : single_names())
            all.push_back({{single, single, "single", 0, ""}, {single}, gates.contains(single) ? gates.at(single).get<std::string>() : ""});
        if (json_at<bool>(settings_, "multi_task", "variant") && domains.size() > 1)
            all.push_back({{"multi-task", "", "multi_task", 0, ""}, domains, ""});
        if (json_at<bool>(settings_, "multi_task_curve", "variant"))
            for (std::size_t n = 2; n < domains.size(); ++n)
                all.push_back({{fmt::format("multi-task of {}", n), "", "multi_task_part", 0, ""},
                               {domains.begin(), domains.begin() + static_cast<std::ptrdiff_t>(n)},
                               ""});
        std::set<std::size_t> seen;
        for (const std::size_t size : json_at<std::vector<std::size_t>>(settings_, "training_sizes", "variant"))
            for (const std::string& domain : seen.insert(size).second ? domains : std::vector<std::string>())
                all.push_back({{fmt::format("{} of {}", domain, size), domain, "sized", 0, ""}, {domain}, "", size});
        require_own_folders(all);
        require_fixed_gate(all);
        return all;
    }

    /// The router is built when all gates are trained, which is late to learn that there is no such gate.
    void require_fixed_gate(const std::vector<PlannedGate>& gates) const {
        if (router_.kind != "fixed") return;
        std::vector<std::string> known{"base"};
        for (const PlannedGate& gate : gates) known.push_back(gate.info.name);
        if (std::find(known.begin(), known.end(), router_.fixed_gate) == known.end())
            throw settings_error("variant.router is fixed, and variant.fixed_gate is {}, which is no gate{}",
                                 faceter::quoted(router_.fixed_gate), suggestion(router_.fixed_gate, known));
    }

    static void require_own_folders(const std::vector<PlannedGate>& gates) {
        std::map<std::string, std::string> owner_of;
        for (const PlannedGate& gate : gates)
            if (const auto [owner, fresh] = owner_of.emplace(safe_file_name(gate.info.name), gate.info.name); !fresh)
                throw settings_error("gates '{}' and '{}' would be kept in one folder, {}; give the task another name", owner->second,
                                     gate.info.name, owner->first);
    }

    std::size_t budget_of(const PlannedGate& gate, const std::string& task, const Sizes& sizes, const std::vector<std::string>& domains,
                          const std::vector<std::string>& single) const {
        const auto size_of = [&](const std::string& name) { return sizes.contains(name) ? sizes.at(name) : 0; };
        const std::size_t own = size_of(task);
        if (gate.at_most > 0) return std::min(own, gate.at_most);
        if (gate.info.kind == "single") return own;
        std::size_t smallest = own;
        std::vector<std::size_t> of_domains;
        for (const std::string& domain : domains) of_domains.push_back(size_of(domain));
        for (const std::string& other : gate.tasks) smallest = std::min(smallest, size_of(other));
        if (budget_ == Budget::min_per_set && gate.tasks.size() > 1) return smallest;
        return budget_ == Budget::equal_total ? std::min(own, cap_for_total(of_domains, size_of(single.front()))) : own;
    }

    static Sizes sizes_of(std::span<const TrainingSet> sets) {
        Sizes sizes;
        for (const TrainingSet& set : sets) sizes[set.task] += set.examples.size();
        return sizes;
    }

    Domain scored(Domain domain, const Task& task, const std::vector<std::string>& documents, const EmbeddingModel& model,
                  const FinishContext& context) const {
        domain.query_instruction = task.query_instruction;
        domain.document_instruction = task.document_instruction;
        const auto experts = static_cast<int>(model.encoders.front()->adapters().size()) + 1;
        for (int expert = 0; expert < experts; ++expert) {
            if (context.phase) context.phase(fmt::format("score gate {} of {} on {}", expert, experts - 1, domain.name));
            score_domain(domain, model, expert, both_sides_, documents);
        }
        return domain;
    }

    Json settings_;
    RouterSettings router_;
    std::uint64_t seed_;  ///< of the run: gates start by it
    AdapterConfig adapter_;
    bool both_sides_ = false, with_base_ = false;
    Budget budget_ = Budget::all;
};

}  // namespace

std::size_t cap_for_total(std::vector<std::size_t> sizes, std::size_t total) {
    std::sort(sizes.begin(), sizes.end());
    std::size_t left = total;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::size_t share = left / (sizes.size() - i);  // what each of those that remain may have
        if (sizes[i] >= share) return share;
        left -= sizes[i];
    }
    return sizes.empty() ? 0 : sizes.back();
}

std::unique_ptr<Variant> make_router_retriever(const Json& settings) { return std::make_unique<RouterRetriever>(settings); }

}  // namespace faceter
