#include "text/sentencepiece_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/error.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// One field of a protocol buffer: its number with its value as a number or as bytes.
struct Field {
    std::uint32_t number = 0, wire_type = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
};

/// Reads the fields of one message, in order.
class FieldReader {
  public:
    FieldReader(std::string_view message, std::string_view name) : rest_(message), name_(name) {}

    bool next(Field& field) {
        if (rest_.empty()) return false;
        const std::uint64_t key = varint();
        field = {static_cast<std::uint32_t>(key >> 3), static_cast<std::uint32_t>(key & 7), 0, {}};
        switch (field.wire_type) {
            case 0:
                field.value = varint();
                break;
            case 1:
                field.bytes = take(8);
                break;
            case 2:
                field.bytes = take(varint());
                break;
            case 5:
                field.bytes = take(4);
                break;
            default:
                fail();
        }
        return true;
    }

  private:
    [[noreturn]] void fail() const { throw data_error("{}: is not a model of sentencepiece, or it is torn; fetch it again", name_); }
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) fail();
        const std::string_view bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return bytes;
    }
    std::uint64_t varint() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(take(1)[0]);
            value |= std::uint64_t{byte & 0x7Fu} << shift;
            if (byte < 0x80) return value;
        }
        fail();
    }
    std::string_view rest_, name_;
};

template <typename Use>
void for_each_field(std::string_view message, std::string_view name, const Use& use) {
    FieldReader reader(message, name);
    for (Field field; reader.next(field);) use(field);
}

SentencePieceFile::Piece read_piece(std::string_view message, std::string_view name) {
    SentencePieceFile::Piece piece;
    for_each_field(message, name, [&](const Field& field) {
        if (field.number == 1 && field.wire_type == 2) piece.text = field.bytes;
        if (field.number == 2 && field.wire_type == 5) std::memcpy(&piece.score, field.bytes.data(), 4);
        if (field.number == 3 && field.wire_type == 0) {
            if (field.value < 1 || field.value > 6) throw data_error("{}: a piece has type {}, which is unknown", name, field.value);
            piece.type = static_cast<SentencePieceFile::Type>(field.value);
        }
    });
    if (piece.text.empty() || !is_valid_utf8(piece.text))
        throw data_error("{}: a piece is empty or not UTF-8: {}", name, faceter::quoted(piece.text));
    if (!std::isfinite(piece.score)) throw data_error("{}: the score of {} is not a finite number", name, faceter::quoted(piece.text));
    return piece;
}

void read_trainer(std::string_view message, std::string_view name, SentencePieceFile& file) {
    for_each_field(message, name, [&](const Field& field) {
        if (field.wire_type != 0) return;
        if (field.number == 3) {
            if (field.value < 1 || field.value > 4) throw data_error("{}: model_type {} is unknown", name, field.value);
            file.algorithm = static_cast<SentencePieceFile::Algorithm>(field.value);
        }
        if (field.number == 24) file.whitespace_as_suffix = field.value != 0;
        if (field.number == 35) file.byte_fallback = field.value != 0;
    });
}

void read_normalizer(std::string_view message, std::string_view name, SentencePieceFile& file) {
    for_each_field(message, name, [&](const Field& field) {
        if (field.number == 2 && field.wire_type == 2) file.charsmap = field.bytes;
        if (field.number == 3 && field.wire_type == 0) file.add_dummy_prefix = field.value != 0;
        if (field.number == 4 && field.wire_type == 0) file.remove_extra_whitespaces = field.value != 0;
        if (field.number == 5 && field.wire_type == 0) file.escape_whitespaces = field.value != 0;
    });
}

}  // namespace

SentencePieceFile SentencePieceFile::parse(std::string_view bytes, std::string_view name) {
    SentencePieceFile file;
    for_each_field(bytes, name, [&](const Field& field) {
        if (field.wire_type != 2) return;
        if (field.number == 1) file.pieces.push_back(read_piece(field.bytes, name));
        if (field.number == 2) read_trainer(field.bytes, name, file);
        if (field.number == 3) read_normalizer(field.bytes, name, file);
    });
    if (file.pieces.empty()) throw data_error("{}: has no pieces; it is not a model of sentencepiece, or it is torn", name);
    const auto num_unknown =
        std::count_if(file.pieces.begin(), file.pieces.end(), [](const Piece& piece) { return piece.type == Type::unknown; });
    if (num_unknown != 1) throw data_error("{}: has {} unknown pieces where one is needed", name, num_unknown);
    return file;
}

}  // namespace faceter
