#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace faceter::desktop {

// Lists of values and the filter expression are two views of one thing: a tick changes the clause `column in (a, b)` of the expression and
// nothing else of it; what somebody typed is read back into ticks.

/// Values of the clause `column = a` or `column in (a, b)` that stands alone or between top-level `and`s; empty: there is none.
std::vector<std::string> facetValues(std::string_view expression, std::string_view column);
/// The expression with that clause replaced, added or (no values) taken away.
std::string withFacet(std::string_view expression, std::string_view column, const std::vector<std::string>& values);

}  // namespace faceter::desktop
