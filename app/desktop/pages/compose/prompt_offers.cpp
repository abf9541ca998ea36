#include "pages/compose/prompt_offers.h"

#include "checkpoint/hub.h"
#include "checkpoint/model_folder.h"
#include "common/error.h"
#include "common/file.h"

namespace faceter::desktop {

Prompts promptsOf(const YamlNode& experiment, const fs::path& base) {
    const YamlNode* model = experiment.kind == YamlNode::Kind::map ? experiment.find("model") : nullptr;
    if (!model || model->kind != YamlNode::Kind::scalar || model->text.empty()) return {};
    try {
        const fs::path folder = find_model(model->text, base);
        if (folder.empty()) return {};
        Prompts prompts = ModelFolder::open(folder).prompts;
        std::erase_if(prompts, [](const auto& entry) { return entry.second.empty(); });
        return prompts;
    } catch (const Error&) {
        return {};  // the check says what is wrong with it
    }
}

bool takesPrompt(const YamlPath& path) {
    if (path.empty() || path.back().is_item) return false;
    return path.back().key.ends_with("_instruction") || (path.size() > 1 && path[path.size() - 2].key == "instructions");
}

}  // namespace faceter::desktop
