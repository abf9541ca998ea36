#include "stats/alternative.h"

#include "common/error.h"
#include "common/strings.h"

namespace faceter {

std::string_view alternative_name(Alternative alternative) {
    switch (alternative) {
        case Alternative::less:
            return "less";
        case Alternative::greater:
            return "greater";
        default:
            return "two-sided";
    }
}

Alternative parse_alternative(std::string_view name) {
    for (const auto alternative : {Alternative::two_sided, Alternative::less, Alternative::greater})
        if (name == alternative_name(alternative)) return alternative;
    throw usage_error("unknown alternative {}; expected two-sided, less or greater", quoted(name));
}

}  // namespace faceter
