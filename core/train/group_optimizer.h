#pragma once
#include <set>
#include <vector>

#include "train/optimizer.h"
#include "train/process_group.h"

namespace faceter {

/// How a group shares the optimiser's work. `none`: every rank holds all moments, gradients are all-reduced. `zero2` (ZeRO stage 2, Rajbhandari et al., 2020):
/// every rank holds the moments of its part of the parameters, gradients are reduce-scattered, new values all-gathered.
enum class Sharding { none, zero2 };

/// Parameters whose gradients travel in one flat tensor: all of one expert (or shared ones), so that a step sends only what its batch plan names.
struct Bucket {
    struct Member {
        std::size_t parameter;
        std::int64_t offset, numel;   ///< its place in the flat tensor
    };
    int expert = -1;
    std::vector<Member> members;
    std::int64_t numel = 0;           ///< padded to a multiple of the ranks
};
/// In the parameters' order within each expert; a bucket is closed when it has `max_values` or more.
std::vector<Bucket> make_buckets(const std::vector<Parameter>& parameters, int ranks, std::int64_t max_values);

/// AdamW over the sums of all ranks' gradients; the group's parameters stay the same bits on every rank. Alone it is AdamW.
class GroupAdamW {
  public:
    GroupAdamW(std::vector<Parameter> parameters, AdamWSettings settings, ProcessGroup& group, Sharding sharding);

    /// Sums the gradients over the ranks, then one step as AdamW::step. `experts` are those of the global batch plan: the same on every rank. A rank
    /// without a gradient that others have counts as zero; where nobody has one, the parameter stays as it is.
    at::Tensor step(double learning_rate, double max_grad_norm, const std::set<int>& experts);
    void zero_grad();
    const std::vector<Parameter>& parameters() const { return parameters_; }

    /// Whole moments and step counts, whatever the sharding and the number of ranks. A collective where they are sharded.
    std::vector<NamedTensor> state() const;
    void load(const Weights& state);

  private:
    /// What this rank steps of a parameter: a range of its values.
    struct Piece {
        std::size_t parameter, bucket;
        std::int64_t begin, numel;    ///< within the parameter
        std::int64_t offset;          ///< within this rank's part of the bucket
    };
    std::vector<Piece> own_pieces() const;
    std::vector<Parameter> stepped() const;
    std::vector<char> gradients_anywhere(const std::set<int>& experts) const;
    at::Tensor packed_gradients(const Bucket& bucket);
    void reduce_all(const Bucket& bucket, const std::vector<char>& anywhere);
    void reduce_own(std::size_t bucket, const std::vector<char>& anywhere);
    void share_new_values(std::size_t bucket);
    at::Tensor whole_moment(std::size_t bucket, bool first) const;
    std::int64_t part_numel(std::size_t bucket) const { return buckets_[bucket].numel / group_.size(); }

    std::vector<Parameter> parameters_;
    ProcessGroup& group_;
    Sharding sharding_;
    std::vector<Bucket> buckets_;
    std::vector<Piece> pieces_;   ///< zero2
    AdamW adamw_;                 ///< of all parameters, or of the pieces
};

}  // namespace faceter
