#include "common/error.h"
#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A tokenizer.json of pieces with the steps given.
Json with_steps(const Json& normalizer, const Json& pre_tokenizer) {
    return {{"normalizer", normalizer},
            {"pre_tokenizer", pre_tokenizer},
            {"model", {{"type", "BPE"}, {"unk_token", "?"}, {"vocab", {{"?", 0}, {"a", 1}, {"b", 2}}}, {"merges", Json::array()}}}};
}
Json split(const std::string& pattern) {
    return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}
Json replace(const std::string& from, const std::string& to) {
    return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}
Json sequence(const char* key, const Json& step, int count) {
    Json steps = Json::array();
    for (int i = 0; i < count; ++i) steps.push_back(step);
    return {{"type", "Sequence"}, {key, steps}};
}
std::string repeated(std::string_view text, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

/// Files of tokenizers that are made to hang or to fill the memory: each ends at once, with an error that names the file or with ids.
class TestHostileTokenizers : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_pattern_with_many_ways_to_match_ends_data() {
        QTest::addColumn<QString>("pattern");
        QTest::addColumn<QByteArray>("text");
        QTest::newRow("optional groups in a row") << QString::fromStdString(repeated("(a*|b*|c*)", 33)) << QByteArray("aaabbbccc");
        QTest::newRow("nested repetition") << "(?:a|aa)+$" << QByteArray(5000, 'a') + "b";
        QTest::newRow("nested stars") << "(a*)*c" << QByteArray(5000, 'a');
        QTest::newRow("nested counts") << "(?:(?:(?:a{0,999}){0,999}){0,999}){0,999}c" << QByteArray(5000, 'a');
        QTest::newRow("quadratic without going back") << "[^b]*+b" << QByteArray(200'000, 'a');
        QTest::newRow("a little at each match") << "(?:a|b|ab)*c|." << QByteArray("ab").repeated(20'000);
        QTest::newRow("deep look-aheads") << QString::fromStdString(repeated("(?=a*", 30) + repeated(")", 30) + "b")
                                          << QByteArray(5000, 'a');
    }
    void a_pattern_with_many_ways_to_match_ends() {
        QFETCH(QString, pattern);
        QFETCH(QByteArray, text);
        const TokenizerFolder folder(with_steps(nullptr, split(pattern.toStdString())));
        try {
            const auto tokenizer = folder.load();
            encode(*tokenizer, {text.data(), static_cast<std::size_t>(text.size())});
        } catch (const Error& error) {
            QVERIFY2(QString(error.what()).contains("tokenizer.json: the pattern"), error.what());
        }
    }
    void the_budget_of_a_pattern_is_one_for_the_text_not_for_each_piece() {
        Json steps = sequence("pretokenizers", split("x"), 1);
        steps["pretokenizers"].push_back(split("(?:a|aa)+$"));
        const auto tokenizer = TokenizerFolder(with_steps(nullptr, steps)).load();
        std::string text;
        for (int i = 0; i < 1000; ++i) text += std::string(28, 'a') + "bx";
        EXPECT_ERROR(encode(*tokenizer, text), "tokenizer.json: the pattern '(?:a|aa)+$' takes too long");
    }
    void the_budget_is_one_for_all_patterns() {
        const auto tokenizer = TokenizerFolder(with_steps(nullptr, sequence("pretokenizers", split("[ab]"), 250))).load();
        EXPECT_ERROR(encode(*tokenizer, repeated("ab", 20'000)), "tokenizer.json: the pattern '[ab]' takes too long");
        const Json step = {{"type", "Replace"}, {"pattern", {{"Regex", "[ab]"}}}, {"content", "a"}};
        const auto replacing = TokenizerFolder(with_steps(sequence("normalizers", step, 250), nullptr)).load();
        EXPECT_ERROR(encode(*replacing, repeated("ab", 20'000)), "tokenizer.json: the pattern '[ab]' takes too long");
    }
    void the_budget_is_one_for_all_that_stands_between_added_tokens() {
        Json json = with_steps(nullptr, split("(?:a|aa)+$"));
        json["added_tokens"] = Json::array({{{"content", "x"}, {"special", true}}});
        const auto tokenizer = TokenizerFolder(json).load();
        EXPECT_ERROR(encode(*tokenizer, repeated(std::string(22, 'a') + "bx", 3000)), "the pattern '(?:a|aa)+$' takes too long");
    }
    void a_piece_that_no_training_makes_is_refused_data() {
        QTest::addColumn<QByteArray>("json");
        const auto row = [](const char* name, const Json& json) { QTest::newRow(name) << QByteArray::fromStdString(json.dump()); };
        const std::string piece(2049, 'a');
        Json unigram = with_steps(nullptr, nullptr);
        unigram["model"] = {
            {"type", "Unigram"}, {"unk_id", 0}, {"vocab", Json::array({Json::array({"?", 0.0}), Json::array({piece, -2.0})})}};
        row("Unigram", unigram);
        Json wordpiece = small_tokenizer_json();
        wordpiece["model"]["vocab"][piece] = 17;
        row("WordPiece", wordpiece);
        wordpiece["pre_tokenizer"] = {{"type", "Whitespace"}};
        row("WordPiece of steps", wordpiece);
        Json added = with_steps(nullptr, nullptr);
        added["added_tokens"] = Json::array({{{"content", piece}}});
        row("added token", added);
        Json bpe = with_steps(nullptr, nullptr);
        bpe["model"]["vocab"][piece] = 3;
        row("BPE", bpe);
    }
    void a_piece_that_no_training_makes_is_refused() {
        QFETCH(QByteArray, json);
        EXPECT_ERROR(TokenizerFolder(parse_json(json.toStdString(), "t")).load(), "tokenizer.json: the piece 'aaaa", "has 2049 bytes");
    }
    void a_token_that_no_training_makes_is_refused_where_the_small_files_name_it() {
        const std::string token(2049, 'a');
        for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"})
            for (const Json& names : {Json{{"pad_token", token}}, Json{{"pad_token", {{"content", token}}}}, Json{{"image_token", token}},
                                      Json{{"extra_special_tokens", Json::array({token})}}, Json{{"extra_special_tokens", {{"x", token}}}},
                                      Json{{"additional_special_tokens", Json::array({token})}}}) {
                TokenizerFolder folder(with_steps(nullptr, nullptr));
                folder.write(file, names.dump());
                const std::string said = std::string(file) + ": the piece 'aaaa";
                EXPECT_ERROR(folder.load(), said.c_str(), "has 2049 bytes");
            }
    }
    void a_pattern_beyond_the_engine_is_named_data() {
        QTest::addColumn<QString>("pattern");
        QTest::newRow("open group") << "(a";
        QTest::newRow("unknown property") << "\\p{Nothing}";
        QTest::newRow("groups in each other") << QString(300, '(') + "a" + QString(300, ')');
        QTest::newRow("start of the search") << "\\Ga";
        QTest::newRow("huge count") << "a{1,1000000}";
    }
    void a_pattern_beyond_the_engine_is_named() {
        QFETCH(QString, pattern);
        EXPECT_ERROR(TokenizerFolder(with_steps(nullptr, split(pattern.toStdString()))).load(), "tokenizer.json: the pattern",
                     "is not supported");
    }
    void a_pattern_of_a_megabyte_is_refused() {
        EXPECT_ERROR(TokenizerFolder(with_steps(nullptr, split(std::string(1 << 20, 'a')))).load(), "tokenizer.json", "longer than 64 KiB");
        EXPECT_ERROR(TokenizerFolder(with_steps(replace(std::string(1 << 20, 'a'), ""), nullptr)).load(), "longer than 64 KiB");
    }
    void a_delimiter_that_is_not_one_character_is_refused() {
        for (const char* delimiter : {"", "ab"})
            EXPECT_ERROR(TokenizerFolder(with_steps(nullptr, {{"type", "CharDelimiterSplit"}, {"delimiter", delimiter}})).load(),
                         "the delimiter '" + std::string(delimiter) + "' of CharDelimiterSplit is not one character");
        const auto tokenizer = TokenizerFolder(with_steps(nullptr, {{"type", "CharDelimiterSplit"}, {"delimiter", "\xC3\xA9"}})).load();
        QCOMPARE(encode(*tokenizer,
                        "a\xC3\xA9"
                        "b"),
                 (std::vector<std::int32_t>{1, 2}));
    }
    void a_template_that_multiplies_its_tokens_is_refused() {
        const auto folder = [](int steps, int ids) {
            Json json = with_steps(nullptr, nullptr), single = Json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}});
            for (int i = 0; i < steps; ++i) single.push_back({{"SpecialToken", {{"id", "b"}, {"type_id", 0}}}});
            json["post_processor"] = {{"type", "TemplateProcessing"},
                                      {"single", single},
                                      {"special_tokens", {{"b", {{"id", "b"}, {"ids", std::vector<int>(ids, 2)}}}}}};
            return json;
        };
        EXPECT_ERROR(TokenizerFolder(folder(20'000, 20'000)).load(), "post_processor.single puts more than 1024 tokens beside a text");
        QVERIFY(TokenizerFolder(folder(2, 3)).load());
    }
    void steps_that_multiply_a_text_are_refused_data() {
        QTest::addColumn<QByteArray>("json");
        const auto row = [](const char* name, const Json& normalizer, const Json& pre_tokenizer) {
            QTest::newRow(name) << QByteArray::fromStdString(with_steps(normalizer, pre_tokenizer).dump());
        };
        row("doubling", sequence("normalizers", replace("a", "aa"), 40), nullptr);
        row("a long replacement", sequence("normalizers", replace("a", std::string(100'000, 'a')), 2), nullptr);
        row("bytes of bytes", nullptr,
            sequence("pretokenizers", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", false}}, 40));
        row("bytes of bytes, normalised", sequence("normalizers", {{"type", "ByteLevel"}}, 40), nullptr);
    }
    void steps_that_multiply_a_text_are_refused() {
        QFETCH(QByteArray, json);
        const auto tokenizer = TokenizerFolder(parse_json(json.toStdString(), "t")).load();
        EXPECT_ERROR(encode(*tokenizer, "a \xC3\xA9 a"), "the tokenizer makes more than", "broken or hostile");
    }
    /// Which of the two is met first is the processor's to say.
    void patterns_that_multiply_a_text_are_refused_for_their_length_or_their_time() {
        const Json step = {{"type", "Replace"}, {"pattern", {{"Regex", "a"}}}, {"content", "aa"}};
        const auto tokenizer = TokenizerFolder(with_steps(sequence("normalizers", step, 40), nullptr)).load();
        EXPECT_ERROR(encode(*tokenizer, "a \xC3\xA9 a"), "broken or hostile");
    }
    void the_largest_id_leaves_room_for_added_tokens() {
        Json json = with_steps(nullptr, nullptr);
        json["model"]["vocab"]["b"] = 2147483646;
        json["added_tokens"] = {{{"content", "b"}}, {{"content", "<x>"}}, {{"content", "<y>"}}};
        EXPECT_ERROR(TokenizerFolder(json).load(), "the id of 'b'", "1073741823");
        json["model"]["vocab"]["b"] = 1073741823;
        const auto tokenizer = TokenizerFolder(json).load();
        QCOMPARE(tokenizer->piece_to_id("<y>"), 1073741825);
    }
};

FACETER_TEST(TestHostileTokenizers)
#include "test_hostile_tokenizers.moc"
