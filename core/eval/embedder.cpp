#include "eval/embedder.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "common/error.h"
#include "common/strings.h"
#include "eval/group_embedding.h"
#include "model/accelerator.h"
#include "model/device.h"
#include "model/shortage.h"
#include "text/encode_batch.h"

namespace faceter {
namespace {

/// Different for different paths.
std::uint64_t number_of(const Path& path) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(path.adapter)) << 32 | static_cast<std::uint32_t>(path.expert);
}

/// Of adapters, which a model's fingerprint leaves out: runs have noted it without them.
std::string scales_of(const EmbeddingModel& model) {
    std::string scales;
    for (const auto& encoder : model.encoders)
        for (const Adapter& adapter : encoder->adapters()) scales += fmt::format(" {}", adapter.config.scale());
    return scales;
}

/// `texts` without repetition of a text and its path, and for each text which of them it equals.
struct Distinct {
    std::vector<std::string_view> texts;
    std::vector<Path> paths;
    std::vector<std::size_t> of;
};

struct TextAndPathHasher {
    std::size_t operator()(const std::pair<std::string_view, Path>& key) const {
        return std::hash<std::string_view>()(key.first) + 0x9E3779B97F4A7C15u * number_of(key.second);
    }
};

Distinct distinct_texts(std::span<const std::string_view> texts, std::span<const Path> paths) {
    Distinct distinct;
    std::unordered_map<std::pair<std::string_view, Path>, std::size_t, TextAndPathHasher> seen;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto [at, fresh] = seen.emplace(std::pair(texts[i], paths[i]), distinct.texts.size());
        if (fresh) {
            distinct.texts.push_back(texts[i]);
            distinct.paths.push_back(paths[i]);
        }
        distinct.of.push_back(at->second);
    }
    return distinct;
}

at::Tensor index_of(const std::vector<std::size_t>& rows) {
    const at::Tensor index = at::empty({static_cast<std::int64_t>(rows.size())}, at::kLong);
    std::copy(rows.begin(), rows.end(), index.data_ptr<std::int64_t>());
    return index;
}

/// The route without its router: on this path.
Route on_path(Route route, const Path& path) {
    route.path = path;
    route.routed = false;
    return route;
}

std::vector<Path> chosen_paths(const EmbeddingModel& model, const Route& route, const at::Tensor& base) {
    if (!model.router) return std::vector<Path>(static_cast<std::size_t>(base.size(0)), route.path);  // not trained yet
    return model.router->choose(base);
}

/// Texts by the path chosen for them; those that stay where they are keep their base embedding and stand nowhere.
std::map<Path, std::vector<std::size_t>> rows_by_path(const std::vector<Path>& paths, const Route& route) {
    std::map<Path, std::vector<std::size_t>> rows;
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (paths[i] != route.path) rows[paths[i]].push_back(i);
    return rows;
}

/// Where the batch that begins at order[start] ends; `order` has the longest text first.
std::size_t batch_end(const TokenBatch& encoded, std::span<const std::size_t> order, std::size_t start, std::int64_t tokens_per_batch) {
    auto tokens = static_cast<std::int64_t>(encoded[order[start]].size());
    std::size_t end = start + 1;
    for (; end < order.size(); ++end) {
        tokens += static_cast<std::int64_t>(encoded[order[end]].size());
        if (tokens > tokens_per_batch) break;
    }
    return end;
}

constexpr std::size_t texts_per_write = 8192;

/// What a forward pass gave of the texts order[start] to order[end - 1].
struct Embedded {
    TensorOnTheWay rows;
    std::size_t start, end;
};

Error too_long_for(const c10::Device& device, std::size_t tokens, const std::string& shortage) {
    return {ExitCode::out_of_memory,
            fmt::format("{} is out of memory in embedding a text of {} tokens by itself; lower max_length, compute in bf16, or on the "
                        "processor (device: cpu) ({})",
                        device.str(), tokens, shortage)};
}

