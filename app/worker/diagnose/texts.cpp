#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "common/error.h"
#include "cut_texts.h"
#include "diagnose/diagnose_model.h"
#include "eval/embedder.h"
#include "experiment/catalogue.h"
#include "experiment/recipes.h"
#include "plugin/loader.h"
#include "settings/core_settings.h"
#include "stats/correlation.h"
#include "stats/descriptive.h"
#include "stats/number.h"
#include "text/encode_batch.h"
#include "train/pair_batch.h"

namespace faceter::worker {
namespace {

constexpr double most_lost_tokens = 0.2;
constexpr std::size_t most_texts = 2000, most_pairs = 256, fewest_pairs = 32, fewest_scored = 100;

struct Lengths {
    std::size_t texts = 0, cut = 0, tokens = 0, lost = 0;
    void add(const EmbeddingModel& model, const std::vector<std::string_view>& all, const std::string& instruction, std::size_t limit) {
        const auto some = evenly_spread(all, most_texts);
        const TokenBatch batch = encode_batch(*model.tokenizer, some, instruction, std::size_t{1} << 24, at::get_num_threads());
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const std::size_t length = batch[i].size();
            tokens += length;
            cut += length > limit;
            lost += length - std::min(length, limit);
        }
        texts += batch.size();
    }
    double lost_share() const { return tokens ? static_cast<double>(lost) / static_cast<double>(tokens) : 0; }
};

Finding length_finding(const std::string& subject, const Lengths& lengths, std::size_t limit) {
    Finding finding{"texts_cut", subject, FindingState::fine, lengths.lost_share(), most_lost_tokens, {}, {}, {}, {}};
    const double share = static_cast<double>(lengths.cut) / static_cast<double>(std::max<std::size_t>(1, lengths.texts));
    finding.details = {{"texts", lengths.texts}, {"cut", share}, {"tokens_lost", lengths.lost_share()}, {"limit", limit}};
    finding.state = finding.value > most_lost_tokens ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("{:.1f} % of {} texts are cut at {} tokens; {:.1f} % of all tokens are lost.", 100 * share, lengths.texts,
                               limit, 100 * finding.value);
    finding.reason = "Beyond a fifth of the tokens, what tells texts apart is often in the part that nobody reads.";
    finding.advice = "Raise max_length (or training.query_length, document_length), or split long texts.";
    return finding;
}

/// Nothing of a long text is lost there. Of an objective that is not installed here it is not known.
bool reads_in_segments(const Json& recipe) try {
    const Json& objective = recipe.at("objective");
    return registry().make_objective(json_at<std::string>(objective, "method", "objective"), objective)->segmented().has_value();
} catch (const Error&) {
    return false;
}

/// How much a stage reads of a side's texts.
std::size_t length_limit(const EmbeddingModel& model, const Json& recipe, PairSide side) {
    const char* key = side == PairSide::query ? "query_length" : "document_length";
    const auto own = json_or<std::size_t>(training_of(recipe), key, 0, "training");
    return own > 0 ? std::min(own, model.max_length) : model.max_length;
}

/// Some pairs of a set as a model embeds them: rows of unit length.
struct PairRows {
    std::vector<Example> examples;
    at::Tensor queries, documents;
};
at::Tensor unit_rows(const EmbeddingModel& model, const TrainingSet& set, const std::vector<std::string_view>& texts, PairSide side) {
    Route route = route_of(model, set, side);
    route.routed = false;
    const at::Tensor rows = embed_texts(model, texts, route);
    return rows / rows.norm(2, {1}, true).clamp_min(1e-12);
}
at::Tensor embed_side(const EmbeddingModel& model, const TrainingSet& set, const std::vector<Example>& examples, PairSide side) {
    std::vector<std::string_view> texts;
    for (const Example& one : examples) texts.push_back(set.texts[side == PairSide::query ? one.anchor : one.positive]);
    return unit_rows(model, set, texts, side);
}
PairRows rows_of(const EmbeddingModel& model, const TrainingSet& set) {
    PairRows rows{evenly_spread(set.examples, most_pairs), {}, {}};
    rows.queries = embed_side(model, set, rows.examples, PairSide::query);
    rows.documents = embed_side(model, set, rows.examples, PairSide::positive);
    return rows;
}

/// Of each query the share of other pairs' documents that are farther away than its own; equal ones count half.
std::vector<double> own_is_nearer(const PairRows& rows) {
    const at::Tensor similar = rows.queries.matmul(rows.documents.t()).contiguous();
    const auto values = similar.accessor<float, 2>();
    std::vector<double> shares;
    for (std::int64_t i = 0; i < similar.size(0); ++i) {
        double nearer = 0, others = 0;
        const Example& own = rows.examples[static_cast<std::size_t>(i)];
        for (std::int64_t j = 0; j < similar.size(0); ++j) {
            const Example& other = rows.examples[static_cast<std::size_t>(j)];
            if (other.positive == own.positive || other.anchor == own.anchor || (own.label >= 0 && own.label == other.label)) continue;
            nearer += values[i][i] > values[i][j] ? 1 : values[i][i] == values[i][j] ? 0.5 : 0;
            ++others;
        }
        if (others > 0) shares.push_back(nearer / others);
    }
    return shares;
}

Finding pair_finding(const TrainingSet& set, const std::vector<double>& shares) {
    Finding finding{"pairs", set.task + ", " + set.name, FindingState::unknown, not_a_number, 0.5, {}, {}, {}, {}};
    finding.says = fmt::format("{} pairs are too few to say whether they belong together.", shares.size());
    if (shares.size() < fewest_pairs) return finding;
    const double error = standard_deviation(shares) / std::sqrt(static_cast<double>(shares.size()));
    finding.value = mean(shares);
    finding.details = {{"standard_error", error}, {"pairs", shares.size()}};
    finding.state = finding.value - 3 * error <= 0.5 ? FindingState::alarm : FindingState::fine;
    finding.says =
        fmt::format("The start model puts a query nearer to its own document than to another one in {:.1f} % of cases (+-{:.1f}).",
                    100 * finding.value, 100 * error);
    finding.reason =
        "Pairs drawn at random give 50 %: within three standard errors of that, they are shuffled for all that the model can see.";
    finding.advice =
        "Read a few pairs (faceter data show): are labels or columns shifted, or is the relation one that the start model lacks?";
    return finding;
}

/// What people or a teacher said of texts beside their queries, and the start model's cosines of the two.
struct ScoredTexts {
    std::vector<double> scores, cosines;
    void add(const at::Tensor& queries, const at::Tensor& texts, const std::vector<float>& of_texts) {
        const at::Tensor similar = (queries * texts).sum(1).to(at::kDouble).contiguous();
        for (std::size_t i = 0; i < of_texts.size(); ++i) {
            if (!std::isfinite(of_texts[i])) continue;
            scores.push_back(of_texts[i]);
            cosines.push_back(similar.data_ptr<double>()[i]);
        }
    }
};

/// Of each pair its document, and the first of the negatives that it was given.
ScoredTexts scored_texts(const EmbeddingModel& start, const TrainingSet& set, const PairRows& rows) {
    ScoredTexts all;
    std::vector<float> of_documents, of_negatives;
    std::vector<std::string_view> negatives;
    std::vector<std::int64_t> places;  // of their queries
    for (std::size_t i = 0; i < rows.examples.size(); ++i) {
        const Example& one = rows.examples[i];
        of_documents.push_back(one.score);
        if (one.num_negatives == 0 || !std::isfinite(set.negative_score(one.first_negative))) continue;
        of_negatives.push_back(set.negative_score(one.first_negative));
        negatives.push_back(set.texts[set.negatives[one.first_negative]]);
        places.push_back(static_cast<std::int64_t>(i));
    }
    all.add(rows.queries, rows.documents, of_documents);
    if (!negatives.empty())
        all.add(rows.queries.index_select(0, at::tensor(places)), unit_rows(start, set, negatives, PairSide::negative), of_negatives);
    return all;
}

Finding score_finding(const TrainingSet& set, const ScoredTexts& texts) {
    Finding finding{"pair_scores", set.task + ", " + set.name, FindingState::unknown, not_a_number, not_a_number, {}, {}, {}, {}};
    const std::size_t n = texts.scores.size();
    finding.says = fmt::format("{} texts with scores are too few to say whether these fit them.", n);
    if (n < fewest_scored) return finding;
    finding.value = spearman(texts.scores, texts.cosines).r;
    finding.threshold = 3 / std::sqrt(static_cast<double>(n - 1));
    finding.details = {{"texts", n}};
    finding.says = fmt::format("All {} texts have one score, which orders nothing.", n);
    if (std::isnan(finding.value)) return finding;
    finding.state = finding.value <= finding.threshold ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("Scores of {} texts and the start model's cosines have a rank correlation of {:.2f}.", n, finding.value);
    finding.reason = fmt::format(
        "Scores dealt out at random have none: up to {:.2f}, three standard errors, they are shuffled for all that the model can see.",
        finding.threshold);
    finding.advice =
        "Read a few pairs (faceter data show): do scores stand beside their own texts, and do higher ones mean nearer? Else the relation "
        "is "
        "one that the start model lacks.";
    return finding;
}

/// Of a stage that trains the task.
bool learns_from_scores(const Catalogue& catalogue, const Json& settings, const std::string& task) {
    const std::vector<Json> recipes = recipes_of(settings);
    return std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) {
        const Catalogue::Entry* objective =
            catalogue.find(ExtensionKind::objective, json_at<std::string>(recipe.at("objective"), "method", "objective"));
        const auto learns_from = objective ? objective->extension.learns_from : LearnsFrom::anything;
        return trains(recipe, task) && (learns_from == LearnsFrom::scores || learns_from == LearnsFrom::order ||
                                        learns_from == LearnsFrom::scored_pairs || learns_from == LearnsFrom::verdicts);
    });
}

