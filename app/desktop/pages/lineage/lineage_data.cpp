#include "pages/lineage/lineage_data.h"

#include <algorithm>

namespace faceter::desktop {

LineageDataPtr loadLineage(Store& store, const std::filesystem::path& project, const std::set<std::string>& runs) {
    auto data = std::make_shared<LineageData>();
    data->lineage = lineage_around(read_lineage(Project(project, false), store), runs);
    data->forest = lineage_forest(data->lineage);
    data->layout = lay_out(data->forest);
    data->runs = static_cast<std::size_t>(std::count_if(data->lineage.nodes.begin(), data->lineage.nodes.end(),
                                                        [](const LineageNode& node) { return node.kind == LineageNode::Kind::run; }));
    return data;
}

std::shared_ptr<const RunDifference> loadDifference(Store& store, const std::filesystem::path& project, const std::string& before,
                                                    const std::string& after) {
    const std::filesystem::path runs = Project(project, false).runs_folder();
    std::error_code ignored;
    for (const std::string& run : {before, after})
        if (!std::filesystem::exists(runs / run / "run.json", ignored)) return nullptr;
    return std::make_shared<const RunDifference>(run_difference(store, RunDirectory(runs / before), RunDirectory(runs / after)));
}

}  // namespace faceter::desktop
