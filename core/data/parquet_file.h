#pragma once
#include <filesystem>
#include <memory>

#include "data/input_stream.h"

namespace faceter {

/// The rows of a Parquet file as JSON lines, a member a column; of "NAME-00000-of-00003.parquet" the rows of all three in order (Hugging
/// Face's shards). Strings, numbers, booleans, lists and structs are handed on, columns of other types left out. The reader is a module of
/// its own (data/parquet), since it needs the Arrow libraries: a data error says how to get it where it was not built.
std::unique_ptr<InputStream> open_parquet(const std::filesystem::path& path, ExpansionLimit limit);

/// False where the module was not built.
bool reads_parquet();

/// What the module exports as "faceter_open_parquet".
using OpenParquet = InputStream* (*)(const std::filesystem::path& path, ExpansionLimit limit);

}  // namespace faceter
