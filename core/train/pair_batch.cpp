#include "train/pair_batch.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "common/error.h"
#include "common/hash.h"
#include "data/leaves.h"
#include "model/device.h"

namespace faceter {
namespace {

/// Where the frozen rows of negatives begin: behind those of all texts as documents, where they have another instruction; 0: they are the
/// same rows.
template <typename Set>
std::size_t own_rows_of_negatives(const Set& set) {
    return set.negative.route.instruction == set.document.route.instruction ? 0 : set.data->texts.size();
}

}  // namespace

PairEmbeddings PairBatch::assemble(const at::Tensor& embeddings) const {
    const at::Tensor index = to_device(at::tensor(at::ArrayRef<std::int64_t>(rows)), embeddings.device());
    const at::Tensor ordered = embeddings.index_select(0, index);
    PairEmbeddings result = pairs;
    result.queries = ordered.narrow(0, 0, num_pairs);
    if (!pairs.documents.defined()) {  // else frozen: already there
        result.documents = ordered.narrow(0, num_pairs, num_pairs);
        const std::int64_t negatives = ordered.size(0) - 2 * num_pairs;
        if (negatives > 0) result.negatives = ordered.narrow(0, 2 * num_pairs, negatives);
    }
    result.move_to(embeddings.device());
    return result;
}

Route route_of(const EmbeddingModel& model, const TrainingSet& set, PairSide side) {
    Route route = model.route(set.task, side == PairSide::query ? Role::query : Role::document);
    const bool plain = model.route(set.task, Role::query).instruction.empty() && model.route(set.task, Role::document).instruction.empty();
    if (plain) return route;
    if (const auto own = own_instructions(set))
        route.instruction = side == PairSide::query ? own->query : side == PairSide::positive ? own->document : own->negative;
    return route;
}

PairBatcher::PairBatcher(const EmbeddingModel& model, std::vector<const TrainingSet*> sets, const fs::path& cache_folder, int threads,
                         const TokenLengths& lengths) {
    for (const std::size_t length : {lengths.query, lengths.document})
        if (length > model.max_length)
            throw settings_error("training.query_length or document_length is {}, beyond max_length, which is {} here", length,
                                 model.max_length);
    std::map<std::uint64_t, int> sets_of_name;
    const auto hash_of = [&](const TrainingSet& set) {
        const std::uint64_t name = hash64(set.name, hash64(set.task));
        const int before = sets_of_name[name]++;
        return before == 0 ? name : hash64(std::to_string(before), name);
    };
    for (const TrainingSet* set : sets) {
        std::vector<std::string_view> all;
        for (std::uint32_t i = 0; i < set->texts.size(); ++i) all.push_back(set->texts[i]);
        std::map<std::pair<std::string, std::size_t>, std::shared_ptr<const TokenCache>> caches;
        const auto side = [&](PairSide which) {
            Side result;
            result.route = route_of(model, *set, which);
            result.skip = model.prompt_rows(result.route.instruction);
            const std::size_t own = which == PairSide::query ? lengths.query : lengths.document, length = own > 0 ? own : model.max_length;
            auto& cache = caches[{result.route.instruction, length}];
            if (!cache)
                cache = std::make_shared<TokenCache>(
                    TokenCache::open_or_build(cache_folder, *model.tokenizer, all, result.route.instruction, length, threads));
            result.tokens = cache;
            return result;
        };
        sets_.push_back({set, side(PairSide::query), side(PairSide::positive), side(PairSide::negative), hash_of(*set), {}, {}});
    }
}

/// Labels of different sets are different, whatever the sets are called.
std::uint64_t PairBatcher::label_of(const Set& set, std::int32_t label) {
    return label < 0 ? no_label : set.hash + static_cast<std::uint64_t>(label);
}

SequenceInput PairBatcher::input(const Side& side, const std::optional<int>& adapter, std::uint32_t text, std::uint64_t key) {
    const auto ids = (*side.tokens)[text];
    const Path& own = side.route.path;
    return {ids.data(), static_cast<std::int64_t>(ids.size()), key, adapter ? own.with_adapter(*adapter) : own, side.skip};
}

/// Longest first, in batches of some thousand tokens, without gradients: [texts, D]. The ranks take turns in that order, so that all have
/// as much to do.
at::Tensor PairBatcher::embed_rows(const EmbeddingModel& model, const Side& side, const std::vector<std::uint32_t>& texts,
                                   ProcessGroup& group) {
    constexpr std::int64_t tokens_per_batch = 4096;
    const at::NoGradGuard no_grad;
    std::vector<std::size_t> order(texts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return (*side.tokens)[texts[a]].size() > (*side.tokens)[texts[b]].size(); });
    std::vector<std::int64_t> places, counts(static_cast<std::size_t>(group.size()));  // of the rows of all ranks, in rank order
    std::vector<std::uint32_t> own;
    for (int rank = 0; rank < group.size(); ++rank)
        for (auto i = static_cast<std::size_t>(rank); i < order.size(); i += static_cast<std::size_t>(group.size())) {
            places.push_back(static_cast<std::int64_t>(order[i]));
            ++counts[static_cast<std::size_t>(rank)];
            if (rank == group.rank()) own.push_back(texts[order[i]]);
        }
    const at::ScalarType kept = model.encoders.front()->dtype() == at::kDouble ? at::kDouble : at::kFloat;
    std::vector<at::Tensor> parts{at::empty({0, model.dim()}, kept)};
    for (std::size_t start = 0; start < own.size();) {
        std::vector<SequenceInput> inputs;
        for (std::int64_t tokens = 0; start < own.size(); ++start) {
            inputs.push_back(input(side, Path::none, own[start], 0));
            tokens += inputs.back().length;
            if (inputs.size() > 1 && tokens > tokens_per_batch) {
                inputs.pop_back();
                break;
            }
        }
        parts.push_back(
            model.embed(*model.encoders[static_cast<std::size_t>(side.route.encoder)], make_packed_batch(inputs), {}).to(at::kCPU, kept));
    }
    const at::Tensor gathered = group.all_gather_rows(at::cat(parts), counts);
    return at::empty_like(gathered).index_copy_(0, at::tensor(at::ArrayRef<std::int64_t>(places)), gathered);
}

