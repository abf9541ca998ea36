#include <fmt/format.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "compare/diagnose_data.h"
#include "data/near_copies.h"
#include "data/overlap.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

constexpr double largest_leak = 0.01, most_near_copies = 0.1;

std::vector<std::string_view> asked_texts(const EvaluationSet& set) {
    if (!set.subsets.empty()) {
        std::vector<std::string_view> all;
        for (const EvaluationSet& subset : set.subsets)
            for (const std::string_view text : asked_texts(subset)) all.push_back(text);
        return all;
    }
    if (const auto* retrieval = std::get_if<RetrievalData>(&set.data)) return retrieval->queries.views();
    return held_out_texts(set);
}

using Forms = std::unordered_map<std::string, std::string>;  ///< of trained texts, each with the name of a set that has it

Forms trained_forms(std::span<const TrainingSet> training) {
    Forms forms;
    for (const TrainingSet& set : training)
        for (const std::string_view text : set.texts.views())
            if (std::string form = overlap_form(text); !form.empty()) forms.try_emplace(std::move(form), set.name);
    return forms;
}

/// The different texts of a test set.
struct Asked {
    std::string name;
    std::vector<std::string_view> trained, others;
    std::map<std::string, std::size_t> by_training_set;
    std::size_t size() const { return trained.size() + others.size(); }
    double share(std::size_t of) const { return size() == 0 ? 0 : static_cast<double>(of) / static_cast<double>(size()); }
};

Asked asked_of(const EvaluationSet& set, const Forms& trained) {
    Asked asked;
    asked.name = set.name;
    std::unordered_set<std::string> forms;
    for (const std::string_view text : asked_texts(set)) {
        const std::string form = overlap_form(text);
        if (form.empty() || !forms.insert(form).second) continue;
        const auto found = trained.find(form);
        if (found != trained.end()) ++asked.by_training_set[found->second];
        (found == trained.end() ? asked.others : asked.trained).push_back(text);
    }
    return asked;
}

std::string such_as(const std::vector<std::string_view>& texts) {
    return texts.empty() ? "" : fmt::format(", such as \"{}\"", shorten(texts.front(), 80));
}

Finding leak(const Asked& asked) {
    Finding finding{"leak", asked.name, FindingState::fine, asked.share(asked.trained.size()), largest_leak, {}, {}, {}, {}};
    finding.details = {{"shared", asked.trained.size()}, {"texts", asked.size()}, {"by_training_set", asked.by_training_set}};
    finding.state = finding.value > largest_leak ? FindingState::alarm : FindingState::fine;
    finding.says =
        fmt::format("{} of {} test texts stand in the training data{}.", asked.trained.size(), asked.size(), such_as(asked.trained));
    finding.reason = "Beyond one in a hundred, a gain of a point can be memory.";
    finding.advice = "Take these texts out of training (faceter data overlap lists them), or score on another split.";
    return finding;
}

Finding near_leak(const Asked& asked, const std::vector<std::string_view>& near) {
    Finding finding{"near_leak", asked.name, FindingState::fine, asked.share(near.size()), most_near_copies, {}, {}, {}, {}};
    finding.details = {{"near_copies", near.size()}, {"texts", asked.size()}};
    finding.state = finding.value > most_near_copies ? FindingState::alarm : FindingState::fine;
    finding.says = fmt::format("{} of {} test texts stand in the training data with one word more or less{}.", near.size(), asked.size(),
                               such_as(near));
    finding.reason =
        "Texts of one kind have such neighbours (3 of 100 synopses of packages); beyond one in ten they are the same texts, changed.";
    finding.advice = "See where training and test data come from, and take these texts out of one of them.";
    return finding;
}

}  // namespace

std::vector<Finding> diagnose_leaks(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation) {
    const Forms trained = trained_forms(training);
    std::vector<Asked> all;
    std::vector<std::string_view> others;
    for (const EvaluationSet& set : evaluation) {
        all.push_back(asked_of(set, trained));
        others.insert(others.end(), all.back().others.begin(), all.back().others.end());
    }
    NearCopies copies(others);
    for (const TrainingSet& set : training)
        for (const std::string_view text : set.texts.views()) copies.compare(text);
    std::vector<Finding> findings;
    std::size_t place = 0;
    for (const Asked& asked : all) {
        std::vector<std::string_view> near;
        for (const std::string_view text : asked.others)
            if (copies.found(place++)) near.push_back(text);
        findings.push_back(leak(asked));
        findings.push_back(near_leak(asked, near));
    }
    return findings;
}

}  // namespace faceter
