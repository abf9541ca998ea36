#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/file.h"

namespace faceter {

/// One line of a published table: a data set, or a mean over `sets` of them.
struct PublishedRow {
    std::string label;      ///< as printed
    std::string dataset;    ///< our name of the data set; empty: a mean
    std::string task_type;  ///< empty: a mean over task types; "cost": parameters, dimensions
    std::string metric;
    int sets = 0;                ///< data sets behind a mean; 0: the paper does not say
    std::vector<double> values;  ///< one for each model, as printed (scores in percent); NaN where the cell is damaged or empty
};

/// Where the paper contradicts itself, or a mean is not the mean of its rows.
struct PublishedSlip {
    std::string model, label, text;
};

/// A table of a paper as data (resources/published/*.yaml): what runs are held against.
struct PublishedTable {
    std::string paper;  ///< identifier: "mote"
    std::string short_name, title;
    std::string table;  ///< "Table 2"
    std::string section;
    std::optional<int> page;  ///< where the copy at hand has pages
    std::string caption;
    std::string gains_over;  ///< the other models' values are differences to this model; empty: all are scores
    std::vector<std::string> models;
    std::vector<PublishedRow> rows;
    std::vector<PublishedSlip> slips;

    std::string id() const { return paper + "/" + table; }
    std::string heading() const { return short_name + ", " + table; }
    /// "MoTE, Table 2, page 4" or, without pages, "MoTE, Table 2, section 5.1".
    std::string source() const;
    bool is_gain(std::size_t model) const { return !gains_over.empty() && models.at(model) != gains_over; }
    /// What is to be said beside a value; empty: nothing.
    std::string slip_of(std::size_t model, const PublishedRow& row) const;

    /// Names are compared by their letters and digits alone ("SciFact" is "scifact"). Null where the table has no such row.
    const PublishedRow* dataset_row(std::string_view dataset) const;
    /// The mean of a task type over most data sets.
    const PublishedRow* type_row(std::string_view task_type) const;
    /// The mean over all data sets.
    const PublishedRow* mean_row() const;
};

/// Checks everything against a schema: unknown keys, a row with more or fewer values than models, a slip that names no cell are settings
/// errors with file, line and column.
std::vector<PublishedTable> read_published(const fs::path& file);
/// All *.yaml of a folder, by name.
std::vector<PublishedTable> read_published_folder(const fs::path& folder);
/// What comes with this installation (resources/published).
std::vector<PublishedTable> published_tables();

}  // namespace faceter
