#include "common/strings.h"
#include "fuzz.h"
#include "settings/yaml_edit.h"
#include "text/utf8.h"

using namespace faceter;

namespace {

/// "tasks.a.0": a number is an item.
YamlPath path_of(std::string_view line) {
    YamlPath path;
    for (const std::string_view part : split(line, '.'))
        if (const auto place = parse_int(part); place && *place >= 0)
            path.push_back(YamlStep::item(static_cast<std::size_t>(*place)));
        else
            path.emplace_back(std::string(part));
    return path;
}

TextEdit edit(char how, std::string_view text, const YamlPath& path, std::string_view value) {
    switch (how) {
        case 's':
            return yaml_set(text, path, value);
        case 'r':
            return yaml_remove(text, path);
        case 'a':
            return yaml_append(text, path, value);
        default:
            return yaml_rename(text, path, value);
    }
}

}  // namespace

/// A file's text behind a line with the path and one with the value: what is put into it leaves it readable. The first byte says how.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view input) {
        if (input.empty()) return;
        const char how = input.front();
        input.remove_prefix(1);
        const auto line = [&] {
            const std::string_view taken = input.substr(0, input.find('\n'));
            input.remove_prefix(std::min(taken.size() + 1, input.size()));
            return taken;
        };
        const YamlPath path = path_of(replace_invalid_utf8(line()));  // keys come from a file that was read, or from a text field
        const std::string value = replace_invalid_utf8(line());
        const YamlNode root = parse_yaml(input, "input");
        for (const std::size_t at : {std::size_t(1), std::size_t(3), std::size_t(1000)})
            FUZZ_CHECK(yaml_at(root, yaml_path_at(root, at, at)) != nullptr);
        const TextEdit made = edit(how, input, path, value);
        FUZZ_CHECK(made.begin <= made.end && made.end <= input.size());
        parse_yaml(made.applied_to(input), "edited");
    });
}
