#pragma once
#include <filesystem>

#include "settings/schema.h"

namespace faceter {

/// The settings of one data entry: an item of tasks.*.train, of evaluation.datasets, or the `texts` of an analysis.
const Schema& data_entry_schema();
/// A data entry with the default of each setting that it leaves out.
Json whole_entry(const Json& entry);
/// Why a file of this format cannot be scored as this task type; empty: it can.
std::string reason_not_scored(std::string_view format, std::string_view task_type);
/// What an entry of this file lacks for its records to be read; empty: nothing, or the file itself must be asked.
std::string reason_not_read(const std::filesystem::path& file, std::string_view format);

}  // namespace faceter
