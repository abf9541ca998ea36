#include "compare/diagnose_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "common/hash.h"
#include "experiment/batch_negatives.h"
#include "experiment/builtin_settings.h"
#include "experiment/recipes.h"
#include "record/journal.h"
#include "settings/core_settings.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr double most_false_negatives = 0.5, fewest_negatives = 4, most_repeats = 0.2;

/// Probability that two different examples agree in what `of` names (below 0: in nothing).
template <typename Of>
double agreement(const TrainingSet& set, Of of) {
    std::unordered_map<std::int64_t, double> counts;
    for (const Example& example : set.examples)
        if (const std::int64_t key = of(example); key >= 0) ++counts[key];
    double pairs = 0;
    for (const auto& [key, count] : counts) pairs += count * (count - 1);
    const auto n = static_cast<double>(set.examples.size());
    return n < 2 ? 0 : pairs / (n * (n - 1));
}

struct Agreements {
    double document = 0, anchor = 0, label = 0;
};
Agreements agreements_of(const TrainingSet& set) {
    return {agreement(set, [](const Example& e) { return std::int64_t{e.positive}; }),
            agreement(set, [](const Example& e) { return std::int64_t{e.anchor}; }),
            agreement(set, [](const Example& e) { return std::int64_t{e.label}; })};
}

struct Batching {
    std::string stage;  ///< of `stages`, with ", " behind; empty: there are none
    double pairs;       ///< in a batch
    std::string mask;
    std::string hard;  ///< which queries a given negative counts for
    explicit Batching(const Json& recipe)
        : Batching(json_or<std::string>(recipe, "name", "", "stages"), training_of(recipe),
                   builtin_settings(ExtensionKind::objective, "infonce", recipe.at("objective"))) {}
    Batching(const std::string& name, const Json& training, const Json& infonce)
        : stage(name.empty() ? name : name + ", "),
          pairs(json_at<double>(training, "batch_size", "training")),
          mask(json_at<std::string>(infonce, "mask_false_negatives", "objective")),
          hard(json_at<std::string>(infonce, "hard_negatives", "objective")) {}
    /// Of a set's batches: as the record has them, and where they are of one data set, no more than it holds.
    Batching with(double recorded, bool of_one_set, const TrainingSet& set) const {
        Batching own = *this;
        own.pairs = std::min(own.pairs, recorded);
        if (of_one_set) own.pairs = std::min(own.pairs, static_cast<double>(set.examples.size()));
        own.pairs = std::max(1.0, own.pairs);
        return own;
    }
    double masked(const Agreements& p) const {
        return (pairs - 1) * (mask == "none" ? 0 : mask == "same_text" ? p.document : std::max(p.document, p.label));
    }
};

/// "2.67", of batches that were cut; "2048".
std::string pairs_text(double pairs) { return pairs < 100 ? fmt::format("{:.3g}", pairs) : fmt::format("{:.0f}", pairs); }

/// What of a batch answers the query as well as its own document does and is pushed away: another document of its anchor, one of its
/// label, its own document again; what the mask leaves out does no harm.
Finding false_negatives(const TrainingSet& set, const Batching& batching) {
    const Agreements p = agreements_of(set);
    const double all = (batching.pairs - 1) * std::max({p.document, p.anchor, p.label});
    Finding finding{"false_negatives",
                    batching.stage + set.task + ", " + set.name,
                    FindingState::fine,
                    std::max(0.0, all - batching.masked(p)),
                    most_false_negatives,
                    {},
                    {},
                    {},
                    {}};
    finding.details = {{"same_document", p.document}, {"same_anchor", p.anchor}, {"same_label", p.label}, {"masked", batching.masked(p)}};
    finding.state = finding.value > most_false_negatives ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("A query of a batch of {} meets {:.2g} texts that answer it, too, of which the loss leaves out {:.2g}.",
                               pairs_text(batching.pairs), all, batching.masked(p));
    finding.reason = "From one such text for every two queries on, a good part of the gradient pushes right answers away.";
    finding.advice = p.label > p.anchor ? "Set objective.mask_false_negatives: same_label, or use smaller batches of this set."
                                        : "Merge or drop the repeated anchors (faceter data filter), or use smaller batches of this set.";
    return finding;
}

Finding negatives(const TrainingSet& set, const Batching& batching) {
    const auto n = static_cast<double>(std::max<std::size_t>(1, set.examples.size()));
    const double each = static_cast<double>(set.negatives.size()) / n;
    const double given = batching.hard == "none" ? 0 : batching.hard == "own" ? each : each * batching.pairs;
    const double in_batch = batching.pairs - 1 - batching.masked(agreements_of(set));
    Finding finding{
        "negatives", batching.stage + set.task + ", " + set.name, FindingState::fine, in_batch + given, fewest_negatives, {}, {}, {}, {}};
    finding.details = {{"in_batch", in_batch}, {"given", given}, {"pairs", batching.pairs}};
    finding.state = finding.value < fewest_negatives ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("A query of a batch of {} has {:.1f} negatives: {:.1f} documents of other queries, {:.1f} given ones.",
                               pairs_text(batching.pairs), finding.value, in_batch, given);
    finding.reason = "Among fewer than five texts the right one is soon found, and the loss stops teaching.";
    finding.advice = "Raise training.batch_size (gradient caching costs no memory), or mine hard negatives (faceter data mine).";
    return finding;
}

