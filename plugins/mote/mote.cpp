#include <ATen/ATen.h>

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// Mixture of task experts (MoTE, section 3.1): y = x + FFN_e(norm_e(x)) with e = R(instruction), R a lookup.
class Mote final : public Variant {
  public:
    explicit Mote(const Json& settings)
        : every_block_(json_or<std::string>(settings, "placement", "every_other", "variant") == "every"),
          shared_norms_(json_or<std::string>(settings, "expert_norms", "own", "variant") == "shared"),
          averaged_(json_or<std::string>(settings, "final_form", "experts", "variant") == "averaged"),
          named_(json_or<Json>(settings, "experts", Json::object(), "variant")) {}

    void prepare(EmbeddingModel& model) const override {
        const int experts = assign_experts(model);
        auto& blocks = model.encoders.front()->blocks();
        for (std::size_t i = every_block_ ? 0 : 1; i < blocks.size(); i += every_block_ ? 1 : 2) upcycle(blocks[i], experts);
    }

    void finish(EmbeddingModel& model, const FinishContext&) const override {
        if (!averaged_) return;
        for (Block& block : model.encoders.front()->blocks()) average(block);
        route_to_dense(model);
    }

    void prepare_finished(EmbeddingModel& model) const override {
        if (!averaged_) return prepare(model);
        assign_experts(model);
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
                model.routes[{task.name, role}] = {task.instruction(role), 0, index};
            }
        return std::max<int>(1, static_cast<int>(experts.size()));
    }

    std::string expert_of(const Task& task, Role role) const {
        const std::string specific = task.name + "." + std::string(role_name(role));
        for (const std::string& key : {specific, task.name})
            if (named_.contains(key)) return named_.at(key).get<std::string>();
        return "instruction " + task.instruction(role);
    }

    void check_names(const std::vector<Task>& tasks) const {
        std::vector<std::string> known;
        for (const Task& task : tasks) known.insert(known.end(), {task.name, task.name + ".query", task.name + ".document"});
        for (const auto& [key, value] : named_.items())
            if (std::find(known.begin(), known.end(), key) == known.end())
                throw settings_error("variant.experts names '{}', which is no task or role{}", key, suggestion(key, known));
    }

    /// Every expert starts as a copy of the dense block's MLP and norms.
    void upcycle(Block& block, int experts) const {
        if (block.routing)
            throw settings_error("the start model has token-routed blocks, which cannot become task experts; choose a dense start model");
        block.shared_norms = shared_norms_;
        while (static_cast<int>(block.experts.size()) < experts) {
            Expert copy = block.experts.front().clone();
            if (shared_norms_) {
                const Expert& first = block.experts.front();
                copy.before = first.before;
                copy.behind = first.behind;
            }
            block.experts.push_back(std::move(copy));
        }
    }

    /// EA: the experts' weights averaged into one dense block (MoTE, section 6).
    static void average(Block& block) {
        const at::NoGradGuard no_grad;
        std::vector<std::vector<at::Tensor>> members;
        for (const Expert& expert : block.experts) {
            std::size_t m = 0;
            for (const at::Tensor& t : expert.tensors()) {
                if (members.size() <= m) members.emplace_back();
                members[m++].push_back(t);
            }
        }
        const auto first = block.experts.front().tensors();
        for (std::size_t m = 0; m < members.size(); ++m) {
            const at::Tensor sum = at::stack(members[m]).to(at::kDouble).mean(0);
            first[m].detach().copy_(sum);
        }
        block.experts.resize(1);
    }

    static void route_to_dense(EmbeddingModel& model) {
        for (auto& [key, route] : model.routes) route.expert = 0;
    }

    bool every_block_, shared_norms_, averaged_;
    Json named_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("mote", [](faceter::Registry& registry) {
    registry.add_variant("mote", [](const faceter::Json& settings) { return std::make_unique<faceter::Mote>(settings); });
})
