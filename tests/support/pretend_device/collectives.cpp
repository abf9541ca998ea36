// What NCCL is to Faceter, between pretend devices: Gloo on the devices' aliases. Gloo's class layouts follow its headers
// (core/train/gloo_group.cpp).
#define USE_C10D_GLOO
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cstdlib>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "counters.h"
#include "gate.h"
#include "train/device_backend.h"

namespace faceter::testing::pretend {
namespace {

/// A collective under way, on memory that stays until it is done.
struct UnderWay final : c10d::Work {
    UnderWay(c10::intrusive_ptr<c10d::Work> w, std::vector<at::Tensor> o) : work(std::move(w)), operands(std::move(o)) {}
    bool wait(std::chrono::milliseconds limit) override { return work->wait(limit); }
    bool isCompleted() override { return work->isCompleted(); }
    c10::intrusive_ptr<c10d::Work> work;
    std::vector<at::Tensor> operands;
};

class Collectives final : public c10d::Backend {
  public:
    Collectives(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds limit)
        : Backend(rank, size), store_(store), limit_(limit) {
        const auto options = c10d::ProcessGroupGloo::Options::create(limit);
        const char* interface = std::getenv("FACETER_PRETEND_INTERFACE");  // NCCL looks for one itself
        options->devices = {interface ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                                      : c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")};
        gloo_ = c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("sums", store), rank, size, options);
    }
    const std::string getBackendName() const override { return "pretend"; }
    void shutdown() override { gloo_.reset(); }

    c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions& options) override {
        return run("all-reduce", {tensors.at(0)}, [&](std::vector<at::Tensor>& here) { return gloo_->allreduce(here, options); });
    }
    c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& all, at::Tensor& part, const c10d::AllgatherOptions& options) override {
        return run("all-gather", {part, all},
                   [&](std::vector<at::Tensor>& here) { return gloo_->_allgather_base(here[1], here[0], options); });
    }
    c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& part, at::Tensor& all,
                                                        const c10d::ReduceScatterOptions& options) override {
        return run("reduce-scatter", {all, part},
                   [&](std::vector<at::Tensor>& here) { return gloo_->_reduce_scatter_base(here[1], here[0], options); });
    }

  private:
    template <typename Start>
    c10::intrusive_ptr<c10d::Work> run(const char* what, const std::vector<at::Tensor>& operands, Start start) {
        for (const at::Tensor& t : operands) {
            TORCH_CHECK(t.device().is_privateuseone(), "Tensors must be on the device, and one is on ", t.device());
            TORCH_CHECK(t.is_contiguous(), "Tensors must be contiguous");
        }
        const RunningOperator running(what);
        agree(fmt::format("{} of {} {}", what, operands.front().numel(), c10::toString(operands.front().scalar_type())));
        const at::AutoDispatchBelowADInplaceOrView below;
        std::vector<at::Tensor> here;
        for (const at::Tensor& t : operands) here.push_back(aliases_of(t));
        auto kept = operands;
        kept.insert(kept.end(), here.begin(), here.end());
        return c10::make_intrusive<UnderWay>(start(here), kept);
    }
    static at::Tensor aliases_of(const at::Tensor& there) { return Aliases().of(there); }

    /// NCCL hangs, or mixes up memory, where ranks do not call the same in the same order. On a thread of its own: a store whose machine is
    /// cut off does not return in time.
    void agree(const std::string& own) {
        std::packaged_task<std::string()> task([store = store_, own, count = count_, rank = getRank(), size = getSize()] {
            const auto key = [&](int r) { return fmt::format("order/{}/{}", count, r); };
            store->set(key(rank), std::vector<std::uint8_t>(own.begin(), own.end()));
            for (int other = 0; other < size; ++other) {
                const std::string theirs = store->get_to_str(key(other));
                if (theirs != own)
                    return fmt::format("collective {} of the devices: rank {} does {}, rank {} does {}", count, other, theirs, rank, own);
            }
            return std::string();
        });
        std::future<std::string> problem = task.get_future();
        std::thread(std::move(task)).detach();
        if (problem.wait_for(limit_) != std::future_status::ready) throw std::runtime_error("Timed out: the others do not answer");
        if (const std::string found = problem.get(); !found.empty()) throw std::runtime_error(found);
        ++count_;
    }

    c10::intrusive_ptr<c10d::Store> store_;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo_;
    std::chrono::milliseconds limit_;
    std::int64_t count_ = 0;
};

}  // namespace
}  // namespace faceter::testing::pretend

extern "C" __attribute__((visibility("default"))) void faceter_open_nccl(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                                                         std::chrono::milliseconds limit,
                                                                         c10::intrusive_ptr<c10d::Backend>& opened) {
    opened = c10::make_intrusive<faceter::testing::pretend::Collectives>(store, rank, size, limit);
}
