// The only source that sees Gloo: its class layouts follow the macros of whichever Gloo headers are found. They are Debian's (libgloo-dev,
// headers only), the code is the wheel's; what differs between the two (GlooStore's virtual functions) is never made here, and tests/train
// looks that it is not.
#define USE_C10D_GLOO
#if !__has_include(<gloo/context.h>)
#error "Gloo's headers are missing: install libgloo-dev (packaging/setup.sh does)"
#endif
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <set>
#include <thread>
#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/error.h"
#include "common/strings.h"
#include "train/device_backend.h"
#include "train/own_address.h"
#include "train/rendezvous.h"

namespace faceter {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;
using Milliseconds = std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr Milliseconds poll_interval{20};
constexpr Milliseconds verdict_grace{5000};  ///< for the others to say that they are alive, once one is missed
constexpr Milliseconds reading_time{2000};   ///< for the others to read why rank 0 goes, with which the store goes

Milliseconds milliseconds(double seconds) { return Milliseconds(static_cast<std::int64_t>(seconds * 1000)); }

Error lost(const std::string& message) { return {ExitCode::peer_lost, message}; }

/// The first line of what c10d and Gloo say, without their places in the source.
std::string first_line(const std::exception& error) {
    std::string text = error.what();
    text = text.substr(0, text.find('\n'));
    return std::string(trim(text.substr(0, text.find(" Exception raised from"))));
}

std::string list_of(const std::vector<int>& ranks) {
    return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

StorePointer open_store(const Rendezvous& where, const GroupTimeouts& timeouts) {
    if (!where.file.empty()) {
        StorePointer store = c10::make_intrusive<c10d::FileStore>(where.file.string(), where.size);
        store->setTimeout(milliseconds(timeouts.rendezvous_s));
        return store;
    }
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(where.port);
    options.isServer = where.rank == 0 && !where.store_is_there;
    options.waitWorkers = false;
    options.timeout = milliseconds(timeouts.rendezvous_s);
    try {
        return c10::make_intrusive<c10d::PrefixStore>("faceter/" + where.key, c10::make_intrusive<c10d::TCPStore>(where.host, options));
    } catch (const std::exception& error) {
        throw lost(
            options.isServer
                ? fmt::format("rank 0 cannot open the rendezvous at {}: {}; is the port taken by another run? Set MASTER_PORT",
                              where.place(), first_line(error))
                : fmt::format(
                      "rank {} cannot reach the rendezvous at {} within {} s: {}; does rank 0 run, and does a firewall let it through?",
                      where.rank, where.place(), timeouts.rendezvous_s, first_line(error)));
    }
}

/// Waits until all ranks have said that they are there.
void meet(c10d::Store& store, const Rendezvous& where, const GroupTimeouts& timeouts) {
    const auto key = [](int rank) { return fmt::format("here/{}", rank); };
    store.set(key(where.rank), std::vector<std::uint8_t>{1});
    const auto deadline = Clock::now() + milliseconds(timeouts.rendezvous_s);
    std::vector<int> missing;
    for (int rank = 0; rank < where.size; ++rank) missing.push_back(rank);
    for (;;) {
        std::erase_if(missing, [&](int rank) { return store.check({key(rank)}); });
        if (missing.empty()) return;
        if (Clock::now() > deadline)
            throw lost(
                fmt::format("rendezvous at {}: {} of {} did not come within {} s; look at its log, or whether its machine reaches {}",
                            where.place(), list_of(missing), where.size, timeouts.rendezvous_s, where.place()));
        std::this_thread::sleep_for(poll_interval);
    }
}

/// On several hosts the interface that leads to the rendezvous: a host's own name is often that of its loopback (Debian's 127.0.1.1), or of
/// another network.
std::shared_ptr<::gloo::transport::Device> device_for(const Rendezvous& where) {
    const bool here = !where.file.empty() || where.host == "localhost" || where.host.starts_with("127.") || where.host == "::1";
    if (here) return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
    if (const char* interface = std::getenv("GLOO_SOCKET_IFNAME"); interface && *interface)
        return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
    if (const std::string address = own_address_towards(where.host, where.port); !address.empty())
        return c10d::ProcessGroupGloo::createDeviceForHostname(address);
    return c10d::ProcessGroupGloo::createDefaultDevice();
}

class GlooGroup final : public ProcessGroup {
  public:
    GlooGroup(const Rendezvous& where, const GroupTimeouts& timeouts, const c10::Device& device)
        : rank_(where.rank),
          size_(where.size),
          keeps_store_(where.rank == 0 && where.file.empty() && !where.store_is_there),
          timeouts_(timeouts),
          store_(open_store(where, timeouts)) {
        try {
            meet(*store_, where, timeouts);
            const auto options = c10d::ProcessGroupGloo::Options::create(milliseconds(timeouts.rendezvous_s));
            options->devices = {device_for(where)};
            gloo_ =
                c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store_), rank_, size_, options);
            if (!device.is_cpu())
                nccl_ = open_nccl(c10::make_intrusive<c10d::PrefixStore>("nccl", store_), rank_, size_, milliseconds(timeouts.step_s));
        } catch (const Error&) {
            throw;
        } catch (const std::exception& error) {
            throw lost(fmt::format("rank {} cannot join the others at {}: {}", rank_, where.place(), first_line(error)));
        }
    }

