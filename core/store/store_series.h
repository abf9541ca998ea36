#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/series.h"
#include "store/sqlite.h"

namespace faceter {

// A series of one attempt is kept twice: its points in chunks, and a pyramid over them. A node of level L stands for the next 32^L points,
// so a node's children are known by its number alone. Both depend on the points and their order only, never on how often a journal was
// looked at.

inline constexpr std::size_t points_per_chunk = 4096, nodes_per_block = 128;
inline constexpr int series_levels = 3, series_fan_out = 32;

struct SeriesNode {
    std::int64_t first_step = 0, last_step = 0;
    double min_time = 0, max_time = 0;
    double first = 0, last = 0, min = 0, max = 0, sum = 0;
    std::uint32_t count = 0;
    std::uint32_t unordered = 0;  ///< points whose step is not above the one before

    static SeriesNode of(const SeriesPoint& point);
    void add(const SeriesNode& next);
};

/// Appends to the series of one run; inside a transaction.
class SeriesWriter {
  public:
    explicit SeriesWriter(Database& database);
    void append(const std::string& run, int attempt, int rank, const std::string& name, std::span<const SeriesPoint> added);
    /// The pyramid alone (a store of version 1 has points only).
    void append_nodes(const std::string& run, int attempt, int rank, const std::string& name, std::span<const SeriesPoint> added);

  private:
    void append_points(const std::string& run, int attempt, int rank, const std::string& name, std::span<const SeriesPoint> added);
    void append_level(const std::string& run, int attempt, int rank, const std::string& name, int level,
                      std::span<const SeriesPoint> added);
    Statement last_chunk_, put_chunk_, last_block_, put_block_;
};

/// A run's series as it is shown: of several attempts each hides, between its own first and last step, what the earlier ones have there.
class SeriesReader {
  public:
    SeriesReader(Database& database, const std::string& run, const std::string& name);

    enum class Answer { skip, take, open };
    /// Walks the visible nodes by ascending step, coarse ones first: `ask` says whether a node is left out, taken as it is, or opened (a
    /// single point cannot be opened and counts as taken). Nodes that a later attempt hides in part are always opened.
    void visit(const std::function<Answer(const SeriesNode&)>& ask, const std::function<void(const SeriesNode&)>& take);
    std::vector<SeriesPoint> points();
    bool empty() const { return pieces_.empty(); }

  private:
    struct Attempt {
        int number = 0;
        std::vector<SeriesNode> top;
        std::optional<std::vector<SeriesPoint>> sorted;  ///< where its steps do not ascend: all points, sorted, last value of a step
        std::int64_t first_step = 0, last_step = 0;
    };
    struct Piece {
        std::size_t attempt = 0;
        std::int64_t first_step = 0, last_step = 0;  ///< inclusive
    };
    struct Block {
        int attempt = -1;
        std::int64_t number = -1;
        std::vector<SeriesNode> nodes;
    };
    struct Visit;

    void load_attempts();
    void sort_points(Attempt& attempt);
    void find_pieces();
    std::vector<SeriesPoint> chunk(int attempt, std::int64_t number);
    const std::vector<SeriesNode>& block(int attempt, int level, std::int64_t number);
    void descend(const Visit& visit, const Attempt& attempt, const Piece& piece, int level, std::int64_t first, std::int64_t count);
    void offer(const Visit& visit, const Attempt& attempt, const Piece& piece, int level, std::int64_t index, const SeriesNode& node);
    void collect(const Attempt& attempt, const Piece& piece, std::vector<SeriesPoint>& points);

    Database& database_;
    std::string run_, name_;
    Statement get_block_, get_chunk_;
    std::vector<Attempt> attempts_;
    std::vector<Piece> pieces_;
    Block cache_[series_levels + 1];
};

SeriesRange series_range(Database& database, const std::string& run, const std::string& name, SeriesX x);
std::vector<SeriesBucket> series_sample(Database& database, const std::string& run, const std::string& name, SeriesX x, double from,
                                        double to, int columns);

}  // namespace faceter
