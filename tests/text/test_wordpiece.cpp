#include "common/json.h"
#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

class TestWordpiece : public QObject {
    Q_OBJECT
  private:
    void compare_all(const Tokenizer& tokenizer, const Json& texts, const Json& expected, std::size_t max_length) {
        QCOMPARE(texts.size(), expected.size());
        QVERIFY(!texts.empty());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const auto text = texts[i].get<std::string>();
            QVERIFY2(encode(tokenizer, text, max_length) == expected[i].get<Ids>(), ("text " + std::to_string(i) + ": " + text).c_str());
        }
    }

  private Q_SLOTS:
    void nasty_texts_have_the_ids_of_hugging_face_cased_and_uncased() {
        NEED_SHARED();
        const fs::path folder = shared_folder() / "fixtures/tokenizers";
        const Json expected = read_json(folder / "expected.json");
        for (const char* kind : {"minilm_uncased", "bert_cased"})
            compare_all(*load_tokenizer(folder / kind), expected["texts"], expected["ids"][kind], 0);
    }
    void truncated_fixtures_have_the_ids_of_hugging_face() {
        NEED_SHARED();
        const fs::path fixtures = shared_folder() / "fixtures";
        const auto bert = load_tokenizer(fixtures / "bert");
        const Json of_bert = read_json(fixtures / "bert/expected.json"), of_minilm = read_json(fixtures / "minilm/expected.json");
        compare_all(*bert, of_bert["texts"], of_bert["token_ids"], of_bert["max_length"]);
        compare_all(*load_tokenizer(fixtures / "tokenizers/minilm_uncased"), of_minilm["texts"], of_minilm["token_ids"],
                    of_minilm["max_length"]);
    }
    void vocab_txt_gives_the_same_ids_as_tokenizer_json() {
        NEED_SHARED();
        const fs::path fixtures = shared_folder() / "fixtures/tokenizers";
        const Json expected = read_json(fixtures / "expected.json");
        for (const char* kind : {"minilm_uncased", "bert_cased"}) {
            TemporaryDirectory folder;
            for (const char* file : {"vocab.txt", "tokenizer_config.json"}) fs::copy(fixtures / kind / file, folder.path() / file);
            compare_all(*load_tokenizer(folder.path()), expected["texts"], expected["ids"][kind], 0);
        }
    }
    void words_are_cut_into_the_longest_pieces() {
        const auto tokenizer = TokenizerFolder().load();
        QCOMPARE(encode(*tokenizer, "Unaffable a aa."), (Ids{2, 5, 6, 7, 8, 8, 9, 11, 3}));
        QCOMPARE(encode(*tokenizer, "unaffabl"), (Ids{2, 1, 3}));
        QCOMPARE(encode(*tokenizer, "Café\tcafe\u0301 中中"), (Ids{2, 12, 12, 13, 13, 3}));
        QCOMPARE(encode(*tokenizer, ""), (Ids{2, 3}));
    }
    void a_literal_special_token_in_the_text_is_that_token() {
        const auto tokenizer = TokenizerFolder().load();
        QCOMPARE(encode(*tokenizer, "a[MASK]b [SEP]"), (Ids{2, 8, 4, 10, 3, 3}));
        QCOMPARE(encode(*tokenizer, "[mask][MAS"), (Ids{2, 14, 16, 15, 14, 1, 3}));
    }
    void truncation_leaves_room_for_the_special_tokens() {
        const auto tokenizer = TokenizerFolder().load();
        QCOMPARE(encode(*tokenizer, "a b a b a", 4), (Ids{2, 8, 10, 3}));
        QCOMPARE(encode(*tokenizer, "unaffable a", 4), (Ids{2, 5, 6, 3}));
        QCOMPARE(encode(*tokenizer, "a b", 2), (Ids{2, 3}));
        EXPECT_ERROR(encode(*tokenizer, "a", 1), "max_length 1", "2 special tokens");
    }
    void a_tokenizer_that_truncates_on_the_left_keeps_the_end() {
        TokenizerFolder folder;
        folder.write("tokenizer_config.json", R"({"truncation_side": "left"})");
        QCOMPARE(encode(*folder.load(), "a a a b .", 4), (Ids{2, 10, 11, 3}));
    }
    void a_side_that_tokenizer_json_names_counts_where_its_configuration_names_none() {
        Json stepped = small_tokenizer_json();
        stepped["normalizer"] = {{"type", "Lowercase"}};
        for (Json json : {small_tokenizer_json(), stepped}) {
            json["truncation"]["direction"] = "Left";
            TokenizerFolder folder(json);
            QCOMPARE(encode(*folder.load(), "a a a b .", 4), (Ids{2, 10, 11, 3}));
            folder.write("tokenizer_config.json", "{}");
            QCOMPARE(encode(*folder.load(), "a a a b .", 4), (Ids{2, 10, 11, 3}));
            folder.write("tokenizer_config.json", R"({"truncation_side": "right"})");
            QCOMPARE(encode(*folder.load(), "a a a b .", 4), (Ids{2, 8, 8, 3}));
        }
    }
    void encode_appends_and_the_second_time_gives_the_same() {
        const auto tokenizer = TokenizerFolder().load();
        Ids ids{-7};
        tokenizer->encode("unaffable", 0, ids);
        tokenizer->encode("unaffable", 0, ids);
        QCOMPARE(ids, (Ids{-7, 2, 5, 6, 7, 3, 2, 5, 6, 7, 3}));
    }
    void two_tokenizers_used_in_turn_do_not_share_words() {
        Json other = small_tokenizer_json();
        other["model"]["vocab"] = {{"[UNK]", 0}, {"[CLS]", 2}, {"[SEP]", 3}, {"a", 1}};
        const auto first = TokenizerFolder().load(), second = TokenizerFolder(other).load();
        for (int i = 0; i < 3; ++i) {
            QCOMPARE(encode(*first, "a"), (Ids{2, 8, 3}));
            QCOMPARE(encode(*second, "a"), (Ids{2, 1, 3}));
        }
        QVERIFY(first->fingerprint() != second->fingerprint());
    }
    void words_of_every_length_around_the_limits_are_right() {
        const auto tokenizer = TokenizerFolder().load();
        for (const std::size_t length : {1, 7, 8, 9, 30, 31, 32, 33, 64, 99, 100}) {
            Ids expected{2, 8};
            expected.insert(expected.end(), length - 1, 9);
            expected.push_back(3);
            QCOMPARE(encode(*tokenizer, std::string(length, 'A')), expected);
        }
        QCOMPARE(encode(*tokenizer, std::string(101, 'a')), (Ids{2, 1, 3}));
        std::string accents;
        for (int i = 0; i < 100; ++i) accents += "á";
        QCOMPARE(encode(*tokenizer, accents).size(), std::size_t{102});  // characters count, not bytes
        QCOMPARE(encode(*tokenizer, accents + "a"), (Ids{2, 1, 3}));
    }
    void monstrous_texts_do_no_harm() {
        const auto tokenizer = TokenizerFolder().load();
        const std::string word(1'000'000, 'a');
        QCOMPARE(encode(*tokenizer, word), (Ids{2, 1, 3}));
        QCOMPARE(encode(*tokenizer, word + " b", 8), (Ids{2, 1, 10, 3}));
        std::string spaced, marks = "a";
        for (int i = 0; i < 300'000; ++i) spaced += "a ", marks += "\u0301";
        QCOMPARE(encode(*tokenizer, spaced).size(), std::size_t{300'002});
        QCOMPARE(encode(*tokenizer, spaced, 5).size(), std::size_t{5});
        QCOMPARE(encode(*tokenizer, marks), (Ids{2, 8, 3}));
        QCOMPARE(encode(*tokenizer, marks + "\u302E"), (Ids{2, 1, 3}));  // through the path that reorders
    }
    void nul_and_bytes_that_are_not_utf8_vanish_as_python_would_have_replaced_them() {
        const auto tokenizer = TokenizerFolder().load();
        QCOMPARE(encode(*tokenizer, std::string_view("a\0b a\0", 6)), encode(*tokenizer, "ab a"));
        QCOMPARE(encode(*tokenizer,
                        "un\xFF\xFE"
                        "aff\xC3"),
                 (Ids{2, 5, 6, 3}));
        QCOMPARE(encode(*tokenizer, "caf\xE9 a"), (Ids{2, 1, 8, 3}));
        for (int byte = 0; byte < 256; ++byte) encode(*tokenizer, std::string(300, char(byte)));
    }
    void ids_and_pieces_find_each_other() {
        const auto tokenizer = TokenizerFolder().load();
        QCOMPARE(tokenizer->vocab_size(), std::size_t{17});
        QCOMPARE(tokenizer->id_to_piece(6), std::string("##aff"));
        QCOMPARE(tokenizer->id_to_piece(99), std::string());
        QCOMPARE(tokenizer->piece_to_id("##able"), 7);
        QCOMPARE(tokenizer->piece_to_id("no"), -1);
        const SpecialTokens special = tokenizer->special();
        QVERIFY(special.pad == 0 && special.unk == 1 && special.cls == 2 && special.sep == 3 && special.mask == 4);
    }
};

FACETER_TEST(TestWordpiece)
#include "test_wordpiece.moc"
