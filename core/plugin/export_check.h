#pragma once
#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/embedding_model.h"
#include "plugin/export_peers.h"
#include "plugin/run_model.h"

/// Proof that a written folder embeds as the model that it was written from: the folder is opened again, by us and by others, and embeds
/// texts that have gone wrong before (short, long, empty, other scripts), under every task and role that it serves.
namespace faceter {

/// How far embeddings may be from those of the model in memory.
struct ExportLimits {
    double largest_difference = 1e-5;  ///< of an element, of embeddings that are divided by the length of the model's own
    double smallest_cosine = 0.9999;
};

/// How far they were.
struct ExportDifference {
    std::string by;  ///< "faceter", "sentence-transformers 6.2.0"
    double largest = 0, smallest_cosine = 1;
    std::size_t texts = 0;
    std::string worst;  ///< the text, with its task and role, whose element differs most

    /// Takes one embedding, or any other row of numbers, into the difference; `what` names it. Both are float32 [D].
    void compare(const at::Tensor& expected, const at::Tensor& found, const std::string& what);
    /// "largest difference 3.1e-07 over 24 texts by faceter"
    std::string sentence() const;
    /// The same by the same program on other texts.
    void add(const ExportDifference& other);
    /// Errors (failed): beyond the limits, or not finite; the message names the text.
    void require(const ExportLimits& limits) const;
};

/// The texts that every export embeds.
const std::vector<std::string>& export_check_texts();
/// How a message names one of them.
std::string export_text_name(std::size_t text);

/// What an export of some routes is held against: embeddings of the model in memory, computed once.
class ExportCheck {
  public:
    /// `routes`: those that the folder serves; none: the plain model. With routes the texts go under each of them.
    ExportCheck(const EmbeddingModel& model, std::vector<ServedRoute> routes);

    /// Opens the folder again in this program.
    ExportDifference by_faceter(const fs::path& folder) const;
    /// Opens it in the Python that FACETER_PEERS names, without a network. Nothing where it has no sentence-transformers, or cannot load
    /// this folder by design (a model of Faceter alone, code of the hub): `why` says so. Errors (failed): it should load the folder and
    /// does not.
    std::optional<ExportDifference> by_sentence_transformers(const fs::path& folder, std::string& why,
                                                             PeerBackend backend = PeerBackend::torch) const;
    /// Errors (failed): a prompt of the folder is another than the route's instruction. What embeds texts with their prompts in front
    /// (by_faceter) needs no such check.
    void require_prompts(const fs::path& folder) const;

  private:
    struct Part {
        std::string name;  ///< "retrieval.query"; empty: the plain model
        std::string instruction;
        ServedRoute served;
        at::Tensor expected;           ///< [texts, D]
        std::vector<bool> has_tokens;  ///< a text of no tokens is for us alone
    };
    Json request_of(const Json& prompts) const;
    std::vector<Part> parts_;
};

/// By whom an export of one or several folders was proved, and by whom not and why.
struct ExportProof {
    std::vector<ExportDifference> verified;
    std::vector<std::pair<std::string, std::string>> not_verified;

    void add(const ExportProof& other);
    /// For people: "verified: largest difference ...", a line for each of them, the cosines before.
    std::string lines() const;
};

/// The outcome of a proof as it comes together, and as it is kept in faceter_export.json.
class ExportRecord {
  public:
    /// Errors (failed): beyond the limits.
    void take(const ExportDifference& difference, const ExportLimits& limits);
    void miss(const std::string& by, const std::string& why);
    /// Something else that is kept with it, under a key of its own.
    void note(const std::string& key, Json value) { notes_[key] = std::move(value); }
    /// Writes it into the folder beside the source, hashes of the weights and the limits.
    ExportProof write(const fs::path& folder, const Json& source) const;

  private:
    ExportProof proof_;
    Json verified_ = Json::array(), notes_ = Json::object();
};

/// Hears what a proof is about to do ("comparing in sentence-transformers"): each may take long.
using ExportStep = std::function<void(std::string_view)>;

/// Proves the folder by all that there is, and writes the outcome into its faceter_export.json. Errors (failed) where a difference is
/// beyond them.
ExportProof prove_export(
    const ExportCheck& check, const fs::path& folder, const Json& source, const ExportStep& step = [](std::string_view) {});

}  // namespace faceter
