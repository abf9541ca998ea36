#include "plugin/model_writer.h"

#include <algorithm>

#include "checkpoint/native_config.h"
#include "checkpoint/tokenizer_folder.h"
#include "model/model_shape.h"
#include "train/checkpoint.h"
#include "train/token_objective.h"

namespace faceter {
namespace {

bool has(const EmbeddingModel& model, auto&& of_block) {
    const auto& blocks = model.encoders.front()->blocks();
    return std::any_of(blocks.begin(), blocks.end(), of_block);
}

/// Code that comes with the start model's configuration, which knows NomicBERT's token-routed blocks.
bool brings_own_code(const ModelFolder& folder) { return folder.model_type == "nomic_bert" && folder.config.contains("auto_map"); }

std::string beyond_native_code(const EmbeddingModel& model) {
    const ModelFolder& folder = model.folder;
    return faceter::beyond_native_code(folder.model_type, model.encoders.front()->config(),
                                       std::max(model.max_length, folder.max_seq_length));
}

std::string beyond_native_tokenizer(const ModelFolder& folder) {
    const fs::path file = tokenizer_home(folder.encoder_folder) / "tokenizer.json";
    if (folder.model_type != "qwen2" || !fs::exists(file)) return "";
    return faceter::beyond_native_tokenizer(folder.model_type, tokenizer_rules(read_file(file), file.string()));
}

/// transformers computes in the type that config.json names, whatever the weights are kept in.
void set_type(Json& config, const std::vector<NamedTensor>& tensors) {
    const bool halved =
        std::any_of(tensors.begin(), tensors.end(), [](const NamedTensor& t) { return t.tensor.scalar_type() == at::kBFloat16; });
    for (const char* key : {"torch_dtype", "dtype"})
        if (config.contains(key)) config[key] = halved ? "bfloat16" : "float32";
}

void write_adapters(const fs::path& folder, const Encoder& encoder) {
    for (std::size_t i = 0; i < encoder.adapters().size(); ++i) {
        const fs::path own = folder / "adapters" / std::to_string(i);
        make_directories(own);
        encoder.write_adapter(i, own);
    }
}

}  // namespace

std::map<std::string, std::string> prompts_of_tasks(const EmbeddingModel& model) {
    std::map<std::string, std::string> prompts;
    for (const Task& task : model.tasks) {
        const std::string query = model.route(task.name, Role::query).instruction,
                          document = model.route(task.name, Role::document).instruction;
        prompts[task.name + ".query"] = query;
        prompts[task.name + ".document"] = document;
        if (query == document) prompts[task.name] = query;  // as the run's own commands name a task without roles
    }
    return prompts;
}

std::string beyond_dense(const EmbeddingModel& model) {
    if (model.encoders.size() > 1) return "it has an encoder a task";
    if (has(model, [](const Block& block) { return block.is_mixture(); })) return "its blocks have task experts";
    if (model.router) return "its router chooses a gate for each query";
    if (!model.encoders.front()->adapters().empty()) return "it has adapters a task";
    return "";
}

std::string beyond_sentence_transformers(const EmbeddingModel& model) {
    const ModelFolder& folder = model.folder;
    if (const std::string why = beyond_dense(model); !why.empty()) return why;
    if (brings_own_code(folder)) return "";
    if (has(model, [](const Block& block) { return block.routing.has_value(); }))
        return folder.model_type == "nomic_bert"
                   ? "its blocks route tokens, which only the code that comes with released checkpoints knows"
                   : "its blocks route tokens, which no " + folder.model_type + " checkpoint of theirs can hold";
    const std::string of_code = beyond_native_code(model);
    return of_code.empty() ? beyond_native_tokenizer(folder) : of_code;
}

bool needs_released_code(const EmbeddingModel& model) {
    return brings_own_code(model.folder) &&
           (has(model, [](const Block& block) { return block.routing.has_value(); }) || !beyond_native_code(model).empty());
}

namespace {

/// transformers' own NomicBERT draws weights at random that it does not find, and says so in a log: an activation that it does not know
/// ends it. The released code reads activation_function.
Json with_code_named(Json config) {
    config["hidden_act"] = "of the code that auto_map names (trust_remote_code=True)";
    return config;
}

}  // namespace

void write_model(const fs::path& folder, const EmbeddingModel& model) {
    ModelFolder like = model.folder;
    like.max_seq_length = model.max_length;
    like.config = with_native_members(like.config, model.encoders.front()->config());
    if (!brings_own_code(like)) like.config.erase("auto_map");  // its files are not written
    if (needs_released_code(model) && like.config.contains("activation_function")) like.config = with_code_named(like.config);
    like.only_faceter = !beyond_sentence_transformers(model).empty();
    if (!model.tasks.empty()) {
        like.prompts = prompts_of_tasks(model);
        like.default_prompt.clear();  // a text without one has none
    }
    const std::vector<NamedTensor> tensors = model.base_tensors();
    set_type(like.config, tensors);
    write_sentence_transformers_files(folder, like);
    write_model_tensors(folder, like, tensors);
    model.router ? model.router->write(folder, model) : write_adapters(folder, *model.encoders.front());
    if (const ModelDescription description = description_of(model); !description.is_plain() || !description.tasks.empty())
        write_file_atomic(folder / model_description_file, description.to_json().dump(1) + "\n");
    if (const fs::path head = model.folder.folder / mlm_head_file; fs::exists(head)) copy_file_atomic(head, folder / mlm_head_file);
}

void fold_route(EmbeddingModel& model, const Route& route) {
    Encoder& encoder = *model.encoders.front();
    Path path = route.path;
    if (route.routed && model.router && model.router->always()) {
        path = *model.router->always();
        model.router = nullptr;
    }
    if (!model.router) {
        for (std::size_t i = encoder.adapters().size(); i-- > 0;)
            if (static_cast<int>(i) == path.adapter)
                encoder.merge_adapter(i);
            else
                encoder.remove_adapter(i);
    }
    model.tasks.clear();
    model.routes.clear();
    model.folder.prompts.clear();
    model.folder.default_prompt.clear();
    if (route.instruction.empty()) return;
    model.folder.prompts = {{"default", route.instruction}};
    model.folder.default_prompt = "default";
    if (model.router) return;
    // encode_query() and encode_document() of sentence-transformers, and mteb, have an empty prompt of these names where a folder has none.
    for (const char* name : {"query", "document"}) model.folder.prompts[name] = route.instruction;
}

}  // namespace faceter
