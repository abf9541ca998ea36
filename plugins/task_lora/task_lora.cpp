#include "common/error.h"
#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// jina-embeddings-v3, sections 4 and 5: W' = W + (alpha / r) B_t A_t in each adapted linear layer, t the text's task (and role). B starts
/// at 0, so that at step 0 the model equals its dense base.
class TaskLora final : public Variant {
  public:
    explicit TaskLora(const Json& settings)
        : targets_(json_at<std::vector<std::string>>(settings, "targets", "variant")),
          adapters_(json_at<std::string>(settings, "adapters", "variant")),
          instructions_(json_at<bool>(settings, "instructions", "variant")),
          together_(json_at<std::string>(settings, "training", "variant") == "together"),
          base_rate_(json_at<double>(settings, "base_rate", "variant")),
          seed_(json_at<std::uint64_t>(settings, "seed", "variant")),
          averaged_(json_at<std::string>(settings, "final_form", "variant") == "averaged") {
        config_.rank = json_at<std::int64_t>(settings, "rank", "variant");
        config_.alpha = json_at<double>(settings, "alpha", "variant");
        config_.dropout = json_at<double>(settings, "adapter_dropout", "variant");
        config_.targets = targets_.empty() ? std::vector<std::string>{"all-linear"} : targets_;
        if (base_rate_ > 0 && !together_)
            throw settings_error(
                "variant.base_rate is {}, but with training: one_by_one each task would move the base under the others' adapters; "
                "use training: together, or base_rate: 0",
                base_rate_);
    }

    void prepare(EmbeddingModel& model) const override {
        AdapterConfig config = config_;
        config.base_model = model.folder.folder.string();
        Encoder& encoder = *model.encoders.front();
        for (const Task& task : model.tasks)
            for (const Role role : {Role::query, Role::document}) {
                const bool shared = role == Role::document && !apart(task);
                const int index = shared ? static_cast<int>(encoder.adapters().size()) - 1
                                         : static_cast<int>(encoder.add_adapter(name_of(task, role), config, seed_));
                model.routes[{task.name, role}] = {instructions_ ? task.instruction(role) : "", 0, Path::of_adapter(index)};
            }
    }

    std::vector<Stage> stages(const EmbeddingModel& model) const override {
        std::vector<Stage> stages;
        if (together_) {
            Stage all;
            for (const Task& task : model.tasks) add_adapters(model, task, all);
            all.base_rate = base_rate_;
            stages.push_back(std::move(all));
        }
        for (const Task& task : model.tasks) {
            if (together_) break;
            Stage one;
            one.name = task.name;
            one.tasks = {task.name};
            add_adapters(model, task, one);
            stages.push_back(std::move(one));
        }
        return stages;
    }

    /// The mean of the merged models is the base with the mean of the updates.
    void finish(EmbeddingModel& model, const FinishContext&) const override {
        if (!averaged_) return;
        Encoder& encoder = *model.encoders.front();
        const double weight = 1.0 / static_cast<double>(encoder.adapters().size());
        while (!encoder.adapters().empty()) encoder.merge_adapter(0, weight);
        for (auto& [key, route] : model.routes) route.path = Path{};
    }

  private:
    bool apart(const Task& task) const {
        return adapters_ == "role" || (adapters_ == "by_side" && task.query_instruction != task.document_instruction);
    }
    std::string name_of(const Task& task, Role role) const {
        return apart(task) ? task.name + "." + std::string(role_name(role)) : task.name;
    }
    static void add_adapters(const EmbeddingModel& model, const Task& task, Stage& stage) {
        for (const Role role : {Role::query, Role::document}) stage.adapters.insert(model.route(task.name, role).path.adapter);
    }

    AdapterConfig config_;
    std::vector<std::string> targets_;
    std::string adapters_;
    bool instructions_, together_;
    double base_rate_;
    std::uint64_t seed_;
    bool averaged_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("task_lora", [](faceter::Registry& registry) {
    registry.add_variant("task_lora", [](const faceter::Json& settings) { return std::make_unique<faceter::TaskLora>(settings); });
})
