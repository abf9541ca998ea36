#pragma once
#include <memory>
#include <optional>
#include <string>

#include "plugin/export_check.h"

namespace faceter {

/// A model's low-rank adapters (gates of a router, adapters of tasks) as folders of PEFT beside the base that they belong to: base/ as
/// sentence-transformers loads it, with the prompts of all tasks, and a folder an adapter, by its name.
class PeftExport {
  public:
    /// Errors (usage): the model has no adapters, its base is more than one dense encoder, or PEFT would not find its layers.
    PeftExport(const EmbeddingModel& model, fs::path folder);

    /// `base`: the same model opened once more; its adapters, router and tasks are taken off. `place`: where base_folder() will lie, which
    /// the adapters name; by default it lies there.
    void write(std::unique_ptr<EmbeddingModel> base, const fs::path& place = {}) const;
    /// Opens base and adapters again, here: each adapter under the prompts of the tasks and roles that take it. Errors (failed): another
    /// prompt than the task's.
    ExportDifference by_faceter() const;
    /// The same by PEFT on sentence-transformers' model, in the Python that FACETER_PEERS names; `why` as by_sentence_transformers().
    std::optional<ExportDifference> by_peft(std::string& why) const;
    /// Both; writes faceter_export.json.
    ExportProof prove(
        const Json& source, const ExportStep& step = [](std::string_view) {}) const;

    /// The folder's name of each adapter, and the prompts of the texts that are for it, joined; empty where a router chooses them.
    std::map<std::string, std::string> uses() const;
    fs::path base_folder() const { return folder_ / "base"; }
    /// By the adapter's name; one called "base" lies in base-adapter.
    fs::path adapter_folder(std::size_t index) const;

  private:
    /// Texts through one adapter, under one prompt.
    struct Part {
        std::size_t adapter = 0;
        std::string prompt;       ///< its name, "retrieval.query"; empty: no task takes this adapter by itself (a router chooses it)
        std::string instruction;  ///< what that prompt puts in front
    };
    std::vector<Part> parts() const;
    at::Tensor expected(const Part& part) const;
    /// Those that other programs embed: a text of no tokens is for us alone.
    std::vector<std::size_t> texts_with_tokens(const Part& part) const;
    std::string text_name(const Part& part, std::size_t text) const;
    const Encoder& encoder() const { return *model_.encoders.front(); }

    const EmbeddingModel& model_;
    fs::path folder_;
};

}  // namespace faceter
