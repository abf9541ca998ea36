#include "checkpoint/adapter_folder.h"
#include "common/file.h"
#include "fuzz.h"

using namespace faceter;

namespace {

/// An adapter's folder in which both files are right; one of them is replaced by the input.
struct Folder {
    TemporaryDirectory folder;
    std::string config = R"({"peft_type": "LORA", "r": 2, "lora_alpha": 4, "target_modules": ["query"]})", weights;

    Folder() {
        const float values[8] = {};
        SafetensorsWriter writer;
        writer.add("base_model.model.encoder.layer.0.attention.self.query.lora_A.weight", DType::f32, {2, 4}, values);
        writer.add("base_model.model.encoder.layer.0.attention.self.query.lora_B.weight", DType::f32, {4, 2}, values);
        writer.write(folder.path() / "adapter_model.safetensors");
        weights = read_file(folder.path() / "adapter_model.safetensors");
        put("adapter_config.json", config);
    }
    void put(const char* name, std::string_view content) const {
        OutputFile(folder.path() / name, OutputFile::Mode::truncate).write(content);
    }
};

}  // namespace

/// The input is adapter_config.json where it begins with a brace, else adapter_model.safetensors.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folder folder;
    if (size == 0) return 0;
    const bool config = data[0] == '{';
    const char* name = config ? "adapter_config.json" : "adapter_model.safetensors";
    folder.put(name, {reinterpret_cast<const char*>(data), size});
    const int result = fuzz_one(data, size, [](std::string_view) {
        const AdapterFolder adapter = AdapterFolder::open(folder.folder.path());
        FUZZ_CHECK(adapter.config.rank >= 1 && !adapter.modules.empty());
        for (const std::string& module : adapter.modules)
            FUZZ_CHECK(adapter.weights.at(adapter_tensor_name(module, 'A')).shape[0] == adapter.config.rank &&
                       adapter.weights.at(adapter_tensor_name(module, 'B')).shape[1] == adapter.config.rank);
    });
    folder.put(name, config ? folder.config : folder.weights);
    return result;
}