std::span<const std::uint32_t> PairBatcher::negatives_of(const Set& set, const Example& example, bool wanted) {
    return {set.data->negatives.data() + example.first_negative, wanted ? example.num_negatives : 0};
}

void PairBatcher::freeze_documents(const EmbeddingModel& model, const std::set<std::string>& tasks, bool with_negatives,
                                   ProcessGroup& group) const {
    for (const Set& set : sets_) {
        if (!tasks.empty() && !tasks.contains(set.data->task)) continue;
        const std::size_t behind = own_rows_of_negatives(set);
        set.frozen_row.resize(set.data->texts.size() + behind, -1);
        std::int64_t rows = set.frozen.defined() ? set.frozen.size(0) : 0;
        std::vector<std::uint32_t> documents, negatives;
        const auto add = [&](std::uint32_t text, std::size_t place, std::vector<std::uint32_t>& texts) {
            if (set.frozen_row[place] >= 0) return;
            set.frozen_row[place] = rows++;
            texts.push_back(text);
        };
        for (const Example& example : set.data->examples) {
            add(example.positive, example.positive, documents);
            if (behind > 0) continue;
            for (const std::uint32_t text : negatives_of(set, example, with_negatives)) add(text, text, documents);
        }
        if (behind > 0)
            for (const Example& example : set.data->examples)
                for (const std::uint32_t text : negatives_of(set, example, with_negatives)) add(text, behind + text, negatives);
        if (documents.empty() && negatives.empty() && set.frozen.defined()) continue;
        at::Tensor fresh = embed_rows(model, set.document, documents, group);
        if (!negatives.empty()) fresh = at::cat({fresh, embed_rows(model, set.negative, negatives, group)});
        set.frozen = set.frozen.defined() ? at::cat({set.frozen, fresh}) : fresh;
    }
}

void PairBatcher::pack(const std::vector<SequenceInput>& all, PairBatch& batch) {
    std::vector<std::int64_t> order(all.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return all[a].path < all[b].path; });
    std::vector<SequenceInput> packed;
    batch.rows.resize(all.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        packed.push_back(all[order[place]]);
        batch.rows[static_cast<std::size_t>(order[place])] = static_cast<std::int64_t>(place);
        batch.used.add(all[order[place]].path);
    }
    batch.tokens = make_packed_batch(packed);
}

