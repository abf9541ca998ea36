#pragma once
#include <string>

#include "common/json.h"

namespace faceter {

/// A document as it is printed or sent, on one line unless an indent is given. Whatever it holds, no terminal takes a part of it for a
/// command: control characters beyond C0, which JSON always escapes, are written as escapes too, so that it stays the same document. What
/// is not UTF-8 becomes U+FFFD.
std::string json_text(const Json& json, int indent = -1);

}  // namespace faceter
