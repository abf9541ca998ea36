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
#include "named_model.h"

namespace faceter::worker {
namespace {

/// A NumPy file (format 1.0) of float32 [rows, dim]. The number of rows is known at the end: the header has room for it.
class NpyWriter {
  public:
    NpyWriter(const fs::path& path, std::int64_t dim) : file_(path), dim_(dim) {}

    void append(const at::Tensor& rows) {
        const auto* first = rows.data_ptr<float>();
        values_.append(reinterpret_cast<const char*>(first), static_cast<std::size_t>(rows.numel()) * sizeof(float));
        rows_ += rows.size(0);
    }

    void write() {
        std::string header = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows_, dim_);
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
    std::string values_;
};

struct EmbedCommand {
    ModelOptions model;
    std::string input, output;
    bool jsonl = false;
};

int embed(const EmbedCommand& options) {
    TextChunks chunks(options.input, options.jsonl);
    const OpenedModel opened = open_model(options.model, true);
    NpyWriter out(options.output, opened.model->dim());
    ProgressLine progress("embed", 0, "texts");
    while (chunks.next()) {
        if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, "stopped; nothing was written");
        EmbedOptions embed_options;
        embed_options.progress = [&](std::size_t done) { progress.update(static_cast<std::uint64_t>(out.rows()) + done); };
        out.append(embed_texts(*opened.model, chunks.texts(), opened.route, embed_options).contiguous());
    }
    out.write();
    progress.update(static_cast<std::uint64_t>(out.rows()));
    if (is_terminal(stderr)) progress.finish();
    return 0;
}

}  // namespace

void add_embed(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<EmbedCommand>();
    auto* command = app.add_subcommand("embed", "Embed texts into a NumPy file, float32 [N, D], in input order.");
    command->footer("Example:\n  faceter embed --model minilm --output vectors.npy texts.txt\n"
                    "  faceter embed --model quickstart-mote --project my-project --task retrieval.document --output d.npy docs.jsonl");
    add_model_options(*command, options->model, true);
    command->add_option("--output", options->output, "File to write, .npy")->required();
    command->add_flag("--jsonl", options->jsonl, "Read standard input as JSON lines with \"text\"");
    command->add_option("INPUT", options->input, "A text a line (.txt), JSON lines with \"text\" (.jsonl), also .gz and .zst; - for standard input")->required();
    command->callback([=, &exit_code] { exit_code = embed(*options); });
}

}  // namespace faceter::worker
