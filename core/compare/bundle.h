#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compare/report.h"

/// Runs as one file that a paper's supplement can carry: a .tar.gz with one folder, in which lie
///   README.md, bundle.json         what it is; each other file with its size and SHA-256
///   report.html, tables/, figures/ everything on one page; the same as CSV and SVG
///   data.json, data.md             data and start models with licences and hashes (data_cards.h)
///   references.bib                 what the methods come from
///   runs/ID/                       the records: resolved settings, the file as the user wrote it, journals, results with a score an
///   example
namespace faceter {

/// What stands in the bundle beside the runs' records: name and content.
using BundleFile = std::pair<std::string, std::string>;

/// Usage error for a run that is not over. `more`: further files, such as a study's. The archive appears whole or not at all.
void write_bundle(const fs::path& archive, const Report& report, const std::vector<RunDirectory>& runs, const Catalogue& catalogue,
                  const std::vector<BundleFile>& more);

struct OpenedBundle {
    fs::path folder;                       ///< PROJECT/bundles/NAME, with all but the records
    std::vector<std::string> runs, known;  ///< ids that are new in the project; that it had
    std::vector<std::string> differing;    ///< of those that it had, whose results are not the bundle's
};
/// Takes the runs of a bundle into a project; one that the project has already stays as it is there. Errors (data): no bundle, a file that
/// no bundle holds, that is missing or is not what was bundled; those of extract_archive. Nothing has been taken then. Usage error: a
/// bundle of that name was opened there before, or one of its runs lies in the project's trash, where the same run would keep it.
OpenedBundle open_bundle(const fs::path& archive, const Project& project);

}  // namespace faceter
