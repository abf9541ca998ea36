#include "serve/embedding_service.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "eval/embedder.h"
#include "model/shortage.h"

namespace faceter::worker {
namespace {

constexpr std::int64_t tokens_on_cpu = 4096, tokens_on_device = 65536;
constexpr std::size_t routed_texts = 64;  // at a time

std::vector<std::string_view> views_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

/// How the tokenizer cuts a text that is too long, as it shows by cutting one.
struct Cut {
    std::vector<std::int32_t> around;  ///< the special tokens, as they stand
    std::size_t before = 0;            ///< of them in front of a text
    bool left = false;                 ///< what is cut is its beginning
};

Cut cut_of(const Tokenizer& tokenizer) {
    const auto encode = [&](std::size_t length) {
        std::vector<std::int32_t> ids;
        tokenizer.encode("a 1 b 2 c 3", length, ids);
        return ids;
    };
    Cut cut;
    tokenizer.encode("", 0, cut.around);
    const std::vector<std::int32_t> whole = encode(0);
    if (whole.size() < cut.around.size() + 2) return cut;  // nothing of a text is known to this vocabulary
    while (cut.before < cut.around.size() && whole[cut.before] == cut.around[cut.before]) ++cut.before;
    const std::vector<std::int32_t> cut_by_one = encode(whole.size() - 1);
    cut.left =
        !std::equal(whole.begin(), whole.end() - 1 - static_cast<std::ptrdiff_t>(cut.around.size() - cut.before), cut_by_one.begin());
    return cut;
}

/// What `ids` has of the special tokens, in front and behind.
std::pair<std::size_t, std::size_t> special_of(const std::vector<std::int32_t>& ids, const Cut& cut) {
    const auto middle = cut.around.begin() + static_cast<std::ptrdiff_t>(cut.before);
    const auto behind = static_cast<std::size_t>(cut.around.end() - middle);
    const bool has_front = ids.size() >= cut.before && std::equal(cut.around.begin(), middle, ids.begin());
    const bool has_end = ids.size() >= behind && std::equal(middle, cut.around.end(), ids.end() - static_cast<std::ptrdiff_t>(behind));
    return {has_front ? cut.before : 0, has_end ? behind : 0};
}

/// Cut as the tokenizer cuts texts: one that has special tokens around it has them still.
TokenBatch as_batch(const std::vector<std::vector<std::int32_t>>& ids, std::size_t max_length, const Cut& cut) {
    TokenBatch batch;
    for (const auto& text : ids) {
        const auto add = [&](std::size_t from, std::size_t count) {
            const auto begin = text.begin() + static_cast<std::ptrdiff_t>(from);
            batch.ids.insert(batch.ids.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        };
        const auto special = special_of(text, cut);
        const std::size_t front = special.first, end = special.second;
        if (text.size() <= max_length || front + end > max_length) {
            add(0, std::min(text.size(), max_length));
        } else {
            const std::size_t kept = max_length - front - end;
            add(0, front);
            add(cut.left ? text.size() - end - kept : front, kept);
            add(text.size() - end, end);
        }
        batch.offsets.push_back(batch.ids.size());
    }
    return batch;
}

std::string does_not_fit(const Encoder& encoder, std::int64_t tokens, const std::string& shortage) {
    return fmt::format(
        "{} is out of memory in embedding a text of {} tokens by itself; send a shorter one, or start the server with "
        "a lower --max-length or with --device cpu ({})",
        encoder.device().str(), tokens, shortage);
}

}  // namespace

bool cuts_left(const Tokenizer& tokenizer) { return cut_of(tokenizer).left; }

struct EmbeddingService::Job {
    EmbedWork work;
    std::function<bool()> gone;
    Done done;
    std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
    TokenBatch encoded;
    at::Tensor rows;
    std::int64_t skip = 0;  ///< rows that pooling leaves out
    std::size_t next = 0, left = 0;
    std::uint64_t last_turn = 0;  ///< when a text of it was last taken, or it came
    /// A text of no tokens is the zero vector, which stands there already.
    void pass_empty_texts() {
        for (; next < encoded.size() && encoded[next].empty(); ++next) --left;
    }
    bool is_resident() const { return !work.where.parts || work.where.parts->has(work.where.route); }
    const EmbeddingModel& model() const { return *work.where.model; }
    const Encoder& encoder() const { return *model().encoders[static_cast<std::size_t>(work.where.route.encoder)]; }
};

struct EmbeddingService::Item {
    std::shared_ptr<Job> job;
    std::size_t text;
};

EmbeddingService::EmbeddingService(const ServiceLimits& limits)
    : limits_(limits), thread_([this, threads = at::get_num_threads()] {
          at::set_num_threads(threads);  // that is said to each thread anew
          work();
      }) {}

EmbeddingService::~EmbeddingService() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

bool EmbeddingService::submit(EmbedWork work, std::function<bool()> gone, Done done) {
    auto job = std::make_shared<Job>();
    job->work = std::move(work);
    job->gone = std::move(gone);
    job->done = std::move(done);
    const std::lock_guard lock(mutex_);
    const std::size_t texts = job->work.size();
    if (counts_.waiting_texts > 0 && counts_.waiting_texts + texts > limits_.waiting_texts) return false;
    counts_.waiting_texts += texts;
    arrived_.push_back(std::move(job));
    wake_.notify_all();
    return true;
}

EmbeddingService::Counts EmbeddingService::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

std::int64_t EmbeddingService::batch_tokens(const Encoder& encoder) const {
    return limits_.batch_tokens > 0 ? limits_.batch_tokens : encoder.device().is_cpu() ? tokens_on_cpu : tokens_on_device;
}

void EmbeddingService::finish(const std::shared_ptr<Job>& job, EmbedResult result) {
    if (std::erase(active_, job) == 0) return;  // it has been told already, of another text
    {
        const std::lock_guard lock(mutex_);
        counts_.waiting_texts -= job->work.size();
        if (result.status == 200) counts_.texts += job->work.size(), counts_.tokens += result.tokens;
    }
    job->done(std::move(result));
}

/// Moves what has arrived to what is worked on; waits where there is nothing. False: the end.
bool EmbeddingService::take_new() {
    std::deque<std::shared_ptr<Job>> fresh;
    {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return ending_ || !arrived_.empty() || !active_.empty(); });
        fresh.swap(arrived_);
        if (fresh.empty() && active_.empty()) return false;
    }
    for (const auto& job : fresh) {
        active_.push_back(job);
        job->last_turn = turn_;  // behind those that wait already
        if (job->gone()) continue;
        try {
            if (const std::string problem = tokenise(*job); !problem.empty()) finish(job, {413, problem, {}, 0});
        } catch (const Error& error) {  // a text that the model cannot read
            finish(job, {error.code() == ExitCode::data ? 400 : 500, error.what(), {}, 0});
        } catch (const std::exception&) {
            finish(job, {500, describe_current_exception().second, {}, 0});
        }
    }
    return true;
}