    ~GlooGroup() override {
        if (nccl_ && gloo_) nccl_->shutdown();  // else the others are gone, and it would wait for them
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }

    at::Tensor all_gather_rows(const at::Tensor& rows) override {
        const at::Tensor counts = all_gather_parts(at::full({1}, rows.size(0), at::kLong));
        return all_gather_rows(rows, {counts.data_ptr<std::int64_t>(), counts.data_ptr<std::int64_t>() + size_});
    }

    at::Tensor all_gather_rows(const at::Tensor& rows, const std::vector<std::int64_t>& counts) override {
        const at::Tensor own = rows.detach().contiguous();
        if (counts.at(static_cast<std::size_t>(rank_)) != own.size(0))
            throw failure("rank {} has {} rows to share, the others expect {}", rank_, own.size(0),
                          counts[static_cast<std::size_t>(rank_)]);
        const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
        std::vector<std::int64_t> shape = own.sizes().vec();
        if (*most == 0) return own;
        shape[0] = *most;  // Gloo gathers equal parts only
        at::Tensor padded = own;
        if (own.size(0) < *most) {
            padded = at::zeros(shape, own.options());
            padded.narrow(0, 0, own.size(0)).copy_(own);
        }
        shape[0] = *most * size_;
        const at::Tensor all = all_gather_parts(padded.flatten()).view(shape);
        if (*least == *most) return all;
        std::vector<at::Tensor> parts;
        for (std::size_t r = 0; r < counts.size(); ++r) parts.push_back(all.narrow(0, static_cast<std::int64_t>(r) * *most, counts[r]));
        return at::cat(parts);
    }

    void all_reduce_sum(at::Tensor& values, Patience patience) override { begin_all_reduce(values, patience)->wait(); }
    at::Tensor reduce_scatter_sum(const at::Tensor& values) override { return start_reduce_scatter_sum(values)->wait(); }
    std::unique_ptr<PendingSum> start_all_reduce_sum(const at::Tensor& values) override { return begin_all_reduce(values, Patience::step); }

    std::unique_ptr<PendingSum> start_reduce_scatter_sum(const at::Tensor& values) override {
        at::Tensor input = values, part = at::empty({values.numel() / size_}, values.options());
        c10d::ReduceScatterOptions options;
        options.timeout = limit(Patience::step);
        return begin("reduce-scatter", Patience::step, part, [&] { return backend_of(values)._reduce_scatter_base(part, input, options); });
    }

    at::Tensor all_gather_parts(const at::Tensor& part) override {
        at::Tensor input = part, all = at::empty({part.numel() * size_}, part.options());
        c10d::AllgatherOptions options;
        options.timeout = limit(Patience::step);
        return begin("all-gather", Patience::step, all, [&] { return backend_of(part)._allgather_base(all, input, options); })->wait();
    }

