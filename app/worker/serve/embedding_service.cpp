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
constexpr std::size_t routed_texts = 64;        // at a time
constexpr std::size_t quick_bytes = 64 << 10;   // of texts that become tokens between two passes
constexpr std::size_t slice_bytes = 512 << 10;  // of a long request, before the next one has its turn

/// Texts from `from` on, until they have so many bytes.
std::vector<std::string_view> some_of(const std::vector<std::string>& texts, std::size_t from, std::size_t most_bytes) {
    std::vector<std::string_view> some;
    for (std::size_t bytes = 0; from < texts.size() && bytes < most_bytes; ++from) bytes += some.emplace_back(texts[from]).size();
    return some;
}

bool is_long(const EmbedWork& work) {
    std::size_t bytes = 0;
    return std::any_of(work.texts.begin(), work.texts.end(), [&](const std::string& text) { return (bytes += text.size()) > quick_bytes; });
}

void append(TokenBatch& all, const TokenBatch& more) {
    const std::uint64_t start = all.ids.size();
    all.ids.insert(all.ids.end(), more.ids.begin(), more.ids.end());
    for (std::size_t i = 1; i <= more.size(); ++i) all.offsets.push_back(start + more.offsets[i]);
}

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

constexpr const char* not_finite = "an embedding holds a number that is not finite; the model's weights are damaged";

EmbedResult too_late() { return {503, "the server did not come to this request in time; ask again later", {}, 0}; }

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
    bool begun = false;
    bool is_read() const { return encoded.size() == work.size(); }
    /// For its vectors, when all of its texts are read.
    void make_room() {
        skip = work.ids.empty() ? model().prompt_rows(work.where.route.instruction) : 0;
        rows = at::zeros({static_cast<std::int64_t>(encoded.size()), model().dim()}, at::kFloat);
        left = encoded.size();
        pass_empty_texts();
    }
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

EmbeddingService::EmbeddingService(const ServiceLimits& limits) : limits_(limits) {
    const auto start = [this, threads = at::get_num_threads()](void (EmbeddingService::*work)()) {
        return std::thread([=, this] {
            at::set_num_threads(threads);  // that is said to each thread anew
            (this->*work)();
        });
    };
    try {
        thread_ = start(&EmbeddingService::work);
        reader_ = start(&EmbeddingService::read_long);
    } catch (...) {  // the system has no thread left
        end();
        throw;
    }
}

EmbeddingService::~EmbeddingService() { end(); }

void EmbeddingService::end() {
    const auto end = [this](bool& ends, std::condition_variable& wake, std::thread& thread) {
        if (!thread.joinable()) return;
        {
            const std::lock_guard lock(mutex_);
            ends = true;
        }
        wake.notify_all();
        thread.join();
    };
    end(reading_ends_, wake_reader_, reader_);  // whose requests the other one embeds
    end(ending_, wake_, thread_);
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
    const bool to_reader = is_long(job->work);
    (to_reader ? long_ : arrived_).push_back(std::move(job));
    (to_reader ? wake_reader_ : wake_).notify_all();
    return true;
}

EmbeddingService::Counts EmbeddingService::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

std::int64_t EmbeddingService::batch_tokens(const Encoder& encoder) const {
    return limits_.batch_tokens > 0 ? limits_.batch_tokens : encoder.device().is_cpu() ? tokens_on_cpu : tokens_on_device;
}

void EmbeddingService::count_dropped() {
    const std::lock_guard lock(mutex_);
    ++counts_.dropped;
}

void EmbeddingService::forget(const Job& job) {
    const std::lock_guard lock(mutex_);
    ++counts_.dropped;
    counts_.waiting_texts -= job.work.size();
}

void EmbeddingService::answer(Job& job, EmbedResult result) {
    {
        const std::lock_guard lock(mutex_);
        counts_.waiting_texts -= job.work.size();
        if (result.status == 200) counts_.texts += job.work.size(), counts_.tokens += result.tokens;
    }
    job.done(std::move(result));
}

void EmbeddingService::finish(const std::shared_ptr<Job>& job, EmbedResult result) {
    if (std::erase(active_, job) > 0) answer(*job, std::move(result));  // else it has been told already, of another text
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
        if (job->is_read() || job->gone()) continue;
        if (EmbedResult result = read_some(*job); result.status != 200) finish(job, std::move(result));
    }
    return true;
}

