#pragma once
#include <cstdint>

namespace faceter {

/// Whether a terminal may take the character for more than a sign: control characters (C0, delete, C1), marks that turn round the text that
/// follows (embeddings, overrides, isolates), and separators of lines and paragraphs.
bool is_terminal_control(std::int32_t character);

}  // namespace faceter
