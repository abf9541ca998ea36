#include "pages/compose/check_report.h"

#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"

namespace faceter::desktop {
namespace {

/// Takes "FILE:line:column: " off a message.
Problem problemOf(std::string_view message, std::string_view file) {
    Problem problem;
    if (message.starts_with(file)) {
        message.remove_prefix(file.size());
        for (std::size_t* number : {&problem.line, &problem.column}) {
            const std::size_t end = message.find(':', 1);
            const auto value =
                message.starts_with(':') && end != std::string_view::npos ? parse_int(message.substr(1, end - 1)) : std::nullopt;
            if (!value || *value < 0) break;
            *number = static_cast<std::size_t>(*value);
            message.remove_prefix(end);
        }
        while (message.starts_with(':') || message.starts_with(' ')) message.remove_prefix(1);
    }
    problem.message = message;
    return problem;
}

/// "training.batch_size" at the head of a message, where it is a place of the file or a missing key of one.
YamlPath namedPath(const YamlNode& root, std::string_view message) {
    YamlPath path;
    std::string_view name = message.substr(0, message.find(' '));
    while (!name.empty()) {
        const std::size_t end = name.find_first_of(".[");
        if (const std::string_view key = name.substr(0, end); !key.empty()) path.emplace_back(std::string(key));
        if (end == std::string_view::npos) break;
        if (name[end] == '.') {
            name.remove_prefix(end + 1);
            continue;
        }
        const std::size_t close = name.find(']', end);
        const auto index = close == std::string_view::npos ? std::nullopt : parse_int(name.substr(end + 1, close - end - 1));
        if (!index || *index < 0) return {};
        path.push_back(YamlStep::item(static_cast<std::size_t>(*index)));
        name.remove_prefix(close + 1);
        if (name.starts_with('.')) name.remove_prefix(1);
    }
    const YamlPath parent(path.begin(), path.empty() ? path.end() : path.end() - 1);
    return yaml_at(root, path) || (path.size() > 1 && yaml_at(root, parent)) ? path : YamlPath();
}

}  // namespace

std::string readExperiment(const std::string& path) {
    std::string bytes = read_file(path, YamlLimits{}.bytes);
    if (!is_valid_utf8(bytes)) throw settings_error("{}: is not UTF-8 text", path);
    return bytes;
}

CheckReport checkText(const std::string& text, const std::filesystem::path& file, const Catalogue& catalogue, bool smoke) {
    CheckReport report;
    std::string messages;
    try {
        report.tree = std::make_shared<const YamlNode>(parse_yaml(text, file.string()));
        report.prompts = promptsOf(*report.tree, file.parent_path());
        ExperimentOptions options;
        options.smoke = smoke;
        report.experiment = std::make_shared<const Experiment>(Experiment::parse(text, file, catalogue, options));
    } catch (const std::exception& error) {
        messages = error.what();
    }
    if (messages.empty()) return report;
    for (const std::string_view line : split(messages, '\n')) {
        if (line.empty()) continue;
        Problem problem = problemOf(line, file.string());
        if (report.tree) problem.path = namedPath(*report.tree, problem.message);
        if (report.tree && problem.path.empty() && problem.line > 0)
            problem.path = yaml_path_at(*report.tree, problem.line, problem.column);
        report.problems.push_back(std::move(problem));
    }
    return report;
}

}  // namespace faceter::desktop
