#include "experiment/experiment.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/hash.h"
#include "common/strings.h"
#include "data/files_read.h"
#include "data/folder_files.h"
#include "data/input_stream.h"
#include "data/line_reader.h"
#include "data/settings.h"
#include "experiment/each_run.h"
#include "experiment/experiment_schema.h"
#include "experiment/known_names.h"
#include "experiment/resolve.h"
#include "experiment/setting_value.h"
#include "experiment/sweep.h"
#include "settings/yaml_edit.h"

namespace faceter {
namespace {

constexpr std::size_t max_runs = 10'000;

/// What --smoke makes of a recipe: every stage and every data set, but few steps and few examples of each.
struct Smoke {
    static constexpr std::int64_t steps = 4, batch_size = 16, sample_limit = 50, every = 2, examples_per_label = 1;
};

void make_smoke_recipe(Json& training) {
    const std::int64_t steps = training["steps"].is_null() ? Smoke::steps : std::min(training["steps"].get<std::int64_t>(), Smoke::steps);
    training["steps"] = steps;
    training["batch_size"] = std::min(training["batch_size"].get<std::int64_t>(), Smoke::batch_size);
    training["checkpoint_every_steps"] = Smoke::every;
    if (training["evaluate_every_steps"].get<std::int64_t>() > 0) training["evaluate_every_steps"] = Smoke::every;
}

void make_smoke(Json& settings) {
    make_smoke_recipe(settings["training"]);
    for (Json& stage : settings["stages"]) make_smoke_recipe(stage["training"]);
    settings["sample_limit"] = Smoke::sample_limit;
    // Ten draws of MTEB's eight examples a label would embed thousands of texts, however few are tested.
    for (Json& dataset : settings["evaluation"]["datasets"])
        if (dataset.contains("examples_per_label")) dataset["examples_per_label"] = Smoke::examples_per_label;
}

/// What of the variant's settings names layers of the start model.
std::vector<std::string> named_layers(const Extension& extension, const Json& variant) {
    std::vector<std::string> layers;
    for (const Field& field : extension.schema.fields)
        if (!field.names.empty() && field.names.front() == layer_names)
            for (const Json& name : json_or<Json>(variant, field.key, Json::array(), "variant")) layers.push_back(name.get<std::string>());
    return layers;
}

Json set_for_dense_starts(const Extension& extension, const Json& variant) {
    Json set = Json::object();
    for (const Field& field : extension.schema.fields)
        if (const Json value = json_or<Json>(variant, field.key, field.default_value, "variant");
            field.of_dense_start && value != field.default_value)
            set[field.key] = value;
    return set;
}

/// The settings of one run: the resolved file with one variant and seed, and without what makes several runs.
Json run_settings(const Json& resolved, const std::string& variant, std::uint64_t seed, bool smoke) {
    Json settings = Json::object();
    for (const auto& [key, value] : resolved.items()) {
        if (key == "variants" || key == "sweep") continue;
        if (key == "seeds")
            settings["seed"] = seed;
        else
            settings[key] = value;
        if (key == "tasks") settings["variant"] = nullptr;  // keeps its place in the order of the file
    }
    Json own = {{"name", variant}};
    own.update(variant == start_variant ? Json{{"method", start_variant}} : resolved["variants"][variant]);
    settings["variant"] = own;
    settings["sample_limit"] = 0;
    if (smoke) make_smoke(settings);
    return settings;
}

using TakeRun = std::function<void(ResolvedRun&&)>;

class Expander {
  public:
    Expander(const YamlNode& root, const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options, const TakeRun& take)
        : root_(root), file_(file), catalogue_(catalogue), options_(options), take_(take) {}

    void expand() {
        Problems problems;
        axes_ = read_sweep(root_.find("sweep"), problems);
        base_ = resolve_experiment(root_, file_, catalogue_, problems, models_);
        swept_variants(problems);
        problems.throw_if_any();
        unswept_ = root_;
        std::erase_if(unswept_.entries, [](const YamlNode::Entry& entry) { return entry.key == "sweep"; });
        refuse_too_many();
        if (base_["evaluation"]["baseline"].get<bool>()) add_baselines();
        for (const auto& [variant, own] : base_["variants"].items()) add_variant(variant);
        if (num_runs_ == 0)
            throw settings_error("{}: nothing to run: there are no variants and evaluation.baseline is false", file_.string());
    }

