#include "experiment/known_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/file_name.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::string_view any_number = "<number>", any_pattern = "<pattern>";

using Values = std::vector<std::string>;

/// Nothing to add to a name that there is; none where there is none.
Values where(bool is_there) { return is_there ? Values{""} : Values{}; }

/// 2 and more, below a number.
Values parts_of(std::size_t number) {
    Values parts;
    for (std::size_t n = 2; n < number; ++n) parts.push_back(std::to_string(n));
    return parts;
}

Values without(Values all, const Values& left_out) {
    std::erase_if(all, [&](const std::string& name) { return std::find(left_out.begin(), left_out.end(), name) != left_out.end(); });
    return all;
}

/// What stands for <KEY> (Field::names): the tasks, or the items of another setting that is a list.
Values values_of(const std::string& key, const Json& method, const Json& tasks) {
    constexpr std::string_view only_if = "if ", several = "several of ", parts = "parts of ", but = " but ";
    const auto rest = [&](std::string_view front) { return values_of(key.substr(front.size()), method, tasks); };
    if (key.starts_with(only_if)) return where(json_or<Json>(method, key.substr(only_if.size()), Json(), "method") == Json(true));
    if (key.starts_with(several)) return where(rest(several).size() > 1);
    if (key.starts_with(parts)) return parts_of(rest(parts).size());
    if (const std::size_t at = key.find(but); at != std::string::npos)
        return without(values_of(key.substr(0, at), method, tasks), values_of(key.substr(at + but.size()), method, tasks));
    Values values;
    if (key == "task") {
        for (const auto& [name, task] : tasks.items()) values.push_back(name);
        return values;
    }
    for (const Json& item : json_or<Json>(method, key, Json::array(), "method"))
        values.push_back(item.is_string() ? item.get<std::string>() : item.dump());
    return values;
}

std::vector<std::string> expanded(const std::string& form, const Json& method, const Json& tasks) {
    const std::size_t begin = form.find('<'), end = form.find('>', begin);
    if (begin == std::string::npos || end == std::string::npos || form.ends_with(any_number)) return {form};
    std::vector<std::string> all;
    for (const std::string& value : values_of(form.substr(begin + 1, end - begin - 1), method, tasks))
        for (const std::string& rest : expanded(form.substr(end + 1), method, tasks)) all.push_back(form.substr(0, begin) + value + rest);
    return all;
}

}  // namespace

bool is_like(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p, ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

KnownNames::KnownNames(const Field& field, const Json& method, const Json& tasks) {
    std::map<std::string, std::string> form_of;  // of the name that a folder was found for first
    for (const std::string& form : field.names) {
        if (form == any_pattern)
            patterns_ = true;
        else
            for (std::string& name : expanded(form, method, tasks)) {
                if (form_of.emplace(safe_file_name(name), form).first->second != form) met_ = name;
                (name.ends_with(any_number) ? counted_ : names_).push_back(std::move(name));
            }
    }
    for (const auto& [name, task] : tasks.items())
        for (const char* side : {"query", "document"})
            instructions_.push_back(json_or<std::string>(task.at("instructions"), side, "", "tasks"));
}

bool KnownNames::is_counted(const std::string& name) const {
    return std::any_of(counted_.begin(), counted_.end(), [&](const std::string& form) {
        const std::string front = form.substr(0, form.size() - any_number.size());
        return name.starts_with(front) && parse_int(name.substr(front.size()));
    });
}

bool KnownNames::is_like_an_instruction(const std::string& pattern) const {
    return std::any_of(instructions_.begin(), instructions_.end(), [&](const std::string& text) { return is_like(pattern, text); });
}

std::string KnownNames::why_not(const std::string& name) const {
    const bool pattern = patterns_ && name.find('*') != std::string::npos;
    if (std::find(names_.begin(), names_.end(), name) != names_.end() || is_counted(name)) return "";
    if (pattern && is_like_an_instruction(name)) return "";
    std::vector<std::string> known = names_;
    known.insert(known.end(), counted_.begin(), counted_.end());
    return fmt::format("names {}, {}{}", faceter::quoted(name),
                       pattern ? "a pattern that no task's instruction is like" : "which is not there", suggestion(name, known));
}

}  // namespace faceter
