#include "compare/router_methods.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace faceter {
namespace {

using Names = std::vector<std::string>;

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> routers{{{"pilot", "RouterRetriever"},
                                                                                {"expert_classifier", "ExpertClassifierRouter"},
                                                                                {"classification_head", "ClassificationHeadRouter"},
                                                                                {"dataset", "DatasetRouter"},
                                                                                {"random", "random gate"}}};

/// The first of them: what is asked for again has a result of another name.
std::optional<Json> router_study_of(const Json& settings) {
    for (const Json& analysis : json_or<Json>(settings, "analyses", Json::array(), "settings"))
        if (json_or<std::string>(analysis, "method", "", "analyses") == "router_study") return analysis;
    return std::nullopt;
}

void add_routers(const Names& wanted, Names& methods) {
    for (const auto& [kind, name] : routers)
        if (kind == "pilot" || wanted.empty() || std::find(wanted.begin(), wanted.end(), kind) != wanted.end()) methods.emplace_back(name);
}

}  // namespace

std::vector<std::string> router_methods(const Json& settings) {
    const Json variant = json_or<Json>(settings, "variant", Json::object(), "settings");
    const auto study = router_study_of(settings);
    if (!study || json_or<std::string>(variant, "method", "", "variant") != "router_retriever") return {};
    const Names single = json_or<Names>(variant, "single_gates", {}, "variant");
    const std::size_t tasks = json_or<Json>(settings, "tasks", Json::array(), "settings").size();
    Names methods;
    add_routers(json_or<Names>(*study, "routers", {}, "analyses"), methods);
    if (!single.empty()) methods.emplace_back("RouterRetriever with the single gate");
    methods.emplace_back("no gate");
    for (const std::string& gate : single) methods.push_back("single gate: " + gate);
    if (json_or<bool>(variant, "multi_task", true, "variant") && tasks > single.size() + 1) methods.emplace_back("Multi-Task");
    methods.emplace_back("Best Individual (oracle by data set)");
    methods.emplace_back("Oracle (by query)");
    return methods;
}

}  // namespace faceter