/// Which text would be cut that must not be; empty where none would.
std::string EmbeddingService::tokenise(Job& job) const {
    const EmbeddingModel& model = job.model();
    const EmbedWork& work = job.work;
    if (work.ids.empty()) {
        const std::size_t length = work.truncate ? model.max_length : 0;
        job.encoded = encode_batch(*model.tokenizer, views_of(work.texts), work.where.route.instruction, length, at::get_num_threads());
        job.skip = model.prompt_rows(work.where.route.instruction);
    } else {
        job.encoded = as_batch(work.ids, work.truncate ? model.max_length : std::size_t(-1), cut_of(*model.tokenizer));
    }
    for (std::size_t i = 0; i < job.encoded.size(); ++i)
        if (job.encoded[i].size() > model.max_length)
            return fmt::format("text {} has {} tokens, and the model takes {}; shorten it, or let it be cut (\"truncate\": true)", i + 1,
                               job.encoded[i].size(), model.max_length);
    job.rows = at::zeros({static_cast<std::int64_t>(job.encoded.size()), model.dim()}, at::kFloat);
    job.left = job.encoded.size();
    job.pass_empty_texts();
    return "";
}

void EmbeddingService::drop_unwanted() {
    const auto now = std::chrono::steady_clock::now();
    for (const auto& job : std::vector(active_)) {
        if (job->gone()) {
            const std::lock_guard lock(mutex_);
            ++counts_.dropped;
            counts_.waiting_texts -= job->work.size();
            std::erase(active_, job);
        } else if (job->encoded.ids.size() > limits_.request_tokens) {
            finish(job, {413,
                         fmt::format("the texts have {} tokens, {} are taken at a time; send fewer texts", job->encoded.ids.size(),
                                     limits_.request_tokens),
                         {},
                         0});
        } else if (job->next == 0 && now - job->arrived > limits_.patience) {
            finish(job, {503, "the server did not come to this request in time; ask again later", {}, 0});
        }
    }
}

/// The request that has waited longest since a text of it was taken comes first: each model and encoder has its turn.
void EmbeddingService::put_in_order() {
    ++turn_;
    std::stable_sort(active_.begin(), active_.end(), [](const auto& a, const auto& b) { return a->last_turn < b->last_turn; });
}

/// What the first request passes is in memory behind this. False: it could not be read, and that request has been told.
bool EmbeddingService::fetch_part() {
    const std::shared_ptr<Job> first = active_.front();
    if (!first->work.where.parts || first->left == 0) return true;
    try {
        first->work.where.parts->fetch(first->work.where.route);
        return true;
    } catch (const std::exception&) {
        finish(first, {500, describe_current_exception().second, {}, 0});
        return false;
    }
}