  private:
    /// An axis of a variant that there is not would be swept by none.
    void swept_variants(Problems& problems) const {
        constexpr std::string_view prefix = "variants.";
        std::vector<std::string> known;
        for (const auto& [name, variant] : base_["variants"].items()) known.push_back(name);
        for (const SweepAxis& axis : axes_) {
            if (!axis.key.starts_with(prefix)) continue;
            const std::string name = axis.key.substr(prefix.size(), axis.key.find('.', prefix.size()) - prefix.size());
            if (std::find(known.begin(), known.end(), name) == known.end())
                problems.add(axis.values.front().position(),
                             fmt::format("sweep.{}: there is no variant {}{}", axis.key, faceter::quoted(name), suggestion(name, known)));
        }
    }

    /// Before any is made: a point costs as much as reading the file, and a line of a sweep makes thousands.
    void refuse_too_many() const {
        std::size_t runs = 0;
        const std::size_t num_seeds = seeds().size();
        for (const auto& [variant, own] : base_["variants"].items())
            if ((runs += points(variant).size() * num_seeds) > max_runs)
                throw settings_error("{}: makes more than {} runs", file_.string(), max_runs);
    }

    /// `own` holds them where the point has values of its own.
    const Json& at_point(const SweepPoint& point, Json& own) {
        if (point.values.empty()) return base_;
        YamlNode root = unswept_;
        for (const auto& [key, value] : point.values) set_override(root, key, value);
        YamlNode::Entry others = *root_.entry("sweep");  // of other variants, whose values as the file has them need not be any run's
        std::erase_if(others.value.entries, [&point](const YamlNode::Entry& axis) {
            return std::any_of(point.values.begin(), point.values.end(), [&axis](const auto& set) { return set.first == axis.key; });
        });
        if (!others.value.entries.empty()) root.entries.push_back(std::move(others));
        Problems problems;
        own = resolve_experiment(root, file_, catalogue_, problems, models_);
        problems.throw_if_any();
        return own;
    }

    std::vector<std::uint64_t> seeds() const {
        std::vector<std::uint64_t> seeds = options_.seeds.empty() ? base_["seeds"].get<std::vector<std::uint64_t>>() : options_.seeds;
        if (options_.smoke) seeds.resize(1);
        std::set<std::uint64_t> seen;
        for (const std::uint64_t seed : seeds)
            if (!seen.insert(seed).second)
                throw settings_error(
                    "{}: seed {} stands twice among the seeds{}; its runs would be the same, and count as two in every test",
                    file_.string(), seed, options_.seeds.empty() ? "" : " that are asked for, in place of the file's");
        return seeds;
    }

    std::vector<SweepPoint> points(const std::string& variant) const {
        std::vector<SweepPoint> points = sweep_points(axes_, variant);
        if (options_.smoke) points.resize(1);
        return points;
    }

    void add_baselines() {
        std::set<std::string> seen;
        std::vector<ResolvedRun> runs;
        for (const SweepPoint& point : points(start_variant)) {
            Json own;
            Json settings = run_settings(at_point(point, own), start_variant, seeds().front(), options_.smoke);
            if (seen.insert(baseline_key(settings)).second)
                runs.push_back(run_of(start_variant, point, seeds().front(), std::move(settings)));
        }
        if (runs.size() == 1) runs.front().point.clear();
        for (ResolvedRun& run : runs) give(std::move(run));
    }

    /// What a run is trained by: stages have their whole recipes, and epochs do not count where steps do.
    static std::string hash_of(Json settings) {
        const auto drop_epochs = [](Json& training) {
            if (!training["steps"].is_null()) training.erase("epochs");
        };
        for (Json& stage : settings["stages"]) drop_epochs(stage["training"]);
        drop_epochs(settings["training"]);
        if (!settings["stages"].empty())
            for (const char* part : {"training", "curriculum", "objective"}) settings.erase(part);
        return hash128(settings.dump()).hex();
    }

