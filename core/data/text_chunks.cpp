#include "data/text_chunks.h"

#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"
#include "data/file_ending.h"

namespace faceter {
namespace {

constexpr std::size_t chunk_texts = 8192, chunk_bytes = std::size_t(4) << 20;

/// Errors: the input is a table, whose lines are no texts.
bool holds_records(const std::string& input) {
    const std::string is = data_ending(input);
    if (is == ".csv" || is == ".tsv")
        throw data_error(
            "{}: is a table; expected a text a line (.txt), or JSON lines with \"text\" (.jsonl): write the column of texts to one", input);
    return is == ".jsonl" || is == ".ndjson" || is == ".json" || is == ".parquet";
}

/// A file of another encoding would be embedded as other texts.
void check_encoding(const LineReader& reader, std::string_view line) {
    if (is_valid_utf8(line)) return;
    throw data_error("{}: not UTF-8; write the file so: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW", reader.position().text());
}

}  // namespace

TextChunks::TextChunks(const std::string& input, bool jsonl)
    : reader_(input == "-" ? "/dev/stdin" : input), jsonl_(jsonl || holds_records(input)) {}

bool TextChunks::next() {
    bytes_.clear();
    ends_.clear();
    while (ends_.size() < chunk_texts && bytes_.size() < chunk_bytes) {
        const auto line = reader_.next();
        if (!line) break;
        if (jsonl_ && trim(*line).empty()) continue;
        if (!jsonl_) check_encoding(reader_, *line);
        bytes_ += jsonl_ ? text_of(*line) : *line;
        ends_.push_back(bytes_.size());
    }
    return !ends_.empty();
}

std::vector<std::string_view> TextChunks::texts() const {
    std::vector<std::string_view> views;
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
        views.emplace_back(std::string_view(bytes_).substr(begin, end - begin));
        begin = end;
    }
    return views;
}

std::string_view TextChunks::text_of(std::string_view line) {
    try {
        parser_.parse(line, record_);
        if (!record_.find({"text"})) throw BadRecord{"member 'text' is missing", ""};
        return record_.text_or_empty("text");
    } catch (const BadRecord& thrown) {
        const BadRecord bad = reader_.line_number() == 1 ? bad_first_line(line, thrown) : thrown;
        throw data_error("{}: {}{}", reader_.position().text(), bad.reason, bad.detail.empty() ? "" : ": " + bad.detail);
    }
}

}  // namespace faceter
