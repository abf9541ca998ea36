#include "compare/agreement.h"

namespace faceter {

std::optional<Agreement::Said> Agreement::differs(const std::string& key, const std::string& run, const std::string& content) {
    if (content.empty()) return std::nullopt;
    First& first = first_.try_emplace(key, First{{run, content}}).first->second;
    if (first.told || first.said.content == content) return std::nullopt;
    first.told = true;
    return first.said;
}

}  // namespace faceter
