#pragma once
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/hash.h"
#include "eval/embedding_file.h"
#include "eval/quantise.h"
#include "model/embedding_model.h"

namespace faceter {

class ProcessGroup;

struct EmbedOptions {
    std::int64_t tokens_per_batch = 0;  ///< real tokens in a forward pass; 0: as suits the device
    int threads = 0;                    ///< of the tokenizer; 0: as many as ATen uses
    /// Called with the number of texts done, now and then; may throw to stop.
    std::function<void(std::size_t)> progress;
    /// Called with what token-routed blocks did, a batch at a time.
    std::function<void(const RoutingTrace&)> routing;
    /// Called with how many of the texts have no token, where some have none.
    std::function<void(std::size_t)> without_tokens;
};

/// Embeds `texts` under `route`: [N, D] float32 in input order. Each distinct text is tokenised and embedded once; texts are packed by
/// length; one of no tokens is the zero vector. A data error names the text whose embedding is not finite: no score may rest on it.
/// A routed route takes a pass of the base and a second one of the texts for which the model's router chose another path, all paths packed
/// together. While a model has no router yet, the base stands.
at::Tensor embed_texts(const EmbeddingModel& model, std::span<const std::string_view> texts, const Route& route,
                       const EmbedOptions& options = {});
/// Each text on a path of its own: paths[i] is that of texts[i].
at::Tensor embed_texts(const EmbeddingModel& model, std::span<const std::string_view> texts, std::span<const Path> paths,
                       const Route& route, const EmbedOptions& options = {});

/// Embeddings by content: what was embedded under an instruction, encoder and path once is not computed again as long as the model stays
/// the same. Bounded: the oldest go first. With a file, also across processes.
class CachedEmbedder {
  public:
    explicit CachedEmbedder(const EmbeddingModel& model, EmbedOptions options = {}, std::size_t max_bytes = std::size_t(2) << 30);
    /// A routed route looks its base pass up as well: what was embedded to choose is not embedded again where the base wins.
    at::Tensor embed(std::span<const std::string_view> texts, const Route& route);
    /// From now on embed() gives the embeddings as this form stores them; they are computed and kept whole.
    void set_form(EmbeddingForm form) { form_ = form; }
    /// The path that the model's router chooses for each text under `route`.
    std::vector<Path> choose(std::span<const std::string_view> texts, const Route& route);
    /// Forgets what was embedded on this path: its weights have changed.
    void renew(const Path& path) { ++generation_[path]; }
    const EmbeddingModel& model() const { return model_; }
    std::size_t hits() const { return hits_; }
    std::size_t misses() const { return misses_; }
    /// What memory lacks is looked for there first, and what is computed goes there. Hashes the model's weights once.
    void use_file(std::shared_ptr<EmbeddingFile> file);
    /// What is computed is computed by all ranks of the group, of which this is 0 and the others are in serve_embeddings().
    void share_work(ProcessGroup& group) { group_ = &group; }
    void set_progress(std::function<void(std::size_t)> progress) { options_.progress = std::move(progress); }

  private:
    Hash128 key(std::string_view text, const Route& route) const;
    at::Tensor embed_whole(std::span<const std::string_view> texts, const Route& route);
    at::Tensor embed_one_path(std::span<const std::string_view> texts, const Route& route);
    void keep(const Hash128& key, const float* row);
    void compute(std::span<const std::string_view> texts, const Route& route, float* rows);
    void look_up_or_compute(std::span<const std::string_view> texts, const Route& route, float* rows);
    const EmbeddingModel& model_;
    EmbedOptions options_;
    std::size_t capacity_rows_, next_ = 0, hits_ = 0, misses_ = 0;
    std::vector<float> rows_;
    std::vector<Hash128> owners_;
    std::unordered_map<Hash128, std::size_t, Hash128Hasher> index_;
    EmbeddingForm form_{};
    std::map<Path, std::uint64_t> generation_;  ///< of a path that was renewed
    std::shared_ptr<EmbeddingFile> file_;
    ProcessGroup* group_ = nullptr;
    std::uint64_t model_hash_ = 0;  ///< of weights and program, for keys of the file
};

}  // namespace faceter
