#include "checkpoint/model_folder.h"

#include <algorithm>
#include <array>

#include "checkpoint/folder_modules.h"
#include "checkpoint/hub.h"
#include "checkpoint/module_members.h"
#include "checkpoint/rotary_scaling.h"
#include "checkpoint/tokenizer_folder.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_config_bytes = 4u << 20;
constexpr const char* export_record_file = "faceter_export.json";
constexpr std::array similarity_names = {"cosine", "dot", "euclidean", "manhattan"};

Json read_config(const fs::path& path) {
    Json json = read_json(path, max_config_bytes);
    if (!json.is_object()) throw data_error("{}: is not a JSON object", path.string());
    return json;
}

/// A folder named inside a file: relative, and lexically inside; symbolic links in it are how the Hugging Face cache works.
fs::path inner_folder(const fs::path& folder, const std::string& name, const fs::path& source) {
    const fs::path path(name);
    const bool leaves = path.is_absolute() || std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
    if (std::any_of(path.begin(), path.end(), [](const fs::path& part) { return part.native().size() > 255; }) || name.size() > 2048)
        throw data_error("{}: a path of {} bytes, longer than a file's name can be", source.string(), name.size());
    if (leaves || name.find('\0') != std::string::npos)
        throw data_error("{}: the path {} leaves the folder", source.string(), faceter::quoted(name));
    return name.empty() ? folder : folder / path;
}

/// "sentence_transformers.models.Pooling", "sentence_transformers.sentence_transformer.modules.pooling.Pooling" -> "Pooling".
std::string class_name(const std::string& type) { return type.substr(type.rfind('.') == std::string::npos ? 0 : type.rfind('.') + 1); }

/// The released jina-embeddings-v3 names a Transformer of its own.
bool is_of_jina(const std::string& type) { return type.ends_with("custom_st.Transformer"); }

/// Of a module of modules.json. What another's class of that name computes is not known here.
std::string kind_of_module(const std::string& type, const fs::path& path) {
    if (!type.starts_with("sentence_transformers.") && !is_of_jina(type))
        throw data_error(
            "{}: the module {} is code of the model's own, and none of sentence-transformers; what it computes is not known here",
            path.string(), faceter::quoted(type));
    return class_name(type);
}

/// Pooling by one mode, in the spelling of sentence-transformers 5.2 and later.
Pooling pooling_of_mode(const std::string& mode, const fs::path& source) {
    constexpr std::pair<std::string_view, Pooling> modes[] = {{"mean", Pooling::mean},
                                                              {"cls", Pooling::cls},
                                                              {"lasttoken", Pooling::last_token},
                                                              {"max", Pooling::max},
                                                              {"mean_sqrt_len_tokens", Pooling::mean_sqrt_length},
                                                              {"weightedmean", Pooling::weighted_mean}};
    for (const auto& [name, pooling] : modes)
        if (mode == name) return pooling;
    throw data_error("{}: pooling {} is not supported; mean, cls, lasttoken, max, mean_sqrt_len_tokens and weightedmean are",
                     source.string(), faceter::quoted(mode));
}

