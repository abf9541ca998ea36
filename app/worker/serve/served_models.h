#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/resident_parts.h"
#include "named_model.h"

namespace faceter::worker {

/// Where the texts of a request pass: one of the served models, and a route of it.
struct ServedRouteOf {
    const EmbeddingModel* model = nullptr;
    Route route;
    ResidentParts* parts = nullptr;  ///< null: all of the model is in memory
    std::int64_t dim = 0;            ///< of its embeddings
    bool whole_only = false;         ///< no part of them is an embedding
};

/// The models that a server keeps in memory, by the names that its clients use.
class ServedModels {
  public:
    /// `names`: runs or model folders; `common`: project, device, length and threads of all. `resident`: task experts, or encoders of
    /// specialists, of each model that are in memory at a time; 0: all. Usage errors: two with one name, and a model no part of which can
    /// wait in its folder.
    ServedModels(const std::vector<std::string>& names, const ModelOptions& common, std::size_t resident);

    /// `model`: a name, or "name:prompt"; empty where there is one model alone. `prompt`: a task of the run ("retrieval.query") or a prompt
    /// of the folder; empty: as `faceter embed` without --task. Usage errors: no such model, or none of its prompts behind the ':', with
    /// those that there are; `prompt` none of them: Refused.
    ServedRouteOf find(const std::string& model, const std::string& prompt) const;

    struct One {
        std::string name;
        OpenedModel opened;
        std::unique_ptr<ResidentParts> parts;  ///< null: all of the model is in memory
        std::int64_t dim = 0;
        std::optional<std::vector<std::int64_t>> prefixes;  ///< that it was trained for, as its run says; none: not known
        bool has_document_side = false;                     ///< a router chooses for its queries alone
        std::vector<std::string> prompts() const;
        /// Those whose texts find their part in memory.
        std::vector<std::string> resident_prompts() const;
    };
    const std::vector<One>& all() const { return models_; }

  private:
    const One& named(const std::string& name) const;
    static Route route_of(const EmbeddingModel& model, const std::string& prompt, const One& one);
    std::vector<One> models_;
};

}  // namespace faceter::worker
