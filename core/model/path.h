#pragma once
#include <compare>
#include <set>

namespace faceter {

/// What of a model only some texts go through: one expert of every mixture block, and one low-rank adapter of its linear layers. Path{} is
/// the plain model: the dense block that stands beside task experts, and no adapter.
struct Path {
    static constexpr int none = -1;
    int expert = none, adapter = none;

    constexpr Path() = default;
    static constexpr Path of_expert(int index) { return {index, none}; }
    static constexpr Path of_adapter(int index) { return {none, index}; }
    constexpr Path with_adapter(int index) const { return {expert, index}; }
    auto operator<=>(const Path&) const = default;

  private:
    constexpr Path(int own_expert, int own_adapter) : expert(own_expert), adapter(own_adapter) {}
};

/// The experts and adapters that some texts go through, together. A parameter's owner is the one expert or adapter that it belongs to;
/// Path{} owns what all texts share.
class UsedPaths {
  public:
    void add(const Path& path) {
        experts_.insert(path.expert);
        adapters_.insert(path.adapter);
    }
    void add(const UsedPaths& others) {
        experts_.insert(others.experts_.begin(), others.experts_.end());
        adapters_.insert(others.adapters_.begin(), others.adapters_.end());
    }
    bool contains(const Path& owner) const {
        return (owner.expert == Path::none || experts_.contains(owner.expert)) &&
               (owner.adapter == Path::none || adapters_.contains(owner.adapter));
    }
    bool operator==(const UsedPaths&) const = default;

  private:
    std::set<int> experts_, adapters_;
};

}  // namespace faceter
