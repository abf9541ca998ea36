#pragma once
#include <functional>
#include <string>
#include <vector>

#include "experiment/experiment.h"
#include "text/tokenizer.h"

namespace faceter {

/// Special tokens around a text: no tokenizer's template has more.
inline constexpr std::size_t most_special = 8;

/// What is worth a warning: instructions of a run's tasks and data entries that take all tokens which are read of a text, so that nothing
/// of the texts behind them is. `longest`: tokens that the run's start model reads of a text; `tokenizer` is asked for only where an
/// instruction might be so long.
std::vector<std::string> instructions_without_room(const ResolvedRun& run, std::size_t longest,
                                                   const std::function<const Tokenizer&()>& tokenizer, const std::string& file);

}  // namespace faceter
