#include "plugin/export_peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "common/error.h"
#include "common/strings.h"
#include "data/child_process.h"
#include "experiment/machine.h"

namespace faceter {
namespace {

constexpr int no_such_package = 3;  // exit code of resources/peers/packages.py
constexpr int no_such_program = 127;
constexpr std::uint64_t max_output_bytes = 1 << 20;

/// Whether all modules are sentence-transformers' own.
bool is_for_everyone(const fs::path& folder) {
    const fs::path file = folder / "modules.json";
    if (!fs::exists(file)) return true;
    for (const Json& module : read_json(file))
        if (!json_at<std::string>(module, "type", file.string()).starts_with("sentence_transformers.")) return false;
    return true;
}

/// Whether a folder that was not loaded is for code of the hub: transformers says that it would have to trust it, or stumbles over what
/// write_model() names where its own class computes otherwise; PEFT finds no layers by the names that only that code has.
bool needs_code_of_the_hub(const fs::path& folder, const Json& request, const ChildResult& child) {
    if (!read_json(folder / "config.json").contains("auto_map")) return false;
    return child.last_lines.find("trust_remote_code=True") != std::string::npos ||
           std::any_of(request.begin(), request.end(), [](const Json& part) { return part.contains("adapter"); });
}

PeerAnswer answer_of(const fs::path& file) {
    const Json answer = read_json(file);
    return {json_at<std::string>(answer, "version", file.string()), json_or<std::string>(answer, "peft_version", "", file.string()),
            json_at<std::vector<std::vector<std::vector<float>>>>(answer, "vectors", file.string())};
}

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);
}

/// Why an export fails that a program should have loaded.
std::string reason_of(const ChildResult& child) {
    const std::string said = last_line(child.last_lines);
    return said.empty() ? fmt::format("it ended with exit code {} and said nothing", child.exit_code) : said;
}

/// What another program has for its part of a proof. With a large model it takes long.
double peer_minutes() {
    constexpr double most = 60 * 24 * 365;
    const char* set = std::getenv("FACETER_PEERS_MINUTES");
    if (!set || !*set) return 10;
    const auto minutes = parse_double(set);
    if (!minutes || !(*minutes > 0 && *minutes < most))
        throw usage_error("FACETER_PEERS_MINUTES is {}; minutes are expected, such as 30", faceter::quoted(set));
    return *minutes;
}

/// Nothing, and the reason in `why`, where it is still at it when its time is over.
std::optional<ChildResult> run_in_time(const std::vector<std::string>& command, std::string& why) {
    const double minutes = peer_minutes();
    const auto limit = std::chrono::seconds(static_cast<std::int64_t>(std::ceil(60 * minutes)));
    const auto start = std::chrono::steady_clock::now();
    try {
        return run_child(command, limit, max_output_bytes);
    } catch (const Error& error) {
        if (error.code() != ExitCode::data || std::chrono::steady_clock::now() - start < limit) throw;
        why = fmt::format("it took longer than {} minutes (FACETER_PEERS_MINUTES gives it more)", minutes);
        return std::nullopt;
    }
}

/// What a script of resources/peers answers in the Python that FACETER_PEERS names. Nothing, and the reason in `why`, where there is none,
/// where it lacks a package, or takes too long.
std::optional<ChildResult> ask_python(const char* script, const std::vector<std::string>& arguments, std::string& why) {
    const char* python = std::getenv("FACETER_PEERS");
    if (!python || !*python) {
        why = "none found (name a Python with it by FACETER_PEERS)";
        return std::nullopt;
    }
    std::vector<std::string> command{python, shared_resource(fmt::format("resources/peers/{}", script)).string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    std::optional<ChildResult> child = run_in_time(command, why);
    if (!child || (child->exit_code != no_such_package && child->exit_code != no_such_program)) return child;
    why = child->exit_code == no_such_package ? fmt::format("{} has {}", python, last_line(child->output)) : reason_of(*child);
    why += " (name a Python with it by FACETER_PEERS)";
    return std::nullopt;
}

/// Errors (failed): FACETER_PEERS names a program that ends well and gives nothing.
void require_answer(const fs::path& file) {
    if (!fs::exists(file))
        throw failure("FACETER_PEERS names {}, which gave no answer; it must be a Python. Nothing was left", std::getenv("FACETER_PEERS"));
}

std::vector<float> floats(const std::string& bytes, std::size_t& offset, std::int64_t count) {
    const std::size_t size = static_cast<std::size_t>(count) * sizeof(float);
    if (size > bytes.size() - offset) throw failure("onnxruntime gives fewer numbers than the graph's outputs have; nothing was left");
    std::vector<float> values(static_cast<std::size_t>(count));
    std::memcpy(values.data(), bytes.data() + offset, size);
    offset += size;
    return values;
}

}  // namespace

std::optional<PeerAnswer> ask_sentence_transformers(const fs::path& folder, const Json& request, std::string& why, PeerBackend backend) {
    if (!is_for_everyone(folder)) {
        why = "the folder is for Faceter alone";
        return std::nullopt;
    }
    const TemporaryDirectory exchange;
    const fs::path asked = exchange.path() / "request.json", answered = exchange.path() / "answer.json";
    write_file_atomic(asked, request.dump());
    const std::vector<std::string> arguments{folder.string(), asked.string(), answered.string(),
                                             backend == PeerBackend::onnx ? "onnx" : "torch"};
    const auto child = ask_python("embed_sentence_transformers.py", arguments, why);
    if (!child) return std::nullopt;
    if (child->exit_code != 0 && needs_code_of_the_hub(folder, request, *child)) {
        why = "it runs this model by code from the hub alone";
        return std::nullopt;
    }
    if (child->exit_code != 0) throw failure("sentence-transformers does not load the export: {}; nothing was left", reason_of(*child));
    require_answer(answered);
    PeerAnswer answer = answer_of(answered);
    bool whole = answer.vectors.size() == request.size();
    for (std::size_t i = 0; whole && i < request.size(); ++i) whole = answer.vectors[i].size() == request[i].at("texts").size();
    if (!whole)
        throw failure("sentence-transformers {} does not give a vector for each text of the export; nothing was left", answer.version);
    return answer;
}

std::optional<OnnxAnswer> ask_onnxruntime(const fs::path& file, const std::vector<OnnxRequest>& requests, std::int64_t hidden,
                                          std::int64_t dim, std::string& why) {
    const TemporaryDirectory exchange;
    const fs::path asked = exchange.path() / "request.json", answered = exchange.path() / "answer.bin";
    Json parts = Json::array();
    for (const OnnxRequest& one : requests)
        parts.push_back({{"shape", {one.rows, one.columns}}, {"input_ids", one.ids}, {"attention_mask", one.mask}});
    write_file_atomic(asked, parts.dump());
    const auto child = ask_python("run_onnx.py", {file.string(), asked.string(), answered.string()}, why);
    if (!child) return std::nullopt;
    if (child->exit_code != 0) throw failure("onnxruntime does not run the export: {}; nothing was left", reason_of(*child));
    require_answer(answered);
    OnnxAnswer answer{last_line(child->output), {}, {}};
    const std::string bytes = read_file(answered);
    std::size_t offset = 0;
    for (const OnnxRequest& one : requests) {
        answer.hidden.push_back(floats(bytes, offset, one.rows * one.columns * hidden));
        answer.embeddings.push_back(floats(bytes, offset, one.rows * dim));
    }
    if (offset != bytes.size()) throw failure("onnxruntime gives more numbers than the graph's outputs have; nothing was left");
    return answer;
}

}  // namespace faceter
