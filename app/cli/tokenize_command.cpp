#include <charconv>
#include <cstdio>

#include "checkpoint/model_folder.h"
#include "checkpoint/tokenizer_folder.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "data/text_chunks.h"
#include "experiment/run_models.h"
#include "settings/core_settings.h"
#include "text/encode_batch.h"

namespace faceter::cli {
namespace {

struct TokenizeOptions {
    std::string model, input, instruction;
    std::size_t max_length = 0;
    int threads = 0;
    bool jsonl = false;
};

void append_ids(std::span<const std::int32_t> ids, std::string& out) {
    char digits[16];
    out += '[';
    for (std::size_t i = 0; i < ids.size(); ++i) {
        if (i) out += ',';
        const auto [end, error] = std::to_chars(digits, digits + sizeof digits, ids[i]);
        out.append(digits, end);
    }
    out += "]\n";
}

/// A model's folder, or that of a run: what it trained, else its start model (training does not change the tokenizer).
fs::path model_folder(const std::string& model) {
    std::error_code ignored;
    const fs::path run = fs::is_directory(model, ignored) ? fs::path(model) : run_model(model);
    if (run.empty() || !fs::exists(run / "run.json")) return resolve_named_model(model);
    if (fs::is_directory(run / "model", ignored)) return run / "model";
    return resolve_model(json_at<std::string>(RunDirectory(run).settings(), "model", (run / "run.json").string()));
}

int tokenize(const TokenizeOptions& options) {
    const TokenizerFolder folder = TokenizerFolder::find(model_folder(options.model));
    const auto tokenizer = load_tokenizer(folder.folder, folder.lowercase_first);
    TextChunks chunks(options.input, options.jsonl);
    std::string out;
    while (chunks.next()) {
        const TokenBatch batch = encode_batch(*tokenizer, chunks.texts(), options.instruction, options.max_length, options.threads);
        out.clear();
        for (std::size_t i = 0; i < batch.size(); ++i) append_ids(batch[i], out);
        if (std::fwrite(out.data(), 1, out.size(), stdout) != out.size()) throw failure("standard output: cannot write");
    }
    return 0;
}

}  // namespace

void add_tokenize_command(Cli& cli) {
    auto options = std::make_shared<TokenizeOptions>();
    CLI::App* command = add_command(cli, cli.app, "tokenize", "Print the token ids of texts, a JSON array a line",
                                    "  faceter tokenize --model minilm texts.txt\n  echo 'a text' | faceter tokenize --model minilm -",
                                    [options] { return tokenize(*options); });
    command
        ->add_option("--model", options->model,
                     "Hugging Face folder (its tokenizer's files will do), 'minilm', a run's folder, or its name")
        ->required();
    command->add_option("INPUT", options->input, ".txt (a text a line), .jsonl (with \"text\"), also .gz and .zst, or '-'")->required();
    command->add_option("--max-length", options->max_length, "at most so many ids, special tokens included (default: 0, no limit)")
        ->transform(whole_number(0))
        ->type_name("N");
    command->add_option("--instruction", options->instruction, "put in front of every text")->type_name("TEXT");
    command->add_option("--threads", options->threads, "0: all cores")
        ->transform(whole_number(0, most_threads))
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--jsonl", options->jsonl, "the input is JSON lines, whatever its name");
}

}  // namespace faceter::cli
