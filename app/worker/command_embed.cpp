#include <ATen/ATen.h>
#include <fmt/format.h>

#include <optional>

#include "commands.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "cut_texts.h"
#include "data/text_chunks.h"
#include "eval/embedder.h"
#include "eval/quantise.h"
#include "kept_input.h"
#include "named_model.h"
#include "npy_file.h"

namespace faceter::worker {
namespace {

struct EmbedCommand {
    ModelOptions model;
    std::string input, output, precision = "float32";
    std::int64_t prefix = 0;
    bool jsonl = false;
};

const char* numpy_type(Precision precision) {
    return precision == Precision::float32 ? "<f4" : precision == Precision::int8 ? "|i1" : "|u1";
}

/// "vectors.npy" -> "vectors.scales.npy"
fs::path scales_path(fs::path vectors) {
    const std::string ending = vectors.extension().string();
    return vectors.replace_extension(".scales" + ending);
}

/// The output: vectors in their precision, and the scales of int8 beside them.
class VectorFiles {
  public:
    VectorFiles(const EmbedCommand& options, std::int64_t dim, bool normalised, std::int64_t rows)
        : output_(options.output), precision_(precision_from_name(options.precision)), prefix_(options.prefix), normalised_(normalised) {
        const std::int64_t width = quantised(shortened(at::zeros({1, dim}), prefix_, normalised_), precision_).size(1);
        vectors_.emplace(options.output, numpy_type(precision_), width, rows);
        if (precision_ == Precision::int8) scales_.emplace(scales_path(options.output), "<f4", 0, rows);
    }

    void append(const at::Tensor& embeddings) {
        const at::Tensor rows = shortened(embeddings, prefix_, normalised_);
        vectors_->append(quantised(rows, precision_));
        if (scales_) scales_->append(int8_scales(rows));
    }
    void commit() {
        if (scales_) scales_->commit();
        vectors_->commit();
        if (std::error_code ignored; !scales_) fs::remove(scales_path(output_), ignored);  // of vectors that lay there before
    }
    std::uint64_t rows() const { return static_cast<std::uint64_t>(vectors_->rows()); }

  private:
    fs::path output_;
    Precision precision_;
    std::int64_t prefix_;
    bool normalised_;
    std::optional<NpyFile> vectors_, scales_;
};

/// `rows`: those that went to an output that is no file (/dev/stdout, a pipe), from where nothing can be taken back.
void throw_if_stopped(const EmbedCommand& options, std::uint64_t rows = 0) {
    if (stop_requested() == StopRequest::none) return;
    std::error_code ignored;
    const bool out = fs::exists(options.output, ignored) && !fs::is_regular_file(options.output, ignored);
    throw Error(ExitCode::stopped,
                out ? fmt::format("stopped; {} has {} rows and is not whole", options.output, rows) : "stopped; nothing was written");
}

/// How many vectors there are stands in front of them: of texts that can be read only once it is written when all are there.
void require_a_way_back(const EmbedCommand& options) {
    std::error_code ignored;
    if (!fs::is_regular_file(options.input, ignored) && (fs::is_fifo(options.output, ignored) || fs::is_socket(options.output, ignored)))
        throw usage_error(
            "--output {}: is a pipe, and how many vectors come stands in front of them, but the texts of {} are counted only "
            "when all have come; give a file in the place of one of the two",
            options.output, options.input == "-" ? "standard input" : options.input);
}

/// A request to stop ends the wait for a pipe's next text as well.
bool next_texts(TextChunks& chunks, const EmbedCommand& options, std::uint64_t rows = 0) {
    try {
        return chunks.next();
    } catch (const Error&) {
        throw_if_stopped(options, rows);
        throw;
    }
}

/// Reads a file through before anything is embedded: a record that is broken is found now, and the time that is left can be told. 0:
/// standard input, which can be read only once.
std::uint64_t count_texts(const EmbedCommand& options) {
    if (!fs::is_regular_file(options.input)) return 0;
    TextChunks chunks(options.input, options.jsonl);
    std::uint64_t count = 0;
    while (next_texts(chunks, options)) {
        throw_if_stopped(options);
        count += chunks.texts().size();
    }
    return count;
}

int embed(const EmbedCommand& options) {
    keep_input(options.input, options.output);
    require_a_way_back(options);
    const std::uint64_t count = count_texts(options);
    TextChunks chunks(options.input, options.jsonl);
    OpenedModel opened = open_model(options.model, true);
    if (!options.model.instruction) note_missing_task(options.model, opened, opened.route.routed);
    prepare_to_embed(opened, options.model, true);
    VectorFiles out(options, opened.model->dim(), opened.model->folder.normalize, static_cast<std::int64_t>(count));
    ProgressLine progress("embed", count, "texts");
    std::size_t num_empty = 0, num_cut = 0;
    EmbedOptions embed_options;
    embed_options.without_tokens = [&](std::size_t texts) { num_empty += texts; };
    embed_options.progress = [&](std::size_t done) {
        throw_if_stopped(options, out.rows());
        progress.update(out.rows() + done);
    };
    while (next_texts(chunks, options, out.rows())) {
        throw_if_stopped(options, out.rows());
        out.append(embed_texts(*opened.model, chunks.texts(), opened.route, embed_options));
        num_cut += count_cut(*opened.model, chunks.texts(), opened.route.instruction, opened.model->max_length);
    }
    out.commit();
    progress.update(out.rows());
    if (is_terminal(stderr)) progress.finish();
    if (num_cut > 0)
        say(stderr, "warning: {} of {} texts have more than {} tokens and were cut there\n", num_cut, out.rows(), opened.model->max_length);
    const bool without_prompt = opened.model->prompt_rows(opened.route.instruction) > 0;
    if (num_empty > 0)
        say(stderr, "warning: {} texts have no tokens{}\n", num_empty,
            without_prompt ? " behind the instruction, which pooling leaves out; their embeddings hold nothing of them"
                           : "; their embeddings are zero");
    return 0;
}

}  // namespace

void add_embed(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<EmbedCommand>();
    auto* command =
        app.add_subcommand("embed", "Embed texts into a NumPy file, float32 [N, D] unless --precision says otherwise, in input order.");
    command->footer(
        "Example:\n  faceter embed --model minilm --output vectors.npy texts.txt\n"
        "  faceter embed --model MoTE-1 --project p --task retrieval.document --output d.npy docs.jsonl");
    add_model_options(*command, options->model, true);
    add_compute_option(*command, options->model);
    command->add_option("--output", options->output, "File to write, .npy")->required();
    command
        ->add_option(
            "--precision", options->precision,
            "float32; int8: each vector scaled by its largest element, the scales beside it (vectors.scales.npy); binary: signs, eight "
            "a byte (numpy.packbits)")
        ->check(CLI::IsMember({"float32", "int8", "binary"}))
        ->capture_default_str();
    command->add_option("--prefix", options->prefix, "Only the first elements of each embedding (Matryoshka models)")
        ->check(CLI::Range(1, 1 << 30));
    command->add_flag("--jsonl", options->jsonl, "The input is JSON lines with \"text\", whatever its name");
    command
        ->add_option("INPUT", options->input,
                     "A text a line (.txt), JSON lines with \"text\" (.jsonl), also .gz and .zst; - for standard input")
        ->required();
    command->callback([=, &exit_code] { exit_code = embed(*options); });
}

}  // namespace faceter::worker
