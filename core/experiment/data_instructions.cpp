#include "experiment/data_instructions.h"

#include <set>

#include "common/error.h"
#include "data/json_items.h"
#include "data/record_instructions.h"
#include "data/record_reader.h"
#include "data/settings.h"

namespace faceter {
namespace {

bool says_instruction(const Record& record) {
    if (const Record::Member* query = record.find({"query"}); query && query->kind == Record::Kind::list) return true;  // MEDI's own form
    return is_instructed(instructions_of(record));
}

/// The first object of a file of JSON lines or of one array.
bool first_says_instruction(const fs::path& file) {
    JsonItems items(file);
    const auto item = items.next();
    if (!item) return false;
    JsonLineParser parser;
    Record record;
    parser.parse(*item, record);
    return says_instruction(record);
}

/// Whether all records of a file of pairs or labelled texts say the same instruction. Where one says none, nearly always the first, or
/// another, the file is read no further.
bool all_say_instruction(const fs::path& file) {
    struct Decided {};
    // A table whose first line names no instruction has none, whatever its columns are called.
    const TableColumns columns{{"1", "2", "3", "4", "5", "6", "7", "8"}, {{"instruction", "query_instruction", "document_instruction"}}};
    SharedInstructions instructions(file.string());
    DataReport report(RecordErrors::Policy::skip);
    try {
        read_records(file, report.errors, columns, [&](const Record& record) {
            const SetInstructions own = instructions_of(record);
            if (!is_instructed(own)) throw Decided{};
            instructions.see(own);
            if (instructions.differ()) throw Decided{};
        });
    } catch (const Decided&) {
        return false;
    }
    return instructions.shared(report).has_value();
}

bool file_brings_instructions(const std::string& source, const Json& entry) {
    const fs::path file = json_or<std::string>(entry, "path", "", "data entry");
    if (!fs::is_regular_file(file)) return false;
    if (source == "medi") return record_form(file) == RecordForm::json_lines && first_says_instruction(file);
    return source == "file" && entry.value("labels", Json::array()).empty() && all_say_instruction(file);
}

bool brings_instructions(const Json& entry) {
    if (const auto own = entry_instructions(entry, "leaf")) return is_instructed(*own);
    const auto source = json_at<std::string>(whole_entry(entry), "source", "data entry");
    if (source == "debian_leaves" || source == "natural_instructions") return true;
    try {
        return file_brings_instructions(source, entry);
    } catch (const Error&) {
        return false;  // reading the data says what is wrong with them
    } catch (const BadRecord&) {
        return false;
    }
}

void check_task(const std::string& name, const Json& task, const std::string& file) {
    for (const char* side : {"query", "document"})
        if (!json_or<std::string>(task.at("instructions"), side, "", "settings").empty()) return;
    for (std::size_t i = 0; i < task.at("train").size(); ++i)
        if (brings_instructions(task.at("train")[i]))
            throw settings_error(
                "{}: tasks.{}.train[{}] brings instructions of its own, but the task has none, which texts from elsewhere would need; give "
                "it "
                "'instructions'",
                file, name, i);
}

}  // namespace

void check_data_instructions(const Experiment& experiment) {
    std::set<Json> seen;  // runs share their tasks, and with them the files that are looked into
    for (const ResolvedRun& run : experiment.runs())
        for (const auto& [name, task] : run.settings.at("tasks").items())
            if (seen.insert(Json::array({name, task})).second) check_task(name, task, experiment.file().string());
}

}  // namespace faceter
