#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace faceter {

/// How long a rank waits for the others. `step`: they do the same work at the same time, and one that is late by the time limit is dead or
/// hung. `work`: rank 0 may be evaluating or writing a checkpoint before it comes; it waits for nobody longer than for a step.
enum class Patience { step, work };

/// A sum over the ranks that is under way while its rank goes on. wait() is called once and gives what the collective of that name would.
class PendingSum {
  public:
    virtual ~PendingSum() = default;
    virtual at::Tensor wait() = 0;
};

/// The processes that train one model together. The trainer is written against this from the start; alone it is a group of one. All ranks
/// call the same functions in the same order. Errors (peer_lost): a rank died, failed or did not come within the time limit; the message
/// names it.
class ProcessGroup {
  public:
    virtual ~ProcessGroup() = default;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Rows of all ranks, in rank order: [n, D] of each -> [sum n, D]. Detached.
    virtual at::Tensor all_gather_rows(const at::Tensor& rows) = 0;
    /// The same where every rank knows how many rows each has, `counts`: nobody waits for these to be told.
    virtual at::Tensor all_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts) = 0;
    /// Element-wise sum over the ranks, in place: contiguous, and afterwards the same bits on all of them.
    virtual void all_reduce_sum(at::Tensor& values, Patience patience) = 0;
    void all_reduce_sum(at::Tensor& values) { all_reduce_sum(values, Patience::step); }
    /// Element-wise sum over the ranks, of which each gets its part: [size * n] -> [n].
    virtual at::Tensor reduce_scatter_sum(const at::Tensor& values) = 0;
    /// The two sums above, begun: `values` is the collective's until wait().
    virtual std::unique_ptr<PendingSum> start_all_reduce_sum(const at::Tensor& values) = 0;
    virtual std::unique_ptr<PendingSum> start_reduce_scatter_sum(const at::Tensor& values) = 0;
    /// Parts of equal size, in rank order: [n] of each -> [size * n].
    virtual at::Tensor all_gather_parts(const at::Tensor& part) = 0;
    virtual void barrier() = 0;
    /// Tells the others why this rank goes, so that they name the cause instead of a lost connection.
    virtual void fail(const std::string& why) = 0;
};

class SingleProcess final : public ProcessGroup {
    struct Done final : PendingSum {
        explicit Done(at::Tensor v) : values(std::move(v)) {}
        at::Tensor wait() override { return values; }
        at::Tensor values;
    };

  public:
    using ProcessGroup::all_reduce_sum;
    int rank() const override { return 0; }
    int size() const override { return 1; }
    at::Tensor all_gather_rows(const at::Tensor& rows) override { return rows.detach(); }
    at::Tensor all_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>&) override { return rows.detach(); }
    void all_reduce_sum(at::Tensor&, Patience) override {}
    at::Tensor reduce_scatter_sum(const at::Tensor& values) override { return values; }
    std::unique_ptr<PendingSum> start_all_reduce_sum(const at::Tensor& values) override { return std::make_unique<Done>(values); }
    std::unique_ptr<PendingSum> start_reduce_scatter_sum(const at::Tensor& values) override { return std::make_unique<Done>(values); }
    at::Tensor all_gather_parts(const at::Tensor& part) override { return part; }
    void barrier() override {}
    void fail(const std::string&) override {}
};

/// The text that rank 0 has, on every rank.
std::string text_of_root(ProcessGroup& group, const std::string& text);

/// The items [begin, end) of `count` that are a rank's: consecutive, equal but for one, and rank 0 has some where anybody has.
struct Share {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};
Share share_of(std::int64_t count, int rank, int size);

}  // namespace faceter