    void add_variant(const std::string& variant) {
        std::map<std::string, std::string> point_of;
        for (const SweepPoint& point : points(variant)) {
            Json own;
            const Json& resolved = at_point(point, own);
            const auto [first, fresh] =
                point_of.emplace(hash_of(run_settings(resolved, variant, seeds().front(), options_.smoke)), point.label());
            if (!fresh)
                throw settings_error(
                    "{}: the points {} and {} of the sweep make the same run of variant {}: a value stands twice, what is swept is set by "
                    "each of the stages, or it is epochs, and steps are set; leave one out, or sweep the stages' setting, as in "
                    "stages[0].training.learning_rate",
                    file_.string(), faceter::quoted(first->second), faceter::quoted(point.label()), faceter::quoted(variant));
            for (const std::uint64_t seed : seeds())
                give(run_of(variant, point, seed, run_settings(resolved, variant, seed, options_.smoke)));
        }
    }

    void give(ResolvedRun&& run) {
        if (num_runs_ >= max_runs) throw settings_error("{}: makes more than {} runs", file_.string(), max_runs);
        ++num_runs_;
        take_(std::move(run));
    }

    ResolvedRun run_of(const std::string& variant, const SweepPoint& point, std::uint64_t seed, Json settings) const {
        ResolvedRun run;
        run.variant = variant;
        run.method = settings["variant"]["method"];
        const Catalogue::Entry* entry = catalogue_.find(ExtensionKind::variant, run.method);
        run.plugin = entry ? entry->plugin : "core";
        run.dense_start = entry && entry->extension.dense_start;
        if (entry && has_value(settings["variant"], entry->extension.two_blocks)) run.two_blocks = entry->extension.two_blocks;
        if (entry) run.layers = named_layers(entry->extension, settings["variant"]);
        if (entry) run.of_dense_start = set_for_dense_starts(entry->extension, settings["variant"]);
        run.point = point.label();
        run.seed = seed;
        run.settings = std::move(settings);
        return run;
    }

    const YamlNode& root_;
    YamlNode unswept_;  ///< without its sweep, which each point would take along
    const fs::path& file_;
    const Catalogue& catalogue_;
    const ExperimentOptions& options_;
    const TakeRun& take_;
    std::vector<SweepAxis> axes_;
    Json base_;
    FoundModels models_;
    std::size_t num_runs_ = 0;
};

void expand(std::string_view text, const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options,
            const TakeRun& take) {
    if (!is_valid_utf8(absolute_path(file).parent_path().string()))
        throw settings_error(
            "{}: the path of its folder must be UTF-8 text, because records of runs name what lies there; rename the folder",
            file.string());
    YamlNode root = parse_yaml(text, file.string());
    if (root.find("claims") && !root.find("tasks"))
        throw settings_error("{}: is a study; 'faceter study status' reads it, and this command the experiments that it names",
                             file.string());
    for (const std::string& assignment : options.overrides) apply_override(root, assignment);
    Expander(root, file, catalogue, options, take).expand();
}

bool is_blank(const fs::path& file) {
    const FilesRead apart;  // no data come of a look
    LineReader lines(file);
    for (auto line = lines.next(); line; line = lines.next())
        if (!trim(*line).empty()) return false;
    return true;
}

void require_data_set(const DataRequest& request, const std::string& where, DataUse use) {
    try {
        require_folder_files(request, use);
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("{}: {}", where, error.what()));
    }
}

void require_exists(const Json& entry, const std::string& where, DataUse use) {
    if (!entry.is_object()) return;
    const auto source = json_at<std::string>(whole_entry(entry), "source", where);
    const fs::path path = json_or<std::string>(entry, "path", "", where);
    if (path.empty() && !source.starts_with("debian")) throw settings_error("{}: source {} needs a path, and none is set", where, source);
    if (path.empty()) return;
    if (!fs::exists(path))
        throw data_error("{}: {}: no such file or folder; the path is relative to the experiment file", path.string(), where);
    if (source == "file" && fs::is_directory(path))
        throw data_error("{}: {}: is a folder, and source file reads one file; say source: folder, or name a file in it", path.string(),
                         where);
    if (source == "folder" && !fs::is_directory(path))
        throw data_error(
            "{}: {}: is a file, and source folder (which an entry without a source has) reads a folder with a data set; say source: file",
            path.string(), where);
    if (source == "folder") require_data_set({entry, "/"}, where, use);
    if (!fs::is_regular_file(path)) return;
    if (lowercase_ascii(path.extension().string()) == ".parquet")
        InputStream::open(path);  // can this build?
    else if (source == "file" && is_blank(path))
        throw data_error("{}: {}: holds no record", path.string(), where);
}

/// Else --set has put another in its place.
bool is_written_as(const YamlNode& node, const Json& entry) {
    const YamlNode* path = node.find("path");
    return !path || fs::path(path->text).filename() == fs::path(json_or<std::string>(entry, "path", "", "data entry")).filename();
}

}  // namespace

