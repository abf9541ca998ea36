#include "checkpoint/model_folder.h"

#include "checkpoint/safetensors.h"
#include "checkpoint/tokenizer_folder.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A model folder of nothing but the files that say what it is, and one tensor.
class FolderOnDisk {
  public:
    FolderOnDisk() {
        write("config.json", {{"model_type", "bert"}, {"hidden_size", 8}, {"max_position_embeddings", 128}});
        const float value = 1;
        SafetensorsWriter writer;
        writer.add("w", DType::f32, {1}, &value);
        writer.write(path() / "model.safetensors");
    }
    void write(const std::string& name, const Json& json) {
        make_directories((path() / name).parent_path());
        write_file_atomic(path() / name, json.dump());
    }
    void write_modules(std::initializer_list<std::pair<std::string, std::string>> modules) {
        Json list = Json::array();
        for (const auto& [type, folder] : modules)
            list.push_back({{"idx", list.size()}, {"name", std::to_string(list.size())}, {"path", folder}, {"type", type}});
        write("modules.json", list);
    }
    /// modules.json with a pooling of that configuration.
    void write_pooling(const Json& config) {
        write_modules({{"sentence_transformers.models.Transformer", ""}, {"sentence_transformers.models.Pooling", "1_Pooling"}});
        write("1_Pooling/config.json", config);
    }
    const fs::path& path() const { return folder_.path(); }
    ModelFolder open() const { return ModelFolder::open(path()); }

  private:
    TemporaryDirectory folder_;
};

}  // namespace

