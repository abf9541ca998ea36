#include <ATen/ATen.h>
#include <fmt/format.h>

#include <charconv>

#include "commands.h"
#include "common/atomic_file.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/progress.h"
#include "data/text_chunks.h"
#include "eval/embedder.h"
#include "eval/quantise.h"
#include "named_model.h"

namespace faceter::worker {
namespace {

/// A NumPy file (format 1.0) of [rows, dim]. The number of rows is known at the end: the header has room for it.
class NpyWriter {
  public:
    NpyWriter(const fs::path& path, std::int64_t dim, const char* type) : file_(path), dim_(dim), type_(type) {}

    void append(const at::Tensor& rows) {
        values_.append(static_cast<const char*>(rows.data_ptr()), rows.nbytes());
        rows_ += rows.size(0);
    }

    void write() {
        std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}", type_, rows_, dim_);
        header.resize(117, ' ');
        header += '\n';
        std::string content("\x93NUMPY\x01\x00", 8);
        content += static_cast<char>(header.size());
        content += '\0';
        file_.write(content + header);
        file_.write(values_);
        file_.commit();
    }
    std::int64_t rows() const { return rows_; }

  private:
    AtomicFile file_;  // opened before anything is embedded: a path that cannot be written is said at once
    std::int64_t dim_, rows_ = 0;
    std::string type_, values_;
};

struct EmbedCommand {
    ModelOptions model;
    std::string input, output, precision = "float32";
    std::int64_t prefix = 0;
    bool jsonl = false;
};

int embed(const EmbedCommand& options) {
    TextChunks chunks(options.input, options.jsonl);
    const Precision precision = precision_from_name(options.precision);
    const OpenedModel opened = open_model(options.model, true);
    const auto finish = [&](const at::Tensor& rows) {
        return quantised(shortened(rows, options.prefix, opened.model->folder.normalize), precision).contiguous();
    };
    const std::int64_t width = finish(at::zeros({1, opened.model->dim()})).size(1);
    NpyWriter out(options.output, width, precision == Precision::float32 ? "<f4" : precision == Precision::int8 ? "|i1" : "|u1");
    ProgressLine progress("embed", 0, "texts");
    while (chunks.next()) {
        if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped; nothing was written");
        EmbedOptions embed_options;
        embed_options.progress = [&](std::size_t done) { progress.update(static_cast<std::uint64_t>(out.rows()) + done); };
        out.append(finish(embed_texts(*opened.model, chunks.texts(), opened.route, embed_options)));
    }
    out.write();
    progress.update(static_cast<std::uint64_t>(out.rows()));
    if (is_terminal(stderr)) progress.finish();
    return 0;
}

}  // namespace

void add_embed(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<EmbedCommand>();
    auto* command =
        app.add_subcommand("embed", "Embed texts into a NumPy file, float32 [N, D] unless --precision says otherwise, in input order.");
    command->footer(
        "Example:\n  faceter embed --model minilm --output vectors.npy texts.txt\n"
        "  faceter embed --model quickstart-mote --project my-project --task retrieval.document --output d.npy docs.jsonl");
    add_model_options(*command, options->model, true);
    command->add_option("--output", options->output, "File to write, .npy")->required();
    command
        ->add_option("--precision", options->precision,
                     "float32; int8: each vector scaled by its largest element; binary: signs, eight a byte (numpy.packbits)")
        ->check(CLI::IsMember({"float32", "int8", "binary"}));
    command->add_option("--prefix", options->prefix, "Only the first elements of each embedding (Matryoshka models)")
        ->check(CLI::PositiveNumber);
    command->add_flag("--jsonl", options->jsonl, "Read standard input as JSON lines with \"text\"");
    command
        ->add_option("INPUT", options->input,
                     "A text a line (.txt), JSON lines with \"text\" (.jsonl), also .gz and .zst; - for standard input")
        ->required();
    command->callback([=, &exit_code] { exit_code = embed(*options); });
}

}  // namespace faceter::worker