std::shared_ptr<EmbeddingService::Job> EmbeddingService::next_long() {
    std::unique_lock lock(mutex_);
    wake_reader_.wait(lock, [&] { return reading_ends_ || !long_.empty(); });
    if (long_.empty()) return nullptr;
    const std::shared_ptr<Job> job = long_.front();
    long_.pop_front();
    return job;
}

void EmbeddingService::read_long() {
    while (const std::shared_ptr<Job> job = next_long()) job->gone() ? forget(*job) : read_on(job);
}

/// A slice of it, behind which it goes to its end of the line, or to be embedded.
void EmbeddingService::read_on(const std::shared_ptr<Job>& job) {
    if (is_late(*job)) return answer(*job, too_late());
    job->begun = true;
    if (EmbedResult result = read_some(*job); result.status != 200) return answer(*job, std::move(result));
    if (job->is_read()) job->begun = false, job->arrived = std::chrono::steady_clock::now();  // it waits for its first pass
    const std::lock_guard lock(mutex_);
    (job->is_read() ? arrived_ : long_).push_back(job);
    wake_.notify_all();
}

/// With a status other than 200 where its texts cannot be embedded.
EmbedResult EmbeddingService::read_some(Job& job) const {
    try {
        std::string problem = tokenise(job);
        return {problem.empty() ? 200 : 413, std::move(problem), {}, 0};
    } catch (const Error& error) {  // a text that the model cannot read
        return {error.code() == ExitCode::data ? 400 : 500, error.what(), {}, 0};
    } catch (const std::exception&) {
        return {500, describe_current_exception().second, {}, 0};
    }
}

/// Which text would be cut that must not be, or that there are too many; empty where neither is so.
std::string EmbeddingService::tokenise(Job& job) const {
    const EmbeddingModel& model = job.model();
    const EmbedWork& work = job.work;
    const std::size_t before = job.encoded.size();
    if (work.ids.empty()) {
        const std::size_t length = work.truncate ? model.max_length : 0;
        append(job.encoded, encode_batch(*model.tokenizer, some_of(work.texts, before, slice_bytes), work.where.route.instruction, length,
                                         at::get_num_threads()));
    } else {
        job.encoded = as_batch(work.ids, work.truncate ? model.max_length : std::size_t(-1), cut_of(*model.tokenizer));
    }
    for (std::size_t i = before; i < job.encoded.size(); ++i)
        if (job.encoded[i].size() > model.max_length)
            return fmt::format("text {} has {} tokens, and the model takes {}; shorten it, or let it be cut (\"truncate\": true)", i + 1,
                               job.encoded[i].size(), model.max_length);
    if (job.encoded.ids.size() > limits_.request_tokens)
        return fmt::format("the texts have {} tokens{}, {} are taken at a time; send fewer texts", job.encoded.ids.size(),
                           job.is_read() ? "" : " and more", limits_.request_tokens);
    if (job.is_read()) job.make_room();
    return "";
}

bool EmbeddingService::is_late(const Job& job) const {
    return !job.begun && job.next == 0 && std::chrono::steady_clock::now() - job.arrived > limits_.patience;
}

void EmbeddingService::drop_unwanted() {
    for (const auto& job : std::vector(active_)) {
        if (job->gone()) {
            forget(*job);
            std::erase(active_, job);
        } else if (is_late(*job)) {
            finish(job, too_late());
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

/// In halves where an accelerator has not enough memory for it. A text whose vector is not finite fails its own request alone.
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
    const at::Tensor finite = rows.isfinite().all(1);
    for (std::size_t i = 0; i < batch.size(); ++i)
        finite.data_ptr<bool>()[i] ? keep(batch[i], rows[static_cast<std::int64_t>(i)]) : finish(batch[i].job, {500, not_finite, {}, 0});
    const std::lock_guard lock(mutex_);
    ++counts_.batches;
}

void EmbeddingService::keep(const Item& item, const at::Tensor& row) {
    item.job->rows[static_cast<std::int64_t>(item.text)].copy_(row);
    --item.job->left;
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
    std::vector<std::string_view> texts = some_of(job.work.texts, job.next, quick_bytes);
    texts.resize(std::min(routed_texts, texts.size()));
    const std::size_t count = texts.size();
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
