#pragma once
#include <ATen/core/Tensor.h>

namespace faceter {

/// The processes that train one model together. The trainer is written against this from the start; alone it is a group of one.
class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Rows of all ranks, in rank order: [n, D] of each -> [sum n, D]. Detached.
    virtual at::Tensor all_gather_rows(const at::Tensor& rows) = 0;
    /// Element-wise sum over the ranks, in place.
    virtual void all_reduce_sum(at::Tensor& values) = 0;
    virtual void barrier() = 0;
};

class SingleProcess final : public ProcessGroup {
  public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    at::Tensor all_gather_rows(const at::Tensor& rows) override { return rows.detach(); }
    void all_reduce_sum(at::Tensor&) override {}
    void barrier() override {}
};

}  // namespace faceter
