#include "onnx/encoder_graph.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "checkpoint/relative_position.h"
#include "checkpoint/rotary_scaling.h"
#include "onnx/graph_linear.h"

namespace faceter {
namespace {

using Value = GraphBuilder::Value;
using Values = std::vector<Value>;

constexpr float unseen = -1e30f;  ///< added to the logit of what a token does not see: finite, so that rows without anything stay numbers

class EncoderGraph {
  public:
    EncoderGraph(const ModelFolder& folder, OnnxForm form, const Int8Plan& plan)
        : folder_(folder),
          weights_(folder.weights()),
          config_(EncoderConfig::from_json(folder.config, (folder.encoder_folder / "config.json").string(), weights_)),
          layers_(graph_, weights_, form, plan) {}

    OnnxGraph build() {
        ids_ = graph_.input("input_ids", OnnxType::int64, {"batch_size", "sequence_length"});
        mask_ = graph_.input("attention_mask", OnnxType::int64, {"batch_size", "sequence_length"});
        read_mask();
        Value x = embed();
        for (std::int64_t i = 0; i < config_.num_layers; ++i) x = config_.pre_norm ? pre_norm_block(i, x) : post_norm_block(i, x);
        graph_.enter("pooling");
        if (config_.pre_norm) x = norm(x, config_.names.final_norm);
        graph_.output("last_hidden_state", x, {"batch_size", "sequence_length", std::to_string(config_.hidden_dim)});
        const std::int64_t dim = folder_.dense.empty() ? config_.hidden_dim : folder_.dense.back().out_features;
        graph_.output("sentence_embedding", embedding_of(x), {"batch_size", std::to_string(dim)});
        return graph_.finish("faceter_" + folder_.model_type);
    }

  private:
    std::string place(std::int64_t i, const std::string& name) const { return fmt::format(fmt::runtime(config_.names.block), i) + name; }
    Value norm(const Value& x, const std::string& name) {
        return layers_.norm(x, name, config_.norm, config_.norm_epsilon, config_.norm_plus_one);
    }

    /// Which tokens there are, and where each stands in its text, counted from 0 whatever is padded.
    void read_mask() {
        graph_.enter("mask");
        present_ = graph_.cast(mask_, OnnxType::boolean);
        const Value counted = graph_.node("CumSum", {mask_, graph_.integer(1)});
        positions_ = graph_.node("Max", {graph_.node("Sub", {counted, graph_.integer(1)}), graph_.integer(0)});
        const bool by_distance = config_.reach.is_limited() || config_.local_reach.is_limited() || config_.relative_buckets > 0;
        if (by_distance)
            distance_ = graph_.node("Sub", {graph_.unsqueeze(positions_, {1}), graph_.unsqueeze(positions_, {2})});  // key - query
        seen_ = logits_of_seen(config_.reach);
        local_seen_ = config_.local.empty() ? seen_ : logits_of_seen(config_.local_reach);
        if (config_.relative_buckets > 0) position_bias_ = relative_bias();
        if (config_.rotary_dim == 0) return;
        rotary_ = turns(config_.rotary, "rotary_frequencies");
        const bool same = config_.local.empty() || config_.local_rotary == config_.rotary;
        local_rotary_ = same ? rotary_ : turns(config_.local_rotary, "local_rotary_frequencies");
    }

    /// 0 where a query sees a key, else `unseen`: [B, 1, L, L], or [B, 1, 1, L] where all see all.
    Value logits_of_seen(const Reach& reach) {
        Value sees = graph_.unsqueeze(present_, {1});  // [B, 1, L]
        if (reach.after < Reach::everything)
            sees = graph_.node("And", {sees, graph_.node("LessOrEqual", {distance_, graph_.integer(reach.after)})});
        if (reach.before < Reach::everything)
            sees = graph_.node("And", {sees, graph_.node("GreaterOrEqual", {distance_, graph_.integer(-reach.before)})});
        return graph_.unsqueeze(graph_.node("Where", {sees, graph_.number(0), graph_.number(unseen)}), {1});
    }

