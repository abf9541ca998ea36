#include "compare/study_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "common/printable.h"
#include "common/strings.h"
#include "compare/agreement.h"
#include "compare/result_files.h"
#include "compare/study_curves.h"
#include "compare/study_exclusions.h"
#include "compare/study_tables.h"
#include "figure/table_export.h"
#include "record/journal.h"
#include "stats/number.h"

namespace faceter {
namespace {

using Values = std::map<std::string, double>;  // by data set
using Side = std::map<std::uint64_t, Values>;  // by seed

/// Of to_markdown(): alpha.
constexpr const char* how_it_is_judged =
    "\nEffect and interval: two-way bootstrap over seeds and data sets (95 %); where one of them has fewer than ten, a t interval of the "
    "two-way random model, since the bootstrap's is too narrow then. p: paired t over seeds of the means over data sets, one-sided; p "
    "(Holm): "
    "the same adjusted over the claims, which are one family, and held against alpha {}, as is the p of equivalence (two one-sided tests). "
    "Power: of the test for the smallest difference of interest, at alpha over the number of claims.\n";

Values scores_of(const RunDirectory& run) {
    Values values;
    for (const auto& [name, result] : scored_results(run)) values[name] = json_at<double>(result, "score", name);
    return values;
}

Json analysis_of(const RunDirectory& run, const std::string& name) {
    const fs::path file = run.results() / (name + ".json");
    return fs::is_regular_file(file) ? read_json(file) : Json::object();
}

Values similarities_of(const RunDirectory& run) {
    Values values;
    for (const Json& pair : json_or<Json>(analysis_of(run, "inter_task_similarity"), "pairs", Json::array(), "result"))
        values[json_at<std::string>(pair, "a", "pair") + " - " + json_at<std::string>(pair, "b", "pair")] =
            json_at<double>(pair, "mean", "pair");
    return values;
}

Values method_scores_of(const RunDirectory& run, const std::string& method) {
    Values values;
    const Json methods = json_or<Json>(analysis_of(run, "router_study"), "methods", Json::array(), "result");
    for (const Json& one : methods) {
        if (json_at<std::string>(one, "name", "method") != method) continue;
        const Json scores = json_at<Json>(one, "scores", "method");
        for (const auto& [set, score] : scores.items())
            if (score.is_number()) values[set] = score.get<double>();
    }
    return values;
}

/// A run that is done, and its scores: results are read once, whatever the number of claims.
struct DoneRun {
    const StudyRun* run = nullptr;
    std::string name;  ///< of its variant and point, as tables and curves have it
    Values scores;
};

std::string variant_name(const StudyRun& run) {
    return run.wanted.point.empty() ? run.wanted.variant : run.wanted.variant + " " + run.wanted.point;
}

/// With the experiment where several make a variant of this name; with its place where these are of one name too.
std::string full_name(const StudyRun& run, const std::map<std::size_t, std::string>& experiments) {
    if (experiments.size() < 2) return variant_name(run);
    const auto of_this_name =
        std::count_if(experiments.begin(), experiments.end(), [&](const auto& one) { return one.second == run.experiment_name; });
    return fmt::format("{} ({})", variant_name(run),
                       of_this_name == 1 ? run.experiment_name : fmt::format("experiments[{}]", run.experiment));
}

/// One record may be that of two experiments, which share a start model.
std::vector<DoneRun> done_runs(const std::vector<StudyRun>& runs) {
    std::vector<DoneRun> done;
    std::set<fs::path> records;
    std::map<std::string, std::map<std::size_t, std::string>> experiments;  // by the name of a variant
    for (const StudyRun& run : runs) {
        if (!run.done || !records.insert(run.record).second) continue;
        experiments[variant_name(run)][run.experiment] = run.experiment_name;
        done.push_back({&run, "", scores_of(RunDirectory(run.record))});
    }
    for (DoneRun& of : done) of.name = full_name(*of.run, experiments.at(variant_name(*of.run)));
    return done;
}

Values values_of(const DoneRun& of, const StudyClaim& claim, const std::string& side) {
    if (claim.measure == StudyMeasure::router_study) return method_scores_of(RunDirectory(of.run->record), side);
    if (!is_side(*of.run, side)) return {};
    return claim.measure == StudyMeasure::score ? of.scores : similarities_of(RunDirectory(of.run->record));
}

Side side_of(const std::vector<DoneRun>& runs, const StudyClaim& claim, const std::string& side) {
    Side values;
    for (const DoneRun& of : runs)
        if (Values own = values_of(of, claim, side); !own.empty()) values[of.run->wanted.seed] = std::move(own);
    return values;
}

bool is_asked(const StudyClaim& claim, const std::string& set) {
    return claim.sets.empty() || std::find(claim.sets.begin(), claim.sets.end(), set) != claim.sets.end();
}

std::vector<std::string> common_sets(const StudyClaim& claim, const Side& a, const Side& b, const std::vector<std::uint64_t>& seeds) {
    std::set<std::string> sets;
    for (const auto& [seed, values] : a)
        for (const auto& [set, value] : values) sets.insert(set);
    std::erase_if(sets, [&](const std::string& set) {
        return !is_asked(claim, set) || std::any_of(seeds.begin(), seeds.end(), [&](std::uint64_t seed) {
            return !a.at(seed).contains(set) || !b.at(seed).contains(set);
        });
    });
    return {sets.begin(), sets.end()};
}

/// Sets that runs of both sides have a score of, but not all of them: a claim is judged without them.
std::vector<std::string> torn_sets(const StudyClaim& claim, const Side& a, const Side& b, const std::vector<std::string>& common) {
    const auto sets_of = [](const Side& side) {
        std::set<std::string> sets;
        for (const auto& [seed, values] : side)
            for (const auto& [set, value] : values) sets.insert(set);
        return sets;
    };
    std::vector<std::string> torn;
    const std::set<std::string> in_b = sets_of(b);
    for (const std::string& set : sets_of(a))
        if (in_b.contains(set) && is_asked(claim, set) && std::find(common.begin(), common.end(), set) == common.end()) torn.push_back(set);
    return torn;
}

/// The start model is scored once, whatever the seed: its scores stand beside each of the other side's seeds.
void spread_start(const std::vector<DoneRun>& runs, const StudyClaim& claim, const std::string& side, Side& values, const Side& other) {
    const bool is_start = claim.measure != StudyMeasure::router_study && std::any_of(runs.begin(), runs.end(), [&](const DoneRun& of) {
                              return of.run->wanted.method == "start" && is_side(*of.run, side);
                          });
    if (!is_start || values.empty()) return;
    const Values once = values.begin()->second;
    for (const auto& [seed, ignored] : other) values.try_emplace(seed, once);
}

/// `torn`: gets the sets that the claim is judged without.
ClaimOutcome outcome_of(const StudyClaim& claim, const std::vector<DoneRun>& runs, const Study& study, std::vector<std::string>& torn) {
    Side a = side_of(runs, claim, claim.better), b = side_of(runs, claim, claim.than);
    spread_start(runs, claim, claim.better, a, b);
    spread_start(runs, claim, claim.than, b, a);
    std::vector<std::uint64_t> seeds;
    for (const auto& [seed, values] : a)
        if (b.contains(seed)) seeds.push_back(seed);
    const auto sets = common_sets(claim, a, b, seeds);
    torn = torn_sets(claim, a, b, sets);
    const auto matrix = [&](const Side& side) {
        std::vector<std::vector<double>> rows;
        for (const std::uint64_t seed : seeds) {
            rows.emplace_back();
            for (const std::string& set : sets) rows.back().push_back(side.at(seed).at(set));
        }
        return rows;
    };
    return measure_claim(claim, seeds, sets, matrix(a), matrix(b), study);
}

/// Data that changed while the study ran, as its runs read them: scores from before and after are not of one thing.
class ChangedData {
  public:
    void add(const StudyRun& run) {
        const RunDirectory record(run.record);
        for (const auto& [set, result] : scored_results(record)) {
            const Json settings = json_or<Json>(result, "settings", Json::object(), set);
            note(run, fmt::format("{} scored {}", run.experiment, set), json_or<std::string>(settings, "data_fingerprint", "", set),
                 "scored on different data", set);
        }
        TrainingFiles files;
        for (const int attempt : record.attempts())
            for (JournalReader journal(record.attempt_journal(attempt)); const auto event = journal.next();) {
                if (event->type == "data") take_training(event->fields, files);
                if (event->type == "step") break;  // all data are read by then
            }
        for (const auto& [set, content] : files)
            note(run, fmt::format("{} {} trained {}", run.experiment, variant_name(run), set), content, "trained on different files", set);
    }
    const std::vector<std::string>& said() const { return said_; }

