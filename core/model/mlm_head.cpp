#include "model/mlm_head.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "checkpoint/language_head.h"
#include "common/error.h"
#include "common/random.h"
#include "common/strings.h"
#include "model/matrix.h"
#include "model/ops.h"
#include "model/ops_common.h"
#include "model/read_tensor.h"

namespace faceter {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

const LanguageHead& names_of(const std::string& model_type) {
    const LanguageHead* head = language_head(model_type);
    if (!head)
        throw settings_error("a model of type {} has no head for masked-language modelling; {} have", faceter::quoted(model_type),
                             families_with_language_head);
    return *head;
}

/// The first of `names` + `ending` that the weights hold; the first of all where they hold none, for the message.
std::string name_in(const Weights& weights, const std::vector<std::string>& names, const std::vector<std::string>& endings) {
    for (const std::string& name : names)
        for (const std::string& ending : endings)
            if (weights.find(name + ending)) return name + ending;
    return names.front() + endings.front();
}

void read_into(const Weights& weights, const std::string& name, const at::Tensor& tensor) {
    read_tensor_into(weights, name, tensor, "the encoder makes it");
}

/// That of transformers' heads: RoBERTa's relatives have GELU in it whatever the blocks have, ModernBERT has a member of its own.
Activation activation_in_head(const std::string& model_type, Activation of_blocks) {
    const LanguageHead& names = names_of(model_type);
    return names.dense == "lm_head.dense" || !names.inner_bias ? Activation::gelu : of_blocks;
}

}  // namespace

MlmHead::MlmHead(const Encoder& encoder, const std::string& model_type, std::uint64_t seed)
    : model_type_(model_type),
      activation_(activation_in_head(model_type, encoder.config().activation)),
      epsilon_(encoder.config().norm_epsilon) {
    const LanguageHead& names = names_of(model_type);
    const std::int64_t dim = encoder.config().hidden_dim;
    const auto options = at::TensorOptions(encoder.dtype()).device(encoder.device());
    dense_ = at::empty({dim, dim}, at::kFloat);
    RandomStream random(seed, "mlm head");
    std::generate_n(dense_.data_ptr<float>(), dense_.numel(), [&] { return static_cast<float>(0.02 * random.normal()); });
    dense_ = dense_.to(options);
    gamma_ = at::ones({dim}, options);
    bias_ = at::zeros({encoder.config().vocab_size}, options);
    tensors_ = {{names.dense + ".weight", dense_}, {names.norm.front() + ".weight", gamma_}, {names.bias.front(), bias_}};
    if (!names.inner_bias) return;
    dense_bias_ = at::zeros({dim}, options);
    beta_ = at::zeros({dim}, options);
    tensors_.push_back({names.dense + ".bias", dense_bias_});
    tensors_.push_back({names.norm.front() + ".bias", beta_});
}

bool MlmHead::load(const Weights& weights, const Json& config) {
    const LanguageHead& names = names_of(model_type_);
    if (model_type_ == "modernbert") activation_ = activation_member(config, "classifier_activation", "config.json", "gelu");
    if (!weights.find(names.dense + ".weight")) return false;
    if (weights.find(names.decoder) && !json_or<bool>(config, "tie_word_embeddings", true, "config.json"))
        throw data_error(
            "{}: its decoder {} is not tied to the word embeddings (tie_word_embeddings: false), which is not supported; remove the head's "
            "tensors to start with a fresh one",
            weights.description(), names.decoder);
    read_into(weights, names.dense + ".weight", dense_);
    read_into(weights, name_in(weights, names.norm, {".weight", ".gamma"}), gamma_);
    const std::string bias = name_in(weights, names.bias, {""});
    if (weights.find(bias) || json_or<bool>(config, "decoder_bias", true, "config.json")) read_into(weights, bias, bias_);
    const auto read_where_held = [&](const std::string& name, at::Tensor& own) {
        if (!weights.find(name)) return;  // NomicBERT's released head has no inner bias, ModernBERT's where its configuration asks for one
        if (!own.defined()) tensors_.push_back({name, own = at::zeros_like(gamma_)});
        read_into(weights, name, own);
    };
    read_where_held(names.dense + ".bias", dense_bias_);
    read_where_held(name_in(weights, names.norm, {".bias", ".beta"}), beta_);
    return true;
}