    /// The bias of each head by distance; beyond the largest distance it is that distance's: [B, H, L, L].
    Value relative_bias() {
        const std::int64_t most = config_.relative_max_distance, heads = config_.num_heads;
        const std::vector<float> by_bucket = layers_.values(config_.names.relative_bias + ".weight");
        std::vector<float> by_distance;
        for (std::int64_t distance = -most; distance <= most; ++distance) {
            const auto row = by_bucket.begin() + relative_bucket(distance, config_.relative_buckets, most) * heads;
            by_distance.insert(by_distance.end(), row, row + heads);
        }
        const Value table = graph_.weight(config_.names.relative_bias + ".by_distance", {2 * most + 1, heads}, by_distance);
        const Value near = graph_.node("Min", {graph_.node("Max", {distance_, graph_.integer(-most)}), graph_.integer(most)});
        return graph_.transpose(graph_.node("Gather", {table, graph_.add(near, graph_.integer(most))}, {{"axis", std::int64_t{0}}}),
                                {0, 3, 1, 2});
    }

    struct Turns {
        Value cosine, sine;
    };

    /// Cosines and sines of every position, [B, 1, L, rotary_dim / 2]; frequencies and angles in float32, as rotary_table() has them.
    Turns turns(const Rotary& rotary, const std::string& name) {
        std::vector<float> frequencies;
        for (std::int64_t i = 0; i < config_.rotary_dim / 2; ++i) frequencies.push_back(rotary_frequency(i, config_.rotary_dim, rotary));
        const Value each = graph_.weight(name, {config_.rotary_dim / 2}, frequencies);
        const Value angles = graph_.multiply(graph_.unsqueeze(graph_.cast(positions_, OnnxType::float32), {1, 3}), each);
        const auto times_amplitude = [&](const Value& x) {
            return rotary.amplitude == 1 ? x : graph_.multiply(x, graph_.number(rotary.amplitude));
        };
        return {times_amplitude(graph_.node("Cos", {angles})), times_amplitude(graph_.node("Sin", {angles}))};
    }

    /// Rows of the table of positions; RoBERTa's begin behind the padding id, and a token that has that id is not counted.
    Value position_rows() {
        if (config_.first_position == 0) return positions_;
        const Value before = graph_.integer(config_.first_position - 1);
        const Value other = graph_.cast(graph_.node("Not", {graph_.node("Equal", {ids_, before})}), OnnxType::int64);
        const Value counts = graph_.multiply(mask_, other);
        return graph_.add(graph_.multiply(graph_.node("CumSum", {counts, graph_.integer(1)}), counts), before);
    }

    Value embed() {
        graph_.enter("embeddings");
        const EncoderNames& n = config_.names;
        Value sum = layers_.table(ids_, n.word, true);
        if (config_.word_scale != 1) sum = graph_.multiply(sum, graph_.number(static_cast<float>(config_.word_scale)));
        if (config_.max_positions > 0) sum = graph_.add(sum, layers_.table(position_rows(), n.position, false));
        if (config_.num_token_types > 0) sum = graph_.add(sum, layers_.table(graph_.integer(0), n.token_type, false));
        return n.embedding_norm.empty() ? sum : norm(sum, n.embedding_norm);
    }

    /// Queries, keys and values, [B, L, heads w] each.
    Values projections(std::int64_t i, const Value& x) {
        const EncoderNames& n = config_.names;
        if (n.qkv.size() == 1) return graph_.split(layers_.linear(x, place(i, n.qkv.front())), config_.qkv_dims(), -1);
        Values parts;
        for (const std::string& name : n.qkv) parts.push_back(layers_.linear(x, place(i, name)));
        return parts;
    }

    /// [B, L, H w] -> [B, H, L, w], each head normed where the family does that, and turned.
    Value heads_of(const Value& x, std::int64_t heads, const std::string& head_norm, const Turns* turns) {
        Value split = graph_.reshape(x, {0, 0, heads, config_.head_dim});
        if (!head_norm.empty()) split = norm(split, head_norm);
        split = graph_.transpose(split, {0, 2, 1, 3});
        return turns ? turned(split, *turns) : split;
    }

    /// (a, b, rest) -> (a cos - b sin, b cos + a sin, rest) (Su et al., 2021).
    Value turned(const Value& x, const Turns& by) {
        const std::int64_t half = config_.rotary_dim / 2, rest = config_.head_dim - config_.rotary_dim;
        std::vector<std::int64_t> sizes{half, half};
        if (rest > 0) sizes.push_back(rest);
        Values parts = graph_.split(x, sizes, -1);
        const Value a = parts[0], b = parts[1];
        parts[0] = graph_.node("Sub", {graph_.multiply(a, by.cosine), graph_.multiply(b, by.sine)});
        parts[1] = graph_.add(graph_.multiply(b, by.cosine), graph_.multiply(a, by.sine));
        return graph_.node("Concat", parts, {{"axis", std::int64_t{-1}}});
    }

