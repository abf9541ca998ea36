#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>

#include "train/trainer.h"

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

/// Takes apart what the ranks have sent, each its queries, then documents, then negatives.
struct GatheredRows {
    std::vector<at::Tensor> queries, documents, negatives;
    GatheredRows(const at::Tensor& all, std::int64_t pairs, const std::vector<std::int64_t>& num_negatives, bool queries_only) {
        std::int64_t at = 0;
        const auto take = [&](std::int64_t count, std::vector<at::Tensor>& into) {
            if (count > 0) into.push_back(all.narrow(0, at, count));
            at += count;
        };
        const int ranks = static_cast<int>(num_negatives.size());
        for (int r = 0; r < ranks; ++r) {
            const std::int64_t count = share_of(pairs, r, ranks).size();
            take(count, queries);
            if (queries_only) continue;
            take(count, documents);
            take(num_negatives[static_cast<std::size_t>(r)], negatives);
        }
    }
};

}  // namespace

/// GradCache (Gao et al., 2021) over the chunks of all ranks: embeddings without a graph, gradients of the whole batch's loss with respect
/// to them, then each chunk again with its part. Dropout masks are keyed by example, so both passes draw the same, and so does another
/// number of ranks. A share that is one chunk keeps its graph and is not embedded twice.
void Trainer::cached_gradients(const BatchPlan& plan, bool last, StepSums& sums) {
    const auto pairs = static_cast<std::int64_t>(plan.items.size());
    const Share share = share_of(pairs, group_.rank(), group_.size());
    const PairBatch outline = batcher_.outline(plan.items, plan.temperature, sides_, sums.used_tokens);
    sums.experts.insert(outline.experts.begin(), outline.experts.end());
    sums.busy_ranks = std::max(sums.busy_ranks, static_cast<int>(std::min<std::int64_t>(group_.size(), pairs)));
    RoutingTotals totals;
    if (last && word_table_.defined()) {
        std::vector<std::int64_t> rows;
        for (std::size_t id = 0; id < sums.used_tokens.size(); ++id)
            if (sums.used_tokens[id]) rows.push_back(static_cast<std::int64_t>(id));
        optimizer_->only_rows(word_table_, rows);
    }
    std::vector<EmbeddedPart> parts = embed_share(plan, share, totals);
    for (const EmbeddedPart& part : parts) sums.tokens += part.batch.tokens.layout->num_tokens();
    PairEmbeddings whole = outline.pairs;
    whole.keep = plan.keep;
    whole.move_to(encoder_.device());
    gather_embeddings(parts, whole);
    sum_over_ranks(totals);
    const LossResult result = objective_(whole);
    (result.loss / static_cast<double>(settings_.accumulate)).backward();
    backward_share(parts, whole, share, totals, last, sums);
    add_loss(result, sums.whole);
}

std::vector<Trainer::EmbeddedPart> Trainer::embed_share(const BatchPlan& plan, const Share& share, RoutingTotals& totals) const {
    const std::int64_t chunk = settings_.gradient_cache_chunk > 0 ? settings_.gradient_cache_chunk : share.size();
    std::vector<EmbeddedPart> parts;
    for (std::int64_t begin = share.begin; begin < share.end; begin += chunk) {
        const std::int64_t count = std::min(chunk, share.end - begin);
        EmbeddedPart part{build({plan.items.data() + begin, static_cast<std::size_t>(count)}, plan.temperature), {}, {}};
        const at::AutoGradMode graph(share.size() <= chunk);
        part.rows = part.batch.assemble(forward(part.batch, &part.trace));
        totals.add(part.trace);
        if (!at::GradMode::is_enabled()) part.trace.clear();
        parts.push_back(std::move(part));
    }
    return parts;
}

/// Sets the embeddings of `whole` to those of all ranks, as leaves.
void Trainer::gather_embeddings(const std::vector<EmbeddedPart>& parts, PairEmbeddings& whole) const {
    const bool queries_only = sides_.documents_frozen;  // the outline has the documents
    std::vector<at::Tensor> queries, documents, negatives;
    for (const EmbeddedPart& part : parts) {
        queries.push_back(part.rows.queries.detach());
        if (queries_only) continue;
        documents.push_back(part.rows.documents.detach());
        if (part.rows.negatives.defined()) negatives.push_back(part.rows.negatives.detach());
    }
    if (group_.size() > 1) {
        std::vector<at::Tensor> own = queries;
        own.insert(own.end(), documents.begin(), documents.end());
        own.insert(own.end(), negatives.begin(), negatives.end());
        const at::Tensor rows =
            own.empty() ? at::empty({0, model_.dim()}, at::TensorOptions(encoder_.dtype()).device(encoder_.device())) : at::cat(own);
        const auto pairs = static_cast<std::int64_t>(whole.document_texts.size());
        GatheredRows gathered(group_.all_gather_rows(rows), pairs, negatives_by_rank(whole, pairs, group_.size()), queries_only);
        queries = std::move(gathered.queries);
        documents = std::move(gathered.documents);
        negatives = std::move(gathered.negatives);
    }
    whole.queries = at::cat(queries).requires_grad_();
    if (queries_only) return;
    whole.documents = at::cat(documents).requires_grad_();
    if (!negatives.empty()) whole.negatives = at::cat(negatives).requires_grad_();
}