at::Tensor MlmHead::transform(const at::Tensor& hidden) const {
    const at::Tensor inner = activate(linear_layer(hidden, dense_, dense_bias_), {activation_, false});
    return at::layer_norm(inner, {inner.size(1)}, gamma_, beta_.defined() ? std::optional<at::Tensor>(beta_) : std::nullopt, epsilon_);
}

std::vector<Parameter> MlmHead::parameters() const {
    std::vector<Parameter> all;
    for (const NamedTensor& t : tensors_) all.push_back({"mlm_head." + t.name, t.tensor, t.tensor.dim() == 2});
    return all;
}

at::Tensor word_embeddings(const Encoder& encoder) {
    const std::string name = encoder.config().names.word + ".weight";
    for (const Parameter& p : encoder.parameters())
        if (p.name == name) return p.tensor;
    throw failure("the encoder has no parameter {}", name);
}

namespace {

constexpr std::int64_t logits_at_a_time = std::int64_t{1} << 25;  // 128 MiB of float32

/// Loss, share of right guesses and, where wanted, gradients of the mean, in one walk over the rows.
struct Walk {
    at::Tensor loss, right, dx, dweight, dbias;
};

/// Products are in x's type; in a half-precision one, logits, losses and sums are in float32 all the same.
Walk walk_rows(const at::Tensor& x, const at::Tensor& given_weight, const at::Tensor& given_bias, const at::Tensor& targets,
               std::int64_t step, bool gradients) {
    const std::int64_t rows = x.size(0);
    const bool fast = fast_path(x);
    const auto narrow = x.scalar_type(), wide = given_weight.scalar_type();
    const at::Tensor weight = given_weight.to(narrow), bias = given_bias.to(narrow);
    Walk walk{at::zeros({}, x.options().dtype(wide)), at::zeros({}, x.options().dtype(at::kLong)), {}, {}, {}};
    if (gradients) walk.dx = at::empty_like(x), walk.dweight = at::zeros_like(given_weight), walk.dbias = at::zeros_like(given_bias);
    for (std::int64_t begin = 0; begin < rows; begin += step) {
        const std::int64_t count = std::min(step, rows - begin);
        const at::Tensor part = x.narrow(0, begin, count), target = targets.narrow(0, begin, count).unsqueeze(1);          // [m, D], [m, 1]
        at::Tensor logits = (fast ? product_transposed(part, weight, bias) : at::addmm(bias, part, weight.t())).to(wide);  // [m, V]
        walk.right += (logits.argmax(1, true) == target).sum();
        const at::Tensor normaliser = logits.logsumexp(1, true);
        walk.loss += (normaliser - logits.gather(1, target)).sum();
        if (!gradients) continue;
        logits.sub_(normaliser)
            .exp_()
            .scatter_add_(1, target, at::full_like(normaliser, -1))
            .div_(static_cast<double>(rows));  // d loss / d logits
        const at::Tensor dlogits = logits.to(narrow);
        walk.dx.narrow(0, begin, count).copy_(fast ? product(dlogits, weight) : dlogits.mm(weight));
        walk.dweight += fast ? product(dlogits.t(), part) : dlogits.t().mm(part);
        walk.dbias += logits.sum(0);
    }
    walk.loss /= static_cast<double>(rows);
    return walk;
}

struct TokenCrossEntropy : Function<TokenCrossEntropy> {
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                              const Walk& walk) {
        context->save_for_backward({walk.dx, walk.dweight, walk.dbias});
        return walk.loss.clone();
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const auto saved = context->get_saved_variables();
        return {saved[0] * gradients[0], saved[1] * gradients[0], saved[2] * gradients[0], at::Tensor()};
    }
};

}  // namespace

TokenLoss token_cross_entropy(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, const at::Tensor& targets,
                              std::int64_t rows_at_a_time) {
    const std::int64_t step = rows_at_a_time > 0 ? rows_at_a_time : std::max<std::int64_t>(1, logits_at_a_time / weight.size(0));
    const bool gradients = at::GradMode::is_enabled() && (x.requires_grad() || weight.requires_grad() || bias.requires_grad());
    Walk walk;
    {
        const at::NoGradGuard no_grad;
        walk = walk_rows(x.detach().contiguous(), weight.detach(), bias.detach(), targets, step, gradients);
    }
    const at::Tensor accuracy = walk.right.to(at::kDouble) / static_cast<double>(std::max<std::int64_t>(1, x.size(0)));
    return {gradients ? TokenCrossEntropy::apply(x, weight, bias, walk) : walk.loss, accuracy};
}

}  // namespace faceter