bool all_finite(std::span<const float> row) {
    float sum = 0;  // finite numbers times zero sum to zero, others to NaN
    for (const float value : row) sum += value * 0.0f;
    return sum == 0;
}

}  // namespace

at::Tensor embed_texts(const EmbeddingModel& model, std::span<const std::string_view> texts, const Route& route,
                       const EmbedOptions& options) {
    if (!route.routed) return embed_texts(model, texts, std::vector<Path>(texts.size(), route.path), route, options);
    at::Tensor rows = embed_texts(model, texts, on_path(route, route.path), options);
    std::vector<std::string_view> again;
    std::vector<Path> paths;
    std::vector<std::size_t> places;
    for (const auto& [path, members] : rows_by_path(chosen_paths(model, route, rows), route))
        for (const std::size_t i : members) {
            again.push_back(texts[i]);
            paths.push_back(path);
            places.push_back(i);
        }
    if (again.empty()) return rows;
    EmbedOptions second = options;
    second.without_tokens = nullptr;  // they are counted
    return rows.index_copy_(0, index_of(places), embed_texts(model, again, paths, route, second));
}

at::Tensor embed_texts(const EmbeddingModel& model, std::span<const std::string_view> texts, std::span<const Path> paths,
                       const Route& route, const EmbedOptions& options) {
    const at::NoGradGuard no_grad;
    const Distinct distinct = distinct_texts(texts, paths);
    const Encoder& encoder = *model.encoders[static_cast<std::size_t>(route.encoder)];
    const TokenBatch encoded = encode_batch(*model.tokenizer, distinct.texts, route.instruction, model.max_length,
                                            options.threads > 0 ? options.threads : at::get_num_threads());
    const std::size_t count = distinct.texts.size();
    std::int64_t tokens_per_batch = options.tokens_per_batch > 0 ? options.tokens_per_batch : encoder.device().is_cpu() ? 4096 : 65536;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (encoder.device().is_meta()) order = distinct.of;  // a text stands for any of its length there: none is left out as another's twin
    // Longest first: what runs out of memory does so at once, and equal lengths stand together.
    const auto longest_first = [&](std::size_t a, std::size_t b) { return encoded[a].size() > encoded[b].size(); };
    std::stable_sort(order.begin(), order.end(), longest_first);
    const std::int64_t skip = model.prompt_rows(route.instruction), dim = model.dim();
    const at::Tensor rows = at::zeros({static_cast<std::int64_t>(count), dim}, at::kFloat);
    std::size_t with_tokens = order.size();  // those without stand behind them and stay zero
    while (with_tokens > 0 && encoded[order[with_tokens - 1]].empty()) --with_tokens;
    const bool some_without = with_tokens < order.size();
    order.resize(with_tokens);
    // With include_prompt: false one may have none but the instruction's: nothing of it is pooled either.
    const std::size_t left_out = model.folder.pooling == Pooling::cls ? 0 : static_cast<std::size_t>(skip);
    if ((some_without || left_out > 0) && options.without_tokens) {
        const auto nothing_pooled = [&](std::size_t text) { return encoded[text].size() <= left_out; };
        const auto texts_without = std::count_if(distinct.of.begin(), distinct.of.end(), nothing_pooled);
        if (texts_without > 0) options.without_tokens(static_cast<std::size_t>(texts_without));
    }
    const auto put = [&](const Embedded& batch) {
        const auto* from = batch.rows.here().data_ptr<float>();
        for (std::size_t i = batch.start; i < batch.end; ++i, from += dim) {
            if (!all_finite({from, static_cast<std::size_t>(dim)}))
                throw data_error(
                    "the model's embedding of {} holds a number that is not finite; its weights are damaged, or its precision is too low",
                    faceter::quoted(distinct.texts[order[i]], 80));
            std::memcpy(rows.data_ptr<float>() + static_cast<std::int64_t>(order[i]) * dim, from,
                        static_cast<std::size_t>(dim) * sizeof(float));
        }
        if (options.progress) options.progress(batch.end);
    };
    const auto pass = [&](std::size_t start, std::size_t end) {
        const auto begin = order.begin();
        std::stable_sort(begin + static_cast<std::ptrdiff_t>(start), begin + static_cast<std::ptrdiff_t>(end),
                         [&](auto a, auto b) { return distinct.paths[a] < distinct.paths[b]; });
        std::vector<SequenceInput> inputs;
        for (std::size_t i = start; i < end; ++i) {
            const auto ids = encoded[order[i]];
            inputs.push_back({ids.data(), static_cast<std::int64_t>(ids.size()), 0, distinct.paths[order[i]], skip});
        }
        RoutingTrace trace;
        ForwardContext context;
        if (options.routing) context.routing = &trace;
        Embedded batch{TensorOnTheWay(model.embed(encoder, make_packed_batch(inputs), context).to(at::kFloat)), start, end};
        if (options.routing) options.routing(trace);
        return batch;
    };
    std::optional<Embedded> before;  // an accelerator has its next batch before its last one is read
    for (std::size_t start = 0; start < with_tokens;) {
        const std::size_t end = batch_end(encoded, order, start, tokens_per_batch);
        std::optional<Embedded> batch;
        try {
            batch.emplace(pass(start, end));
        } catch (const c10::Error& error) {
            const auto shortage = shortage_of(error, encoder.device());
            if (!shortage) throw;
            if (end - start == 1) throw too_long_for(encoder.device(), encoded[order[start]].size(), *shortage);
        }
        if (before) put(*before);
        before.reset();
        if (!batch) {  // an accelerator has not enough memory: half as much at a time from here on
            const auto begin = order.begin() + static_cast<std::ptrdiff_t>(start), stop = order.begin() + static_cast<std::ptrdiff_t>(end);
            tokens_per_batch = std::accumulate(begin, stop, std::int64_t{0},
                                               [&](auto sum, auto i) { return sum + static_cast<std::int64_t>(encoded[i].size()); }) /
                               2;
            std::stable_sort(begin, stop, longest_first);
            continue;
        }
        if (is_accelerator(encoder.device()))
            before.emplace(std::move(*batch));
        else
            put(*batch);
        start = end;
    }
    if (before) put(*before);
    if (count == texts.size()) return rows;
    return rows.index_select(0, index_of(distinct.of));
}

