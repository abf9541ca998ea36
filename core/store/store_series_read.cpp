#include <algorithm>
#include <limits>

#include "store/store_points.h"
#include "store/store_series.h"

namespace faceter {

struct SeriesReader::Visit {
    const std::function<Answer(const SeriesNode&)>& ask;
    const std::function<void(const SeriesNode&)>& take;
};

SeriesReader::SeriesReader(Database& database, const std::string& run, const std::string& name)
    : database_(database),
      run_(run),
      name_(name),
      get_block_(database,
                 "SELECT nodes FROM series_nodes WHERE run = ? AND name = ? AND rank = 0 AND level = ? AND attempt = ? AND block = ?"),
      get_chunk_(database, "SELECT points FROM series WHERE run = ? AND attempt = ? AND rank = 0 AND name = ? AND chunk = ?") {
    load_attempts();
    find_pieces();
}

void SeriesReader::load_attempts() {
    Statement tops(database_,
                   "SELECT attempt, nodes FROM series_nodes WHERE run = ? AND name = ? AND rank = 0 AND level = ? ORDER BY attempt, block");
    tops.bind(run_, name_, series_levels);
    while (tops.next()) {
        const int number = static_cast<int>(tops.integer(0));
        if (attempts_.empty() || attempts_.back().number != number) attempts_.emplace_back().number = number;
        const std::vector<SeriesNode> nodes = unpack_blob<SeriesNode>(tops.blob(1));
        attempts_.back().top.insert(attempts_.back().top.end(), nodes.begin(), nodes.end());
    }
    std::erase_if(attempts_, [](const Attempt& attempt) { return attempt.top.empty(); });
    for (Attempt& attempt : attempts_) {
        attempt.first_step = attempt.top.front().first_step;
        attempt.last_step = attempt.top.back().last_step;
        if (std::any_of(attempt.top.begin(), attempt.top.end(), [](const SeriesNode& node) { return node.unordered > 0; }))
            sort_points(attempt);
    }
}

void SeriesReader::sort_points(Attempt& attempt) {
    std::vector<SeriesPoint> all;
    for (std::int64_t number = 0;; ++number) {
        const std::vector<SeriesPoint> some = chunk(attempt.number, number);
        if (some.empty()) break;
        all.insert(all.end(), some.begin(), some.end());
    }
    std::stable_sort(all.begin(), all.end(), [](const SeriesPoint& a, const SeriesPoint& b) { return a.step < b.step; });
    std::size_t kept = 0;
    for (const SeriesPoint& point : all) {
        if (kept > 0 && all[kept - 1].step == point.step) --kept;
        all[kept++] = point;
    }
    all.resize(kept);
    if (all.empty()) return;
    attempt.first_step = all.front().step;
    attempt.last_step = all.back().step;
    attempt.sorted = std::move(all);
}

/// From the last attempt back, each takes what is still free of its own range.
void SeriesReader::find_pieces() {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), highest = std::numeric_limits<std::int64_t>::max();
    std::vector<std::pair<std::int64_t, std::int64_t>> free = {{lowest, highest}};
    for (std::size_t i = attempts_.size(); i-- > 0;) {
        const std::int64_t first = attempts_[i].first_step, last = attempts_[i].last_step;
        std::vector<std::pair<std::int64_t, std::int64_t>> left;
        for (const auto& [begin, end] : free) {
            if (last < begin || first > end) {
                left.emplace_back(begin, end);
                continue;
            }
            pieces_.push_back({i, std::max(begin, first), std::min(end, last)});
            if (begin < first) left.emplace_back(begin, first - 1);
            if (end > last) left.emplace_back(last + 1, end);
        }
        free = std::move(left);
    }
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) { return a.first_step < b.first_step; });
}

std::vector<SeriesPoint> SeriesReader::chunk(int attempt, std::int64_t number) {
    std::vector<SeriesPoint> points;
    if (get_chunk_.bind(run_, attempt, name_, number).next()) points = unpack_points(get_chunk_.blob(0));
    get_chunk_.reset();
    return points;
}

