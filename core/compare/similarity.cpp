#include "compare/similarity.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "compare/compare_tests.h"
#include "stats/descriptive.h"
#include "stats/effect_size.h"
#include "stats/multiple_testing.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::size_t max_pairs = 10'000, max_texts = 10'000'000;

const SimilarityPair* find_pair(const std::vector<SimilarityPair>& pairs, const SimilarityPair& wanted) {
    for (const SimilarityPair& pair : pairs)
        if ((pair.a == wanted.a && pair.b == wanted.b) || (pair.a == wanted.b && pair.b == wanted.a)) return &pair;
    return nullptr;
}

/// A model that reads no instruction gives a text one embedding under all tasks: its similarities are 1 but for rounding, whose t and p say
/// nothing.
template <typename Result>
void leave_out(Result& result, double& effect) {
    result.t = result.p = effect = not_a_number;
    result.note = "the similarities, or their differences, vary by rounding alone: there is no test";
}

SimilarityTest test_pair(const SimilarityPair& first, const SimilarityPair& second, bool same, Alternative alternative) {
    SimilarityTest test;
    test.a = first.a;
    test.b = first.b;
    test.mean_first = first.mean;
    test.mean_second = second.mean;
    test.texts = first.values.size();
    test.texts_second = second.values.size();
    test.paired_is_possible = same && test.texts == test.texts_second;
    test.d_z = test.paired_is_possible ? paired_effect_size(first.values, second.values) : not_a_number;
    test.d = cohens_d(first.values, second.values);
    if (test.paired_is_possible) test.paired = paired_t(first.values, second.values, alternative);
    test.one_sided = welch(first.values, second.values, alternative);
    test.two_sided = welch(first.values, second.values, Alternative::two_sided);
    if (test.paired_is_possible && test.paired.std_difference < no_spread) leave_out(test.paired, test.d_z);
    if (test.one_sided.std_a < no_spread && test.one_sided.std_b < no_spread) {
        leave_out(test.one_sided, test.d);
        leave_out(test.two_sided, test.d);
    }
    return test;
}

template <typename P, typename Holm>
void adjust(std::vector<SimilarityTest>& tests, P p, Holm adjusted) {
    std::vector<double> values;
    for (const SimilarityTest& test : tests) values.push_back(p(test));
    const std::vector<double> holmed = holm(values);
    for (std::size_t i = 0; i < tests.size(); ++i) tests[i].*adjusted = holmed[i];
}

bool are_means(const SimilarityComparison& comparison) { return comparison.seeds_first > 1 || comparison.seeds_second > 1; }

std::string sign(Alternative alternative) {
    return alternative == Alternative::less ? "<" : alternative == Alternative::greater ? ">" : "is not";
}

}  // namespace

SimilaritySet similarity_from_json(const Json& json, std::string_view name) {
    SimilaritySet set;
    const Json list = json_at<Json>(json, "pairs", name);
    if (!list.is_array() || list.size() > max_pairs) throw data_error("{}: 'pairs' must be a list of at most {} pairs", name, max_pairs);
    for (const Json& item : list) {
        SimilarityPair pair;
        pair.a = json_at<std::string>(item, "a", name);
        pair.b = json_at<std::string>(item, "b", name);
        pair.values = json_at<std::vector<double>>(item, "values", name);
        if (pair.values.empty() || pair.values.size() > max_texts)
            throw data_error("{}: the pair {}, {} has no values", name, pair.a, pair.b);
        pair.mean = mean(pair.values);
        set.pairs.push_back(std::move(pair));
    }
    set.texts = json_or<std::vector<std::string>>(json, "samples", {}, name);
    set.fingerprint = json_or<std::string>(json, "fingerprint", "", name);
    if (json.contains("settings") && json["settings"].is_object()) set.source = json["settings"].value("texts", Json());
    return set;
}

SimilaritySet read_similarity(const RunDirectory& run) {
    const fs::path file = run.results() / "inter_task_similarity.json";
    if (!fs::exists(file))
        throw data_error(
            "{}: it has no inter-task similarities; its experiment needs the analysis inter_task_similarity, and the run must be done",
            run.info().shown_name());
    return similarity_from_json(read_json(file), file.string());
}

