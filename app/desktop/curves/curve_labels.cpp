#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <string_view>

#include "common/strings.h"
#include "curves/curve_data.h"

namespace faceter::desktop {
namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::string translated(const char* source) {
    return *source ? QCoreApplication::translate("CurveLabels", source).toStdString() : std::string();
}
std::string translated(const char* source, const QString& name) {
    return QCoreApplication::translate("CurveLabels", source).arg(name).toStdString();
}

bool isBytes(const std::string& series) { return series.find("_bytes") != std::string::npos; }

void addOnce(std::vector<std::string>& all, const std::string& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

/// Of a later stage, where one of that number logs its loss: a task's name may hold an @ as well.
std::string withoutStage(const std::string& series, const std::vector<std::string>& names) {
    const std::size_t stage = series.rfind('@');
    const bool isStage = stage != std::string::npos && std::find(names.begin(), names.end(), "loss" + series.substr(stage)) != names.end();
    return isStage ? series.substr(0, stage) : series;
}

}  // namespace

std::vector<TaskLoss> lossByTask(const std::vector<std::string>& names) {
    std::map<std::string, std::vector<std::string>> tasks;
    for (const std::string& name : names)
        if (name.starts_with("loss/")) tasks[withoutStage(name, names)].push_back(name);
    std::vector<TaskLoss> all;
    for (auto& [name, series] : tasks) all.push_back({name, std::move(series)});
    return all;
}

double shownScale(const std::string& series) { return isBytes(series) ? 1 / gib : 1; }

std::pair<std::string, std::string> seriesLabel(const std::string& name) {
    struct Known {
        const char *label, *unit;
    };
    static const std::map<std::string_view, Known> known = {
        {"lr", {QT_TRANSLATE_NOOP("CurveLabels", "learning rate"), ""}},
        {"grad_norm", {QT_TRANSLATE_NOOP("CurveLabels", "gradient norm"), ""}},
        {"tokens_per_s", {QT_TRANSLATE_NOOP("CurveLabels", "throughput"), QT_TRANSLATE_NOOP("CurveLabels", "tokens/s")}},
        {"pairs_per_s", {QT_TRANSLATE_NOOP("CurveLabels", "throughput"), QT_TRANSLATE_NOOP("CurveLabels", "pairs/s")}},
        {"masked_negatives", {QT_TRANSLATE_NOOP("CurveLabels", "false negatives masked"), QT_TRANSLATE_NOOP("CurveLabels", "a step")}},
        {"dropped_assignments", {QT_TRANSLATE_NOOP("CurveLabels", "assignments dropped"), QT_TRANSLATE_NOOP("CurveLabels", "a step")}},
        {"tokens", {QT_TRANSLATE_NOOP("CurveLabels", "tokens"), QT_TRANSLATE_NOOP("CurveLabels", "a step")}},
        {"pairs", {QT_TRANSLATE_NOOP("CurveLabels", "pairs"), QT_TRANSLATE_NOOP("CurveLabels", "a step")}},
        {"memory_bytes", {QT_TRANSLATE_NOOP("CurveLabels", "memory"), "GiB"}},
        {"system/memory_gib", {QT_TRANSLATE_NOOP("CurveLabels", "memory"), "GiB"}},
        {"system/cpu_percent", {QT_TRANSLATE_NOOP("CurveLabels", "processor"), "%"}},
        {"system/gpu_percent", {QT_TRANSLATE_NOOP("CurveLabels", "GPU"), "%"}},
        {"system/gpu_memory_gib", {QT_TRANSLATE_NOOP("CurveLabels", "GPU memory"), "GiB"}},
        {"system/gpu_power_w", {QT_TRANSLATE_NOOP("CurveLabels", "GPU power"), "W"}}};
    if (const auto found = known.find(name); found != known.end()) return {translated(found->second.label), translated(found->second.unit)};
    const auto of = [&name](const char* source, std::size_t prefix) {
        return translated(source, QString::fromStdString(name.substr(prefix)));
    };
    if (name.starts_with("loss/")) return {of(QT_TRANSLATE_NOOP("CurveLabels", "loss, %1"), 5), ""};
    if (name.starts_with("prefix_loss/")) return {of(QT_TRANSLATE_NOOP("CurveLabels", "loss, first %1 elements"), 12), ""};
    if (name.starts_with("score/")) return {of(QT_TRANSLATE_NOOP("CurveLabels", "validation, %1"), 6), "%"};
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
