#include <ATen/ATen.h>

#include "common/error.h"
#include "eval/embedder.h"
#include "session/session_data.h"

namespace faceter::worker {
namespace {

constexpr std::size_t max_texts = 20'000;

ModelOptions options_of(const Json& params) {
    ModelOptions options;
    options.model = json_at<std::string>(params, "model", "embed");
    options.project = json_or<std::string>(params, "project", "", "embed");
    options.task = json_or<std::string>(params, "task", "", "embed");
    if (params.contains("instruction") && !params.at("instruction").is_null())
        options.instruction = json_at<std::string>(params, "instruction", "embed");
    options.max_length = json_or<std::size_t>(params, "max_length", 0, "embed");
    return options;
}

Json rows_of(const at::Tensor& rows) {
    Json vectors = Json::array();
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
        const float* row = rows.data_ptr<float>() + i * rows.size(1);
        vectors.push_back(std::vector<float>(row, row + rows.size(1)));
    }
    return vectors;
}

}  // namespace

/// {"model": folder, hub name, run folder or run's name, "project", "task" or "instruction" (as `faceter embed` has them), "max_length",
/// "texts": [...]}
/// -> {"dim", "instruction", "vectors": [[...]]}, float32 in input order.
Json embed(const Json& params, SessionData& data, Request& request) {
    const auto texts = json_at<std::vector<std::string>>(params, "texts", "embed");
    if (texts.size() > max_texts) throw usage_error("embed: {} texts; at most {} in one request", texts.size(), max_texts);
    request.progress("open the model", 0, 0);
    const OpenedModel& opened = data.named_model(options_of(params));
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    EmbedOptions options;
    options.progress = [&](std::size_t done) { request.progress("embed", done, texts.size()); };
    const at::Tensor rows = texts.empty() ? at::empty({0, opened.model->dim()}, at::kFloat)
                                          : embed_texts(*opened.model, views, opened.route, options).contiguous();
    return {{"dim", opened.model->dim()}, {"instruction", opened.route.instruction}, {"vectors", rows_of(rows)}};
}

}  // namespace faceter::worker