const std::vector<SeriesNode>& SeriesReader::block(int attempt, int level, std::int64_t number) {
    Block& block = cache_[level];
    if (block.attempt == attempt && block.number == number) return block.nodes;
    block.attempt = attempt;
    block.number = number;
    block.nodes.clear();
    if (level == 0) {
        for (const SeriesPoint& point : chunk(attempt, number)) block.nodes.push_back(SeriesNode::of(point));
    } else {
        if (get_block_.bind(run_, name_, level, attempt, number).next()) block.nodes = unpack_blob<SeriesNode>(get_block_.blob(0));
        get_block_.reset();
    }
    return block.nodes;
}

void SeriesReader::offer(const Visit& visit, const Attempt& attempt, const Piece& piece, int level, std::int64_t index,
                         const SeriesNode& node) {
    if (node.last_step < piece.first_step || node.first_step > piece.last_step) return;
    const bool whole = node.first_step >= piece.first_step && node.last_step <= piece.last_step;
    const Answer answer = whole || level == 0 ? visit.ask(node) : Answer::open;
    if (answer == Answer::take || (answer == Answer::open && level == 0)) visit.take(node);
    if (answer == Answer::open && level > 0) descend(visit, attempt, piece, level - 1, index * series_fan_out, series_fan_out);
}

/// `count` nodes of a level from number `first` on, fewer where there are no more. They lie in one block: blocks hold a multiple of the
/// fan-out.
void SeriesReader::descend(const Visit& visit, const Attempt& attempt, const Piece& piece, int level, std::int64_t first,
                           std::int64_t count) {
    const auto per_block = static_cast<std::int64_t>(level == 0 ? points_per_chunk : nodes_per_block);
    static_assert(points_per_chunk % series_fan_out == 0 && nodes_per_block % series_fan_out == 0);
    const std::vector<SeriesNode>& nodes = block(attempt.number, level, first / per_block);
    const std::int64_t begin = first % per_block, end = std::min<std::int64_t>(begin + count, static_cast<std::int64_t>(nodes.size()));
    for (std::int64_t i = begin; i < end; ++i) offer(visit, attempt, piece, level, first + i - begin, nodes[static_cast<std::size_t>(i)]);
}

void SeriesReader::visit(const std::function<Answer(const SeriesNode&)>& ask, const std::function<void(const SeriesNode&)>& take) {
    const Visit visit{ask, take};
    for (const Piece& piece : pieces_) {
        const Attempt& attempt = attempts_[piece.attempt];
        if (attempt.sorted) {
            for (const SeriesPoint& point : *attempt.sorted) offer(visit, attempt, piece, 0, 0, SeriesNode::of(point));
            continue;
        }
        for (std::size_t i = 0; i < attempt.top.size(); ++i)
            offer(visit, attempt, piece, series_levels, static_cast<std::int64_t>(i), attempt.top[i]);
    }
}

void SeriesReader::collect(const Attempt& attempt, const Piece& piece, std::vector<SeriesPoint>& points) {
    const auto add = [&](const std::vector<SeriesPoint>& some) {
        for (const SeriesPoint& point : some)
            if (point.step >= piece.first_step && point.step <= piece.last_step) points.push_back(point);
    };
    if (attempt.sorted) return add(*attempt.sorted);
    for (std::size_t i = 0; i < attempt.top.size(); ++i) {
        const SeriesNode& node = attempt.top[i];
        if (node.last_step < piece.first_step || node.first_step > piece.last_step) continue;
        constexpr std::int64_t chunks_per_node =
            series_fan_out * series_fan_out * series_fan_out / static_cast<std::int64_t>(points_per_chunk);
        for (std::int64_t part = 0; part < chunks_per_node; ++part)
            add(chunk(attempt.number, static_cast<std::int64_t>(i) * chunks_per_node + part));
    }
}

std::vector<SeriesPoint> SeriesReader::points() {
    std::vector<SeriesPoint> all;
    Statement stored(database_, "SELECT sum(length(points)) FROM series WHERE run = ? AND rank = 0 AND name = ?");
    if (stored.bind(run_, name_).next()) all.reserve(static_cast<std::size_t>(stored.integer(0)) / sizeof(SeriesPoint));
    for (const Piece& piece : pieces_) collect(attempts_[piece.attempt], piece, all);
    return all;
}

}  // namespace faceter
