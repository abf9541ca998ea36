#pragma once
#include <span>
#include <vector>

#include "train/optimizer.h"
#include "train/process_group.h"

namespace faceter {

/// How a group shares the optimiser's work. `none`: every rank holds all moments, gradients are all-reduced. `zero2` (ZeRO stage 2,
/// Rajbhandari et al., 2020): every rank holds the moments of its part of the parameters, gradients are reduce-scattered, new values
/// all-gathered.
enum class Sharding { none, zero2 };

/// Parameters whose gradients travel in one flat tensor: all of one expert or adapter (or shared ones), so that a step sends only what its
/// batch plan names.
struct Bucket {
    struct Member {
        std::size_t parameter;
        std::int64_t offset, numel;  ///< its place in the flat tensor
    };
    Path owner{};
    std::vector<Member> members;
    std::int64_t numel = 0;  ///< padded to a multiple of the ranks
};
constexpr std::int64_t usual_bucket_values = std::int64_t{2} << 20;  ///< 8 MiB in float32: the last one, which nothing hides, is small
/// In the parameters' order within each owner; a bucket is closed when it has `max_values` or more.
std::vector<Bucket> make_buckets(const std::vector<Parameter>& parameters, int ranks, std::int64_t max_values);

/// AdamW over the sums of all ranks' gradients; the group's parameters stay the same bits on every rank. Alone it is AdamW.
class GroupAdamW {
  public:
    GroupAdamW(std::vector<Parameter> parameters, AdamWSettings settings, ProcessGroup& group, Sharding sharding,
               std::int64_t bucket_values = usual_bucket_values);
    ~GroupAdamW();
    GroupAdamW(const GroupAdamW&) = delete;
    GroupAdamW& operator=(const GroupAdamW&) = delete;

    /// Whether only_rows() of this parameter spares anything: not alone, nor where it is not trained, shares a bucket, or the optimiser is
    /// sharded.
    bool sends_rows_of(const at::Tensor& table) const;
    /// For the step to come: only these rows of `table` [V, D] have gradients on any rank (the tokens of the global batch; ascending), so
    /// only they travel. The same on every rank.
    void only_rows(const at::Tensor& table, const std::vector<std::int64_t>& rows);
    /// Ahead of the last backward pass of a step: while it goes on, gradients that it has finished are sent already, a bucket at a time.
    /// Not needed for the result.
    void send_while_backward(const UsedPaths& used);
    /// Sends what backward has not: from here on no rank's sums wait for what this rank's host does. step() does it otherwise.
    void send_rest(const UsedPaths& used);
    /// Sums the gradients over the ranks, then one step as AdamW::step. `used` is what the global batch goes through: the same on every
    /// rank. A rank without a gradient that others have counts as zero; where nobody has one, the parameter stays as it is.
    at::Tensor step(double learning_rate, double max_grad_norm, const UsedPaths& used);
    /// Of this rank's gradients in the step just taken.
    const GradientNorms& norms() const { return adamw_.norms(); }
    /// Those whose gradient has a norm that is not finite on any rank, as norms() of a step and its values say: of such a step the
    /// parameters are as they were. All ranks call it.
    std::vector<Parameter> not_finite(const GradientNorms& norms, std::span<const double> each) const;
    void zero_grad();
    const std::vector<Parameter>& parameters() const { return parameters_; }

    /// Moments and step counts; where they are sharded, those of this rank, under names that read_tensor() puts together (NAME@BEGIN).
    std::vector<NamedTensor> state() const;
    /// What any number of ranks has stored.
    void load(const Weights& state);
    bool is_sharded() const { return sharding_ != Sharding::none; }

  private:
    /// What this rank steps of a parameter: a range of its values.
    struct Piece {
        std::size_t parameter, bucket;
        std::int64_t begin, numel;  ///< within the parameter
        std::int64_t offset;        ///< within this rank's part of the bucket
    };
    /// The buckets of a step on their way: the same ones in the same order on every rank, whatever each has gradients for.
    struct Sending {
        std::vector<std::size_t> order;                 ///< from the last layers to the first, as backward comes to them; empty: not begun
        std::size_t sent = 0;                           ///< of `order`
        std::vector<std::size_t> missing;               ///< of each bucket: gradients that backward has not come to
        std::vector<std::unique_ptr<PendingSum>> sums;  ///< in that order
        std::vector<at::Tensor> tables;                 ///< in that order: this rank's gradient of a table of which rows were sent
        std::vector<float> gradients;                   ///< 0 or 1 of each parameter: whether this rank had one when its bucket was sent
    };
    struct Arrival;
    std::vector<Piece> own_pieces() const;
    std::vector<Parameter> stepped() const;
    void begin_sending(const UsedPaths& used);
    void arrived(std::size_t parameter);
    void send_next();
    std::vector<char> gradients_anywhere() const;
    at::Tensor packed_gradients(const Bucket& bucket);
    bool is_alone_in(const Bucket& bucket, const at::Tensor& table) const;
    bool by_rows(std::size_t bucket) const;
    at::Tensor packed_rows(const Bucket& bucket);
    void take_rows(std::size_t bucket, const at::Tensor& table, const at::Tensor& sums, const std::vector<char>& anywhere);
    void take_all(std::size_t bucket, const at::Tensor& sums, const std::vector<char>& anywhere);
    void take_own(std::size_t bucket, const at::Tensor& sums, const std::vector<char>& anywhere);
    void share_new_values(std::size_t bucket);
    std::int64_t part_numel(std::size_t bucket) const { return buckets_[bucket].numel / group_.size(); }

    std::vector<Parameter> parameters_;
    ProcessGroup& group_;
    Sharding sharding_;
    std::vector<Bucket> buckets_;
    std::vector<std::size_t> bucket_of_;  ///< of each parameter
    Sending sending_;
    at::Tensor table_, table_rows_;  ///< of only_rows(); undefined: none
    std::vector<Piece> pieces_;      ///< zero2
    AdamW adamw_;                    ///< of all parameters, or of the pieces
};

}  // namespace faceter
