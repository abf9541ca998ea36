#include <ATen/ATen.h>

#include "common/error.h"
#include "common/strings.h"
#include "eval/embedder.h"
#include "session/session_data.h"
#include "settings/core_settings.h"
#include "text/base64.h"

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
    const auto given = [&](const char* key) { return params.contains(key) && !params.at(key).is_null(); };
    if (given("threads")) options.threads = json_at<int>(params, "threads", "embed");
    if (options.threads < 0 || options.threads > most_threads)
        throw usage_error("embed: threads is {}; give a number from 0 (all cores) to {}", options.threads, most_threads);
    if (given("device")) options.device = json_at<std::string>(params, "device", "embed");
    if (given("compute")) options.compute = json_at<std::string>(params, "compute", "embed");
    return options;
}

bool wants_base64(const Json& params) {
    const auto format = json_or<std::string>(params, "encoding_format", "float", "embed");
    if (format != "float" && format != "base64")
        throw usage_error("embed: encoding_format {} is unknown; float and base64 are known", faceter::quoted(format));
    return format == "base64";
}

Json rows_of(const at::Tensor& rows) {
    Json vectors = Json::array();
    for (std::int64_t i = 0; i < rows.size(0); ++i) {
        const float* row = rows.data_ptr<float>() + i * rows.size(1);
        vectors.push_back(std::vector<float>(row, row + rows.size(1)));
    }
    return vectors;
}

/// All rows behind one another.
std::string base64_of(const at::Tensor& rows) {
    return encode_base64({static_cast<const char*>(rows.const_data_ptr()), static_cast<std::size_t>(rows.nbytes())});
}

}  // namespace

/// {"model": folder, hub name, run folder or run's name, "project", "task" or "instruction", "max_length", "threads",
/// "device", "compute" (as `faceter embed` has them), "texts": [...], "encoding_format": "float" or "base64"}
/// -> {"dim", "instruction", "vectors": [[...]]}, float32 in input order; in base64 one text, the rows behind one another in little endian.
Json embed(const Json& params, SessionData& data, Request& request) {
    const bool base64 = wants_base64(params);
    const auto texts = json_at<std::vector<std::string>>(params, "texts", "embed");
    if (texts.size() > max_texts) throw usage_error("embed: {} texts; at most {} in one request", texts.size(), max_texts);
    request.progress("open the model", 0, 0);
    const ModelOptions asked = options_of(params);
    const OpenedModel& opened = data.named_model(asked);
    const Route route = named_route(asked, opened);
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    EmbedOptions options;
    options.progress = [&](std::size_t done) { request.progress("embed", done, texts.size()); };
    const at::Tensor rows =
        texts.empty() ? at::empty({0, opened.model->dim()}, at::kFloat) : embed_texts(*opened.model, views, route, options).contiguous();
    return {{"dim", opened.model->dim()}, {"instruction", route.instruction}, {"vectors", base64 ? Json(base64_of(rows)) : rows_of(rows)}};
}

}  // namespace faceter::worker