  private:
    /// By task and set, as the last attempt read them. Of the files: what is drawn of them differs from seed to seed.
    using TrainingFiles = std::map<std::string, std::string>;

    static void take_training(const Json& fields, TrainingFiles& to) {
        if (json_or<std::string>(fields, "use", "", "data") != "training") return;
        const Json card = json_or<Json>(fields, "card", Json::object(), "data");
        const Json files = card.is_object() ? json_or<Json>(card, "files", Json::object(), "data") : Json::object();
        const auto task = json_or<std::string>(fields, "task", "", "data"), set = json_or<std::string>(fields, "name", "", "data");
        to[set.empty() ? task : task + ", " + set] = files.is_object() ? json_or<std::string>(files, "sha256", "", "data") : "";
    }

    void note(const StudyRun& run, const std::string& key, const std::string& content, std::string_view what, const std::string& set) {
        if (const auto other = read_.differs(key, run.record_name, content))
            said_.push_back(fmt::format("{} and {} were {} of {} (faceter diff says more)", other->run, run.record_name, what, set));
    }

    Agreement read_;
    std::vector<std::string> said_;
};

std::vector<std::string> changed_data(const std::vector<DoneRun>& runs) {
    ChangedData data;
    for (const DoneRun& of : runs) data.add(*of.run);
    return data.said();
}

Figure forest_of(const ClaimOutcome& outcome, std::size_t number) {
    Figure figure;
    figure.kind = FigureKind::scatter;
    figure.name = fmt::format("forest_{}", number);
    figure.title = outcome.claim.claim;
    figure.y.label = outcome.claim.higher ? "difference" : "lower by";
    if (outcome.claim.measure != StudyMeasure::inter_task_similarity) figure.y.unit = "points";
    Series sets{.name = "data sets, 95 % over seeds"}, all{.name = "all, 95 % over seeds and data sets"};
    for (std::size_t i = 0; i < outcome.sets.size(); ++i) {
        const SetEffect& set = outcome.sets[i];
        figure.x.categories.push_back(set.set);
        sets.x.push_back(static_cast<double>(i));
        sets.y.push_back(set.effect);
        sets.low.push_back(set.interval.low);
        sets.high.push_back(set.interval.high);
    }
    figure.x.categories.push_back("all");
    all.x = {static_cast<double>(outcome.sets.size())};
    all.y = {outcome.effect.estimate};
    all.low = {outcome.effect.interval.low};
    all.high = {outcome.effect.interval.high};
    figure.series = {sets, all};
    figure.notes = {
        fmt::format("{} against {}, {} seeds. {}", outcome.claim.better, outcome.claim.than, outcome.seeds.size(), outcome.sentence)};
    return figure;
}

std::vector<TrainedRun> trained_runs(const std::vector<DoneRun>& runs) {
    std::vector<TrainedRun> trained;
    for (const DoneRun& of : runs)
        if (of.run->wanted.method != "start") trained.push_back({of.name, of.run->record});
    return trained;
}

std::vector<StudyCost> costs_of(const std::vector<DoneRun>& runs) {
    std::map<std::string, StudyCost> costs;
    for (const DoneRun& of : runs) {
        StudyCost& cost = costs.try_emplace(of.name, StudyCost{of.name, 0, 0}).first->second;
        ++cost.runs;
        cost.hours += of.run->state.active_s / 3600;
    }
    std::vector<StudyCost> all;
    for (const auto& [name, cost] : costs) all.push_back(cost);
    return all;
}

/// Of each variant (and point) each data set's scores, a seed each.
std::map<std::string, std::map<std::string, std::vector<double>>> scores_by_variant(const std::vector<DoneRun>& runs) {
    std::map<std::string, std::map<std::string, std::vector<double>>> scores;
    for (const DoneRun& of : runs)
        for (const auto& [set, score] : of.scores) scores[of.name][set].push_back(score);
    return scores;
}

std::string list_of(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return "";
    std::string text = "\n## " + title + "\n\n";
    for (const std::string& line : lines) text += "- " + line + "\n";
    return text;
}

}  // namespace

StudyReport report_study(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke) {
    std::vector<StudyRun> runs;
    StudyNames names;
    each_study_run(study, catalogue, project, smoke, [&](StudyRun&& run) {
        if (!study.exclusions.empty()) names.add(run.wanted.settings);
        run.wanted.settings = Json::object();  // of thousands of runs
        runs.push_back(std::move(run));
    });
    StudyReport report;
    report.study = study;
    report.record = read_study_record(study, project);
    report.planned = runs.size();
    report.done = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const StudyRun& run) { return run.done; }));
    report.excluded = exclude_runs(study, names, project, runs);
    const std::vector<DoneRun> done = done_runs(runs);
    for (std::string& change : changed_data(done)) report.record.deviations.push_back(std::move(change));
    std::vector<std::vector<std::string>> torn(study.claims.size());
    for (std::size_t i = 0; i < study.claims.size(); ++i) report.claims.push_back(outcome_of(study.claims[i], done, study, torn[i]));
    judge_claims(study, report.claims);
    for (std::size_t i = 0; i < report.claims.size(); ++i)
        if (!torn[i].empty())
            report.claims[i].sentence += fmt::format(" Without {}, which not every run has a score of.", join(torn[i], ", "));
    for (std::size_t i = 0; i < report.claims.size(); ++i)
        if (!report.claims[i].sets.empty()) report.figures.push_back(forest_of(report.claims[i], i + 1));
    report.costs = costs_of(done);
    report.tables = {claims_table(report.claims), set_effects_table(report.claims), scores_table(scores_by_variant(done)),
                     costs_table(report.costs)};
    const std::vector<TrainedRun> trained = trained_runs(done);
    for (Figure& curves : std::vector{loss_curves(trained), score_curves(trained)})
        if (!curves.series.empty()) report.figures.push_back(std::move(curves));
    return report;
}

