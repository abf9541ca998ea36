#pragma once
#include <string>
#include <vector>

#include "data/column_roles.h"

namespace faceter {

struct StarterOptions {
    fs::path output;  ///< the experiment file; data that are made for it go to a folder beside it, NAME-data
    std::string model = "minilm";
    int seeds = 1;
};

/// What was made, to be told.
struct Starter {
    std::string experiment;                               ///< text of the file
    std::vector<std::string> remarks;                     ///< what is worth knowing: rows left out, languages, texts that will be cut
    std::vector<std::pair<fs::path, std::string>> files;  ///< data to be written beside it
};

/// What an experiment on these data is called: as the table is without its ending ("v1.2" of v1.2.csv.gz), or as the folder is.
std::string starter_name(const fs::path& source);
/// An experiment on a table of texts: rows with all that their roles need, each document or labelled text once, a fifth of them (at most
/// 1,000) held out for evaluation. Data error where too few are left.
Starter start_from_table(const Survey& survey, const ColumnRoles& roles, const StarterOptions& options);
/// The same on a BEIR or MTEB folder, which is used where it lies. Data error where it has nothing to train on, or nothing to score.
Starter start_from_folder(const fs::path& folder, const StarterOptions& options);
/// Writes the data and then the experiment file `output`, or nothing. A usage error where that is there already, or data of other content.
void write_starter(const Starter& starter, const fs::path& output);

}  // namespace faceter
