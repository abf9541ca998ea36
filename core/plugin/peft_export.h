#pragma once
#include <memory>
#include <optional>
#include <string>

#include "plugin/export_check.h"

namespace faceter {

/// A model's low-rank adapters (gates of a router, adapters of tasks) as folders of PEFT beside the base that they belong to: base/ as
/// sentence-transformers loads it, and a folder an adapter, by its name.
class PeftExport {
  public:
    /// Errors (usage): the model has no adapters, or its base is more than one dense encoder.
    PeftExport(const EmbeddingModel& model, fs::path folder);

    /// `base`: the same model opened once more; its adapters, router and tasks are taken off.
    void write(std::unique_ptr<EmbeddingModel> base) const;
    /// Opens base and adapters again, here.
    ExportDifference by_faceter() const;
    /// The same by PEFT on sentence-transformers' model, in the Python that FACETER_PEERS names; `why` as by_sentence_transformers().
    std::optional<ExportDifference> by_peft(std::string& why) const;
    /// Both; writes faceter_export.json.
    ExportProof prove(const Json& source) const;

    fs::path base_folder() const { return folder_ / "base"; }
    fs::path adapter_folder(std::size_t index) const;

  private:
    /// What goes in front of texts of this adapter: the instruction of the first route that takes it.
    Route route_of(std::size_t index) const;
    at::Tensor expected(std::size_t index) const;
    std::string text_name(std::size_t index, std::size_t text) const;
    const Encoder& encoder() const { return *model_.encoders.front(); }

    const EmbeddingModel& model_;
    fs::path folder_;
};

}  // namespace faceter