/// The mode of a pooling configuration: "pooling_mode" (a name or a list), else the older flags; mean where none is set.
std::string pooling_mode(const Json& config, const fs::path& source) {
    std::vector<std::string> modes;
    if (config.contains("pooling_mode")) {
        const Json& mode = config["pooling_mode"];
        if (mode.is_string()) return mode;
        modes = json_at<std::vector<std::string>>(config, "pooling_mode", source.string());
    } else {
        for (const auto& [key, mode] :
             std::initializer_list<std::pair<const char*, const char*>>{{"pooling_mode_cls_token", "cls"},
                                                                        {"pooling_mode_max_tokens", "max"},
                                                                        {"pooling_mode_mean_tokens", "mean"},
                                                                        {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                                                                        {"pooling_mode_weightedmean_tokens", "weightedmean"},
                                                                        {"pooling_mode_lasttoken", "lasttoken"}})
            if (json_or(config, key, false, source.string())) modes.emplace_back(mode);
    }
    if (modes.size() > 1)
        throw data_error("{}: several pooling modes joined ({}) are not supported; choose a model with one", source.string(),
                         join(modes, ", "));
    return modes.empty() ? "mean" : modes[0];
}

/// The releases whose instructions sentence-transformers leaves out of pooling by their names, whatever their files say
/// (SentenceTransformer.__init__).
bool is_released_instructor(const fs::path& folder) {
    constexpr std::array<std::string_view, 3> releases = {"hkunlp/instructor-base", "hkunlp/instructor-large", "hkunlp/instructor-xl"};
    return std::find(releases.begin(), releases.end(), HubModel::name_of(folder)) != releases.end();
}

void read_pooling(const fs::path& folder, ModelFolder& model) {
    const fs::path path = folder / "config.json";
    const Json config = read_config(path);
    model.pooling = pooling_of_mode(pooling_mode(config, path), path);
    model.include_prompt = json_or(config, "include_prompt", true, path.string()) && !is_released_instructor(model.folder);
}

/// What is no path of torch's sentence-transformers runs only where it is told to trust it, and else takes Tanh in its place.
bool has_tanh(const Json& config, const std::string& path) {
    const auto activation = json_or<std::string>(config, "activation_function", "torch.nn.modules.activation.Tanh", path);
    const std::string name = activation.starts_with("torch.") ? class_name(activation) : "";
    if (name != "Tanh" && name != "Identity")
        throw data_error("{}: activation_function {} is not supported; torch's Tanh and Identity are", path, faceter::quoted(activation));
    return name == "Tanh";
}

DenseModule read_dense(const fs::path& folder, const std::string& module) {
    const fs::path path = folder / "config.json";
    const Json config = read_config(path);
    refuse_foreign_dense(config, path.string());
    DenseModule dense;
    dense.name = module;
    dense.in_features = json_at<std::int64_t>(config, "in_features", path.string());
    dense.out_features = json_at<std::int64_t>(config, "out_features", path.string());
    dense.bias = json_or(config, "bias", true, path.string());
    dense.tanh = has_tanh(config, path.string());
    constexpr std::int64_t largest = 1 << 20;
    if (dense.in_features < 1 || dense.in_features > largest || dense.out_features < 1 || dense.out_features > largest)
        throw data_error("{}: a layer from {} to {} features; 1 to {} were expected", path.string(), dense.in_features, dense.out_features,
                         largest);
    return dense;
}

/// Released folders have nothing there, later ones a configuration.
void read_normalize(const fs::path& folder, ModelFolder& model) {
    model.normalize = true;
    if (const fs::path path = folder / "config.json"; folder != model.folder && fs::exists(path))
        refuse_foreign_normalize(read_config(path), path.string());
}

/// modules.json: Transformer, Pooling, perhaps Dense ones, perhaps Normalize, in this order. Returns whether the Transformer is jina's.
bool read_modules(const fs::path& path, ModelFolder& model) {
    const Json modules = read_json(path, max_config_bytes);
    if (!modules.is_array()) throw data_error("{}: is not a list of modules", path.string());
    std::vector<std::string> kinds;
    bool known = true, of_jina = false;
    for (const Json& module : modules) {
        const auto type = json_at<std::string>(module, "type", path.string());
        if (type == own_module_type) {
            model.only_faceter = true;
            continue;
        }
        const std::string kind = kind_of_module(type, path);
        of_jina = of_jina || is_of_jina(type);
        const std::string name = json_or(module, "path", std::string(), path.string());
        const fs::path folder = inner_folder(model.folder, name, path);
        const std::size_t place = kinds.size();
        known = known && (place == 0   ? kind == "Transformer"
                          : place == 1 ? kind == "Pooling"
                                       : !model.normalize && (kind == "Dense" || kind == "Normalize"));
        if (kind == "Transformer") model.encoder_folder = folder;
        if (kind == "Pooling") read_pooling(folder, model);
        if (kind == "Dense" && known) model.dense.push_back(read_dense(folder, name));
        if (kind == "Normalize") read_normalize(folder, model);
        kinds.push_back(kind);
    }
    if (!known || kinds.size() < 2)
        throw data_error(
            "{}: the modules {} are not supported; Transformer, Pooling, perhaps Dense and perhaps Normalize, in this order, are",
            path.string(), faceter::quoted(join(kinds, ", ")));
    return of_jina;
}

/// 0 where none is named.
std::size_t named_length(const Json& config, const std::string& name) {
    if (json_or<Json>(config, "max_seq_length", Json(), name).is_null()) return 0;
    const auto tokens = json_at<std::size_t>(config, "max_seq_length", name);
    if (tokens == 0)
        throw data_error(
            "{}: max_seq_length is 0, which leaves nothing of a text; name the longest text in tokens, or null for as many as the model "
            "has positions for",
            name);
    return tokens;
}

void require_jina(const ModelFolder& model, bool of_jina, const std::string& config_name) {
    if (of_jina && !model.config.contains("lora_adaptations"))
        throw data_error(
            "{}: modules.json names custom_st.Transformer, code of the model's own, and this is no jina-embeddings-v3 (lora_adaptations); "
            "what it computes is not known here",
            config_name);
}

void read_sentence_config(ModelFolder& model, std::size_t& max_seq_length) {
    for (const char* kind : {"bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"}) {
        const fs::path path = model.encoder_folder / fmt::format("sentence_{}_config.json", kind);
        if (!fs::exists(path)) continue;
        const Json config = read_config(path);
        refuse_foreign_transformer(config, path.string());
        max_seq_length = named_length(config, path.string());
        model.lowercase_first = json_or(config, "do_lower_case", false, path.string());
        return;
    }
}

/// Of a folder that does not say it, as sentence-transformers takes it (SentenceTransformer._load_default_modules): language models that
/// read forwards know most at their last token, all others are averaged.
Pooling usual_pooling(const Json& config, const std::string& name) {
    const auto architectures = json_or<std::vector<std::string>>(config, "architectures", {}, name);
    const bool language_model = !architectures.empty() && architectures.front().ends_with("ForCausalLM");
    return language_model && json_or(config, "is_causal", true, name) ? Pooling::last_token : Pooling::mean;
}

/// The length that the tokenizer's configuration gives ("max_len" in old files); 0 where it gives none (1e30 means none).
std::size_t tokenizer_length(const ModelFolder& model) {
    const fs::path path = model.encoder_folder / "tokenizer_config.json";
    if (!fs::exists(path)) return 0;
    const Json config = read_config(path);
    const double length = json_or(config, config.contains("model_max_length") ? "model_max_length" : "max_len", 0.0, path.string());
    return length >= 1 && length < 1e9 ? static_cast<std::size_t>(length) : 0;
}

/// How many tokens the model has positions for; 0 where it has no such limit. RoBERTa's positions start behind the padding id.
std::size_t num_positions(const ModelFolder& model, const std::string& name) {
    const char* key = model.model_type == "nomic_bert" && model.config.contains("n_positions") ? "n_positions" : "max_position_embeddings";
    const std::int64_t positions = json_or(model.config, key, std::int64_t{0}, name);
    if (positions <= 0) return 0;
    const bool offset = model.model_type == "roberta" || model.model_type == "xlm-roberta" || model.model_type == "camembert" ||
                        model.model_type == "mpnet";
    const std::int64_t pad = model.model_type == "mpnet" ? 1 : json_or(model.config, "pad_token_id", std::int64_t{1}, name);
    const std::int64_t usable = offset ? positions - std::clamp<std::int64_t>(pad, -1, positions - 1) - 1 : positions;
    return static_cast<std::size_t>(usable);
}

/// Whether positions are rows of a table, behind which there is nothing; rotary ones and distances go on.
bool has_position_table(const ModelFolder& model, const std::string& config_name) {
    constexpr std::string_view types[] = {"bert", "roberta", "xlm-roberta", "camembert", "distilbert", "mpnet"};
    if (model.model_type == "deberta-v2") return json_or<bool>(model.config, "position_biased_input", true, config_name);
    return std::find(std::begin(types), std::end(types), model.model_type) != std::end(types);
}

/// A length that is named counts as in sentence-transformers, also beyond what rotary positions were trained for.
void read_lengths(ModelFolder& model, const std::string& config_name) {
    std::size_t length = 0;
    read_sentence_config(model, length);
    const bool named = length != 0;
    if (length == 0) length = tokenizer_length(model);
    const std::size_t positions = num_positions(model, config_name);
    const bool goes_on = named && (grows_with_length(model.config) || !has_position_table(model, config_name));
    if (positions != 0 && !goes_on) length = length == 0 ? positions : std::min(length, positions);
    if (length != 0) model.max_seq_length = length;
}

/// jina-embeddings-v3's release says in config.json as well what stands in front of the texts of a task.
void read_task_instructions(ModelFolder& model, const std::string& config_name) {
    if (!model.prompts.empty()) return;
    const Json prompts = json_or(model.config, "task_instructions", Json::object(), config_name);
    if (!prompts.is_object()) throw data_error("{}: task_instructions is not an object", config_name);
    for (const auto& [name, prompt] : prompts.items()) model.prompts[name] = json_at<std::string>(prompts, name, config_name);
}

/// sentence-transformers gives a model empty prompts "query" and "document" where it has none, and where a prompt is null.
bool is_empty_prompt(const std::string& name, const ModelFolder& model, const Json& prompts) {
    return !model.prompts.contains(name) && (name == "query" || name == "document" || prompts.contains(name));
}

void read_prompts(ModelFolder& model) {
    const fs::path path = model.folder / "config_sentence_transformers.json";
    if (!fs::exists(path)) return;
    const Json config = read_config(path);
    refuse_truncation(config, path.string());
    if (const auto type = json_or<std::string>(config, "model_type", "SentenceTransformer", path.string()); type != "SentenceTransformer")
        throw data_error("{}: the folder is of a {}, whose modules do not make the embeddings of a SentenceTransformer", path.string(),
                         faceter::quoted(type));
    const Json prompts = json_or(config, "prompts", Json::object(), path.string());
    if (!prompts.is_object()) throw data_error("{}: prompts is not an object", path.string());
    for (const auto& [name, prompt] : prompts.items())
        if (!prompt.is_null()) model.prompts[name] = json_at<std::string>(prompts, name, path.string());
    model.default_prompt = json_or(config, "default_prompt_name", std::string(), path.string());
    if (is_empty_prompt(model.default_prompt, model, prompts)) model.default_prompt.clear();
    if (!model.default_prompt.empty()) model.prompt(model.default_prompt);
    const std::string similarity = json_or(config, "similarity_fn_name", std::string("cosine"), path.string());
    const auto found = std::find(similarity_names.begin(), similarity_names.end(), similarity);
    if (found == similarity_names.end())
        throw data_error("{}: similarity_fn_name {} is unknown; cosine, dot, euclidean and manhattan are known", path.string(),
                         faceter::quoted(similarity));
    model.similarity = static_cast<Similarity>(found - similarity_names.begin());
}

/// Names of the folders right below that hold such a file, in order.
std::vector<std::string> folders_with(const fs::path& folder, const char* file) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
        if (fs::exists(entry.path() / file, ignored)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// Exports that are no model by themselves: a folder a task, and adapters beside their base.
void refuse_export_of_several(const fs::path& folder) {
    if (const auto tasks = folders_with(folder, export_record_file); !tasks.empty())
        throw data_error("{}: is an export with a folder for each task; name one of them: {}", folder.string(), join(tasks, ", "));
    if (const auto adapters = folders_with(folder, "adapter_config.json"); !adapters.empty() && fs::exists(folder / export_record_file))
        throw data_error("{}: is an export for PEFT, adapters ({}) beside their base; name {} for the base alone, or the run for both",
                         folder.string(), join(adapters, ", "), (folder / "base").string());
}

[[noreturn]] void throw_no_model(const fs::path& config) {
    const fs::path adapter = config.parent_path() / "adapter_config.json";
    refuse_export_of_several(config.parent_path());
    if (!fs::exists(adapter)) throw data_error("{}: is missing; a Hugging Face model folder has one", config.string());
    throw data_error(
        "{}: the folder is an adapter of {} and no model by itself; merge it into that model (PEFT's merge_and_unload(), then "
        "save_pretrained()) and name the result",
        adapter.string(), faceter::quoted(json_or<std::string>(read_config(adapter), "base_model_name_or_path", "?", adapter.string())));
}

/// Whether transformers puts such an adapter onto the weights beside it depends on whether PEFT is installed.
void refuse_adapter_beside(const fs::path& folder) {
    const fs::path adapter = folder / "adapter_config.json";
    if (fs::exists(adapter))
        throw data_error(
            "{}: an adapter lies beside the model's own weights, which transformers puts onto them where PEFT is installed, and which is "
            "not read here; merge it into them (PEFT's merge_and_unload(), then save_pretrained() into another folder) and name the "
            "result, or take it out where the model is meant without it",
            adapter.string());
}

/// Whose modules.json counts for a folder: its own, or that of the folder above where its tokenizer lies.
fs::path home_of(const fs::path& folder) {
    const fs::path home = tokenizer_home(folder);
    const bool own = fs::exists(folder / "modules.json") || !fs::exists(folder / "config.json");
    return own || !fs::exists(home / "modules.json") || fs::exists(home / model_description_file) ? folder : home;
}

/// Back from the folder above: only what lies beside the configuration is of the model's own layout or state.
void return_to(const fs::path& folder, ModelFolder& model) {
    if (model.encoder_folder != model.folder || !model.dense.empty())
        throw data_error(
            "{}: has weights alone, and the model in {} keeps its parts in folders of their own; copy what is missing beside them",
            folder.string(), model.folder.string());
    model.folder = model.encoder_folder = folder;
}

/// "encoder.layer.1.experts.0.intermediate.dense.weight": a task's expert, beside its dense block.
bool is_of_task_expert(const std::string& tensor) {
    constexpr std::string_view part = ".experts.";
    const std::size_t at = tensor.find(part);
    const char next = at == std::string::npos ? '\0' : tensor.c_str()[at + part.size()];
    return next >= '0' && next <= '9';
}

/// A file that our folder was copied without: what is left of it would be read as another model.
void require_own_files(const fs::path& folder, const fs::path& modules, const ModelFolder& model) {
    if (model.description && !fs::exists(modules))
        throw data_error(
            "{}: is missing, and {} is there; a model of Faceter has both, and without it would be read with another pooling and length. "
            "Copy the folder whole, or export the run again",
            modules.string(), model_description_file);
    if (!model.only_faceter || model.description) return;
    const std::vector<std::string> names = Weights(model.weight_files).names();
    const bool experts = std::any_of(names.begin(), names.end(), is_of_task_expert);
    if (experts || fs::exists(folder / "adapters" / "0" / "adapter_config.json"))
        throw data_error(
            "{}: is missing; it says which of the {} in the folder belong to which task, and without it all texts would pass the model "
            "without them. Copy the folder whole, or export the run again",
            (folder / model_description_file).string(), experts ? "experts" : "adapters");
}

}  // namespace

std::string_view pooling_name(Pooling pooling) {
    constexpr std::array<std::string_view, 6> names{"mean", "cls", "last_token", "max", "mean_sqrt_length", "weighted_mean"};
    return names[static_cast<std::size_t>(pooling)];
}

std::string_view similarity_name(Similarity similarity) { return similarity_names[static_cast<std::size_t>(similarity)]; }

ModelFolder ModelFolder::open(const std::filesystem::path& folder) {
    if (!fs::is_directory(folder)) throw data_error("{}: is not a folder; a Hugging Face model folder was expected", folder.string());
    ModelFolder model;
    model.folder = model.encoder_folder = home_of(folder);
    const bool elsewhere = model.folder != folder;
    const fs::path modules = model.folder / "modules.json";
    const bool of_jina = fs::exists(modules) && read_modules(modules, model);
    const fs::path config = (elsewhere ? folder : model.encoder_folder) / "config.json";
    if (!fs::exists(config)) throw_no_model(config);
    refuse_adapter_beside(config.parent_path());
    model.config = read_config(config);
    model.model_type = json_at<std::string>(model.config, "model_type", config.string());
    require_jina(model, of_jina, config.string());
    if (!fs::exists(modules)) model.pooling = usual_pooling(model.config, config.string());
    model.weight_files = find_weight_files(config.parent_path());
    read_lengths(model, config.string());
    read_prompts(model);
    read_task_instructions(model, config.string());
    if (elsewhere) return_to(folder, model);
    model.description = ModelDescription::read(folder);
    require_own_files(folder, modules, model);
    return model;
}

ModelFolder open_modules(const std::filesystem::path& folder) {
    ModelFolder model;
    model.folder = model.encoder_folder = folder;
    const bool of_jina = read_modules(folder / "modules.json", model);
    const fs::path config = model.encoder_folder / "config.json";
    model.config = read_config(config);
    model.model_type = json_at<std::string>(model.config, "model_type", config.string());
    require_jina(model, of_jina, config.string());
    read_lengths(model, config.string());
    read_prompts(model);
    return model;
}

TokenizerFolder TokenizerFolder::find(const std::filesystem::path& folder) {
    ModelFolder model;
    model.folder = model.encoder_folder = folder;
    if (const fs::path modules = folder / "modules.json"; fs::exists(modules))
        for (const Json& module : read_json(modules, max_config_bytes))
            if (class_name(json_at<std::string>(module, "type", modules.string())) == "Transformer")
                model.encoder_folder = inner_folder(folder, json_or(module, "path", std::string(), modules.string()), modules);
    std::size_t length = 0;
    read_sentence_config(model, length);
    return {tokenizer_home(model.encoder_folder), model.lowercase_first};
}

Weights ModelFolder::weights() const {
    Weights all(weight_files);
    const auto inside = [&](const std::string& ending) {  // a run with an encoder a task keeps everything in one file
        return std::any_of(all.names().begin(), all.names().end(), [&](const std::string& name) { return name.ends_with(ending); });
    };
    for (const DenseModule& module : dense)
        if (!inside(module.name + ".linear.weight"))
            for (const fs::path& file : find_weight_files(folder / module.name)) all.add(file, module.name + ".");
    return all;
}

const std::string& ModelFolder::prompt(const std::string& name) const {
    const auto found = prompts.find(name);
    if (found != prompts.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, text] : prompts) known.push_back(key);
    throw data_error("{}: the model has no prompt named {}{}", folder.string(), faceter::quoted(name), suggestion(name, known));
}

}  // namespace faceter
