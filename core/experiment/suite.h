#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter {

/// One data set of a suite and how it is scored.
struct SuiteSet {
    std::string name;  ///< ours, as tables show it
    std::string mteb;  ///< its name in MTEB's results; empty: none
    std::string task_type;
    std::vector<std::string> folders;  ///< further names that its folder may have
    std::string get;                   ///< which data set to get
    std::string revision;              ///< and the commit of it that MTEB's scores are of; empty: not known, or that of its parts
    std::string split{};               ///< the part that is scored
    std::string metric{};              ///< what its score is: score_metric() of its task type
    std::string differs{};             ///< in what mteb's version 2 scores it otherwise; empty: in nothing that is known
    /// Data sets of which its score is the mean, as sub-folders of its folder.
    struct Part {
        std::string get, revision;
    };
    std::vector<Part> parts{};
    Json entry = Json::object();  ///< settings of its data entry (core/data/settings.h) that differ from the defaults, without `path`
};

/// The measure that a data set of a task type is scored by here, by MTEB's name for it; empty for a type that is none.
std::string_view score_metric(std::string_view task_type);

/// A list of data sets to be scored together (resources/suites/*.yaml; its README.md says what a file holds).
struct Suite {
    std::string name, title, description, get;
    std::vector<SuiteSet> sets;
};

/// Settings errors with file, line and column; also for a suite that extends one that is not there, and for two data sets of one name.
Suite read_suite(const fs::path& file);
/// A file (its name ends in .yaml, or has a '/'), or one that comes with this installation.
Suite find_suite(const std::string& name_or_file);
/// The names of those that come with this installation, sorted.
std::vector<std::string> suite_names();
/// The data set of this installation's suites that MTEB knows by that name; null where there is none.
const SuiteSet* set_by_mteb_name(std::string_view mteb);
/// The same by our name.
const SuiteSet* set_by_name(std::string_view name);

/// What of a suite is on this machine.
struct SuitePlan {
    std::vector<Json> entries;  ///< data entries with `path`, in the suite's order
    std::vector<SuiteSet> missing;
};
/// Looks for a folder of each data set right under `data_root`. `instructions`: keep the suite's own; a model with tasks has its own and
/// needs none. Data error where `data_root` is no folder.
SuitePlan plan_suite(const Suite& suite, const fs::path& data_root, bool instructions);
/// Which data sets are missing, and where one gets them; a line each.
std::string describe_missing(const Suite& suite, const SuitePlan& plan, const fs::path& data_root);

/// Letters and digits alone, in lower case: "TREC-COVID" and "trec_covid" are one name.
std::string plain_name(std::string_view name);

}  // namespace faceter