    /// softmax(scale q k^T + bias) v, then W_o (Vaswani et al., 2017).
    Value attend(std::int64_t i, const Value& x) {
        const EncoderNames& n = config_.names;
        const auto named = [&](const std::string& name) { return name.empty() ? name : place(i, name); };
        const Turns* by = config_.rotary_dim == 0 ? nullptr : config_.is_local(i) ? &*local_rotary_ : &*rotary_;
        const Values parts = projections(i, x);
        Value q = heads_of(parts[0], config_.num_heads, named(n.query_norm), by);
        q = graph_.multiply(q, graph_.number(static_cast<float>(config_.attention_scale)));
        const Value k = shared_heads(heads_of(parts[1], config_.num_key_heads, named(n.key_norm), by));
        const Value v = shared_heads(heads_of(parts[2], config_.num_key_heads, "", nullptr));
        Value logits = graph_.add(graph_.node("MatMul", {q, graph_.transpose(k, {0, 1, 3, 2})}), config_.is_local(i) ? local_seen_ : seen_);
        if (!position_bias_.empty()) logits = graph_.add(logits, position_bias_);
        const Value shares = graph_.node("Softmax", {logits}, {{"axis", std::int64_t{-1}}});
        const Value out = graph_.transpose(graph_.node("MatMul", {shares, v}), {0, 2, 1, 3});
        return layers_.linear(graph_.reshape(out, {0, 0, config_.num_heads * config_.head_dim}), place(i, n.attention_output));
    }

    /// [B, key heads, L, w] -> [B, H, L, w]: each key head again for every query head that reads it.
    Value shared_heads(const Value& x) {
        const std::int64_t sharing = config_.num_heads / config_.num_key_heads;
        if (sharing == 1) return x;
        const Value each = graph_.node("Expand", {graph_.unsqueeze(x, {2}), graph_.integers({1, 1, sharing, 1, 1})});
        return graph_.reshape(each, {0, config_.num_heads, -1, config_.head_dim});
    }

    Value activated(const Value& x) {
        switch (config_.activation) {
            case Activation::relu:
                return graph_.node("Relu", {x});
            case Activation::silu:
                return graph_.multiply(x, graph_.node("Sigmoid", {x}));
            case Activation::gelu:
                return gelu(x, graph_.node("Erf", {graph_.node("Div", {x, graph_.number(std::sqrt(2.0f))})}));
            case Activation::gelu_tanh: {
                const Value cube = graph_.multiply(graph_.multiply(x, x), x);
                const Value inner = graph_.add(x, graph_.multiply(cube, graph_.number(0.044715f)));
                return gelu(x, graph_.node("Tanh", {graph_.multiply(inner, graph_.number(static_cast<float>(std::sqrt(2 / M_PI))))}));
            }
        }
        return x;
    }
    Value gelu(const Value& x, const Value& curve) {
        return graph_.multiply(graph_.multiply(x, graph_.add(curve, graph_.number(1))), graph_.number(0.5f));
    }

    Value feed_forward(std::int64_t i, const Value& x) {
        const EncoderNames& n = config_.names;
        Values up;
        for (const std::string& name : n.up) up.push_back(layers_.linear(x, place(i, name)));
        if (config_.gated && up.size() == 1) up = graph_.split(up.front(), {config_.intermediate_dim, config_.intermediate_dim}, -1);
        const Value inner = !config_.gated        ? activated(up[0])
                            : config_.gate_second ? graph_.multiply(up[0], activated(up[1]))
                                                  : graph_.multiply(activated(up[0]), up[1]);
        return layers_.linear(inner, place(i, n.down));
    }

    Value post_norm_block(std::int64_t i, const Value& x) {
        graph_.enter(fmt::format("block.{}", i));
        const EncoderNames& n = config_.names;
        const Value y = norm(graph_.add(x, attend(i, x)), place(i, n.attention_norm));
        return norm(graph_.add(y, feed_forward(i, y)), place(i, n.mlp_norm));
    }