/// A text of each request in turn, until a pass is full: of the model and encoder of the first request.
std::vector<EmbeddingService::Item> EmbeddingService::next_batch() {
    std::vector<Item> batch;
    if (active_.empty()) return batch;
    const Encoder& encoder = active_.front()->encoder();
    const std::int64_t limit = batch_tokens(encoder);
    std::int64_t tokens = 0;
    for (bool more = true; more && tokens < limit;) {
        more = false;
        for (const auto& job : active_) {
            if (&job->encoder() != &encoder || job->next == job->encoded.size() || job->work.where.route.routed || !job->is_resident())
                continue;
            const std::size_t length = job->encoded[job->next].size();
            if (!batch.empty() && tokens + static_cast<std::int64_t>(length) > limit) continue;
            if (job->last_turn != turn_ && job->work.where.parts) job->work.where.parts->fetch(job->work.where.route);  // it is used
            batch.push_back({job, job->next++});
            job->last_turn = turn_;
            job->pass_empty_texts();
            tokens += static_cast<std::int64_t>(length);
            more = true;
        }
    }
    return batch;
}

/// In halves where an accelerator has not enough memory for it.
void EmbeddingService::embed_batch(const std::vector<Item>& given) {
    std::vector<Item> batch = given;
    std::stable_sort(batch.begin(), batch.end(),
                     [](const Item& a, const Item& b) { return a.job->work.where.route.path < b.job->work.where.route.path; });
    std::vector<SequenceInput> inputs;
    for (const Item& item : batch) {
        const auto ids = item.job->encoded[item.text];
        inputs.push_back({ids.data(), static_cast<std::int64_t>(ids.size()), 0, item.job->work.where.route.path, item.job->skip});
    }
    const Job& first = *batch.front().job;
    const at::NoGradGuard no_grad;
    at::Tensor rows;
    try {
        rows = first.model().embed(first.encoder(), make_packed_batch(inputs), {}).to(at::kCPU, at::kFloat).contiguous();
    } catch (const c10::Error& error) {
        const auto shortage = shortage_of(error, first.encoder().device());
        if (!shortage) throw;
        if (batch.size() == 1)
            return finish(batch.front().job, {500, does_not_fit(first.encoder(), inputs.front().length, *shortage), {}, 0});
    }
    if (!rows.defined()) {  // what the failed pass held is free again
        const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
        embed_batch({batch.begin(), middle});
        return embed_batch({middle, batch.end()});
    }
    if (!rows.isfinite().all().item<bool>())
        throw failure("an embedding holds a number that is not finite; the model's weights are damaged");
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].job->rows[static_cast<std::int64_t>(batch[i].text)].copy_(rows[static_cast<std::int64_t>(i)]);
        --batch[i].job->left;
    }
    const std::lock_guard lock(mutex_);
    ++counts_.batches;
}

/// Of some texts of this request alone: its router chooses by a first pass, and what is not the base goes through a second one. Both are
/// cut where an accelerator has not enough memory for them.
void EmbeddingService::embed_routed(Job& job) {
    EmbedOptions options;
    options.tokens_per_batch = batch_tokens(job.encoder());
    options.progress = [this](std::size_t) {
        const std::lock_guard lock(mutex_);
        ++counts_.batches;
    };
    const std::size_t count = std::min(routed_texts, job.encoded.size() - job.next);
    const auto first = job.work.texts.begin() + static_cast<std::ptrdiff_t>(job.next);
    const std::vector<std::string_view> texts(first, first + static_cast<std::ptrdiff_t>(count));
    job.rows.narrow(0, static_cast<std::int64_t>(job.next), static_cast<std::int64_t>(count))
        .copy_(embed_texts(job.model(), texts, job.work.where.route, options));
    job.last_turn = turn_;
    job.next += count;
    job.left -= count;
}

void EmbeddingService::work() {
    while (take_new()) {
        drop_unwanted();
        put_in_order();
        if (!active_.empty() && !fetch_part()) continue;
        std::vector<Item> batch;
        try {
            if (!active_.empty() && active_.front()->work.where.route.routed && active_.front()->left > 0)
                embed_routed(*active_.front());
            else if (batch = next_batch(); !batch.empty())
                embed_batch(batch);
        } catch (const std::exception&) {
            const std::string problem = describe_current_exception().second;
            const std::vector<std::shared_ptr<Job>> hit = batch.empty() ? std::vector{active_.front()} : [&] {
                std::vector<std::shared_ptr<Job>> jobs;
                for (const Item& item : batch)
                    if (std::find(jobs.begin(), jobs.end(), item.job) == jobs.end()) jobs.push_back(item.job);
                return jobs;
            }();
            for (const auto& job : hit) finish(job, {500, problem, {}, 0});
            continue;
        }
        for (const auto& job : std::vector(active_))
            if (job->left == 0) finish(job, {200, "", job->rows, job->encoded.ids.size()});
    }
}

}  // namespace faceter::worker
