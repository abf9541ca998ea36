#include "model/compute.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "common/error.h"
#include "common/strings.h"
#include "model/accelerator.h"
#include "model/layout_rule.h"

namespace faceter {
namespace {

constexpr std::string_view sample[] = {
    "How do I reset my password?",
    "weather tomorrow",
    "The treaty was signed in 1648 and ended thirty years of war across much of central Europe; historians still argue about what it "
    "settled.",
    "int main() { std::vector<int> v = {3, 1, 2}; std::sort(v.begin(), v.end()); return v[0]; }",
    "We investigate whether low-dose aspirin reduces the incidence of venous thromboembolism in patients after knee surgery. In a "
    "randomised, "
    "double-blind trial with 2,104 participants the primary outcome occurred in 3.1 % of the treated group and in 4.7 % of the control "
    "group.",
    "I bought this kettle in May and it stopped working in July. Would not buy again!!!",
    "Der Zug nach Hamburg f\xc3\xa4hrt heute vierzig Minuten sp\xc3\xa4ter ab.",
    "\xe4\xbb\x8a\xe5\xa4\xa9\xe5\xa4\xa9\xe6\xb0\x94\xe5\xbe\x88\xe5\xa5\xbd",
    "3.14159 * 2.71828 = 8.5397",
    "A man is playing the guitar on stage.",
    "A person performs music for an audience.",
    "yes",
};

ProductForm form_of(Compute compute) {
    return compute == Compute::int8 ? ProductForm::int8 : compute == Compute::bf16 ? ProductForm::bf16 : ProductForm::float32;
}

/// The ways that texts take through an encoder.
std::vector<Route> routes_through(const EmbeddingModel& model, int encoder) {
    std::set<std::pair<Path, std::string>> ways;
    for (const auto& [key, route] : model.routes)
        if (route.encoder == encoder) ways.emplace(route.path, route.instruction);
    if (encoder == 0) ways.emplace(Path{}, "");
    for (std::size_t a = 0; a < model.encoders[static_cast<std::size_t>(encoder)]->adapters().size(); ++a)
        ways.emplace(Path::of_adapter(static_cast<int>(a)), "");
    std::vector<Route> routes;
    for (const auto& [path, instruction] : ways) routes.push_back({instruction, encoder, path});
    return routes;
}

/// The sample on every way through one encoder, cut to a length that costs little.
class Sample {
  public:
    Sample(const EmbeddingModel& model, int encoder) : model_(model), encoder_(*model.encoders[static_cast<std::size_t>(encoder)]) {
        const std::size_t longest = std::min<std::size_t>(model.max_length, 64);
        std::vector<SequenceInput> inputs;
        for (const Route& route : routes_through(model, encoder))
            for (const std::string_view text : sample) {
                std::vector<std::int32_t> ids;
                model.tokenizer->encode(route.instruction + std::string(text), longest, ids);
                if (ids.empty()) continue;
                ids_.push_back(std::move(ids));
                inputs.push_back({ids_.back().data(), static_cast<std::int64_t>(ids_.back().size()), 0, route.path});
            }
        batch_ = make_packed_batch(inputs);
    }
    at::Tensor embedded() const { return model_.embed(encoder_, batch_, {}); }

  private:
    const EmbeddingModel& model_;
    const Encoder& encoder_;
    std::vector<std::vector<std::int32_t>> ids_;
    PackedBatch batch_;
};

double smallest_cosine(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor x = a.to(at::kDouble), y = b.to(at::kDouble);
    const at::Tensor sizes = (x.norm(2, -1) * y.norm(2, -1)).clamp_min(1e-300);
    const double smallest = ((x * y).sum(-1) / sizes).min().item<double>();
    return std::isnan(smallest) ? 0 : smallest;  // of a model whose weights are damaged
}

/// The form that products are kept in which lose too much in another.
ProductForm kept_form(Compute compute, at::ScalarType weight) {
    const bool halved = compute == Compute::int8 && kernels::multiplies_natively(ProductForm::bf16);
    return halved ? ProductForm::bf16 : unprepared_form(weight);
}

/// One product of an encoder while it is decided how it is computed.
struct Candidate {
    std::string name;
    bool kept = false;  ///< from the lower form
    std::shared_ptr<ProductError> error = std::make_shared<ProductError>();
    at::Tensor sizes{};        ///< of the elements of its activations; int8 learns from them
    ProductPointer lowered{};  ///< in int8, once it was asked for: that takes long, and little memory
};

/// The products of an encoder, none of which is laid out for longer than one product of a pass before it is known in which form.
class Candidates {
  public:
    Candidates(Encoder& encoder, Compute compute) : encoder_(encoder), compute_(compute) {
        encoder_.lay_out_products([&](const ProductPlace& place, const at::Tensor& weight) -> ProductPointer {
            by_weight_[weight.const_data_ptr()] = all_.size();
            all_.push_back({place.name()});
            return nullptr;
        });
        encoder_.drop_prepared();
    }

