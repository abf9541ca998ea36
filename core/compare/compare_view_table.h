#pragma once
#include "compare/compare_view.h"
#include "compare/published.h"
#include "figure/table_export.h"

namespace faceter {

/// One model of a published table, as a further column.
struct PublishedColumn {
    PublishedTable table;
    std::size_t model = 0;
    std::string heading() const { return table.models.at(model); }
};
/// The published line that stands for a row: the same data set, the mean of the same task type, the mean over data sets. Null where there
/// is none.
const PublishedRow* published_row(const PublishedTable& table, const ComparedRow& row);

/// Groups down, data sets across: what `faceter compare` prints. With the default choice the very table of comparison_table(comparison).
Table comparison_table(const Comparison& comparison, const ComparisonView& view);
/// Task types and data sets down; for each group its score and its difference to the baseline, then published columns; means and costs at
/// the foot.
Table comparison_by_set_table(const Comparison& comparison, const ComparisonView& view, const std::vector<PublishedColumn>& published = {});
/// comparison_json(comparison) with the chosen test's outcomes: "test", and "means" and "data_sets" by run name.
Json comparison_json(const Comparison& comparison, const ComparisonView& view);

/// Groups down is what `faceter compare` prints; sets down is what the desktop's page shows.
enum class ComparisonLayout { groups_down, sets_down };
/// The bytes of an export: the table by its exporter; groups down as JSON is comparison_json, for scripts. Published columns are of the
/// layout sets_down.
std::string export_comparison(const Comparison& comparison, const ComparisonView& view, const std::vector<PublishedColumn>& published,
                              ComparisonLayout layout, TableFormat format);

}  // namespace faceter