std::string baseline_key(const Json& settings) {
    const auto of = [](const Json& part, const char* key) { return json_or<Json>(part, key, Json(), "settings"); };
    Json key = Json::array();
    for (const char* part : {"model", "max_length", "precision", "evaluation", "analyses"}) key.push_back(of(settings, part));
    const Json tasks = of(settings, "tasks");
    for (const auto& [name, task] : tasks.items()) key.push_back(Json::array({name, of(task, "type"), of(task, "instructions")}));
    return key.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Experiment Experiment::load(const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options) {
    try {
        return parse(read_file(file, YamlLimits{}.bytes), file, catalogue, options);
    } catch (const Error& error) {
        if (error.code() != ExitCode::data) throw;
        throw Error(ExitCode::settings, error.what());  // an experiment file that is not there is a wrong experiment, not wrong data
    }
}

void each_run_of(const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options, const TakeRun& take) {
    bool is_taking = false;
    try {
        expand(read_file(file, YamlLimits{}.bytes), file, catalogue, options, [&](ResolvedRun&& run) {
            is_taking = true;
            take(std::move(run));
            is_taking = false;
        });
    } catch (const Error& error) {
        if (is_taking || error.code() != ExitCode::data) throw;
        throw Error(ExitCode::settings, error.what());  // as above
    }
}

Experiment Experiment::parse(std::string_view text, const fs::path& file, const Catalogue& catalogue, const ExperimentOptions& options) {
    Experiment experiment;
    experiment.file_ = file;
    experiment.text_ = text;
    expand(text, file, catalogue, options, [&](ResolvedRun&& run) { experiment.runs_.push_back(std::move(run)); });
    experiment.name_ = experiment.runs_.front().settings["name"];
    return experiment;
}

void Experiment::check_files() const {
    std::set<std::string> looked_at;  // the runs of a sweep share their data
    const YamlNode root = parse_yaml(text_, file_.string());
    const auto look = [&](const Json& entry, const YamlPath& at, DataUse use) {
        const std::string key = entry.dump(-1, ' ', false, Json::error_handler_t::replace);
        if (!looked_at.insert(fmt::format("{} {}", static_cast<int>(use), key)).second) return;
        try {
            require_exists(entry, yaml_path_text(at), use);
        } catch (const Error& error) {
            const YamlNode* node = yaml_at(root, at);
            const bool from_file = node && is_written_as(*node, entry);
            throw Error(error.code(), fmt::format("{}: {}", from_file ? node->position().text() : file_.string(), error.what()));
        }
    };
    for (const ResolvedRun& run : runs_) {
        for (const auto& [task, settings] : run.settings["tasks"].items())
            for (const auto& [part, use] : {std::pair{"train", DataUse::training}, {"validation", DataUse::evaluation}})
                for (std::size_t i = 0; i < settings[part].size(); ++i)
                    look(settings[part][i], {"tasks", task, part, YamlStep::item(i)}, use);
        const Json& datasets = run.settings["evaluation"]["datasets"];
        for (std::size_t i = 0; i < datasets.size(); ++i)
            look(datasets[i], {"evaluation", "datasets", YamlStep::item(i)}, DataUse::evaluation);
        const Json& analyses = run.settings["analyses"];
        for (std::size_t i = 0; i < analyses.size(); ++i)
            if (analyses[i].contains("texts")) look(analyses[i]["texts"], {"analyses", YamlStep::item(i), "texts"}, DataUse::texts);
    }
}

}  // namespace faceter
