#include "pages/facets/facets_data.h"

#include <algorithm>
#include <map>

#include "common/error.h"
#include "common/strings.h"

namespace faceter::desktop {
namespace {

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

SimilarityGroup groupOf(const FacetGroup& group, const std::string& texts, std::vector<std::string>& notes) {
    std::vector<SimilaritySet> seeds;
    std::vector<std::string> names;
    for (const FacetRun& run : group.runs)
        if (run.texts == texts) seeds.push_back(run.set), names.push_back(run.run);
    SimilarityGroup one{group.request.label, group.request.colour, average_over_seeds(seeds, names, notes)};
    if (seeds.size() > 1) notes.push_back(fmt::format("{}: each text's mean over {} seeds.", group.request.label, seeds.size()));
    return one;
}

std::optional<Figure> firstPlane(const FacetGroup& group, const std::string& texts) {
    for (const FacetRun& run : group.runs)
        if (run.texts == texts && run.plane) return run.plane;
    return std::nullopt;
}

}  // namespace

bool FacetGroup::has(const std::string& texts) const {
    return std::any_of(runs.begin(), runs.end(), [&](const FacetRun& run) { return run.texts == texts; });
}

const FacetGroup* FacetsData::find(const std::string& key) const {
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const FacetGroup& group) { return group.request.key == key; });
    return found == groups.end() ? nullptr : &*found;
}

FacetsData loadFacets(Store& store, const std::vector<FacetRequest>& requests) {
    FacetsData data;
    for (const FacetRequest& request : requests) {
        FacetGroup group{request, {}};
        for (const std::string& id : request.runs)
            for (FacetRun& run : loadRun(store, id, data.problems)) group.runs.push_back(std::move(run));
        for (FacetRun& run : group.runs) nameTexts(run, data);
        if (!group.runs.empty()) data.groups.push_back(std::move(group));
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
    std::vector<std::string> all = start;
    all.insert(all.end(), trained.begin(), trained.end());  // from the end: trained ones first
    const auto has = [&](const std::string& key) { return std::find(all.begin(), all.end(), key) != all.end(); };
    if (!has(choice.baseline)) choice.baseline.clear();
    std::erase_if(choice.compared, [&](const std::string& key) { return !has(key) || key == choice.baseline; });
    if (choice.compared.empty())
        for (auto key = all.rbegin(); key != all.rend() && choice.compared.empty(); ++key)
            if (*key != choice.baseline && (all.size() > 1 || !choice.baseline.empty())) choice.compared.push_back(*key);
    if (choice.baseline.empty())
        for (auto key = all.rbegin(); key != all.rend() && choice.baseline.empty(); ++key)
            if (std::find(choice.compared.begin(), choice.compared.end(), *key) == choice.compared.end()) choice.baseline = *key;
    return choice;
}

FacetsPicture drawFacets(const FacetsData& data, const FacetsChoice& choice) {
    FacetsPicture picture;
    std::vector<std::string> keys{choice.baseline};
    keys.insert(keys.end(), choice.compared.begin(), choice.compared.end());
    for (const std::string& key : keys) {
        const FacetGroup* group = data.find(key);
        if (!group || !group->has(choice.texts)) continue;
        picture.groups.push_back(groupOf(*group, choice.texts, picture.notes));
        picture.planes.push_back(firstPlane(*group, choice.texts));
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
