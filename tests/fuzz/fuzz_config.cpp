#include <array>

#include "checkpoint/model_folder.h"
#include "checkpoint/safetensors.h"
#include "common/file.h"
#include "fuzz.h"

using namespace faceter;

namespace {

constexpr std::array names = {"config.json",
                              "modules.json",
                              "1_Pooling/config.json",
                              "sentence_bert_config.json",
                              "config_sentence_transformers.json",
                              "tokenizer_config.json",
                              "model.safetensors.index.json",
                              "2_Dense/config.json",
                              "faceter.json"};

/// A folder in which every file is right; one of them is replaced by the input.
struct Folder {
    TemporaryDirectory folder;
    std::array<std::string, names.size()> right = {
        R"({"model_type": "bert", "hidden_size": 8, "max_position_embeddings": 64})",
        R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"}, {"type": "a.Dense", "path": "2_Dense"}, {"type": "a.Normalize", "path": "3"}])",
        R"({"pooling_mode": "mean"})",
        R"({"max_seq_length": 32})",
        R"({"prompts": {"query": "q: "}, "default_prompt_name": "query"})",
        R"({"model_max_length": 48})",
        R"({"weight_map": {"w": "weights.safetensors"}})",
        R"({"in_features": 8, "out_features": 4, "activation_function": "torch.nn.modules.linear.Identity"})",
        R"({"faceter_model": 1, "blocks": [{"task_experts": 2}], "tasks": [{"name": "a", "query": {"expert": 1}, "document": {}}]})"};

    Folder() {
        make_directories(folder.path() / "1_Pooling");
        make_directories(folder.path() / "2_Dense");
        const float value = 1;
        SafetensorsWriter writer;
        writer.add("w", DType::f32, {1}, &value);
        writer.write(folder.path() / "weights.safetensors");
        for (std::size_t i = 0; i < names.size(); ++i) put(i, right[i]);
    }
    void put(std::size_t file, std::string_view content) {
        OutputFile(folder.path() / names[file], OutputFile::Mode::truncate).write(content);
    }
};

}  // namespace

/// The first byte says which file the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static Folder folder;
    if (size == 0) return 0;
    const std::size_t file = static_cast<std::uint8_t>(data[0] - '0') % names.size();
    folder.put(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
    const int result = fuzz_one(data, size, [&](std::string_view) {
        const ModelFolder model = ModelFolder::open(folder.folder.path());
        FUZZ_CHECK(model.max_seq_length > 0 && !model.weight_files.empty());
        for (const DenseModule& dense : model.dense) FUZZ_CHECK(dense.in_features > 0 && dense.out_features > 0);
        for (const fs::path& weights : model.weight_files) FUZZ_CHECK(weights.parent_path() == model.encoder_folder);
    });
    folder.put(file, folder.right[file]);
    return result;
}
