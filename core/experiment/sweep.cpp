#include "experiment/sweep.h"

#include <algorithm>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t max_points = 10'000;

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

std::string value_text(const YamlNode& value);

/// A swept method: its name, then its settings.
std::string method_text(const YamlNode& value) {
    std::string text = value.find("method")->text;
    for (const auto& entry : value.entries)
        if (entry.key != "method") text += fmt::format(" {}={}", entry.key, value_text(entry.value));
    return text;
}

std::string value_text(const YamlNode& value) {
    if (value.kind == YamlNode::Kind::map && value.find("method")) return method_text(value);
    if (value.kind == YamlNode::Kind::scalar) return value.text;
    return value.kind == YamlNode::Kind::null ? "null" : yaml_to_json(value).dump();
}

bool concerns(const SweepAxis& axis, std::string_view variant) {
    constexpr std::string_view prefix = "variants.";
    if (!axis.key.starts_with(prefix)) return true;
    const std::string_view rest = std::string_view(axis.key).substr(prefix.size());
    return rest.starts_with(variant) && rest.size() > variant.size() && rest[variant.size()] == '.';
}

bool may_be_swept(const YamlNode::Entry& entry, const YamlNode& sweep, Problems& problems) {
    const SourcePosition at{sweep.source ? *sweep.source : "", entry.line, entry.column};
    const std::string head = entry.key.substr(0, entry.key.find_first_of(".["));
    if (head == "sweep" || head == "seeds" || head == "name") {
        problems.add(at, fmt::format("'{}' cannot be swept{}", entry.key, head == "seeds" ? "; list the seeds under 'seeds'" : ""));
        return false;
    }
    if (head == "variants" && std::count(entry.key.begin(), entry.key.end(), '.') < 2) {
        problems.add(at, fmt::format("'{}' cannot be swept whole; list each under 'variants', or sweep a setting, as in "
                                     "variants.MoTE.placement",
                                     entry.key));
        return false;
    }
    if (entry.value.kind == YamlNode::Kind::sequence && !entry.value.items.empty()) return true;
    problems.add(entry.value.position(),
                 fmt::format("sweep.{} is {}; expected a list of values, such as [1.0e-5, 2.0e-5]", entry.key,
                             entry.value.kind == YamlNode::Kind::sequence ? "an empty list" : entry.value.kind_name()));
    return false;
}

}  // namespace

std::string SweepPoint::label() const {
    std::vector<std::string> parts;
    for (const auto& [key, value] : values) {
        const std::string name = last_part(key);
        const bool ambiguous =
            std::count_if(values.begin(), values.end(), [&](const auto& other) { return last_part(other.first) == name; }) > 1;
        parts.push_back(fmt::format("{}={}", ambiguous ? key : name, value_text(value)));
    }
    return join(parts, ",");
}

bool is_swept(const YamlNode& root, const std::string& key) {
    const YamlNode* sweep = root.find("sweep");
    if (!sweep || sweep->kind != YamlNode::Kind::map) return false;
    return std::any_of(sweep->entries.begin(), sweep->entries.end(), [&](const YamlNode::Entry& axis) {
        return key.starts_with(axis.key) && (key.size() == axis.key.size() || key[axis.key.size()] == '.' || key[axis.key.size()] == '[');
    });
}

std::vector<SweepAxis> read_sweep(const YamlNode* sweep, Problems& problems) {
    std::vector<SweepAxis> axes;
    if (!sweep || sweep->kind == YamlNode::Kind::null) return axes;
    if (sweep->kind != YamlNode::Kind::map) {
        problems.add(sweep->position(),
                     fmt::format("sweep is {}; expected a map such as {{training.learning_rate: [1.0e-5, 2.0e-5]}}", sweep->kind_name()));
        return axes;
    }
    std::size_t points = 1;
    for (const auto& entry : sweep->entries) {
        if (!may_be_swept(entry, *sweep, problems)) continue;
        points *= entry.value.items.size();
        if (points > max_points) {
            problems.add(entry.value.position(), fmt::format("the sweep has more than {} points", max_points));
            break;
        }
        axes.push_back({entry.key, entry.value.items});
    }
    return axes;
}

std::vector<SweepPoint> sweep_points(const std::vector<SweepAxis>& axes, std::string_view variant) {
    std::vector<SweepPoint> points(1);
    for (const SweepAxis& axis : axes) {
        if (!concerns(axis, variant)) continue;
        std::vector<SweepPoint> longer;
        for (const SweepPoint& point : points)
            for (const YamlNode& value : axis.values) {
                longer.push_back(point);
                longer.back().values.emplace_back(axis.key, value);
            }
        points = std::move(longer);
    }
    return points;
}

}  // namespace faceter
