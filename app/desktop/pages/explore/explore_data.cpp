#include "pages/explore/explore_data.h"

#include <QCoreApplication>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

QStringList textsOf(const Json& list) {
    QStringList texts;
    for (const Json& text : list) texts << qs(text.get<std::string>());
    return texts;
}

std::vector<std::string> tasksOf(const Json& settings) {
    std::vector<std::string> tasks;
    if (!settings.is_object() || !settings.contains("tasks")) return tasks;
    for (const auto& [name, task] : settings["tasks"].items()) tasks.push_back(name);
    return tasks;
}

std::vector<Neighbour> hitsOf(const Json& list, const std::vector<int>& relevant) {
    std::vector<Neighbour> hits;
    for (const Json& hit : list) {
        Neighbour one{hit.at(0).get<int>(), static_cast<int>(hits.size()) + 1, hit.at(2).get<int>(), hit.at(1).get<double>(), false};
        one.isRelevant = std::binary_search(relevant.begin(), relevant.end(), one.document);
        hits.push_back(one);
    }
    return hits;
}

}  // namespace

const ExploreRun::Set* ExploreRun::find(const std::string& set) const {
    for (const Set& one : sets)
        if (one.name == set) return &one;
    return nullptr;
}

ExploreDataPtr loadExplore(Store& store, const std::filesystem::path& project, const std::vector<ExploreRequest>& requests) {
    auto runs = std::make_shared<std::vector<ExploreRun>>();
    for (const ExploreRequest& request : requests) {
        ExploreRun run{request, (project / "runs" / request.run).string(), tasksOf(store.settings(request.run)), {}};
        for (ResultRow& result : store.results(request.run, true))
            run.sets.push_back({result.name, result.task_type, result.task, std::move(result.per_example)});
        if (!run.sets.empty()) runs->push_back(std::move(run));
    }
    return runs;
}

QString ExploreColumn::label() const {
    return task.empty() ? qs(run->request.label) : QStringLiteral("%1 · %2").arg(qs(run->request.label), qs(task));
}

ExploredCorpusPtr ExploredCorpus::from(const Json& answer) {
    auto corpus = std::make_shared<ExploredCorpus>();
    corpus->total = answer.at("total").get<std::size_t>();
    corpus->part = qs(answer.at("part").get<std::string>());
    corpus->documents = textsOf(answer.at("documents"));
    corpus->queries = textsOf(answer.at("queries"));
    corpus->labelNames = textsOf(answer.at("label_names"));
    corpus->places = answer.at("places").get<std::vector<std::size_t>>();
    corpus->labels = answer.at("labels").get<std::vector<int>>();
    return corpus;
}

std::vector<NeighbourList> neighbourLists(const Json& answer, const std::vector<ExploreColumn>& columns, QStringList& problems) {
    const auto relevant = answer.at("relevant").get<std::vector<int>>();
    std::vector<NeighbourList> lists;
    for (std::size_t i = 0; i < std::min(columns.size(), answer.at("columns").size()); ++i) {
        const Json& own = answer["columns"][i];
        if (own.contains("error")) {
            problems << columns[i].label() + QStringLiteral(": ") + qs(own["error"].get<std::string>());
            continue;
        }
        NeighbourList list{columns[i], qs(own.at("instruction").get<std::string>()), hitsOf(own.at("hits"), relevant), {}, {}};
        for (const Json& rank : own.at("ranks")) list.relevantRanks.push_back(rank.at(1).get<int>());
        std::sort(list.relevantRanks.begin(), list.relevantRanks.end());
        if (own.contains("similarities")) list.similarities = own["similarities"].get<std::vector<float>>();
        list.numTokens = own.value("num_tokens", std::int64_t{0});
        list.keptTokens = own.value("kept_tokens", list.numTokens);
        lists.push_back(std::move(list));
    }
    return lists;
}

QString readPart(const std::vector<NeighbourList>& lists) {
    const auto isCut = [](const NeighbourList& list) { return list.keptTokens < list.numTokens; };
    const auto first = std::find_if(lists.begin(), lists.end(), isCut);
    if (first == lists.end()) return {};
    const bool alike = std::all_of(lists.begin(), lists.end(), [&](const NeighbourList& list) {
        return list.keptTokens == first->keptTokens && list.numTokens == first->numTokens;
    });
    if (alike)
        return QCoreApplication::translate("ExploreData", "of the text the first %1 of %2 tokens are read")
            .arg(countText(first->keptTokens), countText(first->numTokens));
    return QCoreApplication::translate("ExploreData", "%1 of %2 columns read a part of the text: the heads' tooltips say how much")
        .arg(std::count_if(lists.begin(), lists.end(), isCut))
        .arg(lists.size());
}

CorpusMap CorpusMap::from(const Json& answer) {
    CorpusMap map;
    map.x = answer.at("x").get<std::vector<float>>();
    map.y = answer.at("y").get<std::vector<float>>();
    map.clusters = answer.at("clusters").get<std::vector<int>>();
    if (!answer.at("kept").is_null()) map.kept = answer["kept"].get<std::vector<float>>();
    for (int axis = 0; axis < 2; ++axis) map.explained[axis] = answer.at("explained").at(static_cast<std::size_t>(axis)).get<double>();
    return map;
}

}  // namespace faceter::desktop
