#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "model/mlm_head.h"
#include "train/gradient_way.h"

namespace faceter {
namespace {

std::vector<std::int64_t> negatives_by_rank(const PairEmbeddings& whole, std::int64_t pairs, int ranks) {
    std::vector<std::int64_t> counts;
    for (int r = 0; r < ranks; ++r) {
        const Share share = share_of(pairs, r, ranks);
        counts.push_back(std::count_if(whole.negative_owner.begin(), whole.negative_owner.end(),
                                       [&](auto owner) { return owner >= share.begin && owner < share.end; }));
    }
    return counts;
}

/// Rows of a batch in the order of its pairs, in one or several pieces.
struct Rows {
    std::vector<at::Tensor> queries, documents, negatives;

    void add(const at::Tensor& q, const at::Tensor& d, const at::Tensor& n) {
        queries.push_back(q.detach());
        if (d.defined()) documents.push_back(d.detach());
        if (n.defined()) negatives.push_back(n.detach());
    }
    /// Those of all ranks. `num_negatives`: of each; `none`: [0, D] of their kind.
    Rows gathered(ProcessGroup& group, std::int64_t pairs, const std::vector<std::int64_t>& num_negatives, bool queries_only,
                  const at::Tensor& none) const {
        std::vector<at::Tensor> own{none};
        for (const auto* part : {&queries, &documents, &negatives}) own.insert(own.end(), part->begin(), part->end());
        return taken_apart(group.all_gather_rows(at::cat(own), counts(pairs, num_negatives, queries_only)), pairs, num_negatives,
                           queries_only);
    }

  private:
    /// How many rows each rank sends.
    static std::vector<std::int64_t> counts(std::int64_t pairs, const std::vector<std::int64_t>& num_negatives, bool queries_only) {
        std::vector<std::int64_t> rows;
        const int ranks = static_cast<int>(num_negatives.size());
        for (int r = 0; r < ranks; ++r) {
            const std::int64_t own = share_of(pairs, r, ranks).size();
            rows.push_back(queries_only ? own : 2 * own + num_negatives[static_cast<std::size_t>(r)]);
        }
        return rows;
    }
    /// Each rank has sent its queries, then documents, then negatives.
    static Rows taken_apart(const at::Tensor& all, std::int64_t pairs, const std::vector<std::int64_t>& num_negatives, bool queries_only) {
        Rows rows;
        std::int64_t at = 0;
        const auto take = [&](std::int64_t count, std::vector<at::Tensor>& into) {
            if (count > 0) into.push_back(all.narrow(0, at, count));
            at += count;
        };
        const int ranks = static_cast<int>(num_negatives.size());
        for (int r = 0; r < ranks; ++r) {
            const std::int64_t count = share_of(pairs, r, ranks).size();
            take(count, rows.queries);
            if (queries_only) continue;
            take(count, rows.documents);
            take(num_negatives[static_cast<std::size_t>(r)], rows.negatives);
        }
        return rows;
    }
};

/// A part of this rank's share of a batch, and its embeddings: with their graph where the share is one part.
struct EmbeddedPart {
    PairBatch batch;
    PairEmbeddings rows;
    RoutingTrace trace;
};

/// GradCache (Gao et al., 2021) over the chunks of all ranks: embeddings without a graph, gradients of the whole batch's loss with respect
/// to them, then each chunk again with its part. Dropout masks are keyed by example, so both passes draw the same, and so does another
/// number of ranks. A share that is one chunk keeps its graph and is not embedded twice.
class CachedPairs final : public GradientWay {
  public:
    CachedPairs(const StepTools& tools, const PairObjective& objective) : tools_(tools), objective_(objective) {
        if (const at::Tensor words = word_embeddings(tools.encoder); tools.optimizer->sends_rows_of(words)) word_table_ = words;
    }