CachedEmbedder::CachedEmbedder(const EmbeddingModel& model, EmbedOptions options, std::size_t max_bytes)
    : model_(model),
      options_(std::move(options)),
      capacity_rows_(std::max<std::size_t>(1, max_bytes / (static_cast<std::size_t>(model.dim()) * 4 + 64))) {}

Hash128 CachedEmbedder::key(std::string_view text, const Route& route) const {
    const auto renewed = generation_.find(route.path);
    const std::uint64_t generation = renewed == generation_.end() ? 0 : renewed->second * 0x9E3779B97F4A7C15u;
    const std::uint64_t where =
        hash64(route.instruction,
               hash64("path", number_of(route.path) + 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(route.encoder)) ^ generation);
    return {hash64(text, where), hash64(text, ~where)};
}

void CachedEmbedder::keep(const Hash128& key, const float* row) {
    const auto dim = static_cast<std::size_t>(model_.dim());
    const std::size_t slot = next_++ % capacity_rows_;
    if (slot == owners_.size()) {
        owners_.push_back(key);
        rows_.insert(rows_.end(), row, row + dim);
    } else {
        index_.erase(owners_[slot]);
        owners_[slot] = key;
        std::copy(row, row + dim, rows_.begin() + static_cast<std::ptrdiff_t>(slot * dim));
    }
    index_[key] = slot;
}

std::vector<Path> CachedEmbedder::choose(std::span<const std::string_view> texts, const Route& route) {
    return chosen_paths(model_, route, embed_one_path(texts, on_path(route, route.path)));
}

at::Tensor CachedEmbedder::embed(std::span<const std::string_view> texts, const Route& route) {
    return form_.applied(embed_whole(texts, route), model_.folder.normalize);
}

