#pragma once
#include <string_view>

#include "common/json.h"

namespace faceter {

/// What a document may cost beyond its bytes.
struct JsonLimits {
    int depth = 64;                ///< of lists and objects in each other: copying a value recurses
    std::size_t members = 20'000;  ///< of one object; a member is compared with each before it, and all objects share the time of one such
};

/// Parses what another program or an earlier crash may have left: discarded (Json::is_discarded) where it is torn, not JSON or beyond the
/// limits. Where a message is wanted: parse_json.
Json parse_untrusted_json(std::string_view text, const JsonLimits& limits = {});

}  // namespace faceter