    Value pre_norm_block(std::int64_t i, const Value& x) {
        graph_.enter(fmt::format("block.{}", i));
        const EncoderNames& n = config_.names;
        const auto behind = [&](const Value& half, const std::string& name) { return name.empty() ? half : norm(half, place(i, name)); };
        const Value normed = config_.has_attention_norm(i) ? norm(x, place(i, n.attention_norm)) : x;
        const Value y = graph_.add(x, behind(attend(i, normed), n.attention_behind));
        return graph_.add(y, behind(feed_forward(i, norm(y, place(i, n.mlp_norm))), n.mlp_behind));
    }

    /// The rows that pooling takes, as their shares: [B, L].
    Value shares_of_rows() {
        const Value count = graph_.node("ReduceSum", {mask_, graph_.integers({1})}, {{"keepdims", std::int64_t{1}}});  // [B, 1]
        const auto only = [&](const Value& position) {
            return graph_.cast(graph_.node("And", {present_, graph_.node("Equal", {positions_, position})}), OnnxType::float32);
        };
        if (folder_.pooling == Pooling::cls) return only(graph_.integer(0));
        if (folder_.pooling == Pooling::last_token) return only(graph_.node("Sub", {count, graph_.integer(1)}));
        const bool weighted = folder_.pooling == Pooling::weighted_mean;
        const Value parts = weighted ? graph_.multiply(mask_, graph_.add(positions_, graph_.integer(1))) : mask_;
        const Value sum = weighted ? graph_.node("ReduceSum", {parts, graph_.integers({1})}, {{"keepdims", std::int64_t{1}}}) : count;
        Value some = graph_.cast(graph_.node("Max", {sum, graph_.integer(1)}), OnnxType::float32);
        if (folder_.pooling == Pooling::mean_sqrt_length) some = graph_.node("Sqrt", {some});
        return graph_.node("Div", {graph_.cast(parts, OnnxType::float32), some});
    }

    /// The greatest of each feature over the rows; 0 of none.
    Value greatest(const Value& hidden) {
        const Value rows = graph_.node("Where", {graph_.unsqueeze(present_, {2}), hidden, graph_.number(unseen)});
        const Value any = graph_.node("ReduceMax", {mask_}, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{1}}});
        return graph_.multiply(graph_.node("ReduceMax", {rows}, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}}),
                               graph_.cast(any, OnnxType::float32));
    }

    Value embedding_of(const Value& hidden) {
        Value x = folder_.pooling == Pooling::max
                      ? greatest(hidden)
                      : graph_.sum(graph_.multiply(hidden, graph_.unsqueeze(shares_of_rows(), {2})), 1);  // [B, D]
        for (const DenseModule& head : folder_.dense) {
            x = layers_.exact_linear(x, head.name + ".linear");
            if (head.tanh) x = graph_.node("Tanh", {x});
        }
        if (!folder_.normalize) return x;
        const Value length =
            graph_.node("Sqrt", {graph_.node("ReduceSum", {graph_.multiply(x, x), graph_.integers({1})}, {{"keepdims", std::int64_t{1}}})});
        return graph_.node("Div", {x, graph_.node("Max", {length, graph_.number(1e-12f)})});
    }

    const ModelFolder& folder_;
    Weights weights_;
    EncoderConfig config_;
    GraphBuilder graph_;
    GraphLayers layers_;
    Value ids_, mask_, present_, positions_, distance_, seen_, local_seen_, position_bias_;
    std::optional<Turns> rotary_, local_rotary_;
};

}  // namespace

const char* onnx_file_of(OnnxForm form) { return form == OnnxForm::int8 ? "onnx/model_qint8_avx512_vnni.onnx" : "onnx/model.onnx"; }

std::string beyond_onnx(const ModelFolder& folder, const EncoderConfig& config) {
    if (config.routed.every > 0) return "its blocks route tokens";
    if (config.disentangled.span > 0) return "its attention is disentangled";
    if (turns_by_length(config, folder.max_seq_length)) return "its rotary positions depend on the length of a text";
    if (!folder.include_prompt) return "its pooling leaves the instruction's tokens out, which the graph's inputs do not tell";
    return "";
}

OnnxGraph encoder_graph(const ModelFolder& folder, OnnxForm form, const Int8Plan& plan) { return EncoderGraph(folder, form, plan).build(); }

}  // namespace faceter