std::string texts_label(const Json& source, std::size_t num_texts) {
    std::vector<std::string> words;
    if (source.is_object())
        for (const char* key : {"source", "name", "view", "path"})
            if (source.contains(key) && source[key].is_string() && !source[key].get_ref<const std::string&>().empty())
                words.push_back(key == std::string_view("path") ? fs::path(source[key].get<std::string>()).filename().string()
                                                                : source[key].get<std::string>());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return fmt::format("{}, {}", words.empty() ? "texts" : join(words, " "), num_texts);
}

bool same_texts(const SimilaritySet& first, const SimilaritySet& second) {
    return first.num_texts() == second.num_texts() &&
           (first.fingerprint.empty() || second.fingerprint.empty() || first.fingerprint == second.fingerprint);
}

SimilaritySet average_over_seeds(std::span<const SimilaritySet> seeds, std::span<const std::string> names,
                                 std::vector<std::string>& notes) {
    if (seeds.empty()) return {};
    std::vector<const SimilaritySet*> kept;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        if (same_texts(seeds.front(), seeds[i]))
            kept.push_back(&seeds[i]);
        else
            notes.push_back(fmt::format("{} embedded other texts than {} and is left out.", names[i], names[0]));
    }
    SimilaritySet average = seeds.front();
    average.pairs.clear();
    for (SimilarityPair pair : seeds.front().pairs) {
        std::vector<const SimilarityPair*> same;
        for (const SimilaritySet* seed : kept)
            if (const SimilarityPair* found = find_pair(seed->pairs, pair); found && found->values.size() == pair.values.size())
                same.push_back(found);
        if (same.size() < kept.size()) continue;
        for (std::size_t i = 0; i < pair.values.size(); ++i) {
            double sum = 0;
            for (const SimilarityPair* seed : same) sum += seed->values[i];
            pair.values[i] = sum / static_cast<double>(same.size());
        }
        pair.mean = mean(pair.values);
        average.pairs.push_back(std::move(pair));
    }
    return average;
}

bool share_a_pair(const SimilaritySet& first, const SimilaritySet& second) {
    return std::any_of(first.pairs.begin(), first.pairs.end(),
                       [&](const SimilarityPair& pair) { return find_pair(second.pairs, pair) != nullptr; });
}

SimilarityComparison compare_similarity(const std::string& first_name, const SimilaritySet& first, const std::string& second_name,
                                        const SimilaritySet& second, Alternative alternative) {
    SimilarityComparison comparison{first_name, second_name, alternative, {}, 1, 1};
    const bool same = same_texts(first, second);
    for (const SimilarityPair& pair : first.pairs)
        if (const SimilarityPair* other = find_pair(second.pairs, pair))
            comparison.tests.push_back(test_pair(pair, *other, same, alternative));
    if (comparison.tests.empty()) throw data_error("{} and {} have no pair of tasks in common", first_name, second_name);
    adjust(
        comparison.tests, [](const SimilarityTest& test) { return test.paired_is_possible ? test.paired.p : not_a_number; },
        &SimilarityTest::paired_holm);
    adjust(
        comparison.tests, [](const SimilarityTest& test) { return test.one_sided.p; }, &SimilarityTest::one_sided_holm);
    adjust(
        comparison.tests, [](const SimilarityTest& test) { return test.two_sided.p; }, &SimilarityTest::two_sided_holm);
    return comparison;
}

