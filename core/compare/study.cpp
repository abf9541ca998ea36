#include "compare/study.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "common/command.h"
#include "common/error.h"
#include "common/file_hash.h"
#include "common/hash.h"
#include "common/strings.h"
#include "compare/router_methods.h"
#include "compare/settings_difference.h"
#include "experiment/completed_settings.h"
#include "experiment/each_run.h"
#include "experiment/flat_settings.h"
#include "experiment/result_names.h"
#include "launch/supervisor.h"
#include "settings/check.h"
#include "stats/power.h"

namespace faceter {
namespace {

constexpr std::size_t most_pilot_seeds = 3, most_files = 10'000, most_shown = 120;

Schema claim_schema() {
    return {
        "claim",
        "One claim of a study.",
        {
            text("claim", "", "The claim as a sentence.").must(),
            text("better", "", "The side that it speaks of: variant, variant/point, experiment/variant; of router_study a method.").must(),
            text("than", "", "The side that it is compared with.").must(),
            choice("direction", {"higher", "lower"}, "higher", "Where the first side is expected."),
            choice("measure", {"score", "inter_task_similarity", "router_study"}, "score", "What is compared."),
            list("sets", text("", "", "A data set, or a pair of tasks."), "Of these only; empty: all that every run has."),
            real("smallest_difference", 0.5, "What would matter; below it in both directions the sides count as equivalent.").above(0),
        }};
}

Schema study_schema() {
    const Schema experiment{
        "experiment",
        "An experiment of a study.",
        {path("file", "", "Experiment file.").must(), list("set", text("", "", "KEY=VALUE."), "Settings to override in it.")}};
    const Schema exclusion{"exclusion",
                           "Runs that are left out.",
                           {text("where", "", "An expression over runs, as --where takes it.").must(), text("reason", "", "Why.").must()}};
    return {"study",
            "A study: what is asked, decided before it is run.",
            {
                text("name", "", "Identifier.").must(),
                text("question", "", "What is asked.").must(),
                text("hypothesis", "", "What is expected, with its direction.").must(),
                text("budget", "", "Runs x minutes."),
                list("seeds", integer("", 1, "A seed.").at_least(0), "The planned seeds; each claim pairs its sides by seed."),
                real("alpha", 0.05, "Of the primary test: paired t over seeds, one-sided.").above(0).at_most(0.5),
                real("power", 0.8, "That the number of seeds is planned for.").above(0).at_most(0.999),
                real("pilot_deviation", 0, "Standard deviation over seeds of the primary difference, from a pilot; 0: this is a pilot.")
                    .at_least(0),
                list("claims", section("", claim_schema(), "A claim."), "What is claimed; the first is the primary one.").must(),
                list("experiments", section("", experiment, "An experiment."), "What is run.").must(),
                list("exclusions", section("", exclusion, "An exclusion."), "What is left out, decided before."),
            }};
}

StudyMeasure measure_of(const std::string& name) {
    return name == "score"          ? StudyMeasure::score
           : name == "router_study" ? StudyMeasure::router_study
                                    : StudyMeasure::inter_task_similarity;
}

StudyClaim claim_of(const Json& json) {
    return {json.at("claim"),
            json.at("better"),
            json.at("than"),
            json.at("direction") == "higher",
            measure_of(json.at("measure")),
            json.at("sets").get<std::vector<std::string>>(),
            json.at("smallest_difference")};
}

void check_power(const Study& study, const fs::path& file) {
    if (study.is_pilot()) return;
    const StudyClaim& primary = study.claims.front();
    const double alpha = study.alpha / static_cast<double>(study.claims.size());  // what Holm leaves each claim at least
    const PowerPlan plan{PowerDesign::paired_t, primary.smallest_difference / study.pilot_deviation, alpha, Alternative::greater};
    const std::int64_t needed = std::max<std::int64_t>(2, sample_size_for(plan, study.power));
    if (static_cast<std::int64_t>(study.seeds.size()) < needed)
        throw settings_error(
            "{}: {}: to find {} points at a deviation of {} with power {} takes {} (faceter stats power --test paired_t "
            "--effect {:.3g} --power {} --alpha {:.3g} --alternative greater; alpha is {} over {} claims)",
            file.string(), study.seeds.empty() ? "seeds is missing" : fmt::format("{} seeds are too few", study.seeds.size()),
            primary.smallest_difference, study.pilot_deviation, study.power, needed, plan.effect, study.power, alpha, study.alpha,
            study.claims.size());
}

/// What an experiment's file has and a study's has not: instead of a complaint about each of its settings.
void refuse_experiment(const YamlNode& yaml, const fs::path& file) {
    const Json json = yaml_to_json(yaml);
    if (json.is_object() && json.contains("variants") && !json.contains("claims"))
        throw settings_error(
            "{}: is an experiment, not a study: it makes no claim. A study names it under 'experiments' (experiments/studies/README.md); "
            "to run it: faceter run {} --project DIR",
            file.string(), shell_word(file.string()));
}

/// The plan with the experiments' text and without their place on this machine.
void decide(Study& study, Json checked) {
    for (std::size_t i = 0; i < study.experiments.size(); ++i) {
        checked["experiments"][i]["file"] = study.experiments[i].file.filename().string();
        try {
            checked["experiments"][i]["settings"] = yaml_to_json(read_yaml(study.experiments[i].file.string()));
        } catch (const Error& error) {
            if (error.code() != ExitCode::data) throw;
            throw settings_error("study {}: experiments[{}]: {}", study.name, i, error.what());
        }
    }
    study.plan = std::move(checked);
    study.hash = hash128(study.plan.dump(-1, ' ', false, Json::error_handler_t::replace)).hex();
}

std::string configuration_of(const ResolvedRun& run) { return run.point.empty() ? run.variant : run.variant + "/" + run.point; }

std::string listed(const std::set<std::string>& names) { return join(std::vector<std::string>(names.begin(), names.end()), ", "); }

/// A run of each configuration, and what its results will be called.
struct Configuration {
    StudyRun run;
    std::set<std::string> results;
    std::vector<std::string> methods;  ///< that router_study scores in it
    std::string start;                 ///< the start model's settings
    std::optional<std::size_t> other;  ///< place of another experiment that makes one of this name
};
using Configurations = std::map<std::string, Configuration>;  // by their whole names

/// `experiment`: its place in the study. Returns whether the configuration is new.
std::pair<Configuration&, bool> note_configuration(std::size_t experiment, const std::string& name, const ResolvedRun& wanted,
                                                   Configurations& configurations) {
    const auto [at, is_new] = configurations.try_emplace(name + "/" + configuration_of(wanted));
    if (is_new) {
        StudyRun& run = at->second.run;
        run.experiment = experiment;
        run.experiment_name = name;
        run.wanted.variant = wanted.variant;
        run.wanted.point = wanted.point;
    }
    return {at->second, is_new};
}

/// The same start model in two experiments has the same scores.
void note_results(std::size_t experiment, const ResolvedRun& wanted, Configuration& one, bool is_new) {
    const std::string start = wanted.method == "start" ? wanted.settings.dump(-1, ' ', false, Json::error_handler_t::replace) : "";
    if (!is_new) {
        if (one.run.experiment != experiment && (start.empty() || start != one.start)) one.other = experiment;
        return;
    }
    one.start = start;
    for (ResultOwner& owner : result_owners(wanted.settings)) one.results.insert(std::move(owner.name));
    one.methods = router_methods(wanted.settings);
}

std::string place_of(const Study& study, const StudyClaim& claim) { return fmt::format("study {}, claim '{}'", study.name, claim.claim); }

/// The one that is meant by the name of a side.
const Configuration& configuration_named(const std::string& side, const StudyClaim& claim, const Study& study,
                                         const Configurations& configurations) {
    std::set<std::string> known, meant;
    for (const auto& [name, one] : configurations) {
        known.insert(configuration_of(one.run.wanted));
        if (is_side(one.run, side)) meant.insert(name);
    }
    if (meant.empty())
        throw settings_error("{}: none of its experiments makes '{}' (known: {})", place_of(study, claim), side, listed(known));
    if (meant.size() > 1)
        throw settings_error("{}: '{}' is the name of several configurations; name one of {}", place_of(study, claim), side, listed(meant));
    return configurations.at(*meant.begin());
}

void check_sides(const Study& study, const Configurations& configurations) {
    for (const StudyClaim& claim : study.claims)
        for (const std::string& side : {claim.better, claim.than})
            if (claim.measure != StudyMeasure::router_study) configuration_named(side, claim, study, configurations);
}

/// That what the claim is measured on will be there: found at the end, it would cost all runs.
void check_results(const std::string& side, const Configuration& one, const StudyClaim& claim, const Study& study) {
    if (one.other)
        throw settings_error(
            "{}: experiments[{}] and experiments[{}] both make '{}/{}', which the claim could not tell apart; give one another name, as in "
            "set: [name=other]",
            place_of(study, claim), one.run.experiment, *one.other, one.run.experiment_name, configuration_of(one.run.wanted));
    const auto require = [&](const std::string& result, std::string_view what) {
        if (!one.results.contains(result))
            throw settings_error("{}: the experiment of '{}' has no {} '{}' (its results are {})", place_of(study, claim), side, what,
                                 result, listed(one.results));
    };
    if (claim.measure == StudyMeasure::inter_task_similarity) return require("inter_task_similarity", "analysis");
    for (const std::string& set : claim.sets) require(set, "data set");
}

/// Its sides are methods of the runs of one configuration.
void check_router_study(const StudyClaim& claim, const Study& study, const Configurations& configurations) {
    std::set<std::string> measured;
    for (const auto& [name, one] : configurations)
        if (!one.methods.empty()) measured.insert(name);
    if (measured.empty())
        throw settings_error("{}: none of its experiments has the analysis 'router_study' of a variant with gates, which measures it",
                             place_of(study, claim));
    if (measured.size() > 1)
        throw settings_error(
            "{}: 'router_study' is measured in the runs of several configurations ({}), which the claim could not tell apart; "
            "leave one of them",
            place_of(study, claim), listed(measured));
    if (claim.better == claim.than) throw settings_error("{}: both sides are '{}'; name two methods", place_of(study, claim), claim.better);
    const Configuration& one = configurations.at(*measured.begin());
    for (const std::string& side : {claim.better, claim.than})
        if (std::find(one.methods.begin(), one.methods.end(), side) == one.methods.end())
            throw settings_error("{}: 'router_study' of '{}' scores no method '{}' (it scores {})", place_of(study, claim),
                                 *measured.begin(), side, join(one.methods, ", "));
    check_results(*measured.begin(), one, claim, study);
}

void check_claim(const StudyClaim& claim, const Study& study, const Configurations& configurations) {
    if (claim.measure == StudyMeasure::router_study) return check_router_study(claim, study, configurations);
    const Configuration& better = configuration_named(claim.better, claim, study, configurations);
    const Configuration& than = configuration_named(claim.than, claim, study, configurations);
    if (&better == &than)
        throw settings_error("{}: '{}' and '{}' are the same runs; name two sides", place_of(study, claim), claim.better, claim.than);
    check_results(claim.better, better, claim, study);
    check_results(claim.than, than, claim, study);
}

fs::path last_part(const fs::path& place) { return place.has_filename() ? place.filename() : place.parent_path().filename(); }

/// Below a folder, by their names from there; those that file managers and tools hide there are none of the data.
std::map<std::string, fs::path> files_below(const fs::path& folder) {
    std::map<std::string, fs::path> files;
    for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
        const fs::directory_entry& entry = *at;
        if (entry.path().filename().string().starts_with('.')) {
            at.disable_recursion_pending();
            continue;
        }
        if (entry.is_regular_file()) files.emplace(entry.path().lexically_relative(folder).string(), entry.path());
        if (files.size() > most_files) throw data_error("{}: holds more than {} files", folder.string(), most_files);
    }
    return files;
}

bool same_file(const fs::path& a, const fs::path& b) {
    return fs::is_regular_file(a) && fs::is_regular_file(b) && fs::file_size(a) == fs::file_size(b) && hash64_file(a) == hash64_file(b);
}

/// Files of the same bytes, or folders of such.
bool same_content(const fs::path& a, const fs::path& b) {
    try {
        if (fs::equivalent(a, b)) return true;  // one place by two names
        if (!fs::is_directory(a) || !fs::is_directory(b)) return same_file(a, b);
        const auto own = files_below(a), other = files_below(b);
        return std::equal(own.begin(), own.end(), other.begin(), other.end(),
                          [](const auto& x, const auto& y) { return x.first == y.first && same_file(x.second, y.second); });
    } catch (const std::exception&) {  // what cannot be read cannot be said to be the same
        return false;
    }
}

/// A place that a record names, and the wanted one. A record or a study may come from another machine, whose places are not here; what
/// lies here under both names is compared.
bool may_be_same_place(const std::string& recorded, const std::string& wanted) {
    std::error_code none;
    if (!fs::path(recorded).is_absolute() || last_part(recorded) != last_part(wanted)) return false;
    return !fs::exists(recorded, none) || !fs::exists(wanted, none) || same_content(recorded, wanted);
}

/// A value, of a long one the part where it begins to differ from `other`.
std::string around_change(const std::string& value, const std::string& other) {
    if (value.size() <= most_shown) return value;
    const auto differs = std::mismatch(value.begin(), value.end(), other.begin(), other.end()).first - value.begin();
    const auto is_inside = [&](std::size_t at) { return at < value.size() && (static_cast<unsigned char>(value[at]) & 0xC0) == 0x80; };
    std::size_t begin = std::max(static_cast<std::size_t>(differs), most_shown / 2) - most_shown / 2;
    while (begin > 0 && is_inside(begin)) --begin;  // of a character
    std::size_t end = std::min(value.size(), begin + most_shown);
    while (is_inside(end)) --end;
    return (begin > 0 ? "..." : "") + value.substr(begin, end - begin) + (end < value.size() ? "..." : "");
}

/// Why a record is none of the wanted run: the first setting that differs.
std::string difference_text(const RunDirectory& record, const std::vector<SettingDifference>& differing) {
    const SettingDifference& first = differing.front();
    const std::size_t others = differing.size() - 1;
    return fmt::format("{} does not count: its {} is {}, the study's {}{}", record.info().shown_name(), first.key,
                       around_change(first.values[0], first.values[1]), around_change(first.values[1], first.values[0]),
                       others == 0 ? "" : fmt::format(" ({} more {})", others, others == 1 ? "differs" : "differ"));
}

/// The runs of a project, listed once: by what tells them apart but for their settings.
class StudyRecords {
  public:
    StudyRecords(const fs::path& project, const Catalogue& catalogue, bool smoke) : catalogue_(catalogue) {
        if (!fs::is_directory(project / "runs")) return;
        Project(project, false).each_run([&](const RunDirectory& run) {
            const RunInfo& info = run.info();
            if (info.smoke == smoke) folders_[{info.experiment, info.variant, info.point, info.seed}].push_back(run.folder());
        });
    }

