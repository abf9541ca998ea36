#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "data/evaluation_set.h"
#include "data/record.h"
#include "data/sources.h"

namespace faceter {

/// How many records are kept; 0: all.
struct DataLimits {
    std::size_t max_examples = 0, max_documents = 0, max_queries = 0;
};

/// The settings of a data entry as typed values (data_entry_schema says what they mean).
struct DataEntry {
    explicit DataEntry(const DataRequest& request);

    std::string name, source, path, view, split, task, format;
    DataLimits limits;  ///< the request's sample_limit is in them
    std::size_t count = 0;
    RecordErrors::Policy on_error = RecordErrors::Policy::fail;
    bool exclude_same_id = false;
    bool other_documents = false;  ///< of sections that are not named
    int hard_negatives = -1;       ///< -1: not set
    int examples_per_label = 0;    ///< 0: not set
    double noise_rate = 0;         ///< share of pairs that get another's positive
    std::vector<std::string> labels, subsets, sections;
    EvaluationRouting routing;
    fs::path folder_or_file;  ///< `path`, resolved; empty where it is not set
    std::uint64_t seed = 1;

    /// Throws a settings error where `path` is not set.
    const fs::path& need_path() const;
    /// What tables call the set: `name`, else made of its source and view, else of its folder or file.
    std::string set_name() const;
};

/// What a reader fills besides the data: counts, warnings and what became of bad records.
struct DataReport {
    explicit DataReport(RecordErrors::Policy policy) : errors(policy) {}
    RecordErrors errors;
    Json counts = Json::object();
    std::vector<std::string> warnings;
    /// The card of a set: where it comes from, counts, skipped records, warnings.
    Json card(Json origin) const;
};

}  // namespace faceter
