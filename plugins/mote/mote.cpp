#include <ATen/ATen.h>

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/known_names.h"
#include "expert_moves.h"
#include "model/model_shape.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// Mixture of task experts (MoTE, section 3.1): y = x + FFN_e(norm_e(x)) with e = R(instruction), R a lookup.
class Mote final : public Variant {
  public:
    explicit Mote(const Json& settings)
        : every_block_(json_at<std::string>(settings, "placement", "variant") == "every"),
          shared_norms_(json_at<std::string>(settings, "expert_norms", "variant") == "shared"),
          averaged_(json_at<std::string>(settings, "final_form", "variant") == "averaged"),
          named_(json_at<Json>(settings, "experts", "variant")) {}

    void prepare(EmbeddingModel& model) const override {
        const int experts = assign_experts(model);
        auto& blocks = model.encoders.front()->blocks();
        if (std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.routing.has_value(); }))
            throw settings_error("the start model has token-routed blocks, which cannot become task experts; choose a dense start model");
        if (!every_block_ && blocks.size() < 2)
            throw settings_error("the start model has one block, and placement: every_other begins at the second; use placement: every");
        for (std::size_t i = every_block_ ? 0 : 1; i < blocks.size(); i += every_block_ ? 1 : 2)
            upcycle_to_task_experts(blocks[i], experts, shared_norms_);
    }

    void finish(EmbeddingModel& model, const FinishContext&) const override {
        if (!averaged_) return;
        for (Block& block : model.encoders.front()->blocks()) fold_task_experts(block);
        route_to_dense(model);
    }

  private:
    /// Fills the routes and returns the number of experts. An expert's number is the place of its first instruction in the task tree.
    int assign_experts(EmbeddingModel& model) const {
        check_names(model.tasks);
        std::vector<std::string> experts;
        for (const Task& task : model.tasks)
            for (const Role role : {Role::query, Role::document}) {
                const std::string name = expert_of(task, role);
                const auto found = std::find(experts.begin(), experts.end(), name);
                const int index = static_cast<int>(found - experts.begin());
                if (found == experts.end()) experts.push_back(name);
                model.routes[{task.name, role}] = {task.instruction(role), 0, Path::of_expert(index)};
            }
        if (experts.size() < 2) route_to_dense(model);  // one expert is the dense block
        return static_cast<int>(experts.size());
    }

    std::string expert_of(const Task& task, Role role) const {
        const std::string specific = task.name + "." + std::string(role_name(role));
        for (const std::string& key : {specific, task.name})
            if (named_.contains(key)) return named_.at(key).get<std::string>();
        for (const auto& [key, value] : named_.items())
            if (is_pattern(key) && is_like(key, task.instruction(role))) return value.get<std::string>();
        return "instruction " + task.instruction(role);
    }

    static bool is_pattern(const std::string& key) { return key.find('*') != std::string::npos; }

    /// Whether a key of variant.experts means any task, role or instruction.
    static bool names_something(const std::string& key, const std::vector<Task>& tasks) {
        return is_pattern(key) && std::any_of(tasks.begin(), tasks.end(), [&](const Task& task) {
                   return is_like(key, task.query_instruction) || is_like(key, task.document_instruction);
               });
    }

    void check_names(const std::vector<Task>& tasks) const {
        std::vector<std::string> known;
        for (const Task& task : tasks) known.insert(known.end(), {task.name, task.name + ".query", task.name + ".document"});
        for (const auto& [key, value] : named_.items())
            if (std::find(known.begin(), known.end(), key) == known.end() && !names_something(key, tasks))
                throw settings_error("variant.experts names '{}', which is no task or role, and a pattern of no task's instruction{}", key,
                                     suggestion(key, known));
    }

    static void route_to_dense(EmbeddingModel& model) {
        for (auto& [key, route] : model.routes) route.path = Path{};
    }

    bool every_block_, shared_norms_, averaged_;
    Json named_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("mote", [](faceter::Registry& registry) {
    registry.add_variant("mote", [](const faceter::Json& settings) { return std::make_unique<faceter::Mote>(settings); });
    registry.add_analysis("expert_moves", [](const faceter::Json&) { return faceter::make_expert_moves(); });
})