    void barrier() override {
        at::Tensor one = at::ones({1});  // its own barrier does not say who is missing
        all_reduce_sum(one, Patience::work);
    }

    void fail(const std::string& why) override {
        try {
            store_->set(fmt::format("failed/{}", rank_), std::vector<std::uint8_t>(why.begin(), why.end()));
            close();
            if (keeps_store_) std::this_thread::sleep_for(reading_time);
        } catch (const std::exception&) {  // nobody left to tell
        }
    }

  private:
    /// Gloo for tensors of the host, which every step has some of: it is there that a rank is missed.
    c10d::Backend& backend_of(const at::Tensor& values) const { return values.is_cpu() ? static_cast<c10d::Backend&>(*gloo_) : *nccl_; }

    /// It is rank 0 that evaluates and writes while the others wait: it finds them there.
    Milliseconds limit(Patience patience) const {
        return milliseconds(patience == Patience::step || rank_ == 0 ? timeouts_.step_s : timeouts_.work_s);
    }

    /// A collective under way; its place in their order is what messages say.
    struct UnderWay final : PendingSum {
        UnderWay(GlooGroup& g, std::string w, Patience p, at::Tensor r) : group(g), place(std::move(w)), patience(p), result(std::move(r)) {
            group.under_way_.insert(this);
        }
        ~UnderWay() override { group.under_way_.erase(this); }
        at::Tensor wait() override {
            group.guarded(place, patience, [this] {
                if (patience == Patience::work && group.rank_ != 0 && result.is_cpu()) group.wait_for_rank_0(*work);
                work->wait();
            });
            work.reset();
            return result;
        }
        GlooGroup& group;
        std::string place;
        Patience patience;
        at::Tensor result;
        c10::intrusive_ptr<c10d::Work> work;  // keeps the operands, and the connections open
    };

    /// While rank 0 evaluates or writes, the store that it keeps answers all the same. A machine that is off, or a cable that is out, tells
    /// nobody, and the time limit of such work is a day: where there is no answer within a step's time, rank 0 is lost.
    void wait_for_rank_0(c10d::Work& work) {
        while (true) {
            try {
                work.wait(milliseconds(timeouts_.step_s));
                return;
            } catch (const std::exception&) {
                if (work.isCompleted()) return;
            }
            std::packaged_task<bool()> task([store = store_] { return store->check({"alive/0"}); });
            std::future<bool> answer = task.get_future();
            std::thread(std::move(task)).detach();  // as in inquire()
            const bool answered = answer.wait_for(milliseconds(timeouts_.step_s)) == std::future_status::ready;
            if (work.isCompleted()) return;  // meanwhile; a rank 0 whose last work this was may have gone with its store
            if (!answered) {
                rank_0_is_silent_ = true;
                throw std::runtime_error(fmt::format("no answer from it within {} s", timeouts_.step_s));
            }
            answer.get();
        }
    }

    template <typename Start>
    std::unique_ptr<UnderWay> begin(const char* what, Patience patience, const at::Tensor& result, Start start) {
        auto under_way = std::make_unique<UnderWay>(*this, fmt::format("{} {}", what, ++count_), patience, result);
        guarded(under_way->place, patience, [&] { under_way->work = start(); });
        return under_way;
    }

    std::unique_ptr<UnderWay> begin_all_reduce(const at::Tensor& values, Patience patience) {
        std::vector<at::Tensor> tensors{values};
        c10d::AllreduceOptions options;
        options.timeout = limit(patience);
        return begin("all-reduce", patience, values, [&] { return backend_of(values).allreduce(tensors, options); });
    }

    /// Closes the connections that the others wait on. With a silent rank 0 they are left to the process's end: Gloo's thread would hold
    /// this one until the collective's own limit, a day.
    void close() {
        for (UnderWay* one : under_way_) one->work.reset();
        if (rank_0_is_silent_)
            (void)gloo_.release();
        else
            gloo_.reset();
    }