bool has_scores(const TrainingSet& set) {
    return std::any_of(set.examples.begin(), set.examples.end(), [](const Example& one) { return std::isfinite(one.score); });
}

struct Spread {
    double cosine, rank, uniformity;
    Json to_json() const { return {{"mean_cosine", cosine}, {"effective_rank", rank}, {"uniformity", uniformity}}; }
};

/// rows [N, D] of unit length. Effective rank: exp of the spectrum's entropy (Roy and Vetterli, 2007), about the mean.
Spread spread_of(const at::Tensor& rows) {
    const at::Tensor x = rows.to(at::kDouble);
    const auto n = static_cast<double>(x.size(0));
    const double cosine = (x.sum(0).square().sum().item<double>() - n) / (n * (n - 1));
    const at::Tensor powers = at::linalg_svdvals(x - x.mean(0, true)).square();
    const at::Tensor shares = powers / powers.sum().clamp_min(1e-300);
    const double rank = std::exp(-(shares * shares.clamp_min(1e-300).log()).sum().item<double>());
    const at::Tensor distances = (2 - 2 * x.matmul(x.t())).clamp_min(0);  // squared
    const double sum = (-2 * distances).exp().sum().item<double>() - n;
    return {cosine, rank, std::log(std::max(1e-300, sum / (n * (n - 1))))};
}

