#pragma once
#include <memory>

#include "plugin/registry.h"

namespace faceter {

/// The variant: a low-rank gate for each domain (a task of the experiment), each trained by a stage of its own, then the library of
/// instances and the router.
std::unique_ptr<Variant> make_router_retriever(const Json& settings);

/// The largest number of examples a domain may keep so that all keep `total` together (the paper samples Quora down so that six gates have
/// MSMARCO's total).
std::size_t cap_for_total(std::vector<std::size_t> sizes, std::size_t total);

}  // namespace faceter