Table similarity_table(const SimilarityComparison& comparison) {
    Table table;
    table.name = "inter_task_similarity_test";
    table.caption = fmt::format("Inter-task similarity of {} against {}", comparison.first, comparison.second);
    table.add_column("tasks", ColumnKind::text);
    table.add_column(comparison.first, ColumnKind::number, 4).group = "mean similarity";
    table.add_column(comparison.second, ColumnKind::number, 4).group = "mean similarity";
    const std::pair<const char*, const char*> tests[] = {{"paired over texts", "t"}, {"Welch (as published)", "t"}};
    for (const auto& [group, statistic] : tests) {
        table.add_column(statistic, ColumnKind::number, 2).group = group;
        table.add_column("df", ColumnKind::number, 1).group = group;
        table.add_column("p", ColumnKind::p_value, 3).group = group;
        table.add_column("p Holm", ColumnKind::p_value, 3).group = group;
        table.add_column(group == tests[0].first ? "d_z" : "d", ColumnKind::number, 2).group = group;
    }
    table.add_column("p two-sided", ColumnKind::p_value, 3).group = "Welch (as published)";
    table.add_column("p two-sided Holm", ColumnKind::p_value, 3).group = "Welch (as published)";
    for (const SimilarityTest& test : comparison.tests) {
        const bool paired = test.paired_is_possible;
        table.add_row({Cell::of(test.a + " / " + test.b), Cell::of(test.mean_first), Cell::of(test.mean_second),
                       paired ? Cell::of(test.paired.t) : Cell{}, paired ? Cell::of(test.paired.df) : Cell{},
                       paired ? Cell::of(test.paired.p) : Cell{},
                       paired ? Cell::of(test.paired_holm).with_stars(significance_stars(test.paired_holm)) : Cell{}, Cell::of(test.d_z),
                       Cell::of(test.one_sided.t), Cell::of(test.one_sided.df), Cell::of(test.one_sided.p), Cell::of(test.one_sided_holm),
                       Cell::of(test.d), Cell::of(test.two_sided.p), Cell::of(test.two_sided_holm)});
    }
    const SimilarityTest& any = comparison.tests.front();
    const std::string why =
        any.paired_is_possible
            ? "Both runs embed the same texts, so the paired test is the right one; Welch's is the paper's (MoTE, section 5.2)."
            : "The runs embed other texts, so there is no paired test; Welch's is the paper's (MoTE, section 5.2).";
    table.footnotes.push_back(
        fmt::format("Alternative: mean of {} {} mean of {}; {} texts. {} Holm-adjusted over the {} pairs of tasks.", comparison.first,
                    sign(comparison.alternative), comparison.second,
                    any.texts == any.texts_second ? fmt::format("{}", any.texts) : fmt::format("{} and {}", any.texts, any.texts_second),
                    why, comparison.tests.size()));
    for (const SimilarityTest& test : comparison.tests)
        if (const std::string& note = test.paired.note.empty() ? test.one_sided.note : test.paired.note; !note.empty())
            table.footnotes.push_back(fmt::format("{} / {}: {}.", test.a, test.b, note));
    if (are_means(comparison))
        table.footnotes.push_back(fmt::format("Each text's mean over seeds: {} of {}, {} of {}.", comparison.seeds_first, comparison.first,
                                              comparison.seeds_second, comparison.second));
    return table;
}

Json similarity_json(const SimilarityComparison& comparison) {
    Json pairs = Json::array();
    for (const SimilarityTest& test : comparison.tests) {
        Json paired = test.paired_is_possible ? test.paired.to_json() : Json();
        if (paired.is_object()) paired["p_holm"] = number_to_json(test.paired_holm);
        Json one = test.one_sided.to_json(), two = test.two_sided.to_json();
        one["p_holm"] = number_to_json(test.one_sided_holm);
        two["p_holm"] = number_to_json(test.two_sided_holm);
        if (paired.is_object()) paired["effect_size_d_z"] = number_to_json(test.d_z);
        one["effect_size_d"] = number_to_json(test.d);
        pairs.push_back({{"a", test.a},
                         {"b", test.b},
                         {"mean_first", test.mean_first},
                         {"mean_second", test.mean_second},
                         {"texts", test.texts},
                         {"paired_t", paired},
                         {"welch", one},
                         {"welch_two_sided", two}});
    }
    Json json = {{"first", comparison.first},
                 {"second", comparison.second},
                 {"alternative", alternative_name(comparison.alternative)},
                 {"pairs", pairs}};
    if (are_means(comparison)) json["seeds_first"] = comparison.seeds_first, json["seeds_second"] = comparison.seeds_second;
    return json;
}

}  // namespace faceter
