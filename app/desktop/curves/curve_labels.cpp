#include <algorithm>
#include <map>

#include "common/strings.h"
#include "curves/curve_data.h"

namespace faceter::desktop {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

bool isBytes(const std::string& series) { return series.find("_bytes") != std::string::npos; }

void addOnce(std::vector<std::string>& all, const std::string& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

}  // namespace

double shownScale(const std::string& series) { return isBytes(series) ? 1 / gib : 1; }

std::pair<std::string, std::string> seriesLabel(const std::string& name) {
    static const std::map<std::string, std::pair<std::string, std::string>> known = {
        {"lr", {"learning rate", ""}},
        {"grad_norm", {"gradient norm", ""}},
        {"tokens_per_s", {"throughput", "tokens/s"}},
        {"pairs_per_s", {"throughput", "pairs/s"}},
        {"masked_negatives", {"false negatives masked", "a step"}},
        {"dropped_assignments", {"assignments dropped", "a step"}},
        {"tokens", {"tokens", "a step"}},
        {"pairs", {"pairs", "a step"}},
        {"memory_bytes", {"memory", "GiB"}},
        {"system/memory_gib", {"memory", "GiB"}},
        {"system/cpu_percent", {"processor", "%"}},
        {"system/gpu_percent", {"GPU", "%"}},
        {"system/gpu_memory_gib", {"GPU memory", "GiB"}},
        {"system/gpu_power_w", {"GPU power", "W"}}};
    if (const auto found = known.find(name); found != known.end()) return found->second;
    if (name.rfind("loss/", 0) == 0) return {"loss, " + name.substr(5), ""};
    if (name.rfind("prefix_loss/", 0) == 0) return {"loss, first " + name.substr(12) + " elements", ""};
    if (name.rfind("score/", 0) == 0) return {"validation, " + name.substr(6), "%"};
    return {name, isBytes(name) ? "GiB" : ""};
}

std::pair<std::string, std::string> sharedLabel(const std::vector<std::string>& series) {
    if (series.size() == 1) return seriesLabel(series.front());
    std::vector<std::string> heads, units;
    for (const std::string& name : series) {
        const auto [label, unit] = seriesLabel(name);
        addOnce(heads, label.substr(0, label.find(", ")));
        addOnce(units, unit);
    }
    return {join(heads, ", "), units.size() == 1 ? units.front() : ""};
}

}  // namespace faceter::desktop
