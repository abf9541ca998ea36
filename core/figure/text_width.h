#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/printable.h"

namespace faceter {

/// Terminal cells that `text` (UTF-8) takes: two for East Asian wide characters and emoji, none for combining marks.
int display_width(std::string_view text);
/// Cut at a character's border to at most `width` cells, the last of them an ellipsis where something was cut.
std::string shorten(std::string_view text, int width);
enum class LongWords { cut, whole };
/// Lines of at most `width` cells, broken at blanks; a longer word is cut into pieces, or stands whole in a line of its own.
std::vector<std::string> wrap(std::string_view text, int width, LongWords long_words = LongWords::cut);
/// `count` cells of blanks.
std::string blanks(int count);

}  // namespace faceter
