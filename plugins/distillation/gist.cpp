#include <ATen/ATen.h>

#include <limits>

#include "losses.h"
#include "model/ops.h"
#include "teacher_guide.h"

namespace faceter {
namespace {

constexpr double rounding = 1e-6;  // of a cosine of float32 vectors: some units in the last place

at::Tensor cosines(const at::Tensor& a, const at::Tensor& b) { return at::matmul(normalize_rows(a), normalize_rows(b).t()); }

/// GIST (arXiv 2402.16829; sentence-transformers' GISTEmbedLoss): the cross entropy of each query's positive among all documents of the
/// batch, all queries, all documents beside its own, and the hard negatives, but for those whose cosine is, for the guide, above that of
/// the query and its positive less a margin. Cosines as near as rounding takes them (twins of the positive's text) count as equal: else
/// what is masked would hang on the order of the rows, and so on the number of ranks.
class Gist final : public PairObjective {
  public:
    explicit Gist(const Json& settings)
        : teacher_(json_at<std::string>(settings, "teacher", "objective")),
          relative_(json_at<std::string>(settings, "margin_kind", "objective") == "relative"),
          margin_(json_at<double>(settings, "margin", "objective")),
          queries_(json_at<bool>(settings, "contrast_queries", "objective")),
          documents_(json_at<bool>(settings, "contrast_documents", "objective")) {}

    std::string attach(const EmbeddingModel& model, std::uint64_t, const std::filesystem::path&) override {
        guide_ = std::make_unique<TeacherGuide>(teacher_, model);
        return "guided by " + teacher_;
    }
    const Guide* guide() const override { return guide_.get(); }

    LossResult operator()(const PairEmbeddings& batch) const override {
        const at::Tensor own = cosines(batch.guide_queries, batch.guide_documents);  // [B, B]
        const at::Tensor positive = own.diagonal().unsqueeze(1);                     // [B, 1]
        const at::Tensor limit = positive - (relative_ ? positive.abs() * margin_ : at::full_like(positive, margin_)) + rounding;
        const at::Tensor not_positive = at::eye(own.size(0), own.options()) == 0;
        std::vector<at::Tensor> logits, masks;
        const auto add = [&](const at::Tensor& a, const at::Tensor& b, const at::Tensor& guided, bool protect) {
            masks.push_back(protect ? (guided > limit) & not_positive : guided > limit);
            logits.push_back(cosines(a, b));
        };
        add(batch.queries, batch.documents, own, true);
        if (queries_) add(batch.queries, batch.queries, cosines(batch.guide_queries, batch.guide_queries), false);
        if (documents_) add(batch.documents, batch.documents, cosines(batch.guide_documents, batch.guide_documents), false);
        if (batch.negatives.defined()) add(batch.queries, batch.negatives, cosines(batch.guide_queries, batch.guide_negatives), false);
        const at::Tensor mask = at::cat(masks, 1);
        const at::Tensor all =
            at::cat(logits, 1).masked_fill(mask, -std::numeric_limits<double>::infinity()) / batch.temperature;  // [B, columns]
        const at::Tensor losses = all.logsumexp(1) - all.narrow(1, 0, all.size(0)).diagonal();
        return {mean_of_kept(losses, batch.keep), {{"masked_negatives", mask.sum().to(at::kDouble)}}};
    }

  private:
    std::string teacher_;
    bool relative_;
    double margin_;
    bool queries_, documents_;
    std::unique_ptr<TeacherGuide> guide_;
};

}  // namespace

std::unique_ptr<PairObjective> make_gist(const Json& settings) { return std::make_unique<Gist>(settings); }

}  // namespace faceter