at::Tensor CachedEmbedder::embed_whole(std::span<const std::string_view> texts, const Route& route) {
    if (!route.routed) return embed_one_path(texts, route);
    at::Tensor out = embed_one_path(texts, on_path(route, route.path));
    for (const auto& [path, rows] : rows_by_path(chosen_paths(model_, route, out), route)) {
        std::vector<std::string_view> some;
        for (const std::size_t i : rows) some.push_back(texts[i]);
        out.index_copy_(0, index_of(rows), embed_one_path(some, on_path(route, path)));
    }
    return out;
}

at::Tensor CachedEmbedder::embed_one_path(std::span<const std::string_view> texts, const Route& route) {
    const auto dim = static_cast<std::size_t>(model_.dim());
    const at::Tensor out = at::empty({static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(dim)}, at::kFloat);
    std::vector<std::string_view> missing;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto found = index_.find(key(texts[i], route));
        if (found == index_.end()) {
            missing.push_back(texts[i]);
            places.push_back(i);
        } else {
            std::memcpy(out.data_ptr<float>() + i * dim, rows_.data() + found->second * dim, dim * sizeof(float));
        }
    }
    hits_ += texts.size() - missing.size();
    misses_ += missing.size();
    if (missing.empty()) return out;
    std::vector<float> fresh(missing.size() * dim);
    look_up_or_compute(missing, route, fresh.data());
    for (std::size_t i = 0; i < missing.size(); ++i) {
        const float* row = fresh.data() + i * dim;
        std::memcpy(out.data_ptr<float>() + places[i] * dim, row, dim * sizeof(float));
        const Hash128 k = key(missing[i], route);
        if (!index_.contains(k)) keep(k, row);
    }
    return out;
}

void CachedEmbedder::use_file(std::shared_ptr<EmbeddingFile> file) {
    file_ = std::move(file);
    model_hash_ = hash64(model_.fingerprint() + scales_of(model_) + " " FACETER_VERSION);
}

void CachedEmbedder::compute(std::span<const std::string_view> texts, const Route& route, float* rows) {
    const at::Tensor computed =
        (group_ ? embed_on_all_ranks(model_, *group_, texts, route, options_) : embed_texts(model_, texts, route, options_)).contiguous();
    std::memcpy(rows, computed.data_ptr<float>(), static_cast<std::size_t>(computed.numel()) * sizeof(float));
}

/// Texts go to the file in parts: a process that is stopped has kept what it computed so far.
void CachedEmbedder::look_up_or_compute(std::span<const std::string_view> texts, const Route& route, float* rows) {
    if (!file_) return compute(texts, route, rows);
    const auto dim = static_cast<std::size_t>(model_.dim());
    std::vector<Hash128> keys;
    for (const std::string_view text : texts) {
        const Hash128 own = key(text, route);
        keys.push_back({hash64({reinterpret_cast<const char*>(&own.low), 8}, model_hash_),
                        hash64({reinterpret_cast<const char*>(&own.high), 8}, ~model_hash_)});
    }
    const std::vector<bool> found = file_->read(keys, model_.dim(), rows);
    std::vector<std::size_t> absent;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (!found[i]) absent.push_back(i);
    for (std::size_t start = 0; start < absent.size(); start += texts_per_write) {
        const std::span<const std::size_t> part(absent.data() + start, std::min(texts_per_write, absent.size() - start));
        std::vector<std::string_view> some;
        std::vector<Hash128> some_keys;
        for (const std::size_t i : part) some.push_back(texts[i]), some_keys.push_back(keys[i]);
        std::vector<float> computed(part.size() * dim);
        compute(some, route, computed.data());
        file_->write(some_keys, model_.dim(), computed.data());
        for (std::size_t i = 0; i < part.size(); ++i) std::memcpy(rows + part[i] * dim, computed.data() + i * dim, dim * sizeof(float));
    }
}

}  // namespace faceter
