#include <arrow/api.h>
#include <arrow/io/api.h>
#include <fmt/format.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>

#include <cmath>

#include "common/error.h"
#include "data/parquet_file.h"

// The only source that sees Arrow; built where its libraries are (packaging/setup.sh --parquet).

namespace faceter {
namespace {

namespace fs = std::filesystem;

void append_text(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\')
            (out += '\\') += c;
        else if (static_cast<unsigned char>(c) < 0x20)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
        else
            out += c;
    }
    out += '"';
}

template <typename Array>
void append_number(const arrow::Array& values, std::int64_t row, std::string& out) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<const Array&>(values).Value(row));
}

template <typename Array>
void append_real(const arrow::Array& values, std::int64_t row, std::string& out) {
    const auto value = static_cast<const Array&>(values).Value(row);
    if (std::isfinite(value))
        fmt::format_to(std::back_inserter(out), "{}", value);
    else
        out += "null";
}

/// Columns of other types are left out: a date beside the texts must not make a data set unreadable.
bool is_known(const arrow::DataType& type) {
    switch (type.id()) {
        case arrow::Type::STRING:
        case arrow::Type::LARGE_STRING:
        case arrow::Type::BOOL:
        case arrow::Type::INT8:
        case arrow::Type::INT16:
        case arrow::Type::INT32:
        case arrow::Type::INT64:
        case arrow::Type::UINT8:
        case arrow::Type::UINT16:
        case arrow::Type::UINT32:
        case arrow::Type::UINT64:
        case arrow::Type::FLOAT:
        case arrow::Type::DOUBLE:
        case arrow::Type::NA:
            return true;
        case arrow::Type::DICTIONARY:
            return is_known(*static_cast<const arrow::DictionaryType&>(type).value_type());
        case arrow::Type::LIST:
        case arrow::Type::LARGE_LIST:
            return is_known(*type.field(0)->type());
        case arrow::Type::STRUCT:
            return true;
        default:
            return false;
    }
}

void append_value(const arrow::Array& values, std::int64_t row, std::string& out);

template <typename Array>
void append_list(const arrow::Array& values, std::int64_t row, std::string& out) {
    const auto& list = static_cast<const Array&>(values);
    out += '[';
    for (std::int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
        if (i > list.value_offset(row)) out += ',';
        append_value(*list.values(), i, out);
    }
    out += ']';
}

/// pandas' categories: the entry that a row names.
void append_entry(const arrow::DictionaryArray& values, std::int64_t row, std::string& out) {
    const std::int64_t entry = values.GetValueIndex(row);
    if (entry < 0 || entry >= values.dictionary()->length())
        throw parquet::ParquetException("a row names an entry that its dictionary lacks");
    append_value(*values.dictionary(), entry, out);
}

void append_struct(const arrow::StructArray& values, std::int64_t row, std::string& out) {
    out += '{';
    bool first = true;
    for (int i = 0; i < values.num_fields(); ++i) {
        if (!is_known(*values.field(i)->type())) continue;
        if (!std::exchange(first, false)) out += ',';
        append_text(values.struct_type()->field(i)->name(), out);
        out += ':';
        append_value(*values.field(i), row, out);
    }
    out += '}';
}

void append_value(const arrow::Array& values, std::int64_t row, std::string& out) {
    if (values.IsNull(row)) {
        out += "null";
        return;
    }
    switch (values.type_id()) {
        case arrow::Type::STRING:
            return append_text(static_cast<const arrow::StringArray&>(values).GetView(row), out);
        case arrow::Type::LARGE_STRING:
            return append_text(static_cast<const arrow::LargeStringArray&>(values).GetView(row), out);
        case arrow::Type::BOOL:
            out += static_cast<const arrow::BooleanArray&>(values).Value(row) ? "true" : "false";
            return;
        case arrow::Type::INT8:
            return append_number<arrow::Int8Array>(values, row, out);
        case arrow::Type::INT16:
            return append_number<arrow::Int16Array>(values, row, out);
        case arrow::Type::INT32:
            return append_number<arrow::Int32Array>(values, row, out);
        case arrow::Type::INT64:
            return append_number<arrow::Int64Array>(values, row, out);
        case arrow::Type::UINT8:
            return append_number<arrow::UInt8Array>(values, row, out);
        case arrow::Type::UINT16:
            return append_number<arrow::UInt16Array>(values, row, out);
        case arrow::Type::UINT32:
            return append_number<arrow::UInt32Array>(values, row, out);
        case arrow::Type::UINT64:
            return append_number<arrow::UInt64Array>(values, row, out);
        case arrow::Type::FLOAT:
            return append_real<arrow::FloatArray>(values, row, out);
        case arrow::Type::DOUBLE:
            return append_real<arrow::DoubleArray>(values, row, out);
        case arrow::Type::DICTIONARY:
            return append_entry(static_cast<const arrow::DictionaryArray&>(values), row, out);
        case arrow::Type::LIST:
            return append_list<arrow::ListArray>(values, row, out);
        case arrow::Type::LARGE_LIST:
            return append_list<arrow::LargeListArray>(values, row, out);
        case arrow::Type::STRUCT:
            return append_struct(static_cast<const arrow::StructArray&>(values), row, out);
        default:
            out += "null";
    }
}

