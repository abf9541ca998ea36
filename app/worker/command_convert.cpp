#include <fmt/format.h>

#include "commands.h"
#include "common/error.h"
#include "common/strings.h"
#include "experiment/run_models.h"
#include "experiment/start_model.h"
#include "export_leftovers.h"
#include "model/mlm_head.h"
#include "model/rotary_conversion.h"
#include "number_range.h"
#include "plugin/run_model.h"
#include "record/models_by_run.h"
#include "staged_folder.h"
#include "train/checkpoint.h"
#include "train/token_objective.h"

namespace faceter::worker {
namespace {

struct ConvertCommand {
    std::string model, folder, project, positions = "rotary";
    RotaryConversion rotary;
    bool force = false;
};

/// The head of masked-language modelling goes along under NomicBERT's names, so that its training goes on; without one nothing is written.
void convert_head(const EmbeddingModel& from, const Encoder& to, const fs::path& out) {
    const ModelFolder& folder = from.folder;
    MlmHead old(*from.encoders.front(), folder.model_type, 1);
    const fs::path own = folder.folder / mlm_head_file;
    const bool found = fs::exists(own) ? old.load(Weights(std::vector<fs::path>{own})) : old.load(folder.weights(), folder.config);
    if (!found) return;
    auto tensors = MlmHead(to, "nomic_bert", 1).named_tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].tensor = old.named_tensors()[i].tensor;
    write_tensors(out / mlm_head_file, tensors);
}

int convert(const ConvertCommand& options) {
    const fs::path out = options.folder;
    if (out.empty() || (fs::exists(out) && !fs::is_directory(out)))
        throw usage_error("{}: is no folder; name one that is to be written", faceter::quoted(options.folder));
    if (fs::exists(out) && !StagedFolder::is_empty(out) && !options.force)
        throw usage_error("{}: is not empty; give another folder, or --force", out.string());
    use_runs_as_models(options.project);
    const ModelFolder folder = ModelFolder::open(resolve_named_model(options.model));
    check_start_model(folder);
    const auto model = EmbeddingModel::open(folder);
    const Encoder& encoder = *model->encoders.front();
    ModelFolder like = model->folder;
    like.config = rotary_config(encoder.config(), model->folder.config, options.rotary);
    like.model_type = "nomic_bert";
    like.max_seq_length = static_cast<std::size_t>(options.rotary.max_positions);
    const auto rotary = with_rotary_positions(encoder, like.config, like.dense);
    StagedFolder staged(out);
    write_sentence_transformers_files(staged.path(), like);
    write_model_tensors(staged.path(), like, rotary->named_tensors());
    convert_head(*model, *rotary, staged.path());
    require_none_of_another_model(staged.place(), staged.path());
    staged.put_in_place();
    fmt::print("{}\n", out.string());
    return 0;
}

}  // namespace

void add_convert(CLI::App& app, int& exit_code) {
    const auto options = std::make_shared<ConvertCommand>();
    auto* command = app.add_subcommand(
        "convert", "Write a model with rotary in place of absolute positions, to be pre-trained further (mNomic-BERT from XLM-R).");
    command->footer("Example:\n  faceter convert FacebookAI/xlm-roberta-base mnomic-start --rotary-base 10000 --max-positions 2048");
    command
        ->add_option("MODEL", options->model,
                     "Model folder, run folder, name of a run, 'minilm', or org/name of the Hugging Face hub: BERT, RoBERTa, XLM-R, "
                     "CamemBERT or DistilBERT")
        ->required();
    command->add_option("--project", options->project, "Project folder that a run's name is looked up in");
    command->add_option("DIR", options->folder, "Folder to write")->required();
    command->add_option("--positions", options->positions, "The new positions")->check(CLI::IsMember({"rotary"}))->capture_default_str();
    command->add_option("--rotary-base", options->rotary.base, "Base of the rotary angles")
        ->check(finite_range(2, 1e9))
        ->capture_default_str();
    command->add_option("--max-positions", options->rotary.max_positions, "Longest text in tokens")
        ->check(CLI::Range(std::int64_t{8}, std::int64_t{1} << 20))
        ->capture_default_str();
    command->add_flag("--force", options->force, "Write into a folder that is not empty");
    command->callback([=, &exit_code] { exit_code = convert(*options); });
}

}  // namespace faceter::worker
