#pragma once
#include <cstdint>
#include <functional>

#include "compare/report.h"

namespace faceter {

/// Told how many bytes of a data set's files are hashed, each MiB; may throw, which ends it.
using HashProgress = std::function<void(std::uint64_t bytes)>;
/// One data set with its licence and hash, as data_cards() has it. Reads all of its files.
Json data_card(const ReportData& data, const HashProgress& progress = {});
/// The data and start models of a report with their licences and hashes: {"data": [{name, use, task, licence, sha256, card}], "models":
/// [{name, licence, sha256}]}. Licence: what a README.md's front matter or dataset.json beside the data says; null: they do not. sha256: of
/// the file, or of the list of hashes of a folder's files, as they are now; null: it is not here (any more).
Json data_cards(const Report& report);
/// The same as Markdown.
std::string data_cards_to_markdown(const Json& cards);

}  // namespace faceter