Json StudyReport::to_json() const {
    Json json = {{"study", study.name},
                 {"question", study.question},
                 {"hypothesis", study.hypothesis},
                 {"hash", record.hash},
                 {"first_run", record.first_run},
                 {"planned", planned},
                 {"done", done},
                 {"deviations", record.deviations},
                 {"excluded", excluded},
                 {"claims", Json::array()},
                 {"costs", Json::array()}};
    for (const ClaimOutcome& claim : claims) json["claims"].push_back(claim.to_json());
    for (const StudyCost& cost : costs) json["costs"].push_back({{"variant", cost.variant}, {"runs", cost.runs}, {"hours", cost.hours}});
    return json;
}

std::string StudyReport::to_markdown() const {
    std::string text = fmt::format("# {}\n\n{}\n\nExpected: {}\n\n{} of {} runs are done. Plan {}{}.\n\n## Answers\n\n", study.name,
                                   study.question, study.hypothesis, done, planned, record.hash,
                                   record.first_run.empty() ? ", not begun" : ", first run " + record.first_run);
    for (const ClaimOutcome& claim : claims) text += fmt::format("- **{}** {}\n", claim.claim.claim, claim.sentence);
    const auto table = [&](std::size_t i) { return i < tables.size() ? "\n" + table_to_markdown(tables[i]) : std::string(); };
    text += table(0) + fmt::format(how_it_is_judged, study.alpha);
    for (const Figure& figure : figures) text += fmt::format("\n![{}]({}.svg)\n", figure.title, figure.name);
    text += "\n## Data set by data set\n" + table(1) + "\n## Scores\n" + table(2);
    text += list_of("Deviations from the plan", record.deviations) + list_of("Left out", excluded);
    return printable_lines(text + "\n## Costs\n" + table(3));  // the study's own words may hold anything
}

}  // namespace faceter
