#include "eval/set_mining.h"

#include <ATen/ATen.h>

#include <unordered_map>

#include "eval/feature_matrix.h"

namespace faceter {
namespace {

/// Texts of a set that were embedded, each once.
class Side {
  public:
    void add(std::uint32_t text) {
        if (row_of_.emplace(text, static_cast<std::uint32_t>(texts.size())).second) texts.push_back(text);
    }
    void embed(const TrainingSet& set, const TeacherEmbedder& teacher, Role role) {
        std::vector<std::string_view> views;
        for (const std::uint32_t text : texts) views.push_back(set.texts[text]);
        rows_ = teacher(views, role).contiguous();
    }
    std::uint32_t row_of(std::uint32_t text) const { return row_of_.at(text); }
    at::Tensor row(std::uint32_t text) const { return rows_[static_cast<std::int64_t>(row_of(text))]; }
    FeatureMatrix view() const { return {rows_.data_ptr<float>(), rows_.size(0), rows_.size(1)}; }
    std::vector<std::uint32_t> texts;

  private:
    std::unordered_map<std::uint32_t, std::uint32_t> row_of_;
    at::Tensor rows_;
};

std::span<const std::uint32_t> given(const TrainingSet& set, const Example& example) { return {set.negatives.data() + example.first_negative, example.num_negatives}; }

struct Sides {
    Side queries, documents;
    Sides(const TrainingSet& set, const TeacherEmbedder& teacher, bool with_given) {
        for (const Example& example : set.examples) {
            queries.add(example.anchor);
            documents.add(example.positive);
            for (const std::uint32_t text : with_given ? given(set, example) : std::span<const std::uint32_t>()) documents.add(text);
        }
        queries.embed(set, teacher, Role::query);
        documents.embed(set, teacher, Role::document);
    }
    float score(const Example& example, std::uint32_t document) const { return queries.row(example.anchor).dot(documents.row(document)).item<float>(); }
    std::vector<std::vector<SearchHit>> search(std::size_t k) const { return exact_search(queries.view(), documents.view(), k); }
    std::vector<ScoredText> found(const std::vector<SearchHit>& hits) const {
        std::vector<ScoredText> texts;
        for (const SearchHit& hit : hits) texts.push_back({documents.texts[hit.document], hit.score});
        return texts;
    }
};

void set_negatives(TrainingSet& set, const std::vector<std::vector<std::uint32_t>>& chosen) {
    set.negatives.clear();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        set.examples[i].first_negative = static_cast<std::uint32_t>(set.negatives.size());
        set.examples[i].num_negatives = static_cast<std::uint32_t>(chosen[i].size());
        set.negatives.insert(set.negatives.end(), chosen[i].begin(), chosen[i].end());
    }
}

}  // namespace

Tally mine_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings) {
    const Sides sides(set, teacher, true);
    const Positives positives(set);
    const auto hits = sides.search(settings.depth + positives.most());
    Tally tally;
    std::vector<std::vector<std::uint32_t>> chosen;
    for (const Example& example : set.examples)
        chosen.push_back(choose_negatives(sides.found(hits[sides.queries.row_of(example.anchor)]), example, sides.score(example, example.positive), positives, settings, tally));
    set_negatives(set, chosen);
    return tally;
}

Tally filter_given_negatives(TrainingSet& set, const TeacherEmbedder& teacher, const MiningSettings& settings) {
    const Sides sides(set, teacher, true);
    Tally tally;
    std::vector<std::vector<std::uint32_t>> chosen;
    for (const Example& example : set.examples) {
        const double limit = settings.limit(sides.score(example, example.positive));
        chosen.emplace_back();
        for (const std::uint32_t text : given(set, example))
            if (sides.score(example, text) < limit) chosen.back().push_back(text);
        tally["given negatives kept"] += chosen.back().size();
        tally["given negatives above the margin"] += example.num_negatives - chosen.back().size();
    }
    set_negatives(set, chosen);
    return tally;
}

Tally filter_pairs(TrainingSet& set, const TeacherEmbedder& teacher, std::size_t top_k) {
    const Sides sides(set, teacher, false);
    const auto hits = sides.search(top_k);
    Tally tally;
    std::erase_if(set.examples, [&](const Example& example) {
        const bool kept = is_consistent(sides.found(hits[sides.queries.row_of(example.anchor)]), example.positive, sides.score(example, example.positive), top_k);
        ++tally[kept ? "pairs kept" : "pairs whose document is not among the best"];
        return !kept;
    });
    return tally;
}

}  // namespace faceter