/// As the record has them; infinity where it has none.
double pairs_of(const BatchPairs& recorded, std::size_t part, const std::string& task) {
    for (const std::string& of : {task, std::string()})
        if (const auto found = recorded.find({part, of}); found != recorded.end()) return found->second;
    return std::numeric_limits<double>::infinity();
}

/// Whether each batch of the task is of one data set, as far as the settings tell.
bool is_cut_by_set(const Json& settings, const Json& recipe, const std::string& task) {
    const Json tasks = json_or<Json>(settings, "tasks", Json::object(), "settings");
    const auto found = tasks.find(task);
    return found != tasks.end() && batches_from(recipe, *found) == BatchNegatives::From::data_set;
}

std::uint64_t hash_of(const Example& example, const TrainingSet& set) {
    std::string key = fmt::format("{} {}", example.anchor, example.positive);
    for (std::uint32_t i = 0; i < example.num_negatives; ++i) key += fmt::format(" {}", set.negatives[example.first_negative + i]);
    return hash64(key);
}

/// Examples that stand before in their set, hard negatives and all.
Finding repeats(const TrainingSet& set) {
    std::unordered_set<std::uint64_t> different;
    for (const Example& example : set.examples) different.insert(hash_of(example, set));
    const std::size_t all = set.examples.size(), repeated = all - different.size();
    Finding finding{"repeats", set.task + ", " + set.name, FindingState::fine, 0, most_repeats, {}, {}, {}, {}};
    finding.value = static_cast<double>(repeated) / static_cast<double>(std::max<std::size_t>(1, all));
    finding.details = {{"examples", all}, {"different", different.size()}};
    finding.state = finding.value > most_repeats ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("{} of {} training examples stand before in the set: {} are different.", repeated, all, different.size());
    finding.reason = "Beyond a fifth, steps and epochs say more than there is to learn, and some pairs count several times.";
    finding.advice = "Keep one of each (faceter data duplicates lists them), and count the steps anew.";
    return finding;
}

/// Of the sets that a run has read, by use, task and name: two may be called alike, and an attempt may have read others than the next.
using Fingerprints = std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>>;

std::string fingerprint_of_card(const Json& card) { return json_or<std::string>(card, "fingerprint", "", "card"); }

Fingerprints fingerprints_read(const RunDirectory& run) {
    Fingerprints all;
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); const auto event = journal.next();) {
            if (event->type != "data") continue;
            const auto text = [&](const char* key) { return json_or<std::string>(event->fields, key, "", "data"); };
            const std::string fingerprint = fingerprint_of_card(json_or<Json>(event->fields, "card", Json::object(), "data"));
            if (!fingerprint.empty()) all[{text("use"), text("task"), text("name")}].insert(fingerprint);
        }
    return all;
}

bool has_changed(const Fingerprints& read, const char* use, const std::string& task, const std::string& name, const Json& card) {
    const auto known = read.find({use, task, name});
    const std::string fingerprint = card.is_object() ? fingerprint_of_card(card) : "";
    return known != read.end() && !fingerprint.empty() && !known->second.contains(fingerprint);
}

Finding change(const std::string& subject, const char* what_it_did) {
    Finding finding{"data", subject, FindingState::unknown, not_a_number, not_a_number, {}, {}, {}, {}};
    finding.says =
        fmt::format("Its data are others now than those that the run {}: what is said of them here is of what they are now.", what_it_did);
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_changes(const RunDirectory& run, std::span<const TrainingSet> training,
                                      std::span<const EvaluationSet> evaluation) {
    const Fingerprints read = fingerprints_read(run);
    std::vector<Finding> findings;
    for (const TrainingSet& set : training)
        if (has_changed(read, "training", set.task, set.name, set.card))
            findings.push_back(change(set.task + ", " + set.name, "was trained on"));
    for (const EvaluationSet& set : evaluation)
        if (has_changed(read, "evaluation", set.task_type, set.name, set.card))
            findings.push_back(change("test set " + set.name, "was scored on"));
    return findings;
}

std::vector<Finding> diagnose_negatives(std::span<const TrainingSet> training, const Json& settings, const BatchPairs& recorded,
                                        std::optional<std::size_t> only) {
    const std::vector<Json> recipes = recipes_of(settings);
    std::vector<Finding> findings;
    for (std::size_t part = 0; part < recipes.size(); ++part) {
        const Json& recipe = recipes[part];
        if (only.value_or(part) != part || json_at<std::string>(recipe.at("objective"), "method", "objective") != "infonce") continue;
        const Batching batching(recipe);
        for (const TrainingSet& set : training) {
            if (!trains(recipe, set.task)) continue;
            const Batching own = batching.with(pairs_of(recorded, part, set.task), is_cut_by_set(settings, recipe, set.task), set);
            findings.push_back(false_negatives(set, own));
            findings.push_back(negatives(set, own));
        }
    }
    return findings;
}

std::vector<Finding> diagnose_repeats(std::span<const TrainingSet> training) {
    std::vector<Finding> findings;
    for (const TrainingSet& set : training) findings.push_back(repeats(set));
    return findings;
}

}  // namespace faceter
