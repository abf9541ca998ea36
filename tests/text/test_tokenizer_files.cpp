#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestTokenizerFiles : public QObject {
    Q_OBJECT
  private:
    /// Loads the small tokenizer after `change`.
    template <typename Change>
    static void load_changed(const Change& change) {
        Json json = small_tokenizer_json();
        change(json);
        TokenizerFolder(json).load();
    }

  private Q_SLOTS:
    void a_folder_without_a_tokenizer_says_what_is_missing() {
        TemporaryDirectory folder;
        EXPECT_ERROR(load_tokenizer(folder.path()), folder.path().c_str(), "no tokenizer.json", "vocab.txt", "spiece.model");
        write_file_atomic(folder.path() / "sentencepiece.bpe.model", "x");
        EXPECT_ERROR(load_tokenizer(folder.path()), "sentencepiece.bpe.model", "torn");
    }
    void other_kinds_are_named() {
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["type"] = "WordLevel"; }), "tokenizer.json", "'WordLevel'",
                     "not supported");
    }
    void parts_that_would_change_the_ids_are_refused_by_name() {
        EXPECT_ERROR(load_changed([](Json& json) {
                         json["normalizer"] = {{"type", "Kana"}};
                     }),
                     "tokenizer.json", "normalizer 'Kana'", "BertNormalizer");
        EXPECT_ERROR(load_changed([](Json& json) {
                         json["pre_tokenizer"] = {{"type", "UnicodeScripts"}};
                     }),
                     "pre_tokenizer 'UnicodeScripts'");
        EXPECT_ERROR(load_changed([](Json& json) { json["post_processor"]["type"] = "Other"; }), "post_processor 'Other'");
    }
    void a_missing_normaliser_or_post_processor_means_none() {
        Json json = small_tokenizer_json();
        json["normalizer"] = nullptr;
        json["post_processor"] = nullptr;
        const auto tokenizer = TokenizerFolder(json).load();
        QCOMPARE(encode(*tokenizer, "a A", 1), (std::vector<std::int32_t>{8}));
        QCOMPARE(encode(*tokenizer, "a A"), (std::vector<std::int32_t>{8, 1}));
    }
    void a_text_can_be_lower_cased_though_the_tokenizer_does_not() {
        Json json = small_tokenizer_json();
        json["normalizer"]["lowercase"] = false;
        const TokenizerFolder folder(json);
        QCOMPARE(encode(*load_tokenizer(folder.path()), "A a"), (std::vector<std::int32_t>{2, 1, 8, 3}));
        QCOMPARE(encode(*load_tokenizer(folder.path(), true), "A a"), (std::vector<std::int32_t>{2, 8, 8, 3}));
    }
    void it_is_lower_cased_letter_by_letter_between_the_special_tokens_as_in_sentence_transformers() {
        for (const char* step : {"BertNormalizer", "NFC"}) {  // each kind of tokenizer has its own way
            Json json = small_tokenizer_json();
            json["normalizer"]["type"] = step;
            json["normalizer"]["lowercase"] = false;
            json["model"]["vocab"]["οσ"] = 17;
            json["model"]["vocab"]["ος"] = 18;
            const TokenizerFolder folder(json);
            QCOMPARE(encode(*load_tokenizer(folder.path(), true), "ΟΣ [MASK] A"), (std::vector<std::int32_t>{2, 17, 4, 8, 3}));
        }
    }
    void a_length_without_limit_as_transformers_writes_it_is_read() {
        Json stepped = small_tokenizer_json();
        stepped["normalizer"] = {{"type", "Lowercase"}};
        for (const Json& json : {small_tokenizer_json(), stepped}) {
            TokenizerFolder folder(json);
            folder.write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656, "pad_token": "[PAD]"})");
            QCOMPARE(encode(*folder.load(), "A a"), (std::vector<std::int32_t>{2, 8, 8, 3}));
        }
    }
    /// The ids are transformers 5.23's of the same folder, with [X1], [X2] ... in the text.
    void tokens_that_the_configuration_alone_names_are_added_in_the_order_of_transformers_data() {
        QTest::addColumn<QString>("config");
        QTest::addColumn<QString>("map");
        QTest::addColumn<QString>("ids");
        const QString none;
        const QString listed = R"("added_tokens_decoder": {"99": {"content": "[X1]", "lstrip": true, "special": true},)"
                               R"( "5": {"content": "[X2]", "normalized": true, "special": false}})";
        QTest::newRow("a list") << R"("extra_special_tokens": ["[X1]", "[X2]"])" << none << "8 17 10 18 8 1 8 1";
        QTest::newRow("a map") << R"("extra_special_tokens": {"image": "[X2]", "other": "[X1]"})" << none << "8 18 10 17 8 1 8 1";
        QTest::newRow("by the old name") << R"("additional_special_tokens": ["[X2]", {"content": "[X1]", "lstrip": true}])" << none
                                         << "8 18 10 17 8 1 8 1";
        QTest::newRow("roles first")
            << R"("additional_special_tokens": ["[X2]"], "x_token": "[X1]", "mask_token": "[X3]", "bos_token": "[X4]")" << none
            << "8 19 10 20 8 18 8 17";
        QTest::newRow("the new name before the old")
            << R"("additional_special_tokens": ["[X2]"], "extra_special_tokens": ["[X1]"])" << none << "8 17 10 1 8 1 8 1";
        QTest::newRow("a map file") << ""
                                    << R"({"additional_special_tokens": ["[X2]"], "mask_token": {"content": "[X3]"}})"
                                    << "8 1 10 18 8 17 8 1";
        QTest::newRow("both files") << R"("additional_special_tokens": ["[X1]"])"
                                    << R"({"additional_special_tokens": ["[X2]"], "extra_special_tokens": ["[X4]"]})"
                                    << "8 17 10 1 8 1 8 18";
        QTest::newRow("a decoder") << listed + R"(, "extra_special_tokens": ["[X4]"], "mask_token": "[X3]")"
                                   << R"({"additional_special_tokens": ["[X5]"]})"
                                   << "8 18 10 17 8 19 8 20";
        QTest::newRow("known ones") << R"("extra_special_tokens": ["[MASK]", "[X1]", "[X1]", ""], "pad_token": "[PAD]")" << none
                                    << "8 17 10 1 8 1 8 1";
    }
    void tokens_that_the_configuration_alone_names_are_added_in_the_order_of_transformers() {
        QFETCH(QString, config);
        QFETCH(QString, map);
        QFETCH(QString, ids);
        std::vector<std::int32_t> expected;
        for (const QString& id : ids.split(' ')) expected.push_back(id.toInt());
        Json stepped = small_tokenizer_json();
        stepped["normalizer"] = {{"type", "Lowercase"}};
        stepped["pre_tokenizer"] = {{"type", "Whitespace"}};
        Json bert = small_tokenizer_json();
        for (Json* json : {&stepped, &bert}) {
            (*json)["post_processor"] = nullptr;
            TokenizerFolder folder(*json);
            const std::string plain = folder.load()->fingerprint();
            folder.write("tokenizer_config.json", ("{" + config + "}").toStdString());
            if (!map.isEmpty()) folder.write("special_tokens_map.json", map.toStdString());
            const auto tokenizer = folder.load();
            const auto known = [](std::int32_t id) { return id > 16 || id == 8 || id == 10; };
            std::vector<std::int32_t> found;
            for (const std::int32_t id : encode(*tokenizer, "a [X1] b [X2] a [X3] a [X4]"))
                if (known(id)) found.push_back(id);
            std::vector<std::int32_t> wanted;
            std::copy_if(expected.begin(), expected.end(), std::back_inserter(wanted), known);
            QCOMPARE(found, wanted);
            QVERIFY(tokenizer->fingerprint() != plain);
            QCOMPARE(tokenizer->vocab_size(), static_cast<std::size_t>(*std::max_element(expected.begin(), expected.end())) + 1);
        }
    }
    /// The ids are transformers 5.23's of the same folder.
    void tokens_that_a_slow_tokenizer_kept_beside_its_vocabulary_are_added() {
        const TemporaryDirectory folder;
        const auto write = [&](const char* name, const std::string& text) { write_file_atomic(folder.path() / name, text); };
        const auto ids = [&] { return encode(*load_tokenizer(folder.path()), "a [ENT] b [B] A [ent]"); };
        write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n[\n]\nent\n##s\n");
        write("tokenizer_config.json", R"({"do_lower_case": true, "additional_special_tokens": ["[ENT]"]})");
        write("added_tokens.json", R"({"[B]": 12, "[ENT]": 11})");
        QCOMPARE(ids(), (std::vector<std::int32_t>{2, 5, 11, 6, 12, 5, 7, 9, 8, 3}));
        write("tokenizer_config.json", R"({"do_lower_case": true})");
        QCOMPARE(ids(), (std::vector<std::int32_t>{2, 5, 11, 6, 12, 5, 11, 3}));  // no special one: in the lower-cased text too
        write("added_tokens.json", R"(["[B]"])");
        EXPECT_ERROR(ids(), "added_tokens.json: is no map of tokens and their ids");
        write("added_tokens.json", R"({"[B]": "12"})");
        EXPECT_ERROR(ids(), "added_tokens.json", "[B]");
    }
    void what_is_named_and_no_token_is_refused() {
        const auto load = [](const char* config) {
            TokenizerFolder folder;
            folder.write("tokenizer_config.json", config);
            folder.load();
        };
        EXPECT_ERROR(load(R"({"extra_special_tokens": "[X1]"})"), "tokenizer_config.json", "extra_special_tokens is no list of tokens");
        EXPECT_ERROR(load(R"({"extra_special_tokens": [7]})"), "tokenizer_config.json", "extra_special_tokens", "content");
        load(R"({"split_special_tokens": false, "mask_token": null, "bos_token": false})");
        EXPECT_ERROR(load(R"({"split_special_tokens": true})"), "tokenizer_config.json: split_special_tokens is true", "not supported",
                     "set it to false");
    }
    void bert_processing_is_read_too() {
        Json json = small_tokenizer_json();
        json["post_processor"] = Json::parse(R"({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]})");
        QCOMPARE(encode(*TokenizerFolder(json).load(), "a"), (std::vector<std::int32_t>{2, 8, 3}));
        json["post_processor"]["cls"] = Json::array({"[CLS]"});
        EXPECT_ERROR(TokenizerFolder(json).load(), "'cls'");
    }
    void a_class_of_berts_goes_by_the_flags_of_its_configuration() {
        const auto ids_with = [](const char* config, bool lowercase) {
            Json json = small_tokenizer_json();
            json["normalizer"]["lowercase"] = lowercase;
            const TokenizerFolder folder(json);
            write_file_atomic(folder.path() / "tokenizer_config.json", config);
            return encode(*load_tokenizer(folder.path()), "A cafe Cafe");
        };
        const std::vector<std::int32_t> lowered{2, 8, 12, 12, 3}, kept{2, 1, 12, 1, 3};
        QCOMPARE(ids_with(R"({"tokenizer_class": "BertTokenizer", "do_lower_case": true})", false), lowered);
        QCOMPARE(ids_with(R"({"tokenizer_class": "DistilBertTokenizerFast", "do_lower_case": false})", true), kept);
        QCOMPARE(ids_with(R"({"tokenizer_class": "PreTrainedTokenizerFast", "do_lower_case": false})", true), lowered);
        QCOMPARE(ids_with(R"({"tokenizer_class": "BertTokenizer"})", false), lowered);
        for (const std::string name : {"MPNet", "Electra", "MobileBert", "SqueezeBert", "LayoutLM", "Funnel", "Lxmert"})
            QCOMPARE(ids_with(Json{{"do_lower_case", false}, {"tokenizer_class", name + "Tokenizer"}}.dump().c_str(), true), kept);
        QCOMPARE(ids_with(R"({"tokenizer_class": "ConvBertTokenizer", "do_lower_case": false})", true), lowered);
        QCOMPARE(ids_with(R"({"do_lower_case": true})", false), kept);
    }
    /// As transformers 5.23 cuts it in such folders.
    void where_no_class_is_named_the_model_s_own_counts() {
        const auto ids_with = [](const char* model, const char* config, bool lowercase) {
            Json json = small_tokenizer_json();
            json["normalizer"]["lowercase"] = lowercase;
            const TokenizerFolder folder(json);
            write_file_atomic(folder.path() / "config.json", model);
            if (*config) write_file_atomic(folder.path() / "tokenizer_config.json", config);
            return encode(*load_tokenizer(folder.path()), "A cafe Cafe");
        };
        const std::vector<std::int32_t> lowered{2, 8, 12, 12, 3}, kept{2, 1, 12, 1, 3};
        for (const std::string type : {"bert", "distilbert", "mpnet", "nomic_bert", "electra"}) {
            const std::string model = Json{{"model_type", type}}.dump();
            QCOMPARE(ids_with(model.c_str(), R"({"do_lower_case": true})", false), lowered);
            QCOMPARE(ids_with(model.c_str(), R"({"do_lower_case": false})", true), kept);
            QCOMPARE(ids_with(model.c_str(), "{}", false), lowered);
            QCOMPARE(ids_with(model.c_str(), "", false), lowered);
            QCOMPARE(ids_with(model.c_str(), R"({"tokenizer_class": "PreTrainedTokenizerFast"})", false), kept);
        }
        QCOMPARE(ids_with(R"({"model_type": "modernbert"})", R"({"do_lower_case": true})", false), kept);
        QCOMPARE(ids_with(R"({"model_type": "bert", "tokenizer_class": "PreTrainedTokenizerFast"})", "{}", false), kept);
        QCOMPARE(ids_with(R"({"model_type": "new", "tokenizer_class": "BertTokenizer"})", "{}", false), lowered);
        Json bytes = small_tokenizer_json();
        bytes["normalizer"] = bytes["post_processor"] = nullptr;
        bytes["added_tokens"] = Json::array();
        bytes["model"] = Json::parse(R"({"type": "BPE", "merges": ["Ġ a"], "vocab": {"a": 0, "Ġ": 1, "Ġa": 2}})");
        bytes["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}};
        TokenizerFolder folder(bytes);
        folder.write("config.json", R"({"model_type": "roberta"})");
        QCOMPARE(encode(*folder.load(), "a a"), (std::vector<std::int32_t>{0, 2}));
        folder.write("tokenizer_config.json", R"({"add_prefix_space": true})");
        QCOMPARE(encode(*folder.load(), "a a"), (std::vector<std::int32_t>{2, 2}));
    }
    /// As transformers 5.23 cuts "a a": a space before the text is the configuration's to say, or none.
    void a_byte_level_class_takes_the_space_before_a_text_from_its_configuration() {
        const auto ids_with = [](const char* config, bool prefix, bool alone = true) {
            Json json = small_tokenizer_json();
            json["normalizer"] = json["post_processor"] = nullptr;
            json["added_tokens"] = Json::array();
            json["model"] = Json::parse(R"({"type": "BPE", "merges": ["Ġ a"], "vocab": {"a": 0, "Ġ": 1, "Ġa": 2}})");
            json["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", prefix}, {"use_regex", true}};
            if (!alone) json["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {json["pre_tokenizer"]}}};
            TokenizerFolder folder(json);
            const std::string own = folder.load()->fingerprint();
            folder.write("tokenizer_config.json", config);
            const auto tokenizer = folder.load();
            const std::vector<std::int32_t> ids = encode(*tokenizer, "a a"), spaced{2, 2}, plain{0, 2};
            if ((ids == spaced) != prefix && tokenizer->fingerprint() == own) throw std::runtime_error("one fingerprint of other ids");
            return ids == spaced ? 1 : ids == plain ? 0 : -1;
        };
        for (const std::string name : {"RobertaTokenizer", "GPT2TokenizerFast", "BartTokenizer", "LongformerTokenizer", "LEDTokenizer",
                                       "CodeGenTokenizer", "DebertaTokenizerFast"})
            for (const bool prefix : {false, true}) {
                QCOMPARE(ids_with(Json{{"tokenizer_class", name}}.dump().c_str(), prefix), 0);
                for (const bool own : {false, true})
                    QCOMPARE(ids_with(Json{{"tokenizer_class", name}, {"add_prefix_space", own}}.dump().c_str(), prefix), own ? 1 : 0);
            }
        QCOMPARE(ids_with(R"({"tokenizer_class": "PreTrainedTokenizerFast", "add_prefix_space": true})", false), 0);
        QCOMPARE(ids_with(R"({"tokenizer_class": "RobertaTokenizer", "add_prefix_space": true})", false, false), 0);
    }
    /// transformers 5.23 registers ModernBERT without a class of its own: "Ab ab" and a space in front come out as tokenizer.json says.
    void a_modernbert_reads_tokenizer_json_as_it_is_whatever_class_is_named() {
        Json cased = small_tokenizer_json(), bytes = small_tokenizer_json();
        cased["normalizer"]["lowercase"] = false;
        bytes["normalizer"] = bytes["post_processor"] = nullptr;
        bytes["added_tokens"] = Json::array();
        bytes["model"] = Json::parse(R"({"type": "BPE", "merges": ["Ġ a"], "vocab": {"a": 0, "Ġ": 1, "Ġa": 2}})");
        bytes["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"use_regex", true}};
        const auto ids_of = [](const Json& json, const char* named, const char* model, const char* text) {
            TokenizerFolder folder(json);
            folder.write("tokenizer_config.json", Json{{"tokenizer_class", named}}.dump());
            folder.write("config.json", Json{{"model_type", model}}.dump());
            return encode(*folder.load(), text);
        };
        using Ids = std::vector<std::int32_t>;
        QCOMPARE(ids_of(cased, "BertTokenizer", "modernbert", "Cafe cafe"), (Ids{2, 1, 12, 3}));
        QCOMPARE(ids_of(cased, "BertTokenizer", "bert", "Cafe cafe"), (Ids{2, 12, 12, 3}));
        QCOMPARE(ids_of(bytes, "RobertaTokenizer", "modernbert", "a a"), (Ids{2, 2}));
        QCOMPARE(ids_of(bytes, "RobertaTokenizer", "roberta", "a a"), (Ids{0, 2}));
    }
    void extra_special_tokens_with_names_are_read_from_either_file() {
        for (const char* file : {"tokenizer_config.json", "special_tokens_map.json"}) {
            TokenizerFolder folder;
            folder.write(file, R"({"extra_special_tokens": {"image": "[X1]", "video": "[X2]"}})");
            const auto tokenizer = folder.load();
            QVERIFY(tokenizer->piece_to_id("[X1]") == 17 && tokenizer->piece_to_id("[X2]") == 18);
        }
    }
    void a_sequence_of_post_processors_has_one_that_adds_tokens() {
        Json json = small_tokenizer_json();
        const Json own = json["post_processor"], bytes = {{"type", "ByteLevel"}, {"trim_offsets", true}};
        json["post_processor"] = {{"type", "Sequence"}, {"processors", {bytes, own, bytes}}};
        QCOMPARE(encode(*TokenizerFolder(json).load(), "a"), (std::vector<std::int32_t>{2, 8, 3}));
        json["post_processor"]["processors"].push_back(own);
        EXPECT_ERROR(TokenizerFolder(json).load(), "tokenizer.json", "two post_processors", "TemplateProcessing");
    }
    void broken_members_are_named() {
        EXPECT_ERROR(load_changed([](Json& json) { json.erase("model"); }), "tokenizer.json", "'model'");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["vocab"] = Json::array({1}); }), "model.vocab");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["vocab"] = Json::object(); }), "model.vocab", "empty");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["vocab"]["un"] = -5; }), "id of 'un'");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["vocab"]["un"] = 1e30; }), "id of 'un'");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["vocab"]["un"] = 4294967296; }), "id of 'un'");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["unk_token"] = "[NONE]"; }), "unknown token '[NONE]'");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["unk_token"] = 7; }), "unk_token", "wrong type");
        EXPECT_ERROR(load_changed([](Json& json) { json["model"]["max_input_chars_per_word"] = -1; }), "max_input_chars_per_word");
        EXPECT_ERROR(load_changed([](Json& json) { json["added_tokens"] = "x"; }), "added_tokens");
        EXPECT_ERROR(load_changed([](Json& json) { json["added_tokens"][0].erase("content"); }), "content");
        EXPECT_ERROR(load_changed([](Json& json) { json["post_processor"]["special_tokens"].erase("[SEP]"); }), "no ids for '[SEP]'");
        EXPECT_ERROR(load_changed([](Json& json) { json["post_processor"]["single"].erase(1); }), "0 times");
        EXPECT_ERROR(load_changed([](Json& json) { json["post_processor"]["single"][1] = 3; }), "neither Sequence nor SpecialToken");
        EXPECT_ERROR(load_changed([](Json& json) { json["normalizer"]["lowercase"] = "yes"; }), "lowercase", "wrong type");
    }
    void a_torn_file_at_any_byte_is_an_error_with_a_place() {
        const std::string whole = small_tokenizer_json().dump(1);
        TokenizerFolder folder;
        for (std::size_t size = 0; size < whole.size(); size += 7) {
            folder.write("tokenizer.json", whole.substr(0, size));
            EXPECT_ERROR(folder.load(), "tokenizer.json:", "not valid JSON");
        }
        folder.write("tokenizer.json", "{\n  \"model\": nul\n}");
        EXPECT_ERROR(folder.load(), "tokenizer.json:2:");
    }
    void hostile_files_are_errors_or_harmless() {
        TokenizerFolder folder;
        folder.write("tokenizer.json", std::string(100'000, '['));
        EXPECT_ERROR(folder.load(), "tokenizer.json:", "not valid JSON");
        folder.write("tokenizer.json", "\xFF\xFE{}");
        EXPECT_ERROR(folder.load(), "not valid JSON");
        folder.write("tokenizer.json", "[1, 2]");
        EXPECT_ERROR(folder.load(), "'model'");
        Json json = small_tokenizer_json();
        json["model"]["max_input_chars_per_word"] = std::int64_t{1} << 62;
        json["model"]["continuing_subword_prefix"] = "";
        json["model"]["vocab"][""] = 40;
        json["model"]["vocab"]["sparse"] = 1'000'000'000;
        json["added_tokens"].push_back({{"id", 3}, {"content", ""}, {"special", true}});
        const auto tokenizer = TokenizerFolder(json).load();
        QCOMPARE(tokenizer->vocab_size(), std::size_t{1'000'000'001});
        QCOMPARE(encode(*tokenizer, std::string(200'000, 'a')).size(), std::size_t{200'002});
    }
    void a_vocabulary_file_is_checked() {
        TemporaryDirectory folder;
        const auto load = [&](std::string_view content) {
            write_file_atomic(folder.path() / "vocab.txt", content);
            return load_tokenizer(folder.path());
        };
        EXPECT_ERROR(load(""), "vocab.txt", "is empty");
        EXPECT_ERROR(load("a\nb\n"), "vocab.txt", "'[CLS]'");
        EXPECT_ERROR(load("[CLS]\n[SEP]\n"), "vocab.txt", "'[UNK]'");
        EXPECT_ERROR(load("[UNK]\n[CLS]\n[SEP]\n\xFF\n"), "vocab.txt", "UTF-8");
        const auto tokenizer = load("[UNK]\r\n[CLS]\r\n[SEP]\r\nhello");
        QCOMPARE(encode(*tokenizer, "Hello [SEP] x"), (std::vector<std::int32_t>{1, 3, 2, 0, 2}));
    }
    void a_vocabulary_file_takes_its_flags_from_the_configuration() {
        TemporaryDirectory folder;
        write_file_atomic(folder.path() / "vocab.txt", "<u>\n<s>\n</s>\nÉa\nea\n");
        const auto load = [&](std::string_view config) {
            write_file_atomic(folder.path() / "tokenizer_config.json", config);
            return load_tokenizer(folder.path());
        };
        const std::string names = R"("unk_token": "<u>", "cls_token": {"content": "<s>"}, "sep_token": "</s>")";
        QCOMPARE(encode(*load("{" + names + R"(, "do_lower_case": false})"), "Éa"), (std::vector<std::int32_t>{1, 3, 2}));
        QCOMPARE(encode(*load("{" + names + "}"), "Éa </s>"), (std::vector<std::int32_t>{1, 4, 2, 2}));
        EXPECT_ERROR(load("{" + names + R"(, "do_lower_case": 1})"), "tokenizer_config.json", "do_lower_case");
    }
};

FACETER_TEST(TestTokenizerFiles)
#include "test_tokenizer_files.moc"