    template <typename Act>
    void guarded(const std::string& place, Patience patience, Act act) {
        std::string problem;
        if (!gloo_) throw lost(fmt::format("rank {} of {} has left the others", rank_, size_));
        try {
            act();
            return;
        } catch (const std::exception& error) {
            problem = first_line(error);
        }
        throw lost(verdict(place, patience, problem));
    }

    /// What the store knows of the others, once one of them is missed.
    struct Inquiry {
        std::string failed;        ///< of one that said why it went; empty: none did
        std::vector<int> missing;  ///< those that do not say that they are alive
    };

    static std::vector<int> others_than(int rank, int size) {
        std::vector<int> others;
        for (int r = 0; r < size; ++r)
            if (r != rank) others.push_back(r);
        return others;
    }

    /// Tells the others that this rank is alive, and asks for them as long as some do not say so.
    static Inquiry inquire_of(c10d::Store& store, int rank, int size) {
        Inquiry found{"", others_than(rank, size)};
        std::vector<int>& missing = found.missing;
        try {
            store.set(fmt::format("alive/{}", rank), std::vector<std::uint8_t>{1});
            const auto deadline = Clock::now() + verdict_grace;
            for (; !missing.empty() && Clock::now() < deadline; std::this_thread::sleep_for(poll_interval)) {
                for (const int r : missing)
                    if (store.check({fmt::format("failed/{}", r)})) {
                        found.failed = fmt::format("rank {} of {} failed: {}", r, size, store.get_to_str(fmt::format("failed/{}", r)));
                        return found;
                    }
                std::erase_if(missing, [&](int r) { return store.check({fmt::format("alive/{}", r)}); });
            }
        } catch (const std::exception&) {  // the store is gone, and with it rank 0; perhaps because it has come to its own verdict
            if (std::find(missing.begin(), missing.end(), 0) != missing.end()) missing = {0};
        }
        return found;
    }

    /// On a thread of its own: where the network to rank 0 is cut, the store's calls return after a quarter of an hour, whatever their time
    /// limit.
    Inquiry inquire() {
        std::packaged_task<Inquiry()> task([store = store_, rank = rank_, size = size_] { return inquire_of(*store, rank, size); });
        std::future<Inquiry> answer = task.get_future();
        std::thread(std::move(task)).detach();
        close();  // those that wait for this rank are to come to their verdict now
        if (answer.wait_for(verdict_grace + reading_time) == std::future_status::ready) return answer.get();
        return {"", rank_ == 0 ? others_than(0, size_) : std::vector<int>{0}};
    }

    /// Who is to blame for a collective that failed: a rank that said why it went, else one that does not say that it is alive.
    std::string verdict(const std::string& collective, Patience patience, const std::string& problem) {
        const auto [failed, missing] = inquire();
        if (!failed.empty()) return failed;
        const std::string place = collective + ": " + problem;
        if (missing.empty()) return fmt::format("rank {} of {} lost its connection to others that are alive ({})", rank_, size_, place);
        const bool late = problem.find("imed out") != std::string::npos;
        if (late)
            return fmt::format("{} of {} did not come within {} s, hung or lost with its machine ({})", list_of(missing), size_,
                               limit(patience).count() / 1000, place);
        return fmt::format("{} of {} is gone without a word ({})", list_of(missing), size_, place);
    }

    int rank_, size_;
    bool keeps_store_;
    GroupTimeouts timeouts_;
    StorePointer store_;
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo_;
    c10::intrusive_ptr<c10d::Backend> nccl_;
    std::set<UnderWay*> under_way_;
    std::int64_t count_ = 0;
    bool rank_0_is_silent_ = false;
};

}  // namespace

std::unique_ptr<ProcessGroup> join_gloo_group(const Rendezvous& rendezvous, const GroupTimeouts& timeouts, const c10::Device& device) {
    return std::make_unique<GlooGroup>(rendezvous, timeouts, device);
}

}  // namespace faceter
