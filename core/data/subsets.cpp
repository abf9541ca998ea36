#include "data/subsets.h"

#include <algorithm>
#include <array>
#include <set>

#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::size_t max_subsets = 1000;
constexpr std::array<std::string_view, 3> subset_names{"subset", "lang", "language"};

std::vector<fs::path> sub_folders(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (it->path().filename().string().starts_with('.') || !it->is_directory(ignored)) continue;
        if (layout_by_files(it->path())) found.push_back(it->path());
        if (found.size() > max_subsets) throw data_error("{}: more than {} sub-folders with data", folder.string(), max_subsets);
    }
    std::sort(found.begin(), found.end());
    return found;
}

std::vector<SubsetPlace> subsets_in_folders(const FolderContext& context) {
    std::vector<SubsetPlace> places;
    const FolderLayout* first = nullptr;
    for (const fs::path& folder : sub_folders(context.folder)) {
        const FolderLayout& layout = layout_of(folder, "");
        if (!first) first = &layout;
        if (layout.task != first->task)
            throw data_error("{}: holds data sets of different kinds ({} is {}, {} is {}); give the folder of one of them",
                             context.folder.string(), places.front().name, first->task, folder.filename().string(), layout.task);
        places.push_back({folder.filename().string(), folder, false});
    }
    return places;
}

/// A table that names subsets: in a column of its own, beside the texts of whatever layout.
const TableColumns columns_with_subsets{{}, {{subset_names.begin(), subset_names.end()}, {"text", "sentence1"}}};

/// By the header of a table, else by the first record.
bool names_subsets(const fs::path& file) {
    if (record_form(file) != RecordForm::json_lines) return has_header(file, columns_with_subsets);
    bool named = false;
    peek_record(file, [&](const Record& record) { named = !subset_of(record).empty(); });
    return named;
}

/// Reads the split once more where it names subsets; the records of most sets do not.
std::vector<SubsetPlace> subsets_in_records(const FolderContext& context) {
    const auto file = context.find_split(context.split, true);
    if (!file || !names_subsets(*file)) return {};
    std::set<std::string, std::less<>> names;
    RecordErrors errors(RecordErrors::Policy::skip);  // bad records are reported when the data are read
    read_records(*file, errors, columns_with_subsets, [&](const Record& record) {
        const std::string_view name = subset_of(record);
        if (name.empty() || names.contains(name)) return;
        if (names.size() == max_subsets) throw data_error("{}: more than {} subsets", file->string(), max_subsets);
        names.emplace(name);
    });
    std::vector<SubsetPlace> places;
    for (const std::string& name : names) places.push_back({name, context.folder, true});
    return places;
}

}  // namespace

std::string_view subset_of(const Record& record) {
    const Record::Member* member = record.find(std::span<const std::string_view>(subset_names));
    return member && member->kind == Record::Kind::text ? member->text : std::string_view();
}

std::vector<SubsetPlace> find_subsets(const FolderContext& context) {
    if (!fs::is_directory(context.folder)) return {};
    const bool has_split = layout_by_files(context.folder) || context.find_split(context.split, true);  // in a table, too
    return has_split ? subsets_in_records(context) : subsets_in_folders(context);
}

std::vector<SubsetPlace> choose_subsets(const FolderContext& context, std::vector<SubsetPlace> all) {
    if (context.entry.subsets.empty()) return all;
    std::vector<std::string> known;
    for (const SubsetPlace& place : all) known.push_back(place.name);
    std::vector<SubsetPlace> chosen;
    for (const std::string& name : context.entry.subsets) {
        const auto at = std::find(known.begin(), known.end(), name);
        if (at == known.end())
            throw data_error("{}: has no subset {}{}", context.folder.string(), faceter::quoted(name),
                             known.empty() ? "; it has no subsets at all" : suggestion(name, known));
        chosen.push_back(all[static_cast<std::size_t>(at - known.begin())]);
    }
    return chosen;
}

}  // namespace faceter
