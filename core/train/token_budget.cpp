#include "train/token_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace faceter {
namespace {

/// The first item of each of `count` parts of about the same number of tokens, and the end.
std::vector<std::size_t> cuts_of(const std::vector<double>& tokens, std::size_t count) {
    const double total = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    std::vector<std::size_t> cuts{0};
    double before = 0;
    for (std::size_t i = 0; i < tokens.size(); before += tokens[i++])
        if (i > cuts.back() && (before + tokens[i] / 2) / total * static_cast<double>(count) >= static_cast<double>(cuts.size()))
            cuts.push_back(i);
    cuts.push_back(tokens.size());
    return cuts;
}

bool fits(const std::vector<double>& tokens, const std::vector<std::size_t>& cuts, double budget) {
    for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
        const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(cuts[c]),
                   end = tokens.begin() + static_cast<std::ptrdiff_t>(cuts[c + 1]);
        if (end - begin > 1 && std::accumulate(begin, end, 0.0) > budget) return false;
    }
    return true;
}

std::vector<std::size_t> cuts_within(const std::vector<double>& tokens, double budget) {
    const double total = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    for (auto count = static_cast<std::size_t>(std::max(1.0, std::ceil(total / budget))); count < tokens.size(); ++count)
        if (auto cuts = cuts_of(tokens, count); fits(tokens, cuts, budget)) return cuts;
    std::vector<std::size_t> each(tokens.size() + 1);
    std::iota(each.begin(), each.end(), std::size_t{0});
    return each;
}

BatchPlan part_of(const BatchPlan& plan, std::size_t begin, std::size_t end) {
    BatchPlan part = plan;
    const auto cut = [&](auto& values) {
        if (!values.empty())
            values = {values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end)};
    };
    cut(part.items);
    cut(part.keep);
    return part;
}

class WithinTokens final : public Curriculum {
  public:
    WithinTokens(std::unique_ptr<Curriculum> whole, std::int64_t batch_size, double budget, PairTokens tokens_of, std::int64_t epochs,
                 const std::function<void(const std::string&)>& warn)
        : whole_(std::move(whole)), budget_(budget), tokens_of_(std::move(tokens_of)), warn_(warn) {
        const Json begin = whole_->state();
        const std::int64_t planned = whole_->num_batches(),
                           plans = planned > 0 ? planned * epochs : drawn_batches(*whole_, epochs, batch_size);
        std::int64_t parts = 0, lone = 0;
        for (std::int64_t i = 0; i < plans; ++i) {
            const auto cut = parts_of(whole_->next());
            parts += static_cast<std::int64_t>(cut.size());
            if (cut.size() > 1) lone += std::count_if(cut.begin(), cut.end(), [](const BatchPlan& part) { return part.items.size() == 1; });
        }
        if (lone > 0 && warn)
            warn(
                fmt::format("training.batch_tokens is {}, and leaves {} of {} batches with one pair, where a loss that tells a document "
                            "from those of other pairs learns from hard negatives alone; raise it, or lower max_length",
                            budget, lone, parts));
        num_batches_ = (parts + epochs - 1) / epochs;
        whole_->restore(begin);
    }

    BatchPlan next() override {
        if (next_ == parts_.size()) take(0);
        return parts_[next_++];
    }
    std::int64_t num_examples() const override { return whole_->num_examples(); }
    std::int64_t num_batches() const override { return num_batches_; }
    Json state() const override {
        const bool between = next_ == parts_.size();
        return {{"whole", between ? whole_->state() : before_}, {"part", between ? 0 : next_}, {"batches", num_batches_}};
    }
    void restore(const Json& state) override {
        warn_of_other_cuts(json_or<std::int64_t>(state, "batches", 0, "curriculum"));
        whole_->restore(state.at("whole"));
        parts_.clear();
        next_ = 0;
        if (const auto part = json_at<std::size_t>(state, "part", "curriculum"); part > 0) take(part);
    }

  private:
    /// `batches`: of an epoch, as the checkpoint has it; 0 where an older version wrote it.
    void warn_of_other_cuts(std::int64_t batches) const {
        if (batches == num_batches_ || !warn_) return;
        const std::string why =
            batches == 0 ? "an older version of Faceter wrote the checkpoint, which may have counted the tokens of a batch otherwise"
                         : fmt::format("an epoch had {} batches when the checkpoint was written, and has {} now", batches, num_batches_);
        warn_(fmt::format("training.batch_tokens: {}; from here on batches are cut as they are now. faceter rerun cuts all of them alike",
                          why));
    }
    void take(std::size_t part) {
        before_ = whole_->state();
        parts_ = parts_of(whole_->next());
        next_ = std::min(part, parts_.size());
    }
    std::vector<BatchPlan> parts_of(const BatchPlan& plan) const {
        const auto cuts = cuts_within(tokens_of_(plan.items), budget_);
        std::vector<BatchPlan> parts;
        for (std::size_t c = 0; c + 1 < cuts.size(); ++c) parts.push_back(part_of(plan, cuts[c], cuts[c + 1]));
        return parts;
    }

    std::unique_ptr<Curriculum> whole_;
    double budget_;
    PairTokens tokens_of_;
    std::function<void(const std::string&)> warn_;
    std::int64_t num_batches_ = 0;
    std::vector<BatchPlan> parts_;
    std::size_t next_ = 0;
    Json before_;
};

}  // namespace

std::unique_ptr<Curriculum> within_tokens(std::unique_ptr<Curriculum> whole, std::int64_t batch_size, double budget, PairTokens tokens_of,
                                          std::int64_t epochs, const std::function<void(const std::string&)>& warn) {
    return std::make_unique<WithinTokens>(std::move(whole), batch_size, budget, std::move(tokens_of), epochs, warn);
}

}  // namespace faceter