/// A loss that puts texts apart by their cosines. AnglE does so by angles of another kind; a teacher's texts may lie nearer than the start
/// model's.
bool spreads_texts(const Json& settings, const std::string& task) {
    const std::vector<Json> recipes = recipes_of(settings);
    return std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) {
        const auto method = json_at<std::string>(recipe.at("objective"), "method", "objective");
        return trains(recipe, task) && (method == "infonce" || method == "gist" || method == "cosent" || method == "triplet");
    });
}

/// Texts that all take on one more direction come nearer to one another and are told apart as before: half the distance is an alarm only
/// where directions are lost as well, and a loss should have spread them.
bool has_collapsed(const Spread& before, const Spread& now, bool spreads) {
    const double distance = (1 - now.cosine) / (1 - before.cosine), directions = now.rank / before.rank;
    return distance < 0.1 || directions < 0.1 || (spreads && distance < 0.5 && directions < 2.0 / 3);
}

Finding collapse_finding(const std::string& task, const Spread& before, const Spread& now, bool spreads) {
    const double crowded = 1 - (spreads ? 0.5 : 0.1) * (1 - before.cosine);
    Finding finding{"collapse", task, FindingState::fine, now.cosine, crowded, {}, {}, {}, {}};
    finding.details = {{"start", before.to_json()}, {"now", now.to_json()}};
    finding.state = has_collapsed(before, now, spreads) ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("Mean cosine {:.2f} (start {:.2f}), effective rank {:.0f} ({:.0f}), uniformity {:.2f} ({:.2f}).", now.cosine,
                               before.cosine, now.rank, before.rank, now.uniformity, before.uniformity);
    finding.reason =
        spreads
            ? "Training by contrast spreads texts; where they are twice as near to one another as at the start and a third of the "
              "directions is lost, or a tenth of either is left, they crowd."
            : "This loss need not spread texts; where a tenth is left of their distances at the start, or of the directions, they crowd.";
    finding.advice = "Lower training.learning_rate and the temperature, and see that batches hold more than one kind of text.";
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_lengths(const ModelPair& models, std::span<const EvaluationSet> evaluation, const Json& settings) {
    const EmbeddingModel& model = models.now;
    std::map<std::pair<std::string, PairSide>, std::map<std::size_t, Lengths>> sides;  // of each length that a stage reads
    for (const Json& recipe : recipes_of(settings)) {
        if (reads_in_segments(recipe)) continue;
        for (const TrainingSet& set : models.training)
            for (const PairSide side : {PairSide::query, PairSide::positive})
                if (trains(recipe, set.task)) sides[{set.task, side}].try_emplace(length_limit(model, recipe, side));
    }
    for (const TrainingSet& set : models.training)
        for (const PairSide side : {PairSide::query, PairSide::positive})
            for (auto& [limit, lengths] : sides[{set.task, side}])
                lengths.add(model, texts_of(set, side), route_of(model, set, side).instruction, limit);
    std::vector<Finding> findings;
    for (const auto& [key, limits] : sides)
        for (const auto& [limit, lengths] : limits)
            findings.push_back(
                length_finding(key.first + (key.second == PairSide::query ? ", query side" : ", document side"), lengths, limit));
    for (const EvaluationSet& set : evaluation) {
        Lengths lengths;
        lengths.add(model, embedded_texts(set), instruction_of_most(set, routes_for(model, set, "")), model.max_length);
        findings.push_back(length_finding("test set " + set.name, lengths, model.max_length));
    }
    return findings;
}

/// Pairs that have scores alone need not belong together: a low score says that they do not.
std::vector<Finding> diagnose_pairs(const ModelPair& models, const Json& settings) {
    const Catalogue catalogue = Catalogue::load(plugin_folders());
    std::vector<Finding> findings;
    for (const TrainingSet& set : models.training) {
        const PairRows rows = rows_of(models.start, set);
        const bool by_scores = has_scores(set) && learns_from_scores(catalogue, settings, set.task);
        if (by_scores) findings.push_back(score_finding(set, scored_texts(models.start, set, rows)));
        if (!by_scores || !set.negatives.empty() || findings.back().state == FindingState::unknown)
            findings.push_back(pair_finding(set, own_is_nearer(rows)));
    }
    return findings;
}

std::vector<Finding> diagnose_collapse(const ModelPair& models, const Json& settings) {
    std::map<std::string, std::pair<std::vector<at::Tensor>, std::vector<at::Tensor>>> tasks;
    for (const TrainingSet& set : models.training) {
        const PairRows before = rows_of(models.start, set), now = rows_of(models.now, set);
        for (const auto& rows : {before.queries, before.documents}) tasks[set.task].first.push_back(rows);
        for (const auto& rows : {now.queries, now.documents}) tasks[set.task].second.push_back(rows);
    }
    std::vector<Finding> findings;
    for (const auto& [task, rows] : tasks)
        findings.push_back(
            collapse_finding(task, spread_of(at::cat(rows.first)), spread_of(at::cat(rows.second)), spreads_texts(settings, task)));
    return findings;
}

}  // namespace faceter::worker