    void find_record(StudyRun& run) const {
        const auto alike = folders_.find({run.experiment_name, run.wanted.variant, run.wanted.point, run.wanted.seed});
        if (alike == folders_.end()) return;
        std::string created, created_unlike;
        for (const fs::path& folder : alike->second) {
            const auto record = opened(folder);
            if (!record) continue;
            if (const auto differing = differences(*record, run.wanted); !differing.empty()) {
                if (run.unlike.empty() || record->info().created > created_unlike) run.unlike = difference_text(*record, differing);
                created_unlike = std::max(created_unlike, record->info().created);
                continue;
            }
            const RunState state = read_state(*record);
            const bool done = state.phase == RunPhase::done;
            if (!run.record.empty() && !counts_rather(record->info().created, done, created, run.done)) continue;
            run.record = folder;
            run.record_name = record->info().shown_name();
            run.state = state;
            run.done = done;
            created = record->info().created;
        }
        if (!run.record.empty()) run.unlike.clear();
    }

  private:
    /// Of those that are done the earliest counts, as in a comparison: what came later is a second try. Else the newest, to go on with.
    static bool counts_rather(const std::string& created, bool done, const std::string& than_created, bool than_done) {
        if (done != than_done) return done;
        return done ? created < than_created : created > than_created;
    }
    /// Of the settings: but for what does not change a score, for where data and models lie, and for settings that were not there yet.
    std::vector<SettingDifference> differences(const RunDirectory& run, const ResolvedRun& wanted) const {
        auto differing =
            settings_difference({score_settings(completed_settings(run.settings(), catalogue_)), score_settings(wanted.settings)})
                .differing;
        std::erase_if(differing, [this](const SettingDifference& one) {
            const auto [place, is_new] = same_places_.try_emplace({one.values[0], one.values[1]}, false);
            if (is_new) place->second = may_be_same_place(one.values[0], one.values[1]);
            return place->second;
        });
        return differing;
    }

