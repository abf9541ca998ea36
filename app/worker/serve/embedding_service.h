#pragma once
#include <ATen/core/Tensor.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "serve/served_models.h"
#include "text/encode_batch.h"

namespace faceter::worker {

/// What one request asks for: texts, or the ids of texts.
struct EmbedWork {
    ServedRouteOf where;
    std::vector<std::string> texts;
    std::vector<std::vector<std::int32_t>> ids;  ///< special tokens included; the instruction's do not go in front
    bool truncate = true;                        ///< false: a text that the model would cut is an error
    std::size_t size() const { return texts.size() + ids.size(); }
};

/// What came of it.
struct EmbedResult {
    int status = 200;  ///< else the HTTP status of `error`
    std::string error;
    at::Tensor rows;  ///< float32 [texts, D]
    std::size_t tokens = 0;
};

/// Whether a tokenizer cuts the beginning of a text that is too long, and not its end.
bool cuts_left(const Tokenizer& tokenizer);

struct ServiceLimits {
    std::size_t waiting_texts = 16384;  ///< of all requests that are not answered yet
    std::size_t request_tokens = 1 << 20;
    std::int64_t batch_tokens = 0;               ///< of a forward pass; 0: as suits the device
    std::chrono::milliseconds patience{60'000};  ///< a request that has not begun by then is given up
};

/// One thread that embeds for many requests at a time: a forward pass takes texts of all that wait, in turn, so that a long request does
/// not keep short ones waiting, of its model or another; texts of one expert stand together. Texts whose expert is not in memory wait for
/// a pass of their own, before which it is read. Long texts become tokens on a thread beside it, some of each request in turn. Clients
/// that hung up are left out.
class EmbeddingService {
  public:
    using Done = std::function<void(EmbedResult)>;
    explicit EmbeddingService(const ServiceLimits& limits);
    /// Ends after what it was given is done.
    ~EmbeddingService();
    EmbeddingService(const EmbeddingService&) = delete;
    EmbeddingService& operator=(const EmbeddingService&) = delete;

    /// `gone`: the client hung up. `done` is called from the service's thread, once; not for one that is gone. False: no room for it now.
    bool submit(EmbedWork work, std::function<bool()> gone, Done done);

    struct Counts {
        std::uint64_t texts = 0, tokens = 0, batches = 0, dropped = 0;
        std::size_t waiting_texts = 0;
    };
    Counts counts() const;
    /// A client hung up before its request was submitted.
    void count_dropped();
    const ServiceLimits& limits() const { return limits_; }
    /// Of a forward pass through that encoder, at most.
    std::int64_t batch_tokens(const Encoder& encoder) const;

  private:
    struct Job;
    struct Item;
    void work();
    void end();
    bool take_new();
    void read_long();
    std::shared_ptr<Job> next_long();
    void read_on(const std::shared_ptr<Job>& job);
    EmbedResult read_some(Job& job) const;
    std::string tokenise(Job& job) const;
    bool is_late(const Job& job) const;
    void put_in_order();
    bool fetch_part();
    std::vector<Item> next_batch();
    void embed_batch(const std::vector<Item>& batch);
    void keep(const Item& item, const at::Tensor& row);
    void embed_routed(Job& job);
    void answer(Job& job, EmbedResult result);
    void finish(const std::shared_ptr<Job>& job, EmbedResult result);
    void forget(const Job& job);
    void drop_unwanted();

    ServiceLimits limits_;
    mutable std::mutex mutex_;
    std::condition_variable wake_, wake_reader_;
    std::deque<std::shared_ptr<Job>> arrived_, long_;  ///< for the thread that embeds, and for the one beside it
    std::vector<std::shared_ptr<Job>> active_;         ///< of the thread alone; next_batch() is for the first
    std::uint64_t turn_ = 0;
    Counts counts_;
    bool ending_ = false, reading_ends_ = false;
    std::thread thread_, reader_;
};

}  // namespace faceter::worker