    /// What the sample gives in float32. int8 learns how large activations are.
    at::Tensor exact(const Sample& sample) {
        if (compute_ != Compute::int8) return sample.embedded();
        const at::Tensor rows = pass(sample, [](Candidate& one, const at::Tensor& weight) { return measured(weight, nullptr, one); });
        for (Candidate& one : all_) one.sizes = one.error->sizes();
        return rows;
    }
    at::Tensor lowered(const Sample& sample) {
        return pass(sample, [&](Candidate& one, const at::Tensor& weight) { return laid_out(one, weight); });
    }
    /// Which of them lose most beside float32, the worst first.
    std::vector<std::size_t> worst_first(const Sample& sample) {
        pass(sample, [&](Candidate& one, const at::Tensor& weight) { return measured(weight, laid_out(one, weight), one); });
        std::vector<std::size_t> order(all_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all_[a].error->relative() > all_[b].error->relative(); });
        return order;
    }
    void keep(std::size_t i) {
        all_[i].kept = true;
        all_[i].lowered = nullptr;
    }
    /// Each in its form from here on.
    void lay_out(bool release_weights) {
        std::size_t next = 0;
        encoder_.lay_out_products([&](const ProductPlace&, const at::Tensor& weight) { return laid_out(all_[next++], weight); },
                                  release_weights);
    }
    std::size_t size() const { return all_.size(); }
    const std::string& name(std::size_t i) const { return all_[i].name; }

  private:
    template <typename LayOut>
    at::Tensor pass(const Sample& sample, const LayOut& lay_out) {
        const LayoutRule rule([&](const at::Tensor& weight) -> ProductPointer {
            const auto found = by_weight_.find(weight.const_data_ptr());
            return found == by_weight_.end() ? nullptr : lay_out(all_[found->second], weight);
        });
        return sample.embedded();
    }
    static ProductPointer measured(const at::Tensor& weight, ProductPointer beside, Candidate& one) {
        const auto exact = std::make_shared<ProductWeights>(weight, unprepared_form(weight.scalar_type()));
        exact->measure(std::move(beside), one.error);
        return exact;
    }
    ProductPointer laid_out(Candidate& one, const at::Tensor& weight) const {
        if (one.kept) return std::make_shared<const ProductWeights>(weight, kept_form(compute_, weight.scalar_type()));
        if (one.lowered) return one.lowered;
        const auto lowered = std::make_shared<const ProductWeights>(weight, form_of(compute_), one.sizes);
        if (compute_ == Compute::int8) one.lowered = lowered;
        return lowered;
    }

    Encoder& encoder_;
    Compute compute_;
    std::vector<Candidate> all_;
    std::unordered_map<const void*, std::size_t> by_weight_;  ///< where the weight's numbers lie
};

void lower_products(EmbeddingModel& model, int index, ComputeReport& report, bool release_weights) {
    const Sample sample(model, index);
    Candidates all(*model.encoders[static_cast<std::size_t>(index)], report.compute);
    const at::Tensor expected = all.exact(sample);
    const auto reached = [&] { return smallest_cosine(all.lowered(sample), expected); };
    double cosine = reached();
    const std::string prefix = model.encoders.size() > 1 ? fmt::format("encoder {}, ", index) : "";
    if (cosine < wanted_cosine(report.compute)) {
        const auto worst_first = all.worst_first(sample);
        const std::size_t step = all.size() / 16 + 1;
        for (std::size_t num_kept = 0; num_kept < all.size() && cosine < wanted_cosine(report.compute); cosine = reached())
            for (const std::size_t end = std::min(all.size(), num_kept + step); num_kept < end; ++num_kept) {
                all.keep(worst_first[num_kept]);
                report.kept.push_back(prefix + all.name(worst_first[num_kept]));
            }
    }
    report.num_products += all.size();
    report.smallest_cosine = std::min(report.smallest_cosine, cosine);
    all.lay_out(release_weights);
}

/// What a model's fingerprint has of it.
std::string computed_as(Compute compute, const std::vector<std::string>& kept) {
    return compute == Compute::float32 ? "" : fmt::format("{} but {}", compute_name(compute), fmt::join(kept, "; "));
}

/// Of an accelerator: all products in bfloat16, in place of the encoder that was, and texts end to end in its attention.
void lower_on_device(EmbeddingModel& model, int index, ComputeReport& report) {
    std::unique_ptr<Encoder>& encoder = model.encoders[static_cast<std::size_t>(index)];
    if (report.compute == Compute::float32) return;
    if (report.compute == Compute::int8)
        throw usage_error("--compute {} is of the CPU, and the model is on {}; add --device cpu, or take bf16",
                          compute_name(report.compute), encoder->device().str());
    require_bfloat16(encoder->device());
    const at::Tensor expected = Sample(model, index).embedded();
    encoder = encoder->lowered(at::kBFloat16);
    report.native = true;
    report.smallest_cosine = std::min(report.smallest_cosine, smallest_cosine(Sample(model, index).embedded(), expected));
}

/// Every product in the form of its weights; returns how many there are.
std::size_t lay_out_as_given(Encoder& encoder, bool release_weights) {
    std::size_t count = 0;
    encoder.lay_out_products(
        [&](const ProductPlace&, const at::Tensor& weight) {
            ++count;
            return std::make_shared<const ProductWeights>(weight, unprepared_form(weight.scalar_type()));
        },
        release_weights);
    return count;
}

}  // namespace

