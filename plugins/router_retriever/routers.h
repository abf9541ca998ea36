#pragma once
#include <memory>
#include <string>
#include <vector>

#include "library.h"

namespace faceter {

/// A way to choose an expert for each query from its base embedding.
class QueryRouter {
  public:
    virtual ~QueryRouter() = default;
    /// base: [N, D] -> expert of each row.
    virtual std::vector<int> choose(const at::Tensor& base) const = 0;
    /// Name -> value of every candidate for one query [D], the higher the better; null where the router has no such values.
    virtual Json explain(const at::Tensor& base, const Library& library) const;
};

struct RouterSettings {
    std::string kind = "pilot";  ///< pilot, expert_classifier, classification_head, dataset, random, fixed
    std::string fixed_gate;      ///< of `fixed`
    int clusters = 1;            ///< pilots of a domain and gate: k of k-means
    Ties ties = Ties::margin;
    bool cosine = true;       ///< similarity of queries to pilots; false: dot product
    double label_weight = 0;  ///< share of the mean over pilots of the gate's own domain, whatever gate they are filed under (supplement)
    std::size_t dataset_samples = 100;
    std::uint64_t seed = 1;
    std::size_t library_examples = 1000;  ///< instances of a domain that is added later; 0: all. Chooses no gate
    /// Of the variant's settings, or of router.json.
    static RouterSettings from_json(const Json& settings);
    Json to_json() const;
};

/// One pilot embedding: a centroid of the instances of one domain that one gate does best with.
struct Pilot {
    int expert = 0;
    std::size_t domain = 0;
    std::size_t instances = 0;
    at::Tensor embedding;  ///< [D]
};

struct PilotLibrary {
    std::vector<Pilot> pilots;  ///< by domain, then by candidate
    std::size_t instances = 0, tied = 0, dropped = 0;
    Json to_json(const Library& library) const;
};
/// Algorithm 1: for each domain, its instances grouped by the gate that does best, k-means over the base embeddings of each group. A domain
/// without an instance left gives no pilots; none at all is a data error.
PilotLibrary build_pilots(const Library& library, const std::vector<int>& candidates, const RouterSettings& settings);

/// The router of `settings.kind` over these candidates. Errors (data): instances of fewer gates than the kind needs.
std::unique_ptr<QueryRouter> make_query_router(const Library& library, const std::vector<int>& candidates, const RouterSettings& settings);

struct UsableRouter {
    RouterSettings settings;
    std::string reason;  ///< why they are not those that were wanted; empty: they are
};
/// `wanted`, or pilots with ties by margin, which any instance makes, where the library cannot make the wanted router. What it can is known
/// when all gates are trained.
UsableRouter usable_router(const Library& library, const std::vector<int>& candidates, RouterSettings wanted);

/// Mean similarity of queries [N, D] to the pilots of each candidate: [N, candidates] (float64); -inf where a candidate has no pilot.
at::Tensor pilot_similarities(const at::Tensor& base, const Library& library, const PilotLibrary& pilots,
                              const std::vector<int>& candidates, const RouterSettings& settings);
/// Similarities to every pilot: float64 [N, P].
at::Tensor similarities_to(const at::Tensor& base, const std::vector<Pilot>& pilots, bool cosine);

}  // namespace faceter
