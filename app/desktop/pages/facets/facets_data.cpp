#include "pages/facets/facets_data.h"

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/strings.h"
#include "compare/counted_run.h"

namespace faceter::desktop {
namespace {

/// What one run stored for one list of texts.
struct FacetRun {
    std::string run, texts;
    SimilaritySet set;
    std::optional<Figure> plane;
};

constexpr std::size_t most_at_first = 2;  // beside the baseline: the names of three stand at their curves
constexpr std::string_view analysis = "inter_task_similarity", projection = "inter_task_projection";

/// "inter_task_similarity", or with a number where a run analysed several lists of texts.
bool isSimilarity(std::string_view name) { return name == analysis || (name.starts_with(analysis) && name[analysis.size()] == '-'); }

std::optional<Figure> planeOf(const std::vector<std::pair<std::string, Json>>& figures, const std::string& run, const std::string& ending,
                              std::vector<std::string>& problems) {
    for (const auto& [name, json] : figures) {
        if (name != std::string(projection) + ending) continue;
        try {
            Figure figure = Figure::from_json(json, run + ": figures/" + name + ".json");
            if (figure.kind != FigureKind::scatter) throw data_error("{}: figures/{}.json is no scatter plot", run, name);
            return figure;
        } catch (const std::exception& error) {
            problems.emplace_back(error.what());
        }
    }
    return std::nullopt;
}

/// The setting `texts` of the analysis that a result is of, by the run's settings: for results that do not say it themselves.
Json sourceOf(const Json& settings, std::string_view name) {
    int time = 1;  // "inter_task_similarity-2" is the second
    if (name.size() > analysis.size()) time = static_cast<int>(parse_int(name.substr(analysis.size() + 1)).value_or(0));
    if (!settings.is_object() || !settings.contains("analyses") || !settings["analyses"].is_array()) return {};
    for (const Json& one : settings["analyses"])
        if (one.is_object() && one.value("method", Json()) == analysis && --time == 0) return one.value("texts", Json());
    return {};
}

std::vector<FacetRun> loadRun(Store& store, const std::string& run, std::vector<std::string>& problems) {
    std::vector<FacetRun> found;
    const auto figures = store.documents(run, "figure");
    for (const auto& [name, json] : store.documents(run, "analysis")) {
        if (!isSimilarity(name)) continue;
        try {
            FacetRun one{run, {}, similarity_from_json(json, run + ": results/" + name + ".json"), {}};
            if (one.set.pairs.empty())
                throw data_error(
                    "{}: results/{}.json has no pairs of tasks; the experiment needs two tasks or a task with two instructions", run, name);
            if (one.set.source.is_null()) one.set.source = sourceOf(store.settings(run), name);
            one.plane = planeOf(figures, run, name.substr(analysis.size()), problems);
            found.push_back(std::move(one));
        } catch (const std::exception& error) {
            problems.emplace_back(error.what());
        }
    }
    return found;
}

/// The key that runs of the same texts share: the fingerprint where there is one.
void nameTexts(FacetRun& run, FacetsData& data) {
    const std::string label = texts_label(run.set.source, run.set.num_texts());
    run.texts = run.set.fingerprint.empty() ? label : run.set.fingerprint;
    for (const FacetTexts& known : data.texts)
        if (known.key == run.texts) return;
    data.texts.push_back({run.texts, label});
}

/// The runs of a group by their texts, until all of it are read.
struct Gathered {
    std::string texts;
    std::vector<SimilaritySet> sets;
    std::vector<std::string> names;
    std::optional<Figure> plane;
    std::map<std::uint64_t, std::pair<std::string, std::string>> counted{};  ///< seed -> id and name of its run
    std::vector<std::string> repeats{};                                      ///< notes on runs that are left out