LaidOutProducts::LaidOutProducts(EmbeddingModel& model) {
    const at::NoGradGuard no_grad;
    for (const auto& encoder : model.encoders) {
        const bool by_kernels = encoder->device().is_cpu() && encoder->dtype() == at::kFloat;
        if (!by_kernels || encoder->blocks().empty() || encoder->blocks().front().qkv.prepared) continue;
        lay_out_as_given(*encoder, false);
        encoders_.push_back(encoder.get());
    }
}

LaidOutProducts::~LaidOutProducts() {
    for (Encoder* encoder : encoders_) encoder->drop_prepared();
}

LoweredEncoders::LoweredEncoders(EmbeddingModel& model, bool wanted) : model_(model) {
    const bool full = !model.encoders.empty() && model.computed.empty() && model.encoders.front()->dtype() == at::kFloat;
    if (!wanted || !full || !is_accelerator(model.encoders.front()->device())) return;
    const at::NoGradGuard no_grad;
    std::string computed = computed_as(Compute::bf16, {});
    std::vector<std::unique_ptr<Encoder>> low;
    for (const auto& encoder : model.encoders) low.push_back(encoder->lowered(at::kBFloat16));
    kept_ = std::exchange(model.encoders, std::move(low));
    model.computed = std::move(computed);
}

LoweredEncoders::~LoweredEncoders() {
    if (kept_.empty()) return;
    model_.encoders = std::move(kept_);
    model_.computed.clear();
}

Compute compute_from_name(std::string_view name) {
    for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8})
        if (name == compute_name(compute)) return compute;
    throw usage_error("no way to compute is called {}; float32, bf16 and int8 are known", faceter::quoted(name));
}

std::string_view compute_name(Compute compute) { return compute_names[static_cast<std::size_t>(compute)]; }

std::string compute_name_of(const EmbeddingModel& model) {
    return model.computed.empty() ? "float32" : model.computed.substr(0, model.computed.find(' '));
}

std::span<const std::string_view> compute_sample() { return sample; }

double wanted_cosine(Compute compute) { return compute == Compute::int8 ? 0.995 : compute == Compute::bf16 ? 0.9995 : 1.0; }

ComputeReport prepare_products(EmbeddingModel& model, Compute compute, bool release_weights) {
    const at::NoGradGuard no_grad;
    ComputeReport report;
    report.compute = compute;
    report.native = kernels::multiplies_natively(form_of(compute));
    if (kept_form(compute, at::kFloat) == ProductForm::bf16) report.kept_in = compute_name(Compute::bf16);
    for (std::size_t i = 0; i < model.encoders.size(); ++i) {
        Encoder& encoder = *model.encoders[i];
        if (!encoder.device().is_cpu()) {
            lower_on_device(model, static_cast<int>(i), report);
            continue;
        }
        if (compute == Compute::float32)
            report.num_products += lay_out_as_given(encoder, release_weights);
        else
            lower_products(model, static_cast<int>(i), report, release_weights);
    }
    model.computed = computed_as(compute, report.kept);
    return report;
}

}  // namespace faceter
