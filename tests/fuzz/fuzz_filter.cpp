#include "fuzz.h"
#include "store/filter.h"
#include "store/filter_tokens.h"

using namespace faceter;

namespace {

const FilterNames& names() {
    static const FilterNames known{{"scifact", "two words"},
                                   {"retrieval", "pair_classification"},
                                   {"training.learning_rate", "variants.A.placement"},
                                   {{"variant", {"em", "mote, wide"}}, {"tag", {"paper"}}}};
    return known;
}

/// Tokens lie in the text, in its order, and the last one is the end.
void check_tokens(std::string_view text) {
    std::size_t at = 0;
    const std::vector<FilterToken> tokens = filter_tokens(text);
    FUZZ_CHECK(!tokens.empty() && tokens.back().kind == FilterToken::Kind::end);
    for (const FilterToken& token : tokens) {
        FUZZ_CHECK(token.begin >= at && token.end >= token.begin && token.end <= text.size());
        at = token.end;
    }
}

/// What is completed is put in place of bytes that are there, on whole characters' bounds.
void check_completions(std::string_view text) {
    const std::size_t step = text.size() / 16 + 1;
    for (std::size_t cursor = 0; cursor <= text.size(); cursor += step) {
        const Completions found = completions(text, cursor, names());
        FUZZ_CHECK(found.begin <= found.end && found.end <= text.size());
    }
}

}  // namespace

/// An expression that somebody typed, or that a saved state brought back.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return fuzz_one(data, size, [](std::string_view text) {
        check_tokens(text);
        check_completions(text);
        const Filter filter = Filter::parse(text, names());
        for (const std::string& key : filter.settings()) FUZZ_CHECK(key.find('.') != std::string::npos);
    });
}