void Trainer::backward_share(std::vector<EmbeddedPart>& parts, const PairEmbeddings& whole, const Share& share, const RoutingTotals& totals,
                             bool last, StepSums& sums) {
    std::int64_t pair = share.begin;
    std::int64_t negative =
        std::count_if(whole.negative_owner.begin(), whole.negative_owner.end(), [&](auto owner) { return owner < share.begin; });
    for (EmbeddedPart& part : parts) {
        if (parts.size() > 1) {
            part.rows = part.batch.assemble(forward(part.batch, &part.trace));
        }
        std::vector<at::Tensor> outputs{part.rows.queries};
        std::vector<at::Tensor> gradients{whole.queries.grad().narrow(0, pair, part.batch.num_pairs)};
        if (!sides_.documents_frozen) {
            outputs.push_back(part.rows.documents);
            gradients.push_back(whole.documents.grad().narrow(0, pair, part.batch.num_pairs));
        }
        if (!sides_.documents_frozen && part.rows.negatives.defined() && whole.negatives.grad().defined()) {
            outputs.push_back(part.rows.negatives);
            gradients.push_back(whole.negatives.grad().narrow(0, negative, part.rows.negatives.size(0)));
            negative += part.rows.negatives.size(0);
        }
        pair += part.batch.num_pairs;
        if (const LossResult routing = routing_loss(part.trace, totals); routing.loss.defined()) {
            outputs.push_back(routing.loss);
            gradients.push_back(at::full({}, 1.0 / static_cast<double>(settings_.accumulate), routing.loss.options()));
            add_loss(routing, sums.share, 1.0 / static_cast<double>(settings_.accumulate));
        }
        if (last && &part == &parts.back()) optimizer_->send_while_backward(sums.experts);
        torch::autograd::backward(outputs, gradients);
        part = {};
    }
}

/// The loads of all ranks' tokens. A rank without a share has none of its own, so the shapes are those of the model.
void Trainer::sum_over_ranks(RoutingTotals& totals) const {
    if (!routing_loss_ || group_.size() == 1) return;
    const auto options = at::TensorOptions(at::kDouble).device(encoder_.device());
    std::vector<at::Tensor> loads;
    for (const Block& block : encoder_.blocks())
        if (block.routing)
            loads.push_back(loads.size() < totals.load.size() ? totals.load[loads.size()]
                                                              : at::zeros({block.routing->num_experts}, options));
    if (loads.empty()) return;
    at::Tensor sums = at::cat(loads), tokens = at::full({1}, static_cast<double>(totals.tokens), at::kDouble);
    group_.all_reduce_sum(sums);
    group_.all_reduce_sum(tokens);
    std::int64_t at = 0;
    totals.load.clear();
    for (const at::Tensor& load : loads) {
        totals.load.push_back(sums.narrow(0, at, load.numel()));
        at += load.numel();
    }
    totals.tokens = tokens.item<std::int64_t>();
}

/// What the ranks have of a step, each of its own share, added up. Ranks that had none do not know the names of the parts, and have no use
/// for them.
void Trainer::add_share(const std::map<std::string, double>& parts, double loss, const StepSums& sums, StepReport& report) const {
    std::vector<double> own;
    if (group_.rank() < sums.busy_ranks || group_.size() == 1) own = {loss, static_cast<double>(sums.tokens)};
    if (!own.empty())
        for (const auto& [name, value] : parts) own.push_back(value);
    const at::Tensor rows = group_.all_gather_rows(at::tensor(own, at::kDouble).view({-1, 1}));
    const at::Tensor total = rows.view({group_.size() == 1 ? 1 : sums.busy_ranks, -1}).sum(0).contiguous();
    const auto* values = total.data_ptr<double>();
    report.loss += values[0];
    report.tokens = static_cast<std::int64_t>(values[1]);
    std::size_t at = 2;
    for (const auto& [name, value] : parts) report.parts[name] += values[at++];
}

}  // namespace faceter
