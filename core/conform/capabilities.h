#pragma once
#include "conform/cell.h"

namespace faceter::conform {

/// What each start model can do with each method, as Markdown: of every method's columns how many hold, and below it what is refused or
/// limited and why.
std::string capabilities(const std::vector<CellResult>& results);

struct Totals {
    std::size_t hold = 0, refused = 0, wrong = 0;
};
Totals totals_of(const std::vector<CellResult>& results);

}  // namespace faceter::conform
