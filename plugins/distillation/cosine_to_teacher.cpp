#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "checkpoint/weights.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "losses.h"
#include "model/embedding_model.h"
#include "teacher_guide.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"

namespace faceter {
namespace {

/// y = W x + b, from the trained model's width to the teacher's.
struct LinearMap {
    at::Tensor weight, bias;  ///< [D', D], [D']; undefined: widths are equal

    void make(std::int64_t from, std::int64_t to, const at::TensorOptions& options, std::uint64_t seed) {
        RandomStream random(seed, "cosine_to_teacher");
        const double most = 1 / std::sqrt(static_cast<double>(from));  // as PyTorch begins a linear layer
        std::vector<double> values;
        for (std::int64_t i = 0; i < to * from; ++i) values.push_back((2 * random.uniform() - 1) * most);
        weight = at::tensor(at::ArrayRef<double>(values)).view({to, from}).to(options).requires_grad_();
        bias = at::zeros({to}, options).requires_grad_();
    }
    at::Tensor operator()(const at::Tensor& x) const { return weight.defined() ? at::linear(x.to(weight.scalar_type()), weight, bias) : x; }
};

/// 1 - cos(P x, y), x a text's embedding and y the teacher's, P a linear map where their widths differ: mean over all texts of the batch,
/// each as often as it stands there (sentence-transformers' EmbedDistillLoss).
class CosineToTeacher final : public PairObjective {
  public:
    explicit CosineToTeacher(const Json& settings) : teacher_(json_at<std::string>(settings, "teacher", "objective")) {}

    std::string attach(const EmbeddingModel& model, std::uint64_t seed, const std::filesystem::path& kept) override {
        guide_ = std::make_unique<TeacherGuide>(teacher_, model);
        if (guide_->dim() == model.dim()) return "learns from " + teacher_;
        const Encoder& encoder = *model.encoders.front();
        map_.make(model.dim(), guide_->dim(), at::TensorOptions(encoder.dtype()).device(encoder.device()), seed);
        const bool found = fs::is_regular_file(kept);
        if (found) load(kept);
        return fmt::format("learns from {} through a {} linear map of {} to {} elements", teacher_, found ? "kept" : "fresh", model.dim(),
                           guide_->dim());
    }
    const Guide* guide() const override { return guide_.get(); }

    std::vector<Parameter> parameters() const override {
        if (!map_.weight.defined()) return {};
        return {{"projection.weight", map_.weight}, {"projection.bias", map_.bias, false}};
    }
    /// A map leads to the embeddings of its own teacher: a stage with another one begins with a fresh one.
    std::string kept_as() const override { return fmt::format("distillation_map-{}.safetensors", hash128(teacher_).hex().substr(0, 12)); }
    void keep(const std::filesystem::path& file) const override {
        if (!map_.weight.defined()) return;
        const fs::path fresh = file.string() + ".new";
        std::error_code ignored;
        fs::remove(fresh, ignored);  // of a killed run
        write_tensors(fresh, {{"projection.weight", map_.weight.detach()}, {"projection.bias", map_.bias.detach()}});
        rename_synced(fresh, file);
    }

    LossResult operator()(const PairEmbeddings& batch) const override {
        std::vector<at::Tensor> own{batch.queries, batch.documents}, wanted{batch.guide_queries, batch.guide_documents};
        std::vector<std::int64_t> keep = batch.keep;
        keep.insert(keep.end(), batch.keep.begin(), batch.keep.end());
        if (batch.negatives.defined()) {
            own.push_back(batch.negatives);
            wanted.push_back(batch.guide_negatives);
            const auto kept = keep_of_negatives(batch);
            keep.insert(keep.end(), kept.begin(), kept.end());
        }
        const at::Tensor mapped = map_(at::cat(own));
        return {mean_of_kept(1 - at::cosine_similarity(mapped, at::cat(wanted).to(mapped.scalar_type()), 1), keep), {}};
    }

  private:
    void load(const fs::path& file) {
        const Weights weights(std::vector<fs::path>{file});
        for (const Parameter& p : parameters()) read_tensor(weights, p.name, p.tensor.detach());
    }
    std::string teacher_;
    std::unique_ptr<TeacherGuide> guide_;
    LinearMap map_;
};

}  // namespace

std::unique_ptr<PairObjective> make_cosine_to_teacher(const Json& settings) { return std::make_unique<CosineToTeacher>(settings); }

}  // namespace faceter
