#include "fuzz.h"
#include "text/utf8.h"
#include "text/wordpiece.h"

using namespace faceter;

namespace {

/// Every ASCII character and some others are pieces, so that little is unknown and differences show.
WordPieceSettings make_settings(bool lowercase) {
    WordPieceSettings settings;
    settings.vocabulary = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}};
    const auto add = [&](const std::string& piece) {
        settings.vocabulary.emplace_back(piece, static_cast<std::int32_t>(settings.vocabulary.size()));
    };
    for (char32_t c = 0x21; c < 0x3200; ++c) {
        add(utf32_to_utf8({&c, 1}));
        add("##" + utf32_to_utf8({&c, 1}));
    }
    for (const char* piece : {"the", "##ing", "th", "##e", "\xE4\xB8\xAD"}) add(piece);
    settings.normalizer.lowercase = settings.normalizer.strip_accents = lowercase;
    AddedToken mask;
    mask.content = "[MASK]";
    mask.lstrip = true;
    settings.added_tokens = {mask};
    settings.around = {{1}, {2}};
    return settings;
}

/// A token that must be looked for in the normalised text switches the one-pass scan off: the plain way of normalising, then splitting.
WordPieceSettings make_plain_settings(bool lowercase) {
    WordPieceSettings settings = make_settings(lowercase);
    AddedToken never;
    never.content = std::string(300, '~');
    never.normalized = true;
    settings.added_tokens.push_back(never);
    return settings;
}

void compare(std::string_view text, const WordPieceTokenizer& fast, const WordPieceTokenizer& plain) {
    std::vector<std::int32_t> ids, expected, again;
    fast.encode(text, 0, ids);
    plain.encode(text, 0, expected);
    FUZZ_CHECK(ids == expected);
    fast.encode(replace_invalid_utf8(text), 0, again);
    FUZZ_CHECK(ids == again);
}

}  // namespace

/// The input is a text: the tables give what the plain way gives, normalised text and ids.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const WordPieceTokenizer uncased(make_settings(true), "uncased"), plain_uncased(make_plain_settings(true), "uncased");
    static const WordPieceTokenizer cased(make_settings(false), "cased"), plain_cased(make_plain_settings(false), "cased");
    static const CharTable uncased_table({}), cased_table({true, true, false, false});
    return fuzz_one(data, size, [](std::string_view text) {
        FUZZ_CHECK(uncased_table.normalize(text) == BertNormalizer{}.normalize(text));
        FUZZ_CHECK(cased_table.normalize(text) == (BertNormalizer{true, true, false, false}.normalize(text)));
        compare(text, uncased, plain_uncased);
        compare(text, cased, plain_cased);
    });
}
