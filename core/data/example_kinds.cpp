#include "data/example_kinds.h"

#include <algorithm>

#include "common/strings.h"
#include "data/json_items.h"
#include "data/pair_file.h"
#include "data/parquet_file.h"

namespace faceter {
namespace {

using Take = std::function<bool(ExampleKind)>;

struct Enough {};

/// The pairs of one file.
class Pairs {
  public:
    Pairs(const DataEntry& entry, const Take& take) : entry_(entry), take_(take) {}

    bool of_records(const fs::path& file) {
        RecordErrors errors(RecordErrors::Policy::skip);
        try {
            read_records(file, errors, pair_columns(), [this](const Record& record) { see(record); });
        } catch (const Enough&) {
        }
        return seen_;
    }
    /// JSON lines or one array.
    bool of_items(const fs::path& file) {
        JsonItems items(file);
        JsonLineParser parser;
        Record record;
        try {
            while (const auto item = items.next()) see_item(*item, parser, record);
        } catch (const Enough&) {
        }
        return seen_;
    }

  private:
    void see_item(std::string_view item, JsonLineParser& parser, Record& record) {
        try {
            parser.parse(item, record);
            see(record);
        } catch (const BadRecord&) {
        }
    }
    void see(const Record& record) {
        if (!is_pair_record(record) || !is_wanted(record)) return;
        ExampleKind kind = kind_of_pair(record);
        kind.negatives = kind.negatives && entry_.hard_negatives != 0;
        seen_ = true;
        if (!take_(kind)) throw Enough{};
    }
    bool is_wanted(const Record& record) const {
        if (entry_.labels.empty()) return true;
        const Record::Member* label = record.find({"label"});
        return label && is_one_of(*label, entry_.labels);
    }

    const DataEntry& entry_;
    const Take& take_;
    bool seen_ = false;
};

/// Why the record is none of `format`; empty where it is one.
std::string reason_of_record(const Record& record, const std::string& format) {
    const bool labelled = format == "labelled", triplet = format == "triplets";
    const bool fits = labelled ? is_labelled_record(record) : is_pair_record(record) && (!triplet || kind_of_pair(record).negatives);
    if (fits) return "";
    return fmt::format("format {} needs {} in each record, and the first has {}; name the format that the file has, or another file",
                       format,
                       labelled  ? "a text and a label"
                       : triplet ? "a query, a document and a negative"
                                 : "a query and a document",
                       record.known());
}

/// By a build with Parquet elsewhere.
bool is_for_others(const fs::path& file) { return lowercase_ascii(file.extension().string()) == ".parquet" && !reads_parquet(); }

bool all_are(ExampleKind kind, const Take& take) {
    take(kind);
    return true;
}

std::string format_of(const DataEntry& entry) {
    std::string format = entry.format;
    if (format.empty() && record_form(entry.need_path()) == RecordForm::json_lines)
        peek_record(entry.need_path(), [&](const Record& record) {
            format = is_pair_record(record) ? "pairs" : record.find({"text"}) ? "labelled" : "";
        });
    return format;
}

bool look_at_file(const DataEntry& entry, const Take& take) {
    const std::string format = format_of(entry);
    if (format == "pairs" || format == "triplets") return Pairs(entry, take).of_records(entry.need_path());
    if (format == "labelled") return all_are({false, entry.hard_negatives > 0}, take);
    return format == "texts" && all_are({}, take);
}

bool look_at_folder(const DataEntry& entry, const Take& take) {
    const std::string layout = layout_of(entry.need_path(), "").task;
    if (layout == "pairs") {
        const std::string split = entry.split.empty() ? "train" : entry.split;
        const FolderContext context{entry.need_path(), entry, split, DataReport(entry.on_error)};
        const auto file = context.find_split(split, true);
        return file && Pairs(entry, take).of_records(*file);
    }
    if (layout == "sts") return all_are({true, false}, take);
    if (layout == "pair_classification") return all_are({}, take);
    if (layout == "reranking") return all_are({false, entry.hard_negatives != 0}, take);
    const bool drawn = layout == "retrieval" || layout == "classification" || layout == "clustering";
    return drawn && all_are({false, entry.hard_negatives > 0}, take);
}

}  // namespace

std::string reason_not_of_format(const Json& settings) {
    std::string reason;
    try {
        const DataRequest request{settings, ".", 1, 0};
        const DataEntry entry(request);
        std::error_code none;
        if (entry.source != "file" || !fs::is_regular_file(entry.need_path(), none) || is_for_others(entry.need_path())) return "";
        const std::string format = format_of(entry);
        if (!format.empty() && !entry.labels.empty()) reason = reason_not_by_label(format);
        if (format.empty() || format == "texts" || !reason.empty()) return reason;
        RecordErrors errors(entry.on_error);
        read_records(entry.need_path(), errors, format == "labelled" ? labelled_columns() : pair_columns(), [&](const Record& record) {
            if (entry.on_error == RecordErrors::Policy::fail) reason = reason_of_record(record, format);
            throw Enough{};
        });
    } catch (const Enough&) {
    } catch (const Error& error) {
        if (error.code() == ExitCode::stopped) throw;
        reason = error.what();
    }
    return reason;
}

bool look_at_examples(const Json& settings, const Take& take) {
    try {
        const DataRequest request{settings, ".", 1, 0};
        const DataEntry entry(request);
        if (entry.source == "file") return look_at_file(entry, take);
        if (entry.source == "folder") return look_at_folder(entry, take);
        if (entry.source == "medi") return fs::is_regular_file(entry.need_path()) && Pairs(entry, take).of_items(entry.need_path());
        const bool drawn = entry.source.starts_with("debian") || entry.source == "natural_instructions";
        return drawn && all_are({false, entry.hard_negatives > 0}, take);
    } catch (const Error&) {
        return false;
    } catch (const fs::filesystem_error&) {
        return false;
    }
}

}  // namespace faceter
