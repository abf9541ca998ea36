#include "model/compute.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "common/error.h"
#include "common/strings.h"

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

/// One product of an encoder while it is decided how it is computed. At most one of the forms that it may keep is laid out.
struct Candidate {
    std::string name;
    ProductPointer exact, lowered;
    std::shared_ptr<ProductError> error = std::make_shared<ProductError>();
};

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

/// Lets the sample pass twice: in float32 to see how large activations are, then beside the lower form to see what that loses.
std::vector<Candidate> measured_products(Encoder& encoder, const Sample& sample, Compute compute) {
    std::vector<Candidate> all;
    encoder.lay_out_products([&](const ProductPlace& place, const at::Tensor& weight) {
        Candidate one{place.name(), nullptr, nullptr};
        const auto exact = std::make_shared<ProductWeights>(weight, unprepared_form(weight.scalar_type()));
        exact->measure(nullptr, one.error);
        all.push_back(std::move(one));
        return exact;
    });
    sample.embedded();
    std::size_t next = 0;
    encoder.lay_out_products([&](const ProductPlace&, const at::Tensor& weight) {
        Candidate& one = all[next++];
        one.lowered = std::make_shared<ProductWeights>(weight, form_of(compute), one.error->sizes());
        const auto measuring = std::make_shared<ProductWeights>(weight, unprepared_form(weight.scalar_type()));
        measuring->measure(one.lowered, one.error);
        return measuring;
    });
    sample.embedded();
    return all;
}

/// The worst products in the form that is kept, the others lowered. Called with ever more of the worst.
void lay_out(Encoder& encoder, std::vector<Candidate>& all, const std::vector<std::size_t>& worst_first, std::size_t num_exact,
             Compute compute) {
    std::vector<bool> exact(all.size(), false);
    for (std::size_t i = 0; i < num_exact; ++i) exact[worst_first[i]] = true;
    std::size_t next = 0;
    encoder.lay_out_products([&](const ProductPlace&, const at::Tensor& weight) {
        const std::size_t i = next++;
        Candidate& one = all[i];
        if (!exact[i]) return one.lowered;
        one.lowered.reset();
        if (!one.exact) one.exact = std::make_shared<ProductWeights>(weight, kept_form(compute, weight.scalar_type()));
        return one.exact;
    });
}

void lower_products(EmbeddingModel& model, int index, ComputeReport& report) {
    Encoder& encoder = *model.encoders[static_cast<std::size_t>(index)];
    const Sample sample(model, index);
    encoder.drop_prepared();
    const at::Tensor expected = sample.embedded();
    auto all = measured_products(encoder, sample, report.compute);
    std::vector<std::size_t> worst_first(all.size());
    std::iota(worst_first.begin(), worst_first.end(), std::size_t{0});
    std::stable_sort(worst_first.begin(), worst_first.end(),
                     [&](auto a, auto b) { return all[a].error->relative() > all[b].error->relative(); });
    const std::size_t step = all.size() / 16 + 1;
    std::size_t num_exact = 0;
    double cosine = 0;
    for (;; num_exact = std::min(all.size(), num_exact + step)) {
        lay_out(encoder, all, worst_first, num_exact, report.compute);
        cosine = smallest_cosine(sample.embedded(), expected);
        if (cosine >= wanted_cosine(report.compute) || num_exact == all.size()) break;
    }
    report.num_products += all.size();
    report.smallest_cosine = std::min(report.smallest_cosine, cosine);
    const std::string prefix = model.encoders.size() > 1 ? fmt::format("encoder {}, ", index) : "";
    for (std::size_t i = 0; i < num_exact; ++i) report.kept.push_back(prefix + all[worst_first[i]].name);
}

/// Of an accelerator: all products in bfloat16, in place of the encoder that was, and texts end to end in its attention.
void lower_on_device(EmbeddingModel& model, int index, ComputeReport& report) {
    std::unique_ptr<Encoder>& encoder = model.encoders[static_cast<std::size_t>(index)];
    if (report.compute == Compute::float32) return;
    if (report.compute == Compute::int8)
        throw usage_error("--compute {} is of the CPU, and the model is on {}; add --device cpu, or take bf16",
                          compute_name(report.compute), encoder->device().str());
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

Compute compute_from_name(std::string_view name) {
    for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8})
        if (name == compute_name(compute)) return compute;
    throw usage_error("no way to compute is called {}; float32, bf16 and int8 are known", faceter::quoted(name));
}

std::string_view compute_name(Compute compute) { return compute_names[static_cast<std::size_t>(compute)]; }

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
            lower_products(model, static_cast<int>(i), report);
        if (release_weights) encoder.release_prepared();
    }
    model.computed = compute == Compute::float32 ? "" : fmt::format("{} but {}", compute_name(compute), fmt::join(report.kept, "; "));
    return report;
}

}  // namespace faceter
