#pragma once
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace faceter {

/// What the name of a data file says that is in it, in small letters and without how it is packed: ".jsonl" of "train.JSONL.GZ". Empty
/// where it says nothing.
std::string data_ending(const std::filesystem::path& file);

/// The file `stem` + ending in `folder`, of the first of `endings` (in small letters, such as ".tsv.gz") that there is. A name that is
/// written so goes before one in capitals (train.TSV).
std::optional<std::filesystem::path> find_by_ending(const std::filesystem::path& folder, std::string_view stem,
                                                    std::span<const std::string> endings);

}  // namespace faceter
