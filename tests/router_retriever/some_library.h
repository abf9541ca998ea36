#pragma once
#include <ATen/ATen.h>

#include "common/random.h"
#include "router_retriever/library.h"
#include "router_retriever/study.h"

namespace faceter::testing {

/// Three gates and their domains, two gates for comparison; scores of few levels, so that many instances tie, and margins that tie now and
/// then.
inline Library some_library(std::uint64_t seed = 1, std::size_t instances = 40) {
    RandomStream random(seed, "tests.router");
    Library library;
    library.base_fingerprint = "base";
    library.gates = {{"red", "red", "gate", 0, ""},
                     {"green", "green", "gate", 0, ""},
                     {"blue", "blue", "gate", 0, ""},
                     {"white", "white", "single", 0, ""},
                     {"multi-task", "", "multi_task", 0, ""}};
    const auto columns = static_cast<std::int64_t>(library.gates.size()) + 1;
    for (std::size_t d = 0; d < 3; ++d) {
        Domain domain;
        domain.name = library.gates[d].domain;
        domain.fingerprint = "data";
        const auto n = static_cast<std::int64_t>(instances + 7 * d);
        domain.base = at::empty({n, 6}, at::kFloat);
        domain.documents = at::ones({4, 6}, at::kFloat);
        domain.scores = at::empty({n, columns}, at::kDouble);
        domain.margins = at::empty({n, columns}, at::kDouble);
        for (std::int64_t i = 0; i < n; ++i) {
            domain.queries.push_back(domain.name + " " + std::to_string(i));
            domain.relevant.push_back({static_cast<std::uint32_t>(i % 4)});
            for (std::int64_t k = 0; k < 6; ++k) domain.base[i][k] = random.normal() + (k == static_cast<std::int64_t>(d) ? 2.0 : 0.0);
            for (std::int64_t e = 0; e < columns; ++e) {
                domain.scores[i][e] = static_cast<double>(random.below(3)) / 2;
                domain.margins[i][e] = static_cast<double>(random.below(4)) / 8;
            }
        }
        library.domains.push_back(std::move(domain));
    }
    return library;
}

inline at::Tensor some_queries(std::int64_t count = 60) {
    RandomStream random(8, "tests.router.queries");
    const at::Tensor queries = at::empty({count, 6}, at::kFloat);
    for (std::int64_t i = 0; i < count; ++i)
        for (std::int64_t k = 0; k < 6; ++k) queries[i][k] = random.normal() + (k == i % 3 ? 1.5 : 0.0);
    return queries;
}

}  // namespace faceter::testing