class ParquetLines : public InputStream {
  public:
    ParquetLines(const fs::path& path, ExpansionLimit limit) : path_(path), limit_(limit), file_bytes_(fs::file_size(path)) {
        guarded([&] {
            auto file = unwrap(arrow::io::ReadableFile::Open(path.string()));
            reader_ = unwrap(parquet::arrow::OpenFile(std::move(file), arrow::default_memory_pool()));
            batches_ = unwrap(reader_->GetRecordBatchReader());
        });
    }

    std::size_t read(char* to, std::size_t size) override {
        while (at_ == lines_.size())
            if (!refill()) return 0;
        const std::size_t take = std::min(size, lines_.size() - at_);
        lines_.copy(to, take, at_);
        at_ += take;
        return take;
    }

  private:
    using Columns = std::vector<std::pair<std::string, const arrow::Array*>>;  ///< "name": in front of each value

    template <typename Value>
    Value unwrap(arrow::Result<Value> result) {
        if (!result.ok()) throw data_error("{}: is damaged or no Parquet file: {}", path_.string(), result.status().message());
        return std::move(result).ValueUnsafe();
    }
    /// Arrow reports most damage as a status, some as an exception.
    template <typename Work>
    void guarded(Work work) {
        try {
            work();
        } catch (const parquet::ParquetException& error) {
            throw data_error("{}: is damaged or no Parquet file: {}", path_.string(), error.what());
        }
    }

    bool refill() {
        std::shared_ptr<arrow::RecordBatch> batch;
        guarded([&] { batch = unwrap(batches_->Next()); });
        if (!batch) return false;
        lines_.clear();
        at_ = 0;
        Columns columns;
        for (int c = 0; c < batch->num_columns(); ++c) {
            if (!is_known(*batch->column(c)->type())) continue;
            std::string name;
            append_text(batch->column_name(c), name);
            columns.emplace_back(name + ":", batch->column(c).get());
        }
        guarded([&] {
            for (std::int64_t row = 0; row < batch->num_rows(); ++row) append_row(columns, row);
        });
        produced_ += lines_.size();
        return true;
    }

    void append_row(const Columns& columns, std::int64_t row) {
        lines_ += '{';
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (c > 0) lines_ += ',';
            lines_ += columns[c].first;
            append_value(*columns[c].second, row, lines_);
        }
        lines_ += "}\n";
        check_expansion();  // not once a batch: its 65,536 rows may each stand for the same entry of a dictionary, of a MiB
    }

    void check_expansion() const {
        const double most = static_cast<double>(limit_.free_bytes) + limit_.max_ratio * static_cast<double>(file_bytes_);
        if (static_cast<double>(produced_ + lines_.size()) > most)
            throw data_error("{}: expands to more than {:.0f} times its size; that is no data set", path_.string(), limit_.max_ratio);
    }

    fs::path path_;
    ExpansionLimit limit_;
    std::uintmax_t file_bytes_ = 0, produced_ = 0;
    std::unique_ptr<parquet::arrow::FileReader> reader_;
    std::unique_ptr<arrow::RecordBatchReader> batches_;
    std::string lines_;
    std::size_t at_ = 0;
};

}  // namespace
}  // namespace faceter

extern "C" __attribute__((visibility("default"))) faceter::InputStream* faceter_open_parquet(const std::filesystem::path& path,
                                                                                             faceter::ExpansionLimit limit) {
    return new faceter::ParquetLines(path, limit);
}
