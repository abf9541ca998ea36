#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/commands.h"
#include "common/error.h"
#include "experiment/machine.h"
#include "launch/supervisor.h"

namespace faceter::cli {

const std::vector<std::pair<std::string, std::string>>& worker_commands() {
    static const std::vector<std::pair<std::string, std::string>> commands = {
        {"embed", "Embed texts with a model or a run into a .npy file"},
        {"evaluate", "Score a model or a run on folders of evaluation data"},
        {"export", "Write a run for sentence-transformers, ONNX or PEFT, verified"},
        {"convert", "Give a model rotary positions, to be pre-trained further"},
        {"describe", "Print what a model or a run is made of"},
        {"diagnose", "Say what went wrong in a run, and what to do about it"},
        {"serve", "Serve embeddings over HTTP, as OpenAI's clients ask for them"},
        {"memory", "Say what training takes of a GPU's memory, and what fits"},
        {"router", "Show, explain and change what chooses among a model's gates"},
    };
    return commands;
}

const std::vector<std::pair<std::string, std::string>>& worker_data_commands() {
    static const std::vector<std::pair<std::string, std::string>> commands = {
        {"mine", "Find hard negatives for pairs, by a teacher"},
        {"filter", "Keep the pairs that belong together, by a teacher"},
        {"score", "Write a teacher's scores of pairs, to distil from"},
    };
    return commands;
}

bool is_worker_command(int argc, char** argv) {
    const auto has = [](const auto& commands, const std::string& name) {
        return std::any_of(commands.begin(), commands.end(), [&](const auto& command) { return command.first == name; });
    };
    if (argc < 2) return false;
    return has(worker_commands(), argv[1]) || (argc > 2 && argv[1] == std::string("data") && has(worker_data_commands(), argv[2]));
}

void become_program(const std::string& program, std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(program.c_str(), arguments.data());
    throw failure("{}: cannot start: {}", program, errno_text(errno));
}

int run_worker_command(int argc, char** argv) {
    std::vector<std::string> words{"faceter"};  // what help calls the program
    words.insert(words.end(), argv + 1, argv + argc);
    become_program(worker_program().string(), std::move(words));
}

}  // namespace faceter::cli
