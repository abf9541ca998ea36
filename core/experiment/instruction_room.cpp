#include "experiment/instruction_room.h"

#include <algorithm>

#include "common/strings.h"
#include "experiment/recipes.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

class Room {
  public:
    Room(const ResolvedRun& run, std::size_t longest, const std::function<const Tokenizer&()>& tokenizer, const std::string& file)
        : settings_(run.settings), longest_(longest), tokenizer_(tokenizer), file_(file) {}

    std::vector<std::string> find() {
        for (const Json& recipe : recipes_of(settings_))
            for (const auto& [name, task] : settings_.at("tasks").items())
                if (trains_on(recipe, name, task)) trained(recipe, name, task);
        const Json sets = json_or<Json>(settings_.at("evaluation"), "datasets", Json::array(), "evaluation");
        scored(sets, "evaluation.datasets");
        for (const auto& [name, task] : settings_.at("tasks").items()) {
            scored(task.at("validation"), fmt::format("tasks.{}.validation", name));
            if (!sets.empty() || !task.at("validation").empty()) own(task, "tasks." + name, "", Json::object());
        }
        return std::move(remarks_);
    }

  private:
    static std::string text_of(const Json& owner, const std::string& key) { return json_or<std::string>(owner, key, "", "instructions"); }

    static bool has_own(const Json& entry) { return json_or<Json>(entry, "instructions", Json(), "instructions").is_object(); }

    /// A data set that brings its own has these in place of its task's.
    void trained(const Json& recipe, const std::string& name, const Json& task) {
        const auto stage = json_or<std::string>(recipe, "name", "", "stages");
        const std::string of_stage = stage.empty() ? "" : fmt::format("stage {}: ", faceter::quoted(stage));
        const Json training = training_of(recipe);
        const Json& train = task.at("train");
        if (!std::all_of(train.begin(), train.end(), has_own)) own(task, "tasks." + name, of_stage, training);
        for (std::size_t i = 0; i < train.size(); ++i) own(train[i], fmt::format("tasks.{}.train[{}]", name, i), of_stage, training);
    }

    void scored(const Json& sets, const std::string& place) {
        for (std::size_t i = 0; i < sets.size(); ++i)
            for (const std::string side : {"query", "document"})
                look(text_of(sets[i], side + "_instruction"), fmt::format("{}[{}].{}_instruction", place, i, side), side, longest_,
                     "max_length");
    }

    void own(const Json& owner, const std::string& place, const std::string& of_stage, const Json& training) {
        const Json instructions = json_or<Json>(owner, "instructions", Json(), place);
        if (!instructions.is_object()) return;
        for (const std::string side : {"query", "document"}) {
            const auto length = json_or<std::size_t>(training, side + "_length", 0, "training");
            look(text_of(instructions, side), of_stage + place + ".instructions." + side, side, length > 0 ? length : longest_,
                 length > 0 ? "training." + side + "_length" : "max_length");
        }
    }

    void look(const std::string& instruction, const std::string& place, const std::string& side, std::size_t length,
              const std::string& limit) {
        if (instruction.empty() || instruction.size() + most_special < length) return;  // a token has a byte at least
        std::vector<std::int32_t> ids;
        tokenizer_().encode(instruction, 0, ids);
        if (ids.size() < length) return;
        std::string remark = fmt::format(
            "{}: {} takes all {} tokens that are read of a {} ({}): where a variant puts it in front, nothing of a text behind it is read, "
            "and all texts are alike; raise {}, or shorten the instruction",
            file_, place, length, side, limit, limit);
        if (std::find(remarks_.begin(), remarks_.end(), remark) == remarks_.end()) remarks_.push_back(std::move(remark));
    }

    const Json& settings_;
    std::size_t longest_;
    const std::function<const Tokenizer&()>& tokenizer_;
    const std::string& file_;
    std::vector<std::string> remarks_;
};

}  // namespace

std::vector<std::string> instructions_without_room(const ResolvedRun& run, std::size_t longest,
                                                   const std::function<const Tokenizer&()>& tokenizer, const std::string& file) {
    return Room(run, longest, tokenizer, file).find();
}

}  // namespace faceter