class TestModelFolder : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void minilm_says_what_it_is() {
        NEED_MINILM();
        const ModelFolder model = ModelFolder::open(minilm_folder());
        QCOMPARE(model.model_type, std::string("bert"));
        QCOMPARE(model.max_seq_length, std::size_t{256});
        QVERIFY(model.pooling == Pooling::mean && model.normalize && model.include_prompt && !model.lowercase_first);
        QVERIFY(model.prompts.empty() && model.default_prompt.empty() && model.similarity == Similarity::cosine);
        QCOMPARE(model.weight_files.size(), std::size_t{1});
    }
    void a_plain_folder_is_mean_pooling_without_normalisation() {
        FolderOnDisk folder;
        const ModelFolder model = folder.open();
        QVERIFY(model.pooling == Pooling::mean && !model.normalize);
        QCOMPARE(model.max_seq_length, std::size_t{128});
        folder.write("tokenizer_config.json", {{"model_max_length", 1e30}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{128});
        folder.write("tokenizer_config.json", {{"model_max_length", 100}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{100});
        folder.write("tokenizer_config.json", {{"max_len", 90}});  // as transformers reads old files
        QCOMPARE(folder.open().max_seq_length, std::size_t{90});
        folder.write("tokenizer_config.json", {{"model_max_length", 100}, {"max_len", 90}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{100});
        folder.write("sentence_bert_config.json", {{"max_seq_length", 64}, {"do_lower_case", true}});
        QVERIFY(folder.open().max_seq_length == 64 && folder.open().lowercase_first);
        folder.write("sentence_bert_config.json", {{"max_seq_length", 5000}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{128});  // there are no more positions
    }
    void a_plain_folder_of_a_language_model_is_last_token_pooling_unless_it_reads_both_ways() {
        FolderOnDisk folder;
        Json config = {{"model_type", "qwen3"}, {"architectures", {"Qwen3ForCausalLM"}}, {"max_position_embeddings", 128}};
        folder.write("config.json", config);
        QVERIFY(folder.open().pooling == Pooling::last_token);
        config["is_causal"] = false;
        folder.write("config.json", config);
        QVERIFY(folder.open().pooling == Pooling::mean);
        config["architectures"] = {"Qwen3Model"};
        config.erase("is_causal");
        folder.write("config.json", config);
        QVERIFY(folder.open().pooling == Pooling::mean);
        config["architectures"] = {"Qwen3ForCausalLM"};
        folder.write("config.json", config);
        folder.write_pooling({{"pooling_mode_mean_tokens", true}});
        QVERIFY(folder.open().pooling == Pooling::mean);
    }
    void roberta_has_two_positions_less_than_it_says() {
        FolderOnDisk folder;
        folder.write("config.json", {{"model_type", "xlm-roberta"}, {"max_position_embeddings", 514}, {"pad_token_id", 1}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{512});
        folder.write("config.json", {{"model_type", "mpnet"}, {"max_position_embeddings", 514}, {"pad_token_id", 0}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{512});  // whose code counts from 1 whatever is said
    }
    void pooling_is_read_in_the_old_and_the_new_spelling() {
        FolderOnDisk folder;
        const auto pooling = [&](const Json& config) {
            folder.write_pooling(config);
            return folder.open().pooling;
        };
        QVERIFY(pooling({{"pooling_mode_cls_token", true}, {"pooling_mode_mean_tokens", false}}) == Pooling::cls);
        QVERIFY(pooling({{"pooling_mode_mean_tokens", true}}) == Pooling::mean);
        QVERIFY(pooling({{"pooling_mode_lasttoken", true}}) == Pooling::last_token);
        QVERIFY(pooling(Json::object()) == Pooling::mean);
        QVERIFY(pooling({{"embedding_dimension", 8}, {"pooling_mode", "cls"}}) == Pooling::cls);
        QVERIFY(pooling({{"pooling_mode", {"lasttoken"}}, {"pooling_mode_cls_token", true}}) == Pooling::last_token);
        QVERIFY(pooling({{"pooling_mode_max_tokens", true}}) == Pooling::max);
        QVERIFY(pooling({{"pooling_mode_weightedmean_tokens", true}}) == Pooling::weighted_mean);
        QVERIFY(pooling({{"pooling_mode", "mean_sqrt_len_tokens"}}) == Pooling::mean_sqrt_length);
        EXPECT_ERROR(pooling({{"pooling_mode", "median"}}), "1_Pooling/config.json", "'median'", "not supported");
        EXPECT_ERROR(pooling({{"pooling_mode", {"mean", "cls"}}}), "mean, cls");
        EXPECT_ERROR(pooling({{"pooling_mode", 3}}), "pooling_mode", "wrong type");
        folder.write_pooling({{"pooling_mode", "mean"}, {"include_prompt", false}});
        QVERIFY(!folder.open().include_prompt);
    }
    /// sentence_transformers/sentence_transformer/model.py: by their names on the hub.
    void instructors_releases_leave_the_instruction_out_whatever_their_files_say() {
        FolderOnDisk folder;
        folder.write_pooling({{"pooling_mode_mean_tokens", true}});
        QVERIFY(folder.open().include_prompt);
        const TemporaryDirectory hub;
        const auto include_prompt = [&](const std::string& name, const char* end) {
            const fs::path snapshot = hub.path() / ("models--" + name) / "snapshots/00ff";
            make_directories(snapshot.parent_path());
            fs::copy(folder.path(), snapshot, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
            return ModelFolder::open(snapshot.string() + end).include_prompt;
        };
        for (const char* name : {"hkunlp--instructor-base", "hkunlp--instructor-large", "hkunlp--instructor-xl"})
            QVERIFY(!include_prompt(name, "") && !include_prompt(name, "/"));
        QVERIFY(include_prompt("org--instructor-xl", "") && include_prompt("hkunlp--instructor", ""));
    }
    void modules_of_old_and_new_versions_are_known() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        folder.write_modules({{"sentence_transformers.base.modules.transformer.Transformer", ""},
                              {"sentence_transformers.sentence_transformer.modules.pooling.Pooling", "1_Pooling"},
                              {"sentence_transformers.base.modules.normalize.Normalize", "2_Normalize"}});
        QVERIFY(folder.open().normalize);
    }
    void the_encoder_may_lie_in_a_subfolder() {
        FolderOnDisk folder;
        folder.write_pooling(Json::object());
        folder.write_modules(
            {{"sentence_transformers.models.Transformer", "0_Transformer"}, {"sentence_transformers.models.Pooling", "1_Pooling"}});
        fs::create_directory(folder.path() / "0_Transformer");
        for (const char* file : {"config.json", "model.safetensors"})
            fs::rename(folder.path() / file, folder.path() / "0_Transformer" / file);
        QCOMPARE(folder.open().encoder_folder, folder.path() / "0_Transformer");
    }
    void weights_alone_take_what_they_lack_from_the_folder_above() {
        FolderOnDisk folder;
        folder.write_pooling({{"pooling_mode", "cls"}});
        folder.write_modules({{"sentence_transformers.models.Transformer", ""},
                              {"sentence_transformers.models.Pooling", "1_Pooling"},
                              {"sentence_transformers.models.Normalize", "2_Normalize"}});
        folder.write("config_sentence_transformers.json", {{"prompts", {{"query", "q: "}}}});
        folder.write("tokenizer.json", Json::object());
        const fs::path inner = folder.path() / "checkpoint-500";
        fs::create_directory(inner);
        for (const char* file : {"config.json", "model.safetensors"}) fs::copy_file(folder.path() / file, inner / file);
        const ModelFolder model = ModelFolder::open(inner);
        QVERIFY(model.pooling == Pooling::cls && model.normalize);
        QCOMPARE(model.prompt("query"), std::string("q: "));
        QCOMPARE(model.folder, inner);
        QCOMPARE(model.weight_files.at(0).parent_path(), inner);
        for (const fs::path& spelled : {inner, inner / ""}) QCOMPARE(TokenizerFolder::find(spelled).folder, folder.path());
        QVERIFY(remark_on_home(inner)->find(folder.path().string()) != std::string::npos);
        QVERIFY(!remark_on_home(folder.path()));
        fs::remove(folder.path() / "config.json");  // a folder that is no model's is not looked into
        QVERIFY(ModelFolder::open(inner).pooling == Pooling::mean);
    }
    void gemmas_tokenizer_that_transformers_reads_otherwise_is_said() {
        FolderOnDisk folder;
        const Json space = {{"String", " "}}, lower = {{"type", "Lowercase"}};
        const Json replace = {{"type", "Replace"}, {"pattern", space}, {"content", "\u2581"}};
        const Json split = {{"type", "Split"}, {"pattern", space}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
        Json tokenizer = {{"normalizer", replace}, {"pre_tokenizer", split}, {"model", {{"type", "BPE"}}}};
        const auto said = [&](const char* type, const char* named) {
            folder.write("config.json", {{"model_type", type}});
            folder.write("tokenizer_config.json", *named ? Json{{"tokenizer_class", named}} : Json::object());
            folder.write("tokenizer.json", tokenizer);
            return remark_on_steps(folder.path()).has_value();
        };
        QVERIFY(!said("gemma3_text", "") && !said("gemma3_text", "GemmaTokenizerFast"));
        tokenizer["pre_tokenizer"] = nullptr;
        QVERIFY(!said("gemma3_text", ""));
        tokenizer["normalizer"] = Json{{"type", "Sequence"}, {"normalizers", Json::array({lower, replace})}};
        QVERIFY(said("gemma3_text", "") && said("gemma3_text", "GemmaTokenizer") && said("llama", "GemmaTokenizer"));
        QVERIFY(!said("gemma3_text", "PreTrainedTokenizerFast") && !said("modernbert", "GemmaTokenizer"));
    }
    void a_tokenizer_that_transformers_reads_otherwise_is_said() {
        FolderOnDisk folder;
        const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
        Json tokenizer = {{"normalizer", nullptr}, {"pre_tokenizer", byte_level}, {"model", {{"type", "BPE"}}}};
        const auto said = [&](const char* type, const char* named) {
            folder.write("config.json", {{"model_type", type}});
            folder.write("tokenizer_config.json", *named ? Json{{"tokenizer_class", named}} : Json::object());
            folder.write("tokenizer.json", tokenizer);
            return remark_on_steps(folder.path()).has_value();
        };
        // The classes that transformers 5.23 takes for these; GPT-2's steps are those of the file, Qwen2's are not.
        for (const char* named : {"", "PreTrainedTokenizerFast", "Qwen2TokenizerFast", "GPT2Tokenizer"}) QVERIFY(said("qwen2", named));
        QVERIFY(said("qwen3", "") && said("qwen3", "Qwen2Tokenizer") && said("llama", "Qwen2TokenizerFast"));
        QVERIFY(!said("qwen3", "PreTrainedTokenizerFast") && !said("qwen3", "GPT2Tokenizer") && !said("llama", ""));
        QVERIFY(!said("mistral", "Qwen2Tokenizer") && !said("modernbert", "Qwen2Tokenizer") && !said("roberta", "RobertaTokenizer"));
        tokenizer["pre_tokenizer"]["use_regex"] = false;
        QVERIFY(said("roberta", "") && said("bert", "GPT2TokenizerFast") && !said("roberta", "PreTrainedTokenizerFast"));
        const std::string words =
            R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
        const Json split = {{"type", "Split"}, {"pattern", {{"Regex", words}}}, {"behavior", "Isolated"}, {"invert", false}};
        tokenizer["normalizer"] = {{"type", "NFC"}};
        tokenizer["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, tokenizer["pre_tokenizer"]}}};
        QVERIFY(!said("qwen2", "") && !said("qwen3", "Qwen2Tokenizer") && said("bert", "GPT2Tokenizer"));
    }
    void a_map_of_characters_beside_deberta_s_steps_is_said() {
        FolderOnDisk folder;
        Json own = Json::array({{{"type", "Replace"}, {"pattern", {{"Regex", R"(\s{2,}|[\n\r\t])"}}}, {"content", " "}},
                                {{"type", "NFC"}},
                                {{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}}});
        const auto said = [&](const Json& steps, const char* named) {
            folder.write("config.json", {{"model_type", "deberta-v2"}});
            folder.write("tokenizer_config.json", *named ? Json{{"tokenizer_class", named}} : Json::object());
            folder.write("tokenizer.json",
                         {{"normalizer", {{"type", "Sequence"}, {"normalizers", steps}}}, {"model", {{"type", "Unigram"}}}});
            return remark_on_steps(folder.path()).has_value();
        };
        QVERIFY(!said(own, "") && !said(own, "DebertaV2TokenizerFast"));
        Json of_transformers_4 = own;
        of_transformers_4.insert(of_transformers_4.begin() + 1, Json{{"type", "Precompiled"}, {"precompiled_charsmap", ""}});
        QVERIFY(said(of_transformers_4, "") && said(of_transformers_4, "DebertaV2Tokenizer"));
        QVERIFY(!said(of_transformers_4, "PreTrainedTokenizerFast"));
        own.insert(own.begin(), Json{{"type", "Lowercase"}});
        QVERIFY(!said(own, "DebertaV2Tokenizer"));
    }
    void spaces_that_llama_s_class_replaces_elsewhere_are_said() {
        FolderOnDisk folder;
        folder.write("config.json", {{"model_type", "llama"}});
        const Json replaced = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
        const Json old = {{"type", "Sequence"}, {"normalizers", Json::array({Json{{"type", "Prepend"}, {"prepend", "\u2581"}}, replaced})}};
        const auto said = [&](const Json& normalizer, const char* scheme, const Json& config) {
            const Json step = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", scheme}, {"split", false}};
            folder.write("tokenizer_config.json", config);
            folder.write("tokenizer.json",
                         {{"normalizer", normalizer}, {"pre_tokenizer", *scheme ? step : Json()}, {"model", {{"type", "BPE"}}}});
            return remark_on_steps(folder.path()).has_value();
        };
        const Json named = {{"tokenizer_class", "LlamaTokenizerFast"}}, legacy = {{"tokenizer_class", "LlamaTokenizer"}, {"legacy", true}};
        QVERIFY(!said({}, "first", named) && !said({}, "always", legacy));
        QVERIFY(said({}, "always", named) && said(old, "", named) && said(old, "", legacy));
        QVERIFY(!said(old, "", {{"tokenizer_class", "PreTrainedTokenizerFast"}}));
    }
    void steps_beside_those_of_bert_are_said() {
        FolderOnDisk folder;
        const Json own = {{"type", "BertPreTokenizer"}}, digits = {{"type", "Digits"}, {"individual_digits", true}};
        Json tokenizer = {{"normalizer", {{"type", "BertNormalizer"}}}, {"pre_tokenizer", own}, {"model", {{"type", "WordPiece"}}}};
        const auto said = [&](const char* type, const char* named) {
            folder.write("config.json", {{"model_type", type}});
            folder.write("tokenizer_config.json", *named ? Json{{"tokenizer_class", named}} : Json::object());
            folder.write("tokenizer.json", tokenizer);
            return remark_on_steps(folder.path()).has_value();
        };
        QVERIFY(!said("bert", "") && !said("distilbert", "DistilBertTokenizerFast") && !said("mpnet", ""));
        tokenizer["pre_tokenizer"] = Json{{"type", "Sequence"}, {"pretokenizers", Json::array({digits, own})}};
        QVERIFY(said("bert", "") && said("nomic_bert", "BertTokenizerFast") && said("distilbert", "") && said("mpnet", "MPNetTokenizer"));
        QVERIFY(!said("bert", "PreTrainedTokenizerFast") && !said("llama", "") && !said("modernbert", "BertTokenizer"));
        tokenizer["pre_tokenizer"] = own;
        tokenizer["normalizer"] = Json{{"type", "NFC"}};
        QVERIFY(said("bert", "BertTokenizer") && said("mpnet", ""));
    }
    void exports_that_are_no_model_by_themselves_say_what_to_name() {
        FolderOnDisk tasks, adapters, graphs;
        for (const FolderOnDisk* folder : {&tasks, &adapters}) fs::remove(folder->path() / "config.json");
        fs::remove(graphs.path() / "model.safetensors");
        for (const char* task : {"b.query/faceter_export.json", "a.document/faceter_export.json"}) tasks.write(task, Json::object());
        EXPECT_ERROR(tasks.open(), "is an export with a folder for each task; name one of them: a.document, b.query");
        adapters.write("faceter_export.json", Json::object());
        adapters.write("base/config.json", Json::object());
        adapters.write("news/adapter_config.json", Json::object());
        EXPECT_ERROR(adapters.open(), "is an export for PEFT, adapters (news) beside their base; name ", "/base for the base alone");
        graphs.write("onnx/model.onnx", Json::object());
        EXPECT_ERROR(graphs.open(), "holds its weights in ONNX graphs alone");
    }
    void an_adapter_by_itself_is_named() {
        FolderOnDisk folder;
        fs::remove(folder.path() / "config.json");
        EXPECT_ERROR(folder.open(), "config.json: is missing");
        folder.write("adapter_config.json", {{"peft_type", "LORA"}, {"base_model_name_or_path", "org/base"}});
        EXPECT_ERROR(folder.open(), "an adapter of 'org/base'", "merge it");
    }
    void an_adapter_beside_a_models_own_weights_is_refused() {
        FolderOnDisk folder;
        folder.write("retrieval/adapter_config.json", {{"peft_type", "LORA"}});  // of a task
        folder.open();
        folder.write("adapter_config.json", {{"peft_type", "LORA"}});
        EXPECT_ERROR(folder.open(), "/adapter_config.json: an adapter lies beside the model's own weights", "merge it");
    }
    void instructions_in_config_json_are_prompts_where_no_other_file_has_any() {
        FolderOnDisk folder;
        Json config = read_json(folder.path() / "config.json");
        config["task_instructions"] = {{"retrieval.query", "Find: "}, {"separation", ""}};
        folder.write("config.json", config);
        QCOMPARE(folder.open().prompt("retrieval.query"), std::string("Find: "));
        QCOMPARE(folder.open().prompts.size(), std::size_t{2});
        folder.write("config_sentence_transformers.json", {{"prompts", {{"query", "q: "}}}});
        QCOMPARE(folder.open().prompts.size(), std::size_t{1});
    }
    void modules_that_are_not_supported_are_named() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""},
                              {base + "Pooling", "1_Pooling"},
                              {base + "Normalize", "2_Normalize"},
                              {base + "Dense", "3_Dense"}});
        EXPECT_ERROR(folder.open(), "modules.json", "Normalize, Dense", "not supported");
        folder.write_modules({{base + "Transformer", ""}, {base + "Pooling", "1_Pooling"}, {base + "LayerNorm", "2"}});
        EXPECT_ERROR(folder.open(), "Transformer, Pooling, LayerNorm");
        folder.write_modules({{base + "Pooling", "1_Pooling"}, {base + "Transformer", ""}});
        EXPECT_ERROR(folder.open(), "'Pooling, Transformer'");
        folder.write_modules({{"my_own_code.Transformer2", ""}});
        EXPECT_ERROR(folder.open(), "Transformer2");
        folder.write("modules.json", Json::object());
        EXPECT_ERROR(folder.open(), "not a list of modules");
    }
    /// sentence-transformers runs such classes only where it is told to trust them.
    void a_module_of_the_models_own_code_is_none_of_the_same_name() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""}, {"custom_st.AttentionWeighted.Pooling", "1_Pooling"}});
        EXPECT_ERROR(folder.open(), "modules.json", "'custom_st.AttentionWeighted.Pooling' is code of the model's own");
        folder.write_modules({{base + "Transformer", ""}, {base + "Pooling", "1_Pooling"}, {"my_modules.Normalize", ""}});
        EXPECT_ERROR(folder.open(), "my_modules.Normalize");
        folder.write_modules({{"custom_st.Transformer", ""}, {base + "Pooling", "1_Pooling"}});
        EXPECT_ERROR(folder.open(), "config.json", "no jina-embeddings-v3");
        folder.write("config.json", {{"model_type", "bert"}, {"hidden_size", 8}, {"lora_adaptations", Json::array({"a"})}});
        QVERIFY(folder.open().pooling == Pooling::mean);
    }
    void a_folder_of_another_kind_of_model_is_refused() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        folder.write_modules({{"sentence_transformers.models.Transformer", ""}, {"sentence_transformers.models.Pooling", "1_Pooling"}});
        for (const char* type : {"SparseEncoder", "CrossEncoder"}) {
            folder.write("config_sentence_transformers.json", {{"model_type", type}});
            EXPECT_ERROR(folder.open(), "config_sentence_transformers.json", type);
        }
        folder.write("config_sentence_transformers.json", {{"model_type", "SentenceTransformer"}});
        folder.open();
    }
    void a_dense_module_behind_pooling_is_read_and_checked() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""},
                              {base + "Pooling", "1_Pooling"},
                              {base + "Dense", "2_Dense"},
                              {base + "Normalize", "3_Normalize"}});
        EXPECT_ERROR(folder.open(), "2_Dense/config.json");
        folder.write(
            "2_Dense/config.json",
            {{"in_features", 8}, {"out_features", 4}, {"bias", false}, {"activation_function", "torch.nn.modules.activation.ReLU"}});
        EXPECT_ERROR(folder.open(), "2_Dense/config.json", "ReLU", "Tanh and Identity");
        folder.write("2_Dense/config.json", {{"in_features", 0}, {"out_features", 4}});
        EXPECT_ERROR(folder.open(), "from 0 to 4 features");
        folder.write(
            "2_Dense/config.json",
            {{"in_features", 8}, {"out_features", 4}, {"bias", false}, {"activation_function", "torch.nn.modules.linear.Identity"}});
        const ModelFolder model = folder.open();
        QCOMPARE(model.dense.size(), std::size_t{1});
        QCOMPARE(model.dense[0].out_features, std::int64_t{4});
        QVERIFY(!model.dense[0].bias && !model.dense[0].tanh && model.normalize);
    }
    /// sentence-transformers takes Tanh in the place of a path that it does not trust.
    void an_activation_that_is_not_torchs_is_none_of_the_same_name() {
        FolderOnDisk folder;
        folder.write("1_Pooling/config.json", Json::object());
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""}, {base + "Pooling", "1_Pooling"}, {base + "Dense", "2_Dense"}});
        const auto opened = [&](const char* activation) {
            folder.write("2_Dense/config.json", {{"in_features", 8}, {"out_features", 4}, {"activation_function", activation}});
            return folder.open();
        };
        for (const char* activation : {"my_code.Identity", "Tanh", "torch_own.Tanh"})
            EXPECT_ERROR(opened(activation), "2_Dense/config.json", activation, "torch's Tanh and Identity");
        QVERIFY(opened("torch.nn.Tanh").dense[0].tanh && !opened("torch.nn.Identity").dense[0].tanh);
    }
    void what_modules_ask_for_beyond_what_is_computed_is_refused_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("asked");
        QTest::addColumn<QString>("named");
        const auto row = [](const char* file, const char* asked, const char* named) {
            QTest::addRow("%s %s", file, asked) << file << asked << named;
        };
        const char* dense = "2_Dense/config.json";
        row(dense, R"({"use_residual": true})", "use_residual true");
        row(dense, R"({"module_input_name": "token_embeddings"})", "module_input_name");
        row(dense, R"({"module_output_name": "token_embeddings"})", "module_output_name");
        row("3_Normalize/config.json", R"({"module_input_name": "token_embeddings"})", "sentence_embedding");
        const char* transformer = "sentence_bert_config.json";
        row(transformer, R"({"transformer_task": "fill-mask"})", "feature-extraction");
        row(transformer, R"({"module_output_name": "sentence_embedding"})", "token_embeddings");
        row(transformer, R"({"modality_config": {"text": {"method_output_name": "pooler_output"}}})", "last_hidden_state");
        row(transformer, R"({"modality_config": {"message": {"method": "forward"}}})", "modality_config");
        row(transformer, R"({"processing_kwargs": {"text": {"max_length": 7}}})", "processing_kwargs");
        row(transformer, R"({"query_length": 32})", "query_length 32");
        row(transformer, R"({"tokenizer_args": {"do_lower_case": false}})", "do_lower_case");
        row(transformer, R"({"model_kwargs": {"num_hidden_layers": 2}})", "num_hidden_layers");
        row("config_sentence_transformers.json", R"({"truncate_dim": 4})", "--prefix 4");
    }
    void what_modules_ask_for_beyond_what_is_computed_is_refused() {
        QFETCH(QString, file);
        QFETCH(QString, asked);
        QFETCH(QString, named);
        FolderOnDisk folder;
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""},
                              {base + "Pooling", "1_Pooling"},
                              {base + "Dense", "2_Dense"},
                              {base + "Normalize", "3_Normalize"}});
        const Json dense = {{"in_features", 8}, {"out_features", 4}};
        folder.write("1_Pooling/config.json", Json::object());
        folder.write("2_Dense/config.json", dense);
        folder.open();
        Json config = file.startsWith("2_Dense") ? dense : Json::object();
        config.update(parse_json(asked.toStdString(), "asked"));
        folder.write(file.toStdString(), config);
        const std::string where = file.toStdString(), what = named.toStdString();
        EXPECT_ERROR(folder.open(), where, what);
    }
    void what_newer_versions_write_of_a_plain_model_is_read() {
        FolderOnDisk folder;
        const std::string base = "sentence_transformers.models.";
        folder.write_modules({{base + "Transformer", ""}, {base + "Pooling", "1_Pooling"}, {base + "Normalize", "2_Normalize"}});
        folder.write("1_Pooling/config.json", {{"embedding_dimension", 8}, {"pooling_mode", "cls"}, {"include_prompt", true}});
        folder.write("2_Normalize/config.json",
                     {{"module_input_name", "sentence_embedding"}, {"module_output_name", "sentence_embedding"}});
        folder.write("sentence_bert_config.json",
                     {{"transformer_task", "feature-extraction"},
                      {"modality_config", {{"text", {{"method", "forward"}, {"method_output_name", "last_hidden_state"}}}}},
                      {"module_output_name", "token_embeddings"},
                      {"tokenizer_args", {{"padding_side", "left"}}},
                      {"model_args", Json::object()}});
        folder.write("config_sentence_transformers.json", {{"truncate_dim", nullptr}, {"similarity_fn_name", nullptr}});
        const ModelFolder model = folder.open();
        QVERIFY(model.normalize && model.pooling == Pooling::cls && model.similarity == Similarity::cosine);
    }
    void positions_that_grow_with_a_text_are_no_limit_to_a_length_that_is_named() {
        FolderOnDisk folder;
        Json config = {{"model_type", "llama"}, {"max_position_embeddings", 128}, {"rope_scaling", {{"type", "dynamic"}, {"factor", 2}}}};
        folder.write("config.json", config);
        QCOMPARE(folder.open().max_seq_length, std::size_t{128});
        folder.write("sentence_bert_config.json", {{"max_seq_length", 500}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{500});
    }
    void rotary_positions_go_on_where_a_length_is_named_as_in_sentence_transformers() {
        for (const char* type : {"llama", "mistral", "qwen2", "qwen3", "gemma3_text", "modernbert", "nomic_bert", "eurobert"}) {
            FolderOnDisk folder;
            folder.write("config.json", {{"model_type", type}, {"max_position_embeddings", 128}});
            QCOMPARE(folder.open().max_seq_length, std::size_t{128});
            folder.write("tokenizer_config.json", {{"model_max_length", 5000}});
            QCOMPARE(folder.open().max_seq_length, std::size_t{128});
            folder.write("sentence_bert_config.json", {{"max_seq_length", 500}});
            QCOMPARE(folder.open().max_seq_length, std::size_t{500});
        }
    }
    void distances_go_on_too_and_rows_of_a_table_do_not() {
        for (const bool has_table : {false, true}) {
            FolderOnDisk folder;
            folder.write("config.json",
                         {{"model_type", "deberta-v2"}, {"max_position_embeddings", 128}, {"position_biased_input", has_table}});
            folder.write("sentence_bert_config.json", {{"max_seq_length", 500}});
            QCOMPARE(folder.open().max_seq_length, std::size_t(has_table ? 128 : 500));
        }
    }
    void a_length_that_leaves_nothing_of_a_text_is_refused() {
        FolderOnDisk folder;
        folder.write("sentence_bert_config.json", {{"max_seq_length", 0}});
        EXPECT_ERROR(folder.open(), "sentence_bert_config.json", "max_seq_length is 0", "null");
        EXPECT_ERROR(TokenizerFolder::find(folder.path()), "sentence_bert_config.json", "max_seq_length is 0");
        folder.write("sentence_bert_config.json", {{"max_seq_length", -1}});
        EXPECT_ERROR(folder.open(), "sentence_bert_config.json", "max_seq_length", "-1");
        folder.write("sentence_bert_config.json", {{"max_seq_length", nullptr}});
        QCOMPARE(folder.open().max_seq_length, std::size_t{128});
    }
    void paths_in_modules_cannot_leave_the_folder() {
        for (const char* path : {"../1_Pooling", "/etc", "a/../../b"}) {
            FolderOnDisk folder;
            folder.write_modules({{"sentence_transformers.models.Transformer", path}});
            EXPECT_ERROR(folder.open(), "modules.json", path, "leaves the folder");
        }
    }
    void prompts_and_similarity_are_read() {
        FolderOnDisk folder;
        folder.write(
            "config_sentence_transformers.json",
            {{"prompts", {{"query", "query: "}, {"document", nullptr}}}, {"default_prompt_name", "query"}, {"similarity_fn_name", "dot"}});
        const ModelFolder model = folder.open();
        QCOMPARE(model.prompt("query"), std::string("query: "));
        QCOMPARE(model.default_prompt, std::string("query"));
        QVERIFY(model.similarity == Similarity::dot);
        EXPECT_ERROR(model.prompt("qery"), "'qery'", "query");
        folder.write("config_sentence_transformers.json", {{"default_prompt_name", "gone"}});
        EXPECT_ERROR(folder.open(), "'gone'");
        folder.write("config_sentence_transformers.json", {{"similarity_fn_name", "sine"}});
        EXPECT_ERROR(folder.open(), "'sine'", "cosine");
        folder.write("config_sentence_transformers.json", {{"prompts", {{"query", 3}}}});
        EXPECT_ERROR(folder.open(), "query", "wrong type");
    }
    /// sentence_transformers/base/model.py: every model has empty prompts of these names, and an empty one for null.
    void a_default_prompt_that_is_empty_is_none() {
        FolderOnDisk folder;
        for (const char* name : {"query", "document", "own"}) {
            Json prompts = Json::object();
            const auto opened = [&] {
                folder.write("config_sentence_transformers.json", {{"prompts", prompts}, {"default_prompt_name", name}});
                return folder.open();
            };
            if (name == std::string("own"))
                EXPECT_ERROR(opened(), "no prompt named 'own'");
            else
                QVERIFY(opened().default_prompt.empty());
            prompts[name] = nullptr;
            QVERIFY(opened().default_prompt.empty() && opened().prompts.empty());
            prompts[name] = "in front: ";
            QCOMPARE(opened().default_prompt, std::string(name));
        }
    }
    void a_folder_that_lacks_a_part_says_which() {
        FolderOnDisk folder;
        EXPECT_ERROR(ModelFolder::open(folder.path() / "none"), "none", "not a folder");
        fs::remove(folder.path() / "model.safetensors");
        EXPECT_ERROR(folder.open(), "has no weights");
        folder.write("config.json", {{"hidden_size", 8}});
        EXPECT_ERROR(folder.open(), "config.json", "model_type");
        fs::remove(folder.path() / "config.json");
        EXPECT_ERROR(folder.open(), "config.json", "is missing");
    }
    void torn_and_hostile_configurations_are_errors() {
        const std::string whole = R"({"model_type": "bert", "max_position_embeddings": 128})";
        FolderOnDisk folder;
        for (std::size_t size = 0; size < whole.size(); ++size) {
            write_file_atomic(folder.path() / "config.json", whole.substr(0, size));
            EXPECT_ERROR(folder.open(), "config.json");
        }
        write_file_atomic(folder.path() / "config.json", std::string(1'000'000, '['));
        EXPECT_ERROR(folder.open(), "config.json", "nested");
        std::string many = "{\"model_type\": \"bert\"";
        for (int i = 0; i < 200'000; ++i) many += ",\"k" + std::to_string(i) + "\":1";
        write_file_atomic(folder.path() / "config.json", many + "}");
        EXPECT_ERROR(folder.open(), "config.json", "20000 members");
        write_file_atomic(folder.path() / "config.json", std::string(5u << 20, ' ') + whole);
        EXPECT_ERROR(folder.open(), "config.json", "larger than");
    }
    void what_is_written_is_read_back_the_same() {
        NEED_SHARED();
        ModelFolder model = ModelFolder::open(shared_folder() / "fixtures/bert");
        model.pooling = Pooling::cls;
        model.prompts = {{"query", "query: "}};
        model.default_prompt = "query";
        model.similarity = Similarity::dot;
        model.max_seq_length = 33;
        model.include_prompt = false;
        TemporaryDirectory out;
        write_sentence_transformers_files(out.path(), model);
        fs::copy(model.weight_files[0], out.path() / "model.safetensors");
        const ModelFolder read = ModelFolder::open(out.path());
        QVERIFY(read.pooling == Pooling::cls && read.normalize == model.normalize && !read.include_prompt);
        QVERIFY(read.prompts == model.prompts && read.default_prompt == "query" && read.similarity == Similarity::dot);
        QCOMPARE(read.max_seq_length, std::size_t{33});
        QVERIFY(read.config == model.config);
        QCOMPARE(read_file(out.path() / "tokenizer.json"), read_file(model.folder / "tokenizer.json"));
    }
};

FACETER_TEST(TestModelFolder)
#include "test_model_folder.moc"
