#include "plugin/abi.h"
#include "plugin/fingerprint.h"
#include "plugin/registry.h"

namespace faceter {
namespace {

/// A variant turns the start model into the one that a run trains and serves: here, which instruction stands in front of which text.
class @CLASS@ final : public Variant {
  public:
    explicit @CLASS@(const Json& settings) : documents_(json_at<bool>(settings, "documents", "variant")) {}

    /// A route says how texts of a task and role pass through the model: their instruction, and the encoder (here the only one).
    void prepare(EmbeddingModel& model) const override {
        for (const Task& task : model.tasks) {
            model.routes[{task.name, Role::query}] = {task.instruction(Role::query)};
            model.routes[{task.name, Role::document}] = {documents_ ? task.instruction(Role::document) : ""};
        }
    }

  private:
    bool documents_;
};

}  // namespace
}  // namespace faceter

FACETER_PLUGIN("@NAME@", [](faceter::Registry& registry) {
    registry.add_variant("@NAME@", [](const faceter::Json& settings) { return std::make_unique<faceter::@CLASS@>(settings); });
})
