#include "difficulty.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/hash.h"
#include "common/random.h"

namespace faceter::data_cube {
namespace {

/// Rows of an embedding matrix as plain numbers.
class Rows {
  public:
    explicit Rows(const at::Tensor& embeddings) : values_(embeddings.to(at::kCPU, at::kFloat).contiguous()) {}
    std::span<const float> operator[](std::size_t row) const {
        const auto dim = static_cast<std::size_t>(values_.size(1));
        return {values_.data_ptr<float>() + row * dim, dim};
    }

  private:
    at::Tensor values_;
};

/// NaN where an element is; 0 where a vector is zero.
double cosine(std::span<const float> a, std::span<const float> b) {
    double product = 0, aa = 0, bb = 0;
    for (std::size_t d = 0; d < a.size(); ++d) {
        product += double{a[d]} * b[d];
        aa += double{a[d]} * a[d];
        bb += double{b[d]} * b[d];
    }
    const double length = std::sqrt(aa) * std::sqrt(bb);
    return length == 0 ? 0 : product / length;
}

/// The texts of some examples: positives and stand-ins share one list, so that a text is embedded once.
struct Chunk {
    std::vector<std::string_view> queries, positives, negatives;
    std::vector<std::size_t> first_negative;  // of each example, in `negatives`
    std::vector<std::size_t> stand_in;        // of each example, in `positives`; none: no_row
    static constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();
    std::size_t size() const { return queries.size() + positives.size() + negatives.size(); }
};

void add_example(const TrainingSet& set, std::uint32_t index, Chunk& chunk, std::vector<std::string_view>& stand_ins,
                 TaskDifficulty& result) {
    const Example& example = set.examples[index];
    std::uint8_t marks = 0;
    chunk.queries.push_back(set.texts[example.anchor]);
    chunk.positives.push_back(set.texts[example.positive]);
    chunk.first_negative.push_back(chunk.negatives.size());
    chunk.stand_in.push_back(Chunk::no_row);
    for (std::uint32_t k = 0; k < example.num_negatives; ++k) {
        const std::uint32_t text = set.negatives[example.first_negative + k];
        chunk.negatives.push_back(set.texts[text]);
        if (text == example.positive) marks |= negative_is_positive;
    }
    if (example.num_negatives == 0) {
        const std::int64_t other = stand_in_negative(set, index);
        marks |= other < 0 ? no_negative : drawn_negative;
        if (other >= 0) {
            chunk.stand_in.back() = stand_ins.size();
            stand_ins.push_back(set.texts[set.examples[static_cast<std::size_t>(other)].positive]);
        }
    }
    result.marks.push_back(marks);
}

double negative_similarity(const std::vector<double>& similarities, DifficultySettings::Negatives mode) {
    double sum = 0, highest = -std::numeric_limits<double>::infinity();
    for (const double s : similarities) {
        if (!std::isfinite(s)) return s;
        sum += s;
        highest = std::max(highest, s);
    }
    return mode == DifficultySettings::Negatives::hardest ? highest : sum / static_cast<double>(similarities.size());
}

void measure_chunk(Chunk& chunk, std::vector<std::string_view>& stand_ins, const EmbedSide& embed, const DifficultySettings& settings,
                   TaskDifficulty& result) {
    const std::size_t examples = chunk.queries.size();
    chunk.positives.insert(chunk.positives.end(), stand_ins.begin(), stand_ins.end());
    const Rows queries(embed(chunk.queries, PairSide::query)), positives(embed(chunk.positives, PairSide::positive));
    const Rows negatives(chunk.negatives.empty() ? at::zeros({0, 1}) : embed(chunk.negatives, PairSide::negative));
    for (std::size_t i = 0; i < examples; ++i) {
        std::uint8_t& marks = result.marks[result.phi.size()];
        std::vector<double> similarities;
        const std::size_t end = i + 1 < examples ? chunk.first_negative[i + 1] : chunk.negatives.size();
        for (std::size_t k = chunk.first_negative[i]; k < end; ++k) similarities.push_back(cosine(queries[i], negatives[k]));
        if (chunk.stand_in[i] != Chunk::no_row) similarities.push_back(cosine(queries[i], positives[examples + chunk.stand_in[i]]));
        double phi = cosine(queries[i], positives[i]);
        if (!similarities.empty()) phi -= negative_similarity(similarities, settings.negatives);
        if (!std::isfinite(phi)) {
            phi = std::numeric_limits<double>::quiet_NaN();
            marks |= not_finite;
        }
        result.phi.push_back(static_cast<float>(phi));
    }
}

}  // namespace

DifficultySettings difficulty_settings(const Json& settings, std::string_view name) {
    DifficultySettings result;
    if (json_at<std::string>(settings, "negatives", name) == "mean") result.negatives = DifficultySettings::Negatives::mean;
    return result;
}

SetInstructions instructions_of(const TrainingSet& set, const Task& task) {
    return own_instructions(set).value_or(SetInstructions{task.query_instruction, task.document_instruction, task.document_instruction});
}

std::int64_t stand_in_negative(const TrainingSet& set, std::uint32_t example) {
    const std::size_t n = set.examples.size();
    const std::uint32_t own = set.examples[example].positive;
    // A hash of the place, not a stream of random numbers: any part of the examples gets the same ones.
    for (std::uint64_t attempt = 0; attempt < 64; ++attempt) {
        const std::uint64_t key[] = {example, attempt};
        const std::uint64_t other = hash64({reinterpret_cast<const char*>(key), sizeof key}, hash64(set.name)) % n;
        if (set.examples[other].positive != own) return static_cast<std::int64_t>(other);
    }
    // Almost all positives are one text: the first that is another one.
    for (std::size_t other = 0; other < n; ++other)
        if (set.examples[other].positive != own) return static_cast<std::int64_t>(other);
    return -1;
}

TaskDifficulty measure_difficulty(const TrainingSet& set, std::span<const std::uint32_t> examples, const EmbedSide& embed,
                                  const DifficultySettings& settings) {
    TaskDifficulty result;
    result.name = set.name;
    Chunk chunk;
    std::vector<std::string_view> stand_ins;
    for (std::size_t i = 0; i < examples.size(); ++i) {
        add_example(set, examples[i], chunk, stand_ins, result);
        if (chunk.size() + stand_ins.size() < settings.texts_per_chunk && i + 1 < examples.size()) continue;
        measure_chunk(chunk, stand_ins, embed, settings, result);
        chunk = {};
        stand_ins.clear();
    }
    return result;
}

TaskVector task_vector(const TrainingSet& set, std::span<const std::uint32_t> examples, const EmbedSide& embed, std::size_t num_queries,
                       std::uint64_t seed) {
    std::vector<std::string_view> queries;
    for (const std::size_t i : RandomStream(seed, "data_cube/task/" + set.name).sample(examples.size(), num_queries))
        queries.push_back(set.texts[set.examples[examples[i]].anchor]);
    TaskVector result;
    const at::Tensor embeddings = embed(queries, PairSide::query);
    const Rows rows(embeddings);
    std::vector<double> sum(static_cast<std::size_t>(embeddings.size(1)), 0.0);
    std::size_t used = 0;
    for (std::size_t i = 0; i < queries.size(); ++i) {
        const auto row = rows[i];
        if (!std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); })) {
            ++result.not_finite;
            continue;
        }
        ++used;
        for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += row[d];
    }
    for (const double s : sum) result.values.push_back(used == 0 ? 0.0F : static_cast<float>(s / static_cast<double>(used)));
    return result;
}

double underfitting_ratio(const TaskDifficulty& task, double margin) {
    std::size_t judged = 0, under = 0;
    for (std::size_t i = 0; i < task.phi.size(); ++i) {
        if (task.marks[i] & (no_negative | not_finite)) continue;
        ++judged;
        under += task.phi[i] < margin;
    }
    return judged == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(under) / static_cast<double>(judged);
}

}  // namespace faceter::data_cube