    void add_batch(const BatchPlan& plan, bool last, StepSums& sums) override {
        const auto pairs = static_cast<std::int64_t>(plan.items.size());
        const Share share = share_of(pairs, tools_.group.rank(), tools_.group.size());
        const PairBatch outline = outline_of(plan, last, sums);
        sums.busy_ranks = std::max(sums.busy_ranks, static_cast<int>(std::min<std::int64_t>(tools_.group.size(), pairs)));
        RoutingTotals totals;
        std::vector<EmbeddedPart> parts = embed_share(plan, share, totals);
        for (const EmbeddedPart& part : parts) sums.tokens += part.batch.tokens.layout->num_tokens();
        PairEmbeddings whole = outline.pairs;
        whole.keep = plan.keep;
        whole.move_to(tools_.encoder.device());
        gather_embeddings(parts, whole);
        if (tools_.sides.guide) gather_guide(parts, whole);
        tools_.sum_over_ranks(totals);
        const LossResult result = objective_(whole);
        (result.loss * tools_.part()).backward();
        keep_gradients_of_one();
        backward_share(parts, whole, share, totals, plan.task, last, sums);
        tools_.add_loss(result, plan.task, sums.whole, 1);
    }

  private:
    PairBatch outline_of(const BatchPlan& plan, bool last, StepSums& sums) const;
    std::vector<EmbeddedPart> embed_share(const BatchPlan& plan, const Share& share, RoutingTotals& totals) const;
    void gather_embeddings(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const;
    void gather_guide(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const;
    Rows of_all_ranks(const Rows& own, const PairEmbeddings& whole, bool queries_only, const at::Tensor& none) const;
    void keep_gradients_of_one() const;
    void backward_share(std::vector<EmbeddedPart>& parts, const PairEmbeddings& whole, const Share& share, const RoutingTotals& totals,
                        const std::string& task, bool last, StepSums& sums) const;

    const StepTools& tools_;
    const PairObjective& objective_;
    at::Tensor word_table_;  ///< where only those of its rows travel that a step touches
};

/// What every rank knows of the batch; the optimiser learns which rows of the word table the step touches.
PairBatch CachedPairs::outline_of(const BatchPlan& plan, bool last, StepSums& sums) const {
    if (word_table_.defined() && sums.used_tokens.empty()) sums.used_tokens.assign(static_cast<std::size_t>(word_table_.size(0)), 0);
    PairBatch outline = tools_.batcher.outline(plan.items, plan.temperature, tools_.sides, sums.used_tokens);
    sums.used.add(outline.used);
    if (!last || !word_table_.defined()) return outline;
    std::vector<std::int64_t> rows;
    for (std::size_t id = 0; id < sums.used_tokens.size(); ++id)
        if (sums.used_tokens[id]) rows.push_back(static_cast<std::int64_t>(id));
    tools_.optimizer->only_rows(word_table_, rows);
    return outline;
}

std::vector<EmbeddedPart> CachedPairs::embed_share(const BatchPlan& plan, const Share& share, RoutingTotals& totals) const {
    const std::int64_t chunk = tools_.settings.gradient_cache_chunk > 0 ? tools_.settings.gradient_cache_chunk : share.size();
    std::vector<EmbeddedPart> parts;
    for (std::int64_t begin = share.begin; begin < share.end; begin += chunk) {
        const std::int64_t count = std::min(chunk, share.end - begin);
        EmbeddedPart part{tools_.build({plan.items.data() + begin, static_cast<std::size_t>(count)}, plan.temperature), {}, {}};
        const at::AutoGradMode graph(share.size() <= chunk);
        part.rows = part.batch.assemble(tools_.forward(part.batch, &part.trace));
        totals.add(part.trace);
        if (!at::GradMode::is_enabled()) part.trace.clear();
        parts.push_back(std::move(part));
    }
    return parts;
}

/// Sets the embeddings of `whole` to those of all ranks, as leaves.
void CachedPairs::gather_embeddings(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const {
    const bool queries_only = tools_.sides.documents_frozen;  // the outline has the documents
    Rows own;
    for (const EmbeddedPart& part : parts)
        queries_only ? own.add(part.rows.queries, {}, {}) : own.add(part.rows.queries, part.rows.documents, part.rows.negatives);
    const auto kind = at::TensorOptions(tools_.encoder.dtype()).device(tools_.encoder.device());
    const Rows rows = of_all_ranks(own, whole, queries_only, at::empty({0, tools_.model.dim()}, kind));
    whole.queries = at::cat(rows.queries).requires_grad_();
    if (queries_only) return;
    whole.documents = at::cat(rows.documents).requires_grad_();
    if (!rows.negatives.empty()) whole.negatives = at::cat(rows.negatives).requires_grad_();
}

/// Sets the guide's rows of `whole`: every rank has asked for its own texts.
void CachedPairs::gather_guide(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const {
    Rows own;
    for (const EmbeddedPart& part : parts) own.add(part.rows.guide_queries, part.rows.guide_documents, part.rows.guide_negatives);
    const auto kind = at::TensorOptions(at::kFloat).device(tools_.encoder.device());
    const Rows rows = of_all_ranks(own, whole, false, at::empty({0, tools_.sides.guide->dim()}, kind));
    whole.guide_queries = at::cat(rows.queries);
    whole.guide_documents = at::cat(rows.documents);
    if (!rows.negatives.empty()) whole.guide_negatives = at::cat(rows.negatives);
}

Rows CachedPairs::of_all_ranks(const Rows& own, const PairEmbeddings& whole, bool queries_only, const at::Tensor& none) const {
    if (tools_.group.size() == 1) return own;
    const auto pairs = static_cast<std::int64_t>(whole.document_texts.size());
    return own.gathered(tools_.group, pairs, negatives_by_rank(whole, pairs, tools_.group.size()), queries_only, none);
}

/// Every rank has the gradient of the whole batch for the objective's own parameters: their sum shall be that of one.
void CachedPairs::keep_gradients_of_one() const {
    if (tools_.group.rank() == 0) return;
    for (const Parameter& p : objective_.parameters()) p.tensor.mutable_grad() = at::Tensor();
}

void CachedPairs::backward_share(std::vector<EmbeddedPart>& parts, const PairEmbeddings& whole, const Share& share,
                                 const RoutingTotals& totals, const std::string& task, bool last, StepSums& sums) const {
    std::int64_t pair = share.begin;
    std::int64_t negative =
        std::count_if(whole.negative_owner.begin(), whole.negative_owner.end(), [&](auto owner) { return owner < share.begin; });
    for (EmbeddedPart& part : parts) {
        if (parts.size() > 1) {
            part.rows = part.batch.assemble(tools_.forward(part.batch, &part.trace));
        }
        std::vector<at::Tensor> outputs{part.rows.queries};
        std::vector<at::Tensor> gradients{whole.queries.grad().narrow(0, pair, part.batch.num_pairs)};
        if (!tools_.sides.documents_frozen) {
            outputs.push_back(part.rows.documents);
            gradients.push_back(whole.documents.grad().narrow(0, pair, part.batch.num_pairs));
        }
        if (!tools_.sides.documents_frozen && part.rows.negatives.defined() && whole.negatives.grad().defined()) {
            outputs.push_back(part.rows.negatives);
            gradients.push_back(whole.negatives.grad().narrow(0, negative, part.rows.negatives.size(0)));
            negative += part.rows.negatives.size(0);
        }
        pair += part.batch.num_pairs;
        if (const LossResult routing = tools_.routing_loss(part.trace, totals); routing.loss.defined()) {
            if (routing.loss.requires_grad()) {  // not where all of its weights are 0
                outputs.push_back(routing.loss);
                gradients.push_back(at::full({}, tools_.part(), routing.loss.options()));
            }
            tools_.add_loss(routing, task, sums.share, tools_.part());
        }
        if (last && &part == &parts.back()) tools_.optimizer->send_while_backward(sums.used);
        torch::autograd::backward(outputs, gradients);
        part = {};
    }
}

}  // namespace

std::unique_ptr<GradientWay> make_cached_pair_way(const StepTools& tools, const PairObjective& objective) {
    return std::make_unique<CachedPairs>(tools, objective);
}

}  // namespace faceter
