#include "experiment/noise_rates.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/recipes.h"

namespace faceter {
namespace {

/// 0 of what is no data entry, or has no settings of one.
double rate_of(const Json& entry) {
    return entry.is_object() && entry.contains("noise_rate") ? json_at<double>(entry, "noise_rate", "data entry") : 0;
}

std::string text_of(const Json& entry, const char* key) { return json_or<std::string>(entry, key, "", "data entry"); }

std::string set_of(const Json& entry) {
    for (const char* key : {"name", "view", "path"})
        if (const std::string name = text_of(entry, key); !name.empty()) return name;
    return text_of(entry, "source");
}

/// Looks at every data entry of an experiment that has a noise rate.
class Check {
  public:
    Check(const Json& settings, const YamlNode& root, Problems& problems) : settings_(settings), root_(root), problems_(problems) {}

    void tasks() {
        const YamlNode* nodes = root_.find("tasks");
        const Json tasks = json_or<Json>(settings_, "tasks", Json::object(), "settings");
        for (const auto& [name, task] : tasks.items()) {
            const YamlNode* node = nodes ? nodes->find(name) : nullptr;
            refuse(task, "train", node, "tasks." + name, [&, &name = name](const Json& entry) { return why_not_trained_on(name, entry); });
            refuse(task, "validation", node, "tasks." + name, [](const Json&) { return std::string(scored); });
        }
    }
    void evaluation() {
        refuse(json_or<Json>(settings_, "evaluation", Json::object(), "settings"), "datasets", root_.find("evaluation"), "evaluation",
               [](const Json&) { return std::string(scored); });
    }
    void analyses() {
        const Json analyses = json_or<Json>(settings_, "analyses", Json::array(), "settings");
        for (std::size_t i = 0; i < analyses.size(); ++i)
            if (analyses[i].contains("texts") && rate_of(analyses[i]["texts"]) > 0)
                add(root_.find("analyses"), fmt::format("analyses[{}].texts.noise_rate", i), "an analysis' texts have no positives");
    }

  private:
    static constexpr const char* scored = "these data are scored, and a score on wrong pairs says nothing; it is for tasks.*.train";

    template <typename Why>
    void refuse(const Json& owner, const char* key, const YamlNode* node, const std::string& where, Why why) {
        if (!owner.is_object() || !owner.contains(key) || !owner[key].is_array()) return;
        const YamlNode* list = node ? node->find(key) : nullptr;
        for (std::size_t i = 0; i < owner[key].size(); ++i) {
            if (!(rate_of(owner[key][i]) > 0)) continue;
            const std::string reason = why(owner[key][i]);
            if (reason.empty()) continue;
            const YamlNode* entry = list && i < list->items.size() ? &list->items[i] : list;
            const YamlNode* rate = entry ? entry->find("noise_rate") : nullptr;
            add(rate ? rate : entry, fmt::format("{}.{}[{}].noise_rate", where, key, i), reason);
        }
    }

    std::string why_not_trained_on(const std::string& task, const Json& entry) const {
        if (text_of(entry, "format") == "texts") return "each of these texts is a pair with itself, so that no positive could be exchanged";
        if (!is_trained_in_pairs(task)) return "masked-language modelling reads each text alone, so that wrong pairs change nothing";
        return "";
    }

    /// By some part of the training.
    bool is_trained_in_pairs(const std::string& task) const {
        const auto in_pairs = [](const Json& recipe) {
            return json_or<std::string>(recipe.at("objective"), "method", "", "objective") != "masked_language";
        };
        const std::vector<Json> recipes = recipes_of(settings_);
        return std::any_of(recipes.begin(), recipes.end(), [&](const Json& recipe) { return trains(recipe, task) && in_pairs(recipe); });
    }

    void add(const YamlNode* node, const std::string& setting, const std::string& reason) {
        problems_.add((node ? *node : root_).position(), fmt::format("{} is set: {}", setting, reason));
    }

    const Json& settings_;
    const YamlNode& root_;
    Problems& problems_;
};

}  // namespace

std::vector<NoiseRate> noise_rates(const Json& settings) {
    std::vector<NoiseRate> rates;
    if (json_or<std::string>(settings.at("variant"), "method", "", "variant") == "start") return rates;
    for (const auto& [name, task] : settings.at("tasks").items())
        for (const Json& entry : task.at("train"))
            if (const double rate = rate_of(entry); rate > 0) rates.push_back({name, set_of(entry), rate});
    return rates;
}

void check_noise_rates(const Json& settings, const YamlNode& root, Problems& problems) {
    Check check(settings, root, problems);
    check.tasks();
    check.evaluation();
    check.analyses();
}

}  // namespace faceter
