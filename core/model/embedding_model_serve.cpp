#include <fmt/format.h>

#include "model/embedding_model.h"

namespace faceter {

void EmbeddingModel::load_one_route(const Weights& weights, const std::string& task, Role role) {
    const Route served = route(task, role);
    const std::string prefix = encoders.size() == 1 ? "" : fmt::format("encoders.{}.", served.encoder);
    auto dense = std::make_unique<Encoder>(encoders.front()->config(), folder.dense, at::kFloat);
    dense->load_dense(weights, prefix, served.expert);
    encoders.clear();
    encoders.push_back(std::move(dense));
    routes = {{{task, role}, {served.instruction, 0, 0}}};
}

}  // namespace faceter