    /// The texts themselves and the plane are kept once.
    void add(FacetRun run, const std::string& name, std::uint64_t seed) {
        if (const auto [place, fresh] = counted.try_emplace(seed, run.run, name); !fresh) {
            if (place->second.first != run.run)  // else its own second analysis of these texts
                repeats.push_back(repeat_note(name, place->second.second) + ".");
            return;
        }
        if (!sets.empty() && !run.set.fingerprint.empty()) run.set.texts.clear();
        sets.push_back(std::move(run.set));
        names.push_back(name);
        if (!plane) plane = std::move(run.plane);
    }
    FacetSet mean() const {
        FacetSet set{texts, {}, sets.size(), {}, plane};
        set.set = average_over_seeds(sets, names, set.notes);
        set.notes.insert(set.notes.end(), repeats.begin(), repeats.end());
        return set;
    }
};

void gather(FacetRun run, const std::string& name, std::uint64_t seed, std::vector<Gathered>& all) {
    const auto known = std::find_if(all.begin(), all.end(), [&](const Gathered& one) { return one.texts == run.texts; });
    Gathered& place = known == all.end() ? all.emplace_back(Gathered{run.texts, {}, {}, {}}) : *known;
    place.add(std::move(run), name, seed);
}

SimilarityGroup groupOf(const FacetGroup& group, const FacetSet& set, std::vector<std::string>& notes) {
    notes.insert(notes.end(), set.notes.begin(), set.notes.end());
    if (set.num_runs > 1) notes.push_back(fmt::format("{}: each text's mean over {} seeds.", group.request.label, set.num_runs));
    return {group.request.label, group.request.colour, set.set};
}

}  // namespace

const FacetSet* FacetGroup::find(const std::string& texts) const {
    const auto found = std::find_if(sets.begin(), sets.end(), [&](const FacetSet& set) { return set.texts == texts; });
    return found == sets.end() ? nullptr : &*found;
}

bool FacetGroup::has(const std::string& texts) const { return find(texts) != nullptr; }

const FacetGroup* FacetsData::find(const std::string& key) const {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const FacetGroup& group) { return group.request.key == key; });
    return found == groups.end() ? nullptr : &*found;
}

FacetsData loadFacets(Store& store, const std::vector<FacetRequest>& requests) {
    FacetsData data;
    for (const FacetRequest& request : requests) {
        std::vector<Gathered> gathered;
        for (std::size_t i = 0; i < request.runs.size(); ++i)
            for (FacetRun& run : loadRun(store, request.runs[i], data.problems)) {
                nameTexts(run, data);
                gather(std::move(run), request.names.at(i), request.seeds.at(i), gathered);
            }
        FacetGroup group{request, {}};
        group.request.runs.clear();
        group.request.names.clear();
        group.request.seeds.clear();
        for (const Gathered& one : gathered) group.sets.push_back(one.mean());
        if (!group.sets.empty()) data.groups.push_back(std::move(group));
    }
    return data;
}

FacetsChoice complete(const FacetsData& data, FacetsChoice choice) {
    const auto known = [&](const FacetTexts& texts) { return texts.key == choice.texts; };
    if (std::none_of(data.texts.begin(), data.texts.end(), known))
        choice.texts = data.texts.empty() ? std::string() : data.texts.front().key;
    std::vector<std::string> trained, start;
    for (const FacetGroup& group : data.groups)
        if (group.has(choice.texts)) (group.request.isStart ? start : trained).push_back(group.request.key);
    std::vector<std::string> all = trained;
    all.insert(all.end(), start.begin(), start.end());
    const auto has = [&](const std::string& key) { return std::find(all.begin(), all.end(), key) != all.end(); };
    const auto isCompared = [&](const std::string& key) {
        return std::find(choice.compared.begin(), choice.compared.end(), key) != choice.compared.end();
    };
    if (!has(choice.baseline)) choice.baseline.clear();
    std::erase_if(choice.compared, [&](const std::string& key) { return !has(key) || key == choice.baseline; });
    if (choice.baseline.empty())
        if (const auto first = std::find_if_not(all.begin(), all.end(), isCompared); first != all.end()) choice.baseline = *first;
    const auto fill = [&choice](const std::vector<std::string>& keys, std::size_t most) {
        if (!choice.compared.empty()) return;
        for (const std::string& key : keys)
            if (key != choice.baseline && choice.compared.size() < most) choice.compared.push_back(key);
    };
    fill(trained, most_at_first);
    fill(start, 1);
    return choice;
}

FacetsPicture drawFacets(const FacetsData& data, const FacetsChoice& choice) {
    FacetsPicture picture;
    std::vector<std::string> keys{choice.baseline};
    keys.insert(keys.end(), choice.compared.begin(), choice.compared.end());
    for (const std::string& key : keys) {
        const FacetGroup* group = data.find(key);
        const FacetSet* set = group ? group->find(choice.texts) : nullptr;
        if (!set) continue;
        picture.groups.push_back(groupOf(*group, *set, picture.notes));
        picture.planes.push_back(set->plane);
    }
    for (std::size_t i = 1; i < picture.groups.size(); ++i) {
        const SimilarityGroup &baseline = picture.groups.front(), &group = picture.groups[i];
        try {
            picture.comparisons.push_back(compare_similarity(group.name, group.set, baseline.name, baseline.set, Alternative::less));
        } catch (const std::exception& error) {
            picture.notes.emplace_back(error.what());
        }
    }
    picture.densities = similarity_densities(picture.groups);
    return picture;
}

}  // namespace faceter::desktop
