#include "data/folder_layout.h"

#include <algorithm>

#include "common/strings.h"
#include "data/file_ending.h"
#include "data/subsets.h"

namespace faceter {
namespace {

std::vector<FolderLayout>& layouts() {
    static std::vector<FolderLayout> all;
    return all;
}

std::vector<std::string> endings(bool tables) {
    std::vector<std::string> all;
    for (const char* form : {".jsonl", ".tsv", ".csv"}) {
        if (!tables && std::string_view(form) != ".jsonl") continue;
        for (const char* packed : {"", ".gz", ".zst"}) all.push_back(std::string(form) + packed);
    }
    return all;
}

std::optional<fs::path> find_file(const fs::path& folder, const std::string& stem, bool tables) {
    const auto file = find_by_ending(folder, stem, endings(tables));
    return file ? file : find_parquet(folder, stem);
}

std::string all_layouts_text() {
    std::string text;
    for (const FolderLayout& layout : folder_layouts()) text += fmt::format("\n  {}: {}", layout.task, layout.files);
    return text;
}

const FolderLayout* find_layout(const std::string& task) {
    for (const FolderLayout& layout : folder_layouts())
        if (layout.task == task) return &layout;
    return nullptr;
}

/// Files that show a layout by one of their records.
constexpr const char* telling_stems[]{"test", "train", "texts", "dev", "val", "valid", "validation"};

bool is_first_shard(const fs::path& file) {
    const std::string name = lowercase_ascii(file.filename().string());
    return name.ends_with(".parquet") && (name.find("-of-") == name.npos || name.find("-00000-of-") != name.npos);
}

/// Tables of Parquet that lie in a folder, each by its first shard.
std::vector<fs::path> parquet_tables(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (is_first_shard(entry.path())) found.push_back(entry.path());
    return found;
}

bool has_table(const fs::path& folder, const std::string& stem) {
    return find_file(folder, stem, false) || !parquet_tables(folder / stem).empty();
}

bool is_of_retrieval(const fs::path& folder) { return has_table(folder, "corpus") && has_table(folder, "queries"); }

bool looks_like_a_data_set(const fs::path& folder) {
    return fs::is_regular_file(folder / "dataset.json") || is_of_retrieval(folder) ||
           std::any_of(std::begin(telling_stems), std::end(telling_stems),
                       [&](const char* stem) { return find_file(folder, stem, false); });
}

/// Of a folder that holds data sets, the first of them by name; empty where none looks like one.
fs::path data_set_in(const fs::path& folder) {
    fs::path first;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (entry.is_directory(none) && (first.empty() || entry.path() < first) && looks_like_a_data_set(entry.path()))
            first = entry.path();
    return first;
}

}  // namespace

std::optional<fs::path> find_parquet(const fs::path& folder, const std::string& stem) {
    for (const fs::path& place : {folder, folder / "data", folder / stem}) {
        std::error_code none;
        for (const auto& entry : fs::directory_iterator(place, none)) {
            const std::string name = entry.path().filename().string();
            if (lowercase_ascii(name).ends_with(".parquet") && (entry.path().stem() == stem || name.starts_with(stem + "-00000-of-")))
                return entry.path();
        }
    }
    return std::nullopt;
}

bool has_candidates(const fs::path& folder) { return is_of_retrieval(folder) && has_table(folder, "top_ranked"); }

std::string reason_not_by_label(std::string_view kind) {
    if (kind == "pairs" || kind == "triplets" || kind == "bitext_mining") return {};
    return fmt::format(
        "labels has no effect: it chooses pairs by the label of their records, and these data are of the kind {}; leave it out, or name "
        "data "
        "of pairs",
        kind);
}

std::vector<std::string> names_of_split(const std::string& split) {
    std::vector<std::string> names{split};
    const std::vector<std::string> same{"dev", "val", "valid", "validation"};
    if (std::find(same.begin(), same.end(), split) != same.end()) names.insert(names.end(), same.begin(), same.end());
    return names;
}

bool register_layout(FolderLayout layout) {
    auto& all = layouts();
    const auto before = [](const FolderLayout& a, const FolderLayout& b) {
        return std::pair(-a.priority, a.task) < std::pair(-b.priority, b.task);
    };
    all.insert(std::upper_bound(all.begin(), all.end(), layout, before), std::move(layout));
    return true;
}

const std::vector<FolderLayout>& folder_layouts() { return layouts(); }

const FolderLayout* layout_by_files(const fs::path& folder) {
    if (is_of_retrieval(folder)) return find_layout("retrieval");
    for (const char* stem : telling_stems) {
        const auto file = find_file(folder, stem, false);
        const FolderLayout* found = nullptr;
        if (file)
            peek_record(*file, [&](const Record& record) {
                for (const FolderLayout& layout : folder_layouts())
                    if (!found && layout.matches && layout.matches(record)) found = &layout;
            });
        if (found) return found;
    }
    return nullptr;
}

const FolderLayout& layout_of(const fs::path& folder, const std::string& task) {
    if (!fs::is_directory(folder))
        throw data_error("{}: {}; a folder with a data set is expected", folder.string(),
                         fs::exists(folder) ? "is not a folder" : "no such folder");
    std::string wanted = task;
    const fs::path card = folder / "dataset.json";
    if (wanted.empty() && fs::is_regular_file(card)) wanted = json_or<std::string>(read_json(card, 1 << 24), "task", "", card.string());
    if (!wanted.empty()) {
        if (const FolderLayout* layout = find_layout(wanted)) return *layout;
        std::vector<std::string> known;
        for (const FolderLayout& layout : folder_layouts()) known.push_back(layout.task);
        throw data_error("{}: no layout of data is called {}{}", (task.empty() ? card : folder).string(), faceter::quoted(wanted),
                         suggestion(wanted, known));
    }
    if (const FolderLayout* layout = layout_by_files(folder)) return *layout;
    if (const fs::path first = data_set_in(folder); !first.empty())
        throw data_error("{}: a folder of data sets; name one of them, such as {}", folder.string(), first.string());
    throw data_error("{}: none of the known layouts of a data set; expected one of (each file may end in .gz or .zst, or be .parquet):{}",
                     folder.string(), all_layouts_text());
}

void UntrainedLabels::test(std::span<const std::int32_t> labels) {
    bool known = true;
    for (const std::int32_t label : labels)
        if (!trained_.contains(label)) known = false, missing_.insert(label);
    ++texts_;
    with_missing_ += !known;
}

void UntrainedLabels::warn(FolderContext& context, const std::vector<std::string>& label_names) const {
    if (with_missing_ == 0) return;
    std::vector<std::string> names;
    for (const std::int32_t label : missing_) names.push_back(label_names[static_cast<std::size_t>(label)]);
    std::sort(names.begin(), names.end());
    context.report.warnings.push_back(fmt::format("{}: {} of {} texts of split '{}' have a label that no training text has ({})",
                                                  context.folder.string(), with_missing_, texts_, context.split,
                                                  faceter::quoted(join(names, ", "), 100)));
}

std::optional<fs::path> FolderContext::find(const std::string& stem, bool tables) const { return find_file(folder, stem, tables); }

fs::path FolderContext::need(const std::string& stem, bool tables) const {
    if (auto file = find(stem, tables)) return *file;
    throw data_error("{}: no such file (nor with {}); the data set is not complete", (folder / (stem + ".jsonl")).string(),
                     tables ? ".tsv, .csv, .gz, .zst or .parquet" : ".gz, .zst or .parquet");
}

std::optional<fs::path> FolderContext::find_table(const std::string& stem) const {
    if (auto file = find(stem)) return file;
    for (const std::string& name : names_of_split(split))
        if (auto file = find_parquet(folder / stem, name)) return file;
    const auto tables = parquet_tables(folder / stem);
    return tables.size() == 1 ? std::optional(tables.front()) : std::nullopt;
}

fs::path FolderContext::need_table(const std::string& stem) const {
    const auto file = find_table(stem);
    return file ? *file : need(stem);
}

std::optional<fs::path> FolderContext::find_split(const std::string& wanted, bool tables) const {
    for (const std::string& name : names_of_split(wanted))
        if (auto file = find(name, tables)) return file;
    return std::nullopt;
}

fs::path FolderContext::need_split(const std::string& wanted, bool tables) const {
    const auto file = find_split(wanted, tables);
    return file ? *file : need(wanted, tables);
}

std::string_view FolderContext::text(const Record& record, std::string_view key) {
    if (!is_scored || entry.on_error == RecordErrors::Policy::skip) return record.text(key);
    const std::string_view text = record.written_text(key);
    blank_texts += trim(text).empty();
    return text;
}

std::string FolderContext::place() const {
    return subset.empty() ? folder.string() : fmt::format("{}, subset {}", folder.string(), faceter::quoted(subset));
}

void FolderContext::read(const fs::path& file, const std::function<void(const Record&)>& take, const TableColumns& columns) {
    if (subset.empty()) return read_records(file, report.errors, columns, take);
    read_records(file, report.errors, columns, [&](const Record& record) {
        const std::string_view name = subset_of(record);
        if (name.empty() || name == subset) take(record);
    });
}

}  // namespace faceter
