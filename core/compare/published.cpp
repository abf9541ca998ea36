#include "compare/published.h"

#include <algorithm>

#include "common/error.h"
#include "common/strings.h"
#include "experiment/machine.h"
#include "experiment/suite.h"
#include "settings/check.h"
#include "stats/number.h"

namespace faceter {
namespace {

Schema row_schema() {
    return {"row",
            "One line of the table.",
            {
                text("label", "", "The line's name as printed.").must(),
                text("dataset", "", "Our name of the data set; without it the line is a mean."),
                text("task_type", "", "Task type; without it a mean over task types; cost: parameters and the like."),
                text("metric", "", "Metric as printed.").must(),
                integer("sets", 0, "Data sets behind a mean; 0: not said.").at_least(0),
                list("values", real("", 0, "As printed; null where the cell is damaged.").optional(), "One value for each model."),
            }};
}

Schema slip_schema() {
    return {"slip",
            "A value that the paper contradicts.",
            {text("model", "", "Model.").must(), text("label", "", "Line.").must(), text("text", "", "What is wrong with it.").must()}};
}

Schema table_schema() {
    return {"table",
            "A table of the paper.",
            {
                text("table", "", "Its number: Table 2.").must(),
                text("section", "", "Section it stands in.").must(),
                integer("page", 0, "Page, where the copy at hand has pages.").at_least(1).optional(),
                text("caption", "", "What it shows.").must(),
                text("gains_over", "", "The model that the others' values are differences to; empty: all are scores."),
                list("models", text("", "", "Name of a column."), "Columns.").must(),
                list("rows", section("", row_schema(), "A line."), "Lines.").must(),
                list("slips", section("", slip_schema(), "A slip."), "Values that the paper contradicts."),
            }};
}

Schema paper_schema() {
    return {"published figures",
            "Published figures of a paper.",
            {
                text("paper", "", "Identifier.").must(),
                text("title", "", "Title.").must(),
                text("short", "", "Short name for headings.").must(),
                text("source", "", "Which copy this was read from.").must(),
                list("tables", section("", table_schema(), "A table."), "Tables.").must(),
            }};
}

PublishedRow row_from(const Json& json) {
    PublishedRow row{json["label"], json["dataset"], json["task_type"], json["metric"], json["sets"], {}};
    for (const Json& value : json["values"]) row.values.push_back(value.is_null() ? not_a_number : value.get<double>());
    return row;
}

PublishedTable table_from(const Json& json, const Json& paper) {
    PublishedTable table;
    table.paper = paper["paper"];
    table.short_name = paper["short"];
    table.title = paper["title"];
    table.table = json["table"];
    table.section = json["section"];
    if (json["page"].is_number()) table.page = json["page"].get<int>();
    table.caption = json["caption"];
    table.gains_over = json["gains_over"];
    table.models = json["models"].get<std::vector<std::string>>();
    for (const Json& row : json["rows"]) table.rows.push_back(row_from(row));
    for (const Json& slip : json["slips"]) table.slips.push_back({slip["model"], slip["label"], slip["text"]});
    return table;
}

/// What the schema cannot say: names that refer to each other, and as many values as models.
void check_references(const PublishedTable& table, const YamlNode& node, Problems& problems) {
    const auto has_model = [&](const std::string& name) {
        return std::find(table.models.begin(), table.models.end(), name) != table.models.end();
    };
    const auto has_label = [&](const std::string& name) {
        return std::any_of(table.rows.begin(), table.rows.end(), [&](const PublishedRow& row) { return row.label == name; });
    };
    if (!table.gains_over.empty() && !has_model(table.gains_over))
        problems.add(node.find("gains_over")->position(),
                     fmt::format("gains_over names {}, which is none of the models", faceter::quoted(table.gains_over)));
    for (std::size_t i = 0; i < table.rows.size(); ++i)
        if (table.rows[i].values.size() != table.models.size())
            problems.add(node.find("rows")->items[i].position(),
                         fmt::format("{} values where the table has {} models; damaged cells are null", table.rows[i].values.size(),
                                     table.models.size()));
    for (std::size_t i = 0; i < table.slips.size(); ++i)
        if (!has_model(table.slips[i].model) || !has_label(table.slips[i].label))
            problems.add(node.find("slips")->items[i].position(),
                         fmt::format("the table has no cell of model {} and line {}", faceter::quoted(table.slips[i].model),
                                     faceter::quoted(table.slips[i].label)));
}

}  // namespace

std::string PublishedTable::source() const { return heading() + (page ? fmt::format(", page {}", *page) : ", section " + section); }

std::string PublishedTable::slip_of(std::size_t model, const PublishedRow& row) const {
    for (const PublishedSlip& slip : slips)
        if (slip.model == models.at(model) && slip.label == row.label) return slip.text;
    return {};
}

const PublishedRow* PublishedTable::dataset_row(std::string_view dataset) const {
    const std::string wanted = plain_name(dataset);
    for (const PublishedRow& row : rows)
        if (!wanted.empty() && plain_name(row.dataset) == wanted) return &row;
    return nullptr;
}

const PublishedRow* PublishedTable::type_row(std::string_view task_type) const {
    const PublishedRow* best = nullptr;
    const std::string wanted = plain_name(task_type);
    for (const PublishedRow& row : rows)
        if (row.dataset.empty() && !wanted.empty() && plain_name(row.task_type) == wanted && (!best || row.sets > best->sets)) best = &row;
    return best;
}

const PublishedRow* PublishedTable::mean_row() const {
    for (const PublishedRow& row : rows)
        if (row.dataset.empty() && row.task_type.empty()) return &row;
    return nullptr;
}

std::vector<PublishedTable> read_published(const fs::path& file) {
    const YamlNode node = read_yaml(file.string());
    const Json paper = resolve(paper_schema(), node);
    std::vector<PublishedTable> tables;
    Problems problems;
    for (std::size_t i = 0; i < paper["tables"].size(); ++i) {
        tables.push_back(table_from(paper["tables"][i], paper));
        check_references(tables.back(), node.find("tables")->items[i], problems);
    }
    problems.throw_if_any();
    return tables;
}

std::vector<PublishedTable> read_published_folder(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".yaml") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<PublishedTable> all;
    for (const fs::path& file : files)
        for (PublishedTable& table : read_published(file)) all.push_back(std::move(table));
    return all;
}

std::vector<PublishedTable> published_tables() { return read_published_folder(shared_resource("resources/published")); }

}  // namespace faceter
