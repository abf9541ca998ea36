#pragma once
#include <memory>

#include "common/json.h"
#include "library.h"
#include "model/expert_router.h"
#include "routers.h"

namespace faceter {

inline constexpr const char* router_method_name = "router_retriever";

/// A model's gates and what chooses among them: the library of instances, and the router built from it.
class RouterModel final : public ExpertRouter {
  public:
    RouterModel(Library library, RouterSettings settings, bool with_base, bool documents_adapted);

    std::vector<Path> choose(const at::Tensor& base) const override;
    std::optional<Path> always() const override;
    Json explain(const at::Tensor& base) const override;
    Json describe() const override;
    void write(const fs::path& folder, const EmbeddingModel& model) const override;
    std::string fingerprint() const override;

    const Library& library() const { return library_; }
    const RouterSettings& settings() const { return settings_; }
    const std::vector<int>& candidates() const { return candidates_; }
    bool with_base() const { return with_base_; }
    bool documents_adapted() const { return documents_adapted_; }
    /// router.json, naming the library's files by `stem`.
    Json to_json(const std::string& stem) const;

  private:
    Library library_;
    RouterSettings settings_;
    bool with_base_, documents_adapted_;
    std::vector<int> candidates_;
    std::unique_ptr<QueryRouter> router_;
};

/// Opens what write() left and adds its gates to the model. Errors (data): a library of another base model, a gate of another shape,
/// damaged files.
std::shared_ptr<const ExpertRouter> open_router_model(EmbeddingModel& model, const fs::path& folder);
/// {"action": "add", "gate": FOLDER, "name", "domain", "train": data entry or null} or {"action": "remove", "gate": NAME}. New files are
/// written first, then router.json is replaced; a removed gate is moved into removed/. While others read the folder it waits, then says so
/// and changes nothing.
std::string edit_router_model(EmbeddingModel& model, const fs::path& folder, const Json& change);

}  // namespace faceter
