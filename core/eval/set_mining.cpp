#include "eval/set_mining.h"

#include <ATen/ATen.h>

#include <limits>

#include "eval/comparable_rows.h"
#include "eval/feature_matrix.h"
#include "eval/score_kernel.h"

namespace faceter {
namespace {

FeatureMatrix view(const at::Tensor& rows) { return {rows.data_ptr<float>(), rows.size(0), rows.size(1)}; }

JudgedRows judged(const TrainingSet& set, std::span<const Example> examples, const TeacherEmbedder& teacher, bool with_given) {
    JudgedRows rows(set, examples, with_given, teacher.similarity);
    rows.set_queries(teacher.embed(rows.anchors.views(set.texts), Role::query));
    rows.set_documents(teacher.embed(rows.documents.views(set.texts), Role::document));
    return rows;
}

}  // namespace

std::uint32_t Numbering::of(std::uint32_t text) {
    const auto [at, fresh] = number_.emplace(text, static_cast<std::uint32_t>(texts.size()));
    if (fresh) texts.push_back(text);
    return at->second;
}

std::vector<std::uint32_t> Numbering::of(const Numbering& part) {
    std::vector<std::uint32_t> numbers;
    for (const std::uint32_t text : part.texts) numbers.push_back(of(text));
    return numbers;
}

std::vector<std::string_view> Numbering::views(const TextTable& table) const {
    std::vector<std::string_view> all;
    for (const std::uint32_t text : texts) all.push_back(table[text]);
    return all;
}

std::span<const std::uint32_t> given_negatives(const TrainingSet& set, const Example& example) {
    return {set.negatives.data() + example.first_negative, example.num_negatives};
}

std::vector<std::uint32_t> each_once(std::span<const std::uint32_t> given, Tally& tally) {
    std::vector<std::uint32_t> texts;
    std::unordered_set<std::uint32_t> seen;
    for (const std::uint32_t text : given)
        if (seen.insert(text).second)
            texts.push_back(text);
        else
            ++tally["given negatives that stand there again, left out"];
    return texts;
}

std::vector<FoundText> as_texts(const std::vector<SearchHit>& hits, const std::vector<std::uint32_t>& documents, Similarity similarity) {
    std::vector<FoundText> found;
    for (const SearchHit& hit : hits) found.push_back({documents[hit.document], shown_score(hit.score, similarity)});
    return found;
}

JudgedRows::JudgedRows(const TrainingSet& set, std::span<const Example> examples, bool with_given, Similarity similarity)
    : similarity_(similarity) {
    for (const Example& example : examples) {
        anchors.of(example.anchor);
        documents.of(example.positive);
        if (!with_given) continue;
        for (const std::uint32_t text : given_negatives(set, example)) documents.of(text);
    }
}

FeatureMatrix JudgedRows::queries() const { return view(q_); }
FeatureMatrix JudgedRows::document_rows() const { return view(d_); }

/// Summed as the search sums it, to the last bit: of two texts with one vector neither is above the other.
float JudgedRows::score(std::uint32_t anchor, std::uint32_t document) {
    const ScoreKernel& kernel = score_kernel(similarity_);
    const auto dim = static_cast<std::size_t>(q_.size(1));
    const float* query = q_.const_data_ptr<float>() + anchors.of(anchor) * dim;
    std::vector<float> panel(dim * kernel.lanes, 0.0f), scores(kernel.lanes, std::numeric_limits<float>::quiet_NaN());
    const std::vector<float> thresholds(kernel.lanes, -std::numeric_limits<float>::infinity());
    for (std::size_t d = 0; d < dim; ++d) panel[d * kernel.lanes] = query[d];
    std::uint32_t above = 0;
    kernel.single(panel.data(), d_.const_data_ptr<float>() + documents.of(document) * dim, dim, thresholds.data(), scores.data(), &above);
    return shown_score(scores.front(), similarity_);
}

std::vector<std::uint32_t> filter_given(std::span<const std::uint32_t> given, std::uint32_t anchor, JudgedRows& rows, double limit,
                                        Tally& tally) {
    std::vector<std::uint32_t> kept;
    for (const std::uint32_t text : each_once(given, tally))
        if (rows.score(anchor, text) < limit)
            kept.push_back(text);
        else
            ++tally["given negatives above the margin"];
    tally["given negatives kept"] += kept.size();
    return kept;
}

Tally mine_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings, bool only_given) {
    JudgedRows rows = judged(set, set.examples, teacher, true);
    const Positives positives(set);
    std::vector<std::vector<SearchHit>> hits;
    if (!only_given)
        hits = exact_search(rows.queries(), rows.document_rows(), settings.depth + positives.most(), rows.similarity(),
                            positives.own_class(rows.anchors.texts, rows.documents.texts));
    Tally tally;
    std::vector<std::vector<std::uint32_t>> chosen;
    for (const Example& example : set.examples) {
        const double positive = rows.score(example.anchor, example.positive);
        chosen.push_back(only_given
                             ? filter_given(given_negatives(set, example), example.anchor, rows, settings.limit(positive), tally)
                             : choose_negatives(as_texts(hits[rows.anchors.of(example.anchor)], rows.documents.texts, rows.similarity()),
                                                example, positive, positives, settings, tally));
    }
    replace_negatives(set, chosen);
    return tally;
}

std::vector<std::pair<std::size_t, std::size_t>> shards_of(std::size_t count, std::size_t shard) {
    const std::size_t number = (count + shard - 1) / shard;
    std::vector<std::pair<std::size_t, std::size_t>> shards;
    for (std::size_t i = 0; i < number; ++i) shards.emplace_back(i * count / number, (i + 1) * count / number);
    return shards;
}

Tally filter_pairs(TrainingSet& set, const TeacherEmbedder& teacher, std::size_t top_k, std::size_t shard) {
    Tally tally;
    std::vector<Example> kept;
    for (const auto& [begin, end] : shards_of(set.examples.size(), shard)) {
        const std::span<const Example> examples(set.examples.data() + begin, end - begin);
        JudgedRows rows = judged(set, examples, teacher, false);
        const auto hits = exact_search(rows.queries(), rows.document_rows(), top_k, rows.similarity());
        for (const Example& example : examples) {
            const bool consistent = is_consistent(as_texts(hits[rows.anchors.of(example.anchor)], rows.documents.texts, rows.similarity()),
                                                  example.positive, rows.score(example.anchor, example.positive), top_k);
            ++tally[consistent ? "pairs kept" : "pairs whose document is not among the best"];
            if (consistent) kept.push_back(example);
        }
    }
    set.examples = std::move(kept);
    return tally;
}

}  // namespace faceter
