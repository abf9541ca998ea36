#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/embedding_model.h"

namespace faceter {

/// How the products of an encoder are computed where nothing is trained. Norms, softmax, activations, routers, low-rank updates and the
/// heads behind pooling are computed in float32 in each.
enum class Compute {
    float32,
    bf16,  ///< both sides rounded to bfloat16
    int8   ///< weights scaled per channel, activations per token as they come
};
inline constexpr const char* compute_names[] = {"float32", "bf16", "int8"};
/// Errors (usage): an unknown name.
Compute compute_from_name(std::string_view name);
std::string_view compute_name(Compute compute);
/// How a model's products are computed now, whatever is kept from it: "int8" of "int8 but ...".
std::string compute_name_of(const EmbeddingModel& model);

/// What came of preparing a model.
struct ComputeReport {
    Compute compute = Compute::float32;
    bool native = true;             ///< the processor has instructions for it: else it is exact, but no faster than float32
    std::size_t num_products = 0;   ///< matrices of weights
    std::vector<std::string> kept;  ///< those that are not computed so: the ones that lost most on the sample, until its vectors were near
                                    ///< enough
    std::string kept_in = "float32";  ///< how they are: int8's in bf16 where the processor multiplies that
    double smallest_cosine = 1;       ///< of a vector of the sample to its float32 form
};

/// The texts, of several kinds and lengths, that tell what a lower form loses.
std::span<const std::string_view> compute_sample();
/// Every vector of the sample comes at least this near (cosine) to its float32 form.
double wanted_cosine(Compute compute);

/// Lays out the weights of all products of a model on the CPU once. For bf16 and int8 a sample of texts goes through every path of the
/// model in float32 first, and int8 learns from it how large the elements of activations get; the products that lose most there are kept
/// from it (ComputeReport::kept) until every vector of the sample has wanted_cosine(). With `release_weights` only what is laid out stays
/// in memory: the model embeds, and can neither be trained, written nor asked for its fingerprint. On an accelerator bf16 lowers the whole
/// encoder, tables and routers aside. Errors (usage): int8 there.
ComputeReport prepare_products(EmbeddingModel& model, Compute compute, bool release_weights);

/// While one lives, the weights of a model's products on the CPU in float32 are laid out once and not for each pass: a single short text
/// takes a sixth of the time. Vectors are the same, bit for bit. For a model that is trained before and afterwards, not meanwhile.
class LaidOutProducts {
  public:
    explicit LaidOutProducts(EmbeddingModel& model);
    ~LaidOutProducts();
    LaidOutProducts(const LaidOutProducts&) = delete;
    LaidOutProducts& operator=(const LaidOutProducts&) = delete;

  private:
    std::vector<Encoder*> encoders_;  ///< whose products nobody had laid out before
};

/// While one lives, a model on an accelerator embeds in bfloat16, over texts end to end, by copies of its encoders, and says so
/// (EmbeddingModel::computed); afterwards its encoders are those that it had, and were never touched. On the CPU it changes nothing.
class LoweredEncoders {
  public:
    LoweredEncoders(EmbeddingModel& model, bool wanted);
    ~LoweredEncoders();
    LoweredEncoders(const LoweredEncoders&) = delete;
    LoweredEncoders& operator=(const LoweredEncoders&) = delete;

  private:
    EmbeddingModel& model_;
    std::vector<std::unique_ptr<Encoder>> kept_;  ///< none: nothing was changed
};

}  // namespace faceter
