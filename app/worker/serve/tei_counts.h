#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace faceter::worker {

/// What text-embeddings-inference counts of requests for embeddings, under the names that its dashboards ask for.
class TeiCounts {
  public:
    /// A request that was read, of so many texts (0: it was refused before they were known), and what it was answered.
    void add(std::size_t texts, int status, double seconds);
    /// Appends them in Prometheus' text form.
    void write(std::string& text) const;

  private:
    static constexpr std::size_t num_buckets = 35;  ///< theirs: 15 us, each 1.5 times the one before
    struct Requests {
        std::uint64_t all = 0, successful = 0;
    };
    std::map<std::string, Requests> by_method_;  ///< "single" and "batch"
    std::map<std::string, std::uint64_t> failures_;
    std::uint64_t texts_ = 0, successful_texts_ = 0, timed_ = 0;
    std::array<std::uint64_t, num_buckets> within_{};  ///< answers in at most so much time
    double seconds_ = 0;
};

}  // namespace faceter::worker
