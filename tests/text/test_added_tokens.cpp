#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

namespace {

Json added(std::string content, std::initializer_list<std::string> flags = {}) {
    Json token = {{"id", 999},       {"content", content},  {"single_word", false}, {"lstrip", false},
                  {"rstrip", false}, {"normalized", false}, {"special", false}};
    for (const std::string& flag : flags) token[flag] = true;
    return token;
}

std::unique_ptr<Tokenizer> with_added(std::initializer_list<Json> tokens) {
    Json json = small_tokenizer_json();
    for (const Json& token : tokens) json["added_tokens"].push_back(token);
    return TokenizerFolder(json).load();
}

}  // namespace

/// The expectations were read off Hugging Face tokenizers 0.23.3, but for the last test: there the peer chooses at random.
class TestAddedTokens : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_token_outside_the_vocabulary_is_numbered_after_it_whatever_the_file_says() {
        const auto tokenizer = with_added({added("<x>"), added("b"), added("<y>")});
        QCOMPARE(encode(*tokenizer, "a<x>b<y>"), (Ids{2, 8, 17, 10, 18, 3}));
        QCOMPARE(tokenizer->id_to_piece(18), std::string("<y>"));
        QCOMPARE(tokenizer->vocab_size(), std::size_t{19});
    }
    void the_longest_token_wins() {
        const auto tokenizer = with_added({added("<x>"), added("<x><x>")});
        QCOMPARE(encode(*tokenizer, "<x><x><x>"), (Ids{2, 18, 17, 3}));
    }
    void stripping_takes_the_white_space_beside_a_token() {
        // "b" in lower case is in the vocabulary; U+3000 is white space.
        QCOMPARE(encode(*with_added({added("  ", {"lstrip", "rstrip"})}), "a     b"), (Ids{2, 8, 17, 10, 3}));
        QCOMPARE(encode(*with_added({added("  ", {"rstrip"})}), "a    b"), (Ids{2, 8, 17, 17, 10, 3}));
        QCOMPARE(encode(*with_added({added("<x>", {"lstrip", "rstrip"})}), "a \u3000<x> \t<x> b"), (Ids{2, 8, 17, 17, 10, 3}));
    }
    void a_single_word_is_not_found_inside_a_word() {
        const auto tokenizer = with_added({added("aff", {"single_word"})});
        QCOMPARE(encode(*tokenizer, "unaffable aff"), (Ids{2, 5, 6, 7, 17, 3}));
        QCOMPARE(encode(*tokenizer, ".aff."), (Ids{2, 11, 17, 11, 3}));
        QCOMPARE(encode(*tokenizer, "aff\u00E9 aff_"), (Ids{2, 1, 1, 1, 3}));
    }
    void a_normalised_token_is_found_in_the_normalised_text() {
        const auto tokenizer = with_added({added("New Café", {"normalized"})});
        QCOMPARE(encode(*tokenizer, "a NEW CAFE\u0301 b"), (Ids{2, 8, 17, 10, 3}));
        QCOMPARE(encode(*with_added({added("New Café")}), "a new cafe b"), (Ids{2, 8, 1, 12, 10, 3}));
    }
    void of_two_tokens_that_normalise_to_the_same_the_special_one_counts() {
        QCOMPARE(encode(*with_added({added("É", {"normalized"}), added("e\u0301", {"normalized", "special"})}), "e"), (Ids{2, 18, 3}));
        QCOMPARE(encode(*with_added({added("É", {"normalized"}), added("e\u0301", {"normalized"})}), "e"), (Ids{2, 17, 3}));
    }
};

FACETER_TEST(TestAddedTokens)
#include "test_added_tokens.moc"
