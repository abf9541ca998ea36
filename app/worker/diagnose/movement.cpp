#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "common/strings.h"
#include "diagnose/diagnose_model.h"
#include "model/movement.h"

namespace faceter::worker {
namespace {

constexpr double least_move = 1e-6, largest_move = 0.5;

/// One encoder, expert or adapter.
struct Part {
    std::string name;
    bool trained = true;  ///< texts of a task with training data go through it
    bool adapter = false;
    Movement whole;
    std::map<std::int64_t, Movement> layers;  ///< -1: outside of the blocks
};

/// The first number of a parameter's name is its layer's: "encoder.layer.3.output.dense.weight".
std::int64_t layer_of(const std::string& name) {
    for (const std::string_view piece : split(name, '.'))
        if (!piece.empty() && piece.size() < 6 && std::all_of(piece.begin(), piece.end(), [](char c) { return c >= '0' && c <= '9'; }))
            return std::stoll(std::string(piece));
    return -1;
}

void compare(const std::vector<Parameter>& start, const std::vector<Parameter>& now, const std::function<Part&(const Parameter&)>& part_of,
             std::size_t skipped_front) {
    std::map<std::string, at::Tensor> before;
    for (const Parameter& p : start) before[p.name] = p.tensor;
    for (const Parameter& p : now) {
        const auto found = before.find(p.name);
        if (found == before.end() || found->second.sizes() != p.tensor.sizes()) continue;
        Movement movement;
        movement.add(p.tensor, found->second);
        Part& part = part_of(p);
        part.whole.add(movement);
        part.layers[layer_of(p.name.substr(std::min(skipped_front, p.name.size())))].add(movement);
    }
}

/// What the routes of tasks with training data lead through.
struct Used {
    std::set<int> encoders;
    std::set<std::pair<int, int>> experts, adapters;
    std::set<std::pair<int, int>> routed_adapters;  ///< by any task; a router's gates are none of them
    std::map<std::pair<int, int>, std::set<std::string>> tasks;
    explicit Used(const ModelPair& models) {
        for (const auto& [key, route] : models.start.routes) {
            tasks[{route.encoder, route.path.expert}].insert(key.first);
            routed_adapters.insert({route.encoder, route.path.adapter});
        }
        for (const TrainingSet& set : models.training)
            for (const Role role : {Role::query, Role::document}) {
                const Route route = models.start.route(set.task, role);
                encoders.insert(route.encoder);
                experts.insert({route.encoder, route.path.expert});
                adapters.insert({route.encoder, route.path.adapter});
            }
    }
    bool trains_adapter(int encoder, std::size_t index) const {
        const std::pair adapter{encoder, static_cast<int>(index)};
        return adapters.contains(adapter) || !routed_adapters.contains(adapter);
    }
};

void add_encoder(const Encoder& start, const Encoder& now, int index, const Used& used, std::size_t encoders, std::vector<Part>& parts) {
    std::map<int, Part> by_expert;
    const std::string of = encoders > 1 ? fmt::format("encoder {}", index) : "encoder";
    compare(
        start.parameters(), now.parameters(),
        [&](const Parameter& p) -> Part& {
            const int expert = p.owner.expert;
            const auto tasks = used.tasks.find({index, expert});
            const std::string name = expert == Path::none ? of
                                     : tasks == used.tasks.end()
                                         ? fmt::format("{}, expert {}", of, expert)
                                         : fmt::format("{}, expert {} ({})", of, expert,
                                                       join(std::vector<std::string>(tasks->second.begin(), tasks->second.end()), ", "));
            const bool trained = expert == Path::none ? used.encoders.contains(index) : used.experts.contains({index, expert});
            return by_expert.try_emplace(expert, Part{name, trained, false, {}, {}}).first->second;
        },
        0);
    for (auto& [expert, part] : by_expert) parts.push_back(std::move(part));
}

std::optional<std::size_t> adapter_named(const Encoder& encoder, const std::string& name) {
    for (std::size_t i = 0; i < encoder.adapters().size(); ++i)
        if (encoder.adapters()[i].name == name) return i;
    return std::nullopt;
}

void add_adapters(const Encoder& start, const Encoder& now, int index, const Used& used, std::vector<Part>& parts) {
    for (std::size_t i = 0; i < now.adapters().size(); ++i) {
        const std::string& name = now.adapters()[i].name;
        const auto before = adapter_named(start, name);
        if (!before) continue;
        Part part{"adapter " + name, used.trains_adapter(index, *before), true, {}, {}};
        compare(
            start.adapter_parameters(*before), now.adapter_parameters(i), [&](const Parameter&) -> Part& { return part; },
            std::string("adapters..").size() + name.size());
        parts.push_back(std::move(part));
    }
}

Json layers_of(const Part& part) {
    Json layers = Json::array();
    for (const auto& [layer, movement] : part.layers)
        layers.push_back({{"layer", layer < 0 ? Json(nullptr) : Json(layer)}, {"moved", movement.ratio()}});
    return layers;
}

Finding finding_of(const Part& part, bool adapters_train) {
    Finding finding{"movement", part.name, FindingState::fine, part.whole.ratio(), largest_move, {}, {}, {}, {{"layers", layers_of(part)}}};
    finding.says = fmt::format("It moved by {:.3g} of its size.", finding.value);
    if (finding.value < least_move) {
        finding.threshold = least_move;
        finding.says = fmt::format("It changed nothing: it moved by {:.3g} of its size.", finding.value);
        const bool meant = !part.trained || (adapters_train && !part.adapter);  // a frozen base under adapters
        finding.state = meant ? FindingState::fine : FindingState::alarm;
        finding.reason = "Below a millionth is what float32 cannot hold: the optimiser has not stepped it, or with a rate near zero.";
        finding.advice = "See that its task has batches in its stage and that the stage's learning rate is not next to zero.";
    } else if (!part.adapter && finding.value > largest_move) {
        finding.state = FindingState::alarm;
        finding.reason =
            "Fine-tuning moves a model by a few hundredths of its size; beyond a half little is left of what it had learned before.";
        finding.advice = "Lower training.learning_rate by a factor of 10 to 100.";
    }
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_movement(const ModelPair& models) {
    const Used used(models);
    std::vector<Part> parts;
    const std::size_t encoders = std::min(models.start.encoders.size(), models.now.encoders.size());
    for (std::size_t i = 0; i < encoders; ++i) {
        add_encoder(*models.start.encoders[i], *models.now.encoders[i], static_cast<int>(i), used, encoders, parts);
        add_adapters(*models.start.encoders[i], *models.now.encoders[i], static_cast<int>(i), used, parts);
    }
    const bool adapters_train = std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.adapter; });
    std::vector<Finding> findings;
    for (const Part& part : parts) findings.push_back(finding_of(part, adapters_train));
    return findings;
}

}  // namespace faceter::worker
