#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"
#include "data/training_set.h"
#include "eval/embedder.h"
#include "model/embedding_model.h"

namespace faceter {

/// What a low-rank adapter of a router model is for. Expert numbers, columns of score tables, are places in the list + 1; expert 0 is the
/// base.
struct GateInfo {
    std::string name;
    std::string domain;         ///< the task it was trained on; empty: several
    std::string kind = "gate";  ///< gate: may be routed to; single, multi_task, sized: trained for comparison only
    std::size_t examples = 0;   ///< that it was trained on; 0: not known
    std::string source;         ///< where a gate was taken up from; empty: trained in its run
};

/// The way through the model of an expert's number.
inline Path path_of(int expert) { return expert == 0 ? Path{} : Path::of_adapter(expert - 1); }

/// The training instances of one domain as routers see them.
struct Domain {
    std::string name;
    std::string fingerprint;  ///< of its training sets
    std::string query_instruction, document_instruction;
    std::vector<std::string> queries;                  ///< [n] distinct
    std::vector<std::vector<std::uint32_t>> relevant;  ///< of each query: rows of `documents`
    at::Tensor base;                                   ///< [n, D] queries under the base
    at::Tensor documents;                              ///< [m, D] under the base
    at::Tensor scores;                                 ///< float64 [n, experts + 1]: nDCG@10 of each instance through each expert
    at::Tensor margins;  ///< float64, the same: score of the best positive less that of the best other document
    std::size_t size() const { return queries.size(); }
};

enum class Ties { margin, drop };

/// nDCG@10 (0 to 1) of the same ranks may differ in its last bits, by the order of its sum or the program that stored it: scores that are
/// nearer are equal.
inline constexpr double equal_scores = 1e-9;

/// The gate that an instance does best with (Algorithm 1, line 5).
struct BestGate {
    int expert = -1;    ///< -1: a tie that is dropped
    bool tied = false;  ///< several candidates had the best nDCG@10
};

/// What routers are built from: instances of every domain, scored through every expert. Gates come and go without a training step.
struct Library {
    std::string base_fingerprint;
    std::vector<GateInfo> gates;
    std::vector<Domain> domains;

    /// Expert numbers of kind gate, in order.
    std::vector<int> candidates(bool with_base) const;
    /// The expert trained on this domain; -1 where there is none among `candidates`.
    int own_gate(const std::string& domain, const std::vector<int>& candidates) const;
    /// The domains that some of these candidates were trained on: their instances make pilots (T gates, T training sets). All, where there
    /// is none.
    std::vector<std::size_t> domains_of(const std::vector<int>& candidates) const;
    /// Ties go to the larger margin, then to the earlier candidate (methods.md, section 4), or are dropped.
    static BestGate best_gate(const Domain& domain, std::size_t instance, const std::vector<int>& candidates, Ties ties);
    std::string name_of(int expert) const { return expert == 0 ? "base" : gates[static_cast<std::size_t>(expert) - 1].name; }
    int expert_named(const std::string& name) const;  ///< a usage error that lists the names

    /// Writes library.safetensors and library.jsonl under `stem`; read() gives the same. Errors (data): damaged, or not belonging together.
    void write(const fs::path& folder, const std::string& stem) const;
    static Library read(const fs::path& folder, const std::string& stem, const Json& description);
    Json description() const;
};

/// nDCG@10 and margin of one query: `scores` [m] of all documents; equal scores rank by row. Binary relevance.
std::pair<double, double> instance_score(const float* scores, std::int64_t num_documents, const std::vector<std::uint32_t>& relevant);

/// The instances of a domain: at most `limit` distinct queries by hash (0: all), against all documents of its training sets. A data error
/// where it is empty.
Domain make_domain(const std::string& name, const std::vector<const TrainingSet*>& sets, std::size_t limit, std::uint64_t seed);
/// Scores every instance through `expert`: the domain's tables grow by its column. Documents go through the base, or, `documents_adapted`,
/// through the expert as well. Expert 0, the first to be scored, leaves the base embeddings.
void score_domain(Domain& domain, const EmbeddingModel& model, int expert, bool documents_adapted,
                  const std::vector<std::string>& document_texts);
/// The same against the documents as they were embedded by the base.
void score_domain(Domain& domain, const EmbeddingModel& model, int expert);
/// Texts of the documents that make_domain numbered.
std::vector<std::string> document_texts(const std::vector<const TrainingSet*>& sets);

}  // namespace faceter