/// What is to be embedded: queries, then documents, then negatives; the rest goes into `batch`.
std::vector<SequenceInput> PairBatcher::collect(std::span<const ExampleReference> items, const Sides& sides, PairBatch& batch) const {
    std::vector<SequenceInput> queries, documents, negatives;
    std::vector<at::Tensor> frozen_documents, frozen_negatives;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const Set& set = sets_[items[i].set];
        const Example& example = set.data->examples[items[i].example];
        const std::uint64_t key = set.hash ^ (std::uint64_t{items[i].example} << 20);
        const auto document = [&](const Side& side, std::uint32_t text, std::uint64_t own_key, std::vector<SequenceInput>& packed,
                                  std::vector<at::Tensor>& frozen) {
            if (sides.documents_frozen)
                frozen.push_back(set.frozen.select(0, set.frozen_row[text + (&side == &set.negative ? own_rows_of_negatives(set) : 0)]));
            else
                packed.push_back(input(side, sides.document_adapter, text, own_key));
        };
        queries.push_back(input(set.query, sides.query_adapter, example.anchor, key));
        document(set.document, example.positive, key + 1, documents, frozen_documents);
        batch.pairs.query_texts.push_back(hash64(set.data->texts[example.anchor]));
        batch.pairs.document_texts.push_back(hash64(set.data->texts[example.positive]));
        batch.pairs.labels.push_back(label_of(set, example.label));
        batch.pairs.scores.push_back(example.score);
        std::uint64_t next_key = key + 2;
        for (const std::uint32_t text : negatives_of(set, example, sides.negatives)) {
            document(set.negative, text, next_key++, negatives, frozen_negatives);
            batch.pairs.negative_owner.push_back(static_cast<std::int64_t>(i));
            batch.pairs.negative_texts.push_back(hash64(set.data->texts[text]));
            batch.pairs.negative_labels.push_back(label_of(set, set.data->label_of(text)));
        }
        for (std::size_t n = 0; n < negatives_of(set, example, sides.negatives).size(); ++n)
            batch.pairs.negative_scores.push_back(set.data->negative_score(example.first_negative + n));
    }
    if (!frozen_documents.empty()) batch.pairs.documents = at::stack(frozen_documents);
    if (!frozen_negatives.empty()) batch.pairs.negatives = at::stack(frozen_negatives);
    std::vector<SequenceInput> all = std::move(queries);
    all.insert(all.end(), documents.begin(), documents.end());
    all.insert(all.end(), negatives.begin(), negatives.end());
    return all;
}

PairBatch PairBatcher::build(std::span<const ExampleReference> items, double temperature, const Sides& sides) const {
    PairBatch batch;
    batch.num_pairs = static_cast<std::int64_t>(items.size());
    batch.pairs.temperature = temperature;
    pack(collect(items, sides, batch), batch);
    if (sides.guide) ask_guide(items, sides, batch.pairs);
    return batch;
}

void PairBatcher::ask_guide(std::span<const ExampleReference> items, const Sides& sides, PairEmbeddings& pairs) const {
    std::vector<std::string_view> queries, documents, negatives, tasks, tasks_of_negatives;
    for (const ExampleReference& item : items) {
        const Set& set = sets_[item.set];
        const Example& example = set.data->examples[item.example];
        queries.push_back(set.data->texts[example.anchor]);
        documents.push_back(set.data->texts[example.positive]);
        tasks.push_back(set.data->task);
        for (const std::uint32_t text : negatives_of(set, example, sides.negatives)) negatives.push_back(set.data->texts[text]);
        tasks_of_negatives.resize(negatives.size(), set.data->task);
    }
    pairs.guide_queries = sides.guide->embed(queries, tasks, Role::query);
    pairs.guide_documents = sides.guide->embed(documents, tasks, Role::document);
    if (!negatives.empty()) pairs.guide_negatives = sides.guide->embed(negatives, tasks_of_negatives, Role::document);
}

PairBatch PairBatcher::outline(std::span<const ExampleReference> items, double temperature, const Sides& sides,
                               std::span<char> used_tokens) const {
    PairBatch batch;
    batch.num_pairs = static_cast<std::int64_t>(items.size());
    batch.pairs.temperature = temperature;
    for (const SequenceInput& sequence : collect(items, sides, batch)) {
        batch.used.add(sequence.path);
        if (!used_tokens.empty())
            for (std::int64_t t = 0; t < sequence.length; ++t) used_tokens[static_cast<std::size_t>(sequence.ids[t])] = 1;
    }
    return batch;
}

std::vector<double> PairBatcher::work_of(std::span<const ExampleReference> items, const Sides& sides, std::int64_t hidden_dim) const {
    std::vector<double> work;
    for (const ExampleReference& item : items) {
        const Set& set = sets_[item.set];
        const Example& example = set.data->examples[item.example];
        double sum = 0;
        const auto add = [&](const Side& side, std::uint32_t text) {
            const auto length = static_cast<double>((*side.tokens)[text].size());
            sum += length * (1 + length / static_cast<double>(6 * hidden_dim));
        };
        add(set.query, example.anchor);
        if (!sides.documents_frozen) {
            add(set.document, example.positive);
            for (const std::uint32_t text : negatives_of(set, example, sides.negatives)) add(set.negative, text);
        }
        work.push_back(sum);
    }
    return work;
}

}  // namespace faceter
