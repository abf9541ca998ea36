#include "pages/results/result_entry.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "common/error.h"

namespace faceter::desktop {
namespace {

struct Origin {
    std::string plugin, analysis;
};

std::string textAt(const Json& json, const char* key) {
    return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : std::string();
}

/// A document says which analysis made it; of one that does not (of an older version, or copied here), the run's analyses tell by their
/// names.
Origin originOf(const std::string& name, const Json& json, const ResultRun& run, const Json& settings, const Catalogue& catalogue) {
    Origin origin{run.plugin, json.is_object() && json.contains("source") ? textAt(json["source"], "analysis") : std::string()};
    if (origin.analysis.empty() && settings.is_object() && settings.contains("analyses") && settings["analyses"].is_array())
        for (const Json& analysis : settings["analyses"])
            if (const std::string method = textAt(analysis, "method"); !method.empty() && name.starts_with(method))
                origin.analysis = method;
    if (origin.analysis.empty()) return origin;
    const Catalogue::Entry* entry = catalogue.find(ExtensionKind::analysis, origin.analysis);
    origin.plugin = entry ? entry->plugin : "";  // of a plugin that is not installed here: the analysis' name is what all runs share
    return origin;
}

ResultDocument readDocument(ResultEntry::Kind kind, const std::string& name, const Json& json, const ResultRun& run) {
    ResultDocument document{run, {}};
    const std::string where = run.id + ": " + (kind == ResultEntry::Kind::figure ? "figures/" : "tables/") + name + ".json";
    try {
        if (const std::string error = textAt(json, "error"); !error.empty()) throw data_error("{}", error);
        if (kind == ResultEntry::Kind::figure) {
            Figure figure = Figure::from_json(json, where);
            figure.validate();
            document.content = std::move(figure);
        } else {
            Table table = Table::from_json(json, where);
            table.validate();
            document.content = std::move(table);
        }
    } catch (const std::exception& error) {
        document.error = error.what();
    }
    return document;
}

/// "Simulated annealing, quick/EM/1" of that run: "Simulated annealing".
std::string withoutRun(std::string title, const std::string& run) {
    for (const char* before : {", ", ": "})
        if (const std::string end = before + run; !run.empty() && title.ends_with(end)) title.resize(title.size() - end.size());
    return title;
}

std::string titleOf(const ResultDocument& document) {
    std::string title;
    if (const auto* figure = std::get_if<Figure>(&document.content)) title = figure->title;
    if (const auto* table = std::get_if<Table>(&document.content)) title = table->caption;
    return withoutRun(std::move(title), document.run.name);
}

/// What all documents that can be read are called; empty where they differ.
std::string sharedTitle(const ResultEntry& entry) {
    std::string shared;
    for (const ResultDocument& document : entry.documents) {
        const std::string title = titleOf(document);
        if (title.empty() || title == shared) continue;
        if (!shared.empty()) return {};
        shared = title;
    }
    return shared;
}

/// What must be equal for two figures to share their axes.
bool sameAxis(const Axis& a, const Axis& b) {
    return a.label == b.label && a.unit == b.unit && a.log == b.log && a.categories == b.categories;
}

std::vector<const ResultDocument*> layable(const ResultEntry& entry) {
    std::vector<const ResultDocument*> found;
    const Figure* first = nullptr;
    for (const ResultDocument& document : entry.documents) {
        const auto* figure = std::get_if<Figure>(&document.content);
        if (!figure || (figure->kind != FigureKind::lines && figure->kind != FigureKind::densities)) continue;
        if (!first) first = figure;
        if (figure->kind == first->kind && sameAxis(figure->x, first->x) && sameAxis(figure->y, first->y)) found.push_back(&document);
    }
    return found;
}

using EntryKey = std::tuple<std::string, std::string, std::string, ResultEntry::Kind>;  // plugin, analysis, name

struct FoundDocument {
    EntryKey key;
    bool torn = false;  ///< no JSON: the store keeps the error in its place
    ResultDocument document;
};

std::vector<FoundDocument> documentsOf(Store& store, const ResultRun& run, const Catalogue& catalogue) {
    std::vector<FoundDocument> found;
    const Json settings = store.settings(run.id);
    for (const auto kind : {ResultEntry::Kind::figure, ResultEntry::Kind::table})
        for (const auto& [name, json] : store.documents(run.id, kind == ResultEntry::Kind::table ? "table" : "figure")) {
            const Origin origin = originOf(name, json, run, settings, catalogue);
            found.push_back(
                {{origin.plugin, origin.analysis, name, kind}, !textAt(json, "error").empty(), readDocument(kind, name, json, run)});
        }
    return found;
}

/// A torn document does not say where it is from: it stands where other runs have the whole one, else where the run's analyses tell.
EntryKey placeOf(const FoundDocument& torn, const std::vector<FoundDocument>& all) {
    const EntryKey* place = &torn.key;
    for (const FoundDocument& other : all) {
        if (other.torn || std::get<2>(other.key) != std::get<2>(torn.key) || std::get<3>(other.key) != std::get<3>(torn.key)) continue;
        place = &other.key;
        if (other.document.run.plugin == torn.document.run.plugin) break;
    }
    return *place;
}

bool anyFinite(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace

std::string ResultEntry::key() const { return plugin + "/" + analysis + "/" + (kind == Kind::figure ? "figure/" : "table/") + name; }

bool ResultDocument::hasValues() const {
    if (const auto* table = std::get_if<Table>(&content)) return !table->rows.empty();
    const auto* figure = std::get_if<Figure>(&content);
    return figure && (anyFinite(figure->heat_map.values) ||
                      std::any_of(figure->series.begin(), figure->series.end(), [](const Series& series) { return anyFinite(series.y); }));
}

bool ResultEntry::hasValues() const {
    return std::any_of(documents.begin(), documents.end(), [](const ResultDocument& document) { return document.hasValues(); });
}

std::vector<ResultEntry> collectResults(Store& store, const std::vector<ResultRun>& runs, const Catalogue& catalogue) {
    std::vector<FoundDocument> found;
    for (const ResultRun& run : runs)
        for (FoundDocument& one : documentsOf(store, run, catalogue)) found.push_back(std::move(one));
    for (FoundDocument& one : found)
        if (one.torn) one.key = placeOf(one, found);
    std::map<EntryKey, ResultEntry> entries;
    for (FoundDocument& one : found) {
        const auto& [plugin, analysis, name, kind] = one.key;
        ResultEntry& entry = entries[one.key];
        if (entry.documents.empty()) entry = {kind, plugin, analysis, name, {}};
        entry.documents.push_back(std::move(one.document));
    }
    std::vector<ResultEntry> all;
    for (auto& [key, entry] : entries) {
        const std::string title = sharedTitle(entry);
        entry.title = title.empty() ? entry.name : title;
        all.push_back(std::move(entry));
    }
    return all;
}

std::vector<Figure> overlays(const ResultEntry& entry) {
    const std::vector<const ResultDocument*> documents = layable(entry);
    std::vector<Figure> figures;
    if (documents.size() < 2) return figures;
    std::map<std::string, std::size_t> places;
    for (const ResultDocument* document : documents) {
        const Figure& figure = std::get<Figure>(document->content);
        for (Series series : figure.series) {
            const auto [place, isNew] = places.emplace(series.name, figures.size());
            if (isNew) {
                Figure one;
                one.kind = figure.kind;
                one.name = figures.empty() ? figure.name : figure.name + "_" + std::to_string(figures.size() + 1);
                one.title = series.name.empty() ? figure.title : series.name;
                one.x = figure.x;
                one.y = figure.y;
                figures.push_back(std::move(one));
            }
            series.name = document->run.label;
            series.colour = document->run.colour;
            figures[place->second].series.push_back(std::move(series));
        }
    }
    return figures;
}

}  // namespace faceter::desktop
