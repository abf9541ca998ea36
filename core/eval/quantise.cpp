#include "eval/quantise.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "model/ops.h"

namespace faceter {
namespace {

constexpr std::int64_t scale_bytes = sizeof(float);

/// [N, 1], so that a row of zeros divides nothing by zero.
at::Tensor largest_magnitudes(const at::Tensor& rows) { return rows.abs().amax(1, true).clamp_min(1e-30f); }

at::Tensor int8_values(const at::Tensor& rows) { return (rows * (127.0f / largest_magnitudes(rows))).round(); }

at::Tensor packed_signs(const at::Tensor& rows) {
    const at::Tensor in = rows.contiguous();
    const std::int64_t count = in.size(0), dim = in.size(1), bytes = (dim + 7) / 8;
    const at::Tensor out = at::zeros({count, bytes}, at::kByte);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t d = 0; d < dim; ++d)
            if (in.data_ptr<float>()[i * dim + d] > 0)
                out.data_ptr<std::uint8_t>()[i * bytes + d / 8] |= static_cast<std::uint8_t>(0x80 >> d % 8);
    return out;
}

}  // namespace

Precision precision_from_name(std::string_view name) {
    if (name == "float32") return Precision::float32;
    if (name == "int8") return Precision::int8;
    if (name == "binary") return Precision::binary;
    throw usage_error("no precision '{}'{}; float32, int8 and binary are known", name,
                      suggestion(name, std::vector<std::string>{"float32", "int8", "binary"}));
}

std::string_view precision_name(Precision precision) {
    return precision == Precision::int8 ? "int8" : precision == Precision::binary ? "binary" : "float32";
}

at::Tensor quantised(const at::Tensor& rows, Precision precision) {
    if (precision == Precision::int8) return int8_values(rows).to(at::kChar);
    return precision == Precision::binary ? packed_signs(rows) : rows;
}

at::Tensor int8_scales(const at::Tensor& rows) { return largest_magnitudes(rows).squeeze(1) / 127.0f; }

at::Tensor as_stored(const at::Tensor& rows, Precision precision) {
    if (precision == Precision::int8) return int8_values(rows) * int8_scales(rows).unsqueeze(1);
    return precision == Precision::binary ? at::where(rows > 0, at::ones_like(rows), -at::ones_like(rows)) : rows;
}

at::Tensor shortened(const at::Tensor& rows, std::int64_t prefix, bool normalise) {
    if (prefix == 0 || prefix == rows.size(1)) return rows;
    if (prefix < 0 || prefix > rows.size(1))
        throw usage_error("a prefix of {} elements was asked for, embeddings have {}", prefix, rows.size(1));
    const at::Tensor part = rows.narrow(1, 0, prefix);
    return normalise ? normalize_rows(part) : part.contiguous();
}

std::string EmbeddingForm::name(std::int64_t dim) const {
    return fmt::format("{} {}", prefix == 0 ? dim : prefix, precision_name(precision));
}

std::int64_t EmbeddingForm::bytes(std::int64_t dim) const {
    const std::int64_t elements = prefix == 0 ? dim : prefix;
    return precision == Precision::float32 ? 4 * elements : precision == Precision::int8 ? elements + scale_bytes : (elements + 7) / 8;
}

at::Tensor EmbeddingForm::applied(const at::Tensor& rows, bool normalise) const {
    const at::Tensor stored = as_stored(shortened(rows, prefix, normalise), precision);
    return normalise && precision != Precision::float32 ? normalize_rows(stored) : stored;
}

std::vector<EmbeddingForm> embedding_forms(const std::vector<std::int64_t>& prefixes, const std::vector<std::string>& precisions,
                                           std::int64_t dim) {
    std::vector<EmbeddingForm> forms{{}};
    std::vector<Precision> kinds{Precision::float32};
    for (const std::string& name : precisions)
        if (const Precision kind = precision_from_name(name); std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(kind);
    std::vector<std::int64_t> lengths{dim};
    for (const std::int64_t prefix : prefixes) {
        if (prefix < 1 || prefix > dim) throw usage_error("a prefix of {} elements was asked for, embeddings have {}", prefix, dim);
        if (std::find(lengths.begin(), lengths.end(), prefix) == lengths.end()) lengths.push_back(prefix);
    }
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    for (const Precision kind : kinds)
        for (const std::int64_t length : lengths)
            if (const EmbeddingForm form{length == dim ? 0 : length, kind}; !form.is_whole()) forms.push_back(form);
    return forms;
}

}  // namespace faceter
