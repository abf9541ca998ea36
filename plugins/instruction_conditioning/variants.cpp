#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

class Dense final : public Variant {
  public:
    void prepare(EmbeddingModel&) const override {}
};

class Instruction final : public Variant {
  public:
    void prepare(EmbeddingModel& model) const override { model.route_by_instruction(); }
};

/// One encoder a task. An unseen task type goes through the specialist of the task that stands in for it.
class Specialists final : public Variant {
  public:
    explicit Specialists(const Json& settings) : instructions_(json_at<bool>(settings, "instructions", "variant")) {}

    void prepare(EmbeddingModel& model) const override {
        for (std::size_t i = 0; i < model.tasks.size(); ++i) {
            if (i > 0) model.encoders.push_back(model.encoders.front()->clone());
            for (const Role role : {Role::query, Role::document})
                model.routes[{model.tasks[i].name, role}] = {instructions_ ? model.tasks[i].instruction(role) : "", static_cast<int>(i)};
        }
    }

    std::vector<Stage> stages(const EmbeddingModel& model) const override {
        std::vector<Stage> stages;
        for (std::size_t i = 0; i < model.tasks.size(); ++i)
            stages.push_back({model.tasks[i].name, {model.tasks[i].name}, static_cast<int>(i)});
        return stages;
    }

  private:
    bool instructions_;
};

void register_all(Registry& registry) {
    registry.add_variant("dense", [](const Json&) { return std::make_unique<Dense>(); });
    registry.add_variant("instruction", [](const Json&) { return std::make_unique<Instruction>(); });
    registry.add_variant("specialists", [](const Json& settings) { return std::make_unique<Specialists>(settings); });
}

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("instruction_conditioning", faceter::register_all)