    /// Nothing where it was deleted since it was listed.
    static std::optional<RunDirectory> opened(const fs::path& folder) {
        try {
            return RunDirectory(folder);
        } catch (const Error& error) {
            if (error.code() != ExitCode::data) throw;
            return std::nullopt;
        }
    }

    using Key = std::tuple<std::string, std::string, std::string, std::uint64_t>;  // experiment, variant, point, seed
    const Catalogue& catalogue_;
    std::map<Key, std::vector<fs::path>> folders_;
    mutable std::map<std::pair<std::string, std::string>, bool> same_places_;  ///< recorded and wanted: runs of a study name the same ones
};

ExperimentOptions experiment_options(const Study& study, const StudyExperiment& experiment, bool smoke) {
    return {experiment.overrides, smoke ? std::vector<std::uint64_t>{} : study.seeds, smoke};
}

void write_json(const fs::path& file, const Json& json) {
    write_file_atomic(file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// What stands there may have been edited, or cut short; or be another study's, whose name makes the same file.
Json checked_record(const fs::path& file, const std::string& name) {
    Json record = read_json(file);
    for (const char* member : {"plan", "latest"}) json_at<Json>(record, member, file.string());
    json_at<std::vector<std::string>>(record, "deviations", file.string());
    if (const auto of = json_or<std::string>(record.at("latest"), "name", name, file.string()); of != name)
        throw settings_error("{}: is the record of the study {}, and {} would have the same file; give this study another name",
                             file.string(), faceter::quoted(of), faceter::quoted(name));
    return record;
}

std::map<std::string, std::string> flat(const Json& plan) {
    std::map<std::string, std::string> values;
    for_each_setting(plan, ItemKeys::bracketed, [&](const std::string& key, const Json& value) {
        values[key] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    });
    return values;
}

std::vector<std::string> changes_between(const Json& before, const Json& now) {
    const auto old_values = flat(before), new_values = flat(now);
    std::map<std::string, bool> keys;
    for (const auto* values : {&old_values, &new_values})
        for (const auto& [key, value] : *values) keys[key] = true;
    const auto value = [](const std::map<std::string, std::string>& values, const std::string& key) {
        const auto found = values.find(key);
        return found == values.end() ? std::string("not there") : found->second;
    };
    // Of an empty list that got members, or one that lost all of them, these say it.
    const auto has_members = [&](const std::string& key) {
        for (const char* mark : {"[", "."})
            if (const auto next = keys.lower_bound(key + mark); next != keys.end() && next->first.starts_with(key + mark)) return true;
        return false;
    };
    const auto is_empty = [](const std::string& text) { return text == "[]" || text == "{}"; };
    std::vector<std::string> changes;
    for (const auto& [key, ignored] : keys) {
        const std::string was = value(old_values, key), is = value(new_values, key);
        if ((is_empty(was) || is_empty(is)) && has_members(key)) continue;
        if (was != is) changes.push_back(fmt::format("{} was {}, is {}", key, around_change(was, is), around_change(is, was)));
    }
    return changes;
}

}  // namespace

bool is_side(const StudyRun& run, const std::string& side) {
    const std::string own = configuration_of(run.wanted);
    return side == run.wanted.variant || side == own || side == run.experiment_name + "/" + run.wanted.variant ||
           side == run.experiment_name + "/" + own;
}

void check_planned(const Study& study, const fs::path& file) {
    if (study.is_pilot() && study.seeds.size() > most_pilot_seeds)
        throw settings_error(
            "{}: no pilot says that {} seeds are enough: run a copy of it with two or three other seeds into a project of its own; its "
            "report "
            "says the deviation over seeds, which is to stand here as pilot_deviation",
            file.string(), study.seeds.size());
}

Study read_study(const fs::path& file) {
    const auto yaml = read_yaml(file.string());
    refuse_experiment(yaml, file);
    const Json checked = resolve(study_schema(), yaml, absolute_path(file).parent_path());
    if (trim(checked.at("name").get_ref<const std::string&>()).empty())
        throw settings_error("{}: name is empty; the study's record in a project goes by it", file.string());
    Study study{checked.at("name"),
                checked.at("question"),
                checked.at("hypothesis"),
                checked.at("budget"),
                {},
                checked.at("alpha"),
                checked.at("power"),
                checked.at("pilot_deviation"),
                {},
                {},
                {},
                {},
                {}};
    study.seeds = checked.at("seeds").get<std::vector<std::uint64_t>>();
    for (const Json& claim : checked.at("claims")) study.claims.push_back(claim_of(claim));
    for (const Json& one : checked.at("experiments"))
        study.experiments.push_back({one.at("file").get<std::string>(), one.at("set").get<std::vector<std::string>>()});
    for (const Json& one : checked.at("exclusions"))
        study.exclusions.push_back({one.at("where").get<std::string>(), one.at("reason").get<std::string>()});
    if (study.claims.empty() || study.experiments.empty())
        throw settings_error("{}: a study has at least one claim and one experiment", file.string());
    check_power(study, file);
    decide(study, checked);
    return study;
}

void each_study_run(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke,
                    const std::function<void(StudyRun&&)>& take) {
    const StudyRecords records(project, catalogue, smoke);
    Configurations configurations;
    for (std::size_t i = 0; i < study.experiments.size(); ++i) {
        const StudyExperiment& of = study.experiments[i];
        each_run_of(of.file, catalogue, experiment_options(study, of, smoke), [&](ResolvedRun&& wanted) {
            StudyRun run;
            run.experiment = i;
            run.experiment_name = json_at<std::string>(wanted.settings, "name", of.file.string());
            run.wanted = std::move(wanted);
            records.find_record(run);
            note_configuration(i, run.experiment_name, run.wanted, configurations);
            take(std::move(run));
        });
    }
    check_sides(study, configurations);
}

std::vector<StudyRun> study_runs(const Study& study, const Catalogue& catalogue, const fs::path& project, bool smoke) {
    std::vector<StudyRun> runs;
    each_study_run(study, catalogue, project, smoke, [&](StudyRun&& run) {
        if (!run.record.empty()) run.wanted.settings = Json::object();
        runs.push_back(std::move(run));
    });
    return runs;
}

std::vector<Experiment> study_experiments(const Study& study, const Catalogue& catalogue, bool smoke) {
    std::vector<Experiment> experiments;
    for (const StudyExperiment& one : study.experiments) {
        experiments.push_back(Experiment::load(one.file, catalogue, experiment_options(study, one, smoke)));
        experiments.back().check_files();
    }
    return experiments;
}

void check_claims(const Study& study, const std::vector<Experiment>& experiments) {
    Configurations configurations;
    for (std::size_t i = 0; i < experiments.size(); ++i)
        for (const ResolvedRun& run : experiments[i].runs()) {
            const auto [one, is_new] = note_configuration(i, experiments[i].name(), run, configurations);
            note_results(i, run, one, is_new);
        }
    for (const StudyClaim& claim : study.claims) check_claim(claim, study, configurations);
}

StudyStart begin_study(const std::vector<Experiment>& experiments, std::vector<StudyRun> planned, const fs::path& project, bool smoke) {
    // A study that is stopped half way has whole seeds, which claims can be judged by.
    std::stable_sort(planned.begin(), planned.end(), [](const auto& a, const auto& b) { return a.wanted.seed < b.wanted.seed; });
    StudyStart start;
    for (const StudyRun& run : planned) {
        if (run.done) continue;
        if (run.record.empty())
            start.runs.push_back(RunDirectory::create(project, experiments.at(run.experiment), run.wanted, smoke));
        else if (run.ended_early() || (run.state.phase == RunPhase::queued && !waits_in_queue(RunDirectory(run.record), run.state)))
            start.runs.emplace_back(run.record);
        else
            start.under_way.push_back(fmt::format("{} is {} already", run.record_name, run_phase_name(run.state.phase)));
    }
    return start;
}

fs::path study_record_file(const fs::path& project, const std::string& name) {
    return project / "studies" / (safe_file_name(name) + ".json");
}

void record_study(const Study& study, const fs::path& project) {
    const fs::path file = study_record_file(project, study.name);
    if (!fs::exists(file)) {
        make_directories(file.parent_path());
        write_json(
            file,
            {{"hash", study.hash}, {"first_run", utc_now()}, {"plan", study.plan}, {"latest", study.plan}, {"deviations", Json::array()}});
        return;
    }
    Json record = checked_record(file, study.name);
    const auto changes = changes_between(record.at("latest"), study.plan);
    if (changes.empty()) return;
    for (const std::string& change : changes) record["deviations"].push_back(utc_now() + ": " + change);
    record["latest"] = study.plan;
    write_json(file, record);
}

StudyRecord read_study_record(const Study& study, const fs::path& project) {
    const fs::path file = study_record_file(project, study.name);
    if (!fs::exists(file)) return {study.hash, "", study.plan, {}};
    const Json json = checked_record(file, study.name);
    StudyRecord record{json_at<std::string>(json, "hash", file.string()), json_at<std::string>(json, "first_run", file.string()),
                       json.at("plan"), json_at<std::vector<std::string>>(json, "deviations", file.string())};
    for (const std::string& change : changes_between(json.at("latest"), study.plan))
        record.deviations.push_back("after the last run: " + change);
    return record;
}

}  // namespace faceter
