#include <algorithm>

#include "store/store_points.h"
#include "store/store_series.h"

namespace faceter {
namespace {

std::int64_t span_of(int level) {
    std::int64_t span = 1;
    for (int i = 0; i < level; ++i) span *= series_fan_out;
    return span;
}

}  // namespace

SeriesNode SeriesNode::of(const SeriesPoint& point) {
    return {point.step, point.step, point.time, point.time, point.value, point.value, point.value, point.value, point.value, 1, 0};
}

void SeriesNode::add(const SeriesNode& next) {
    last_step = next.last_step;
    min_time = std::min(min_time, next.min_time);
    max_time = std::max(max_time, next.max_time);
    last = next.last;
    min = std::min(min, next.min);
    max = std::max(max, next.max);
    sum += next.sum;
    count += next.count;
    unordered += next.unordered;
}

SeriesWriter::SeriesWriter(Database& database)
    : last_chunk_(database,
                  "SELECT chunk, points FROM series WHERE run = ? AND attempt = ? AND rank = ? AND name = ? ORDER BY chunk DESC LIMIT 1"),
      put_chunk_(database, "INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?, ?, ?)"),
      last_block_(database,
                  "SELECT block, nodes FROM series_nodes WHERE run = ? AND name = ? AND rank = ? AND level = ? AND attempt = ? "
                  "ORDER BY block DESC LIMIT 1"),
      put_block_(database, "INSERT OR REPLACE INTO series_nodes VALUES (?, ?, ?, ?, ?, ?, ?)") {}

void SeriesWriter::append(const std::string& run, int attempt, int rank, const std::string& name, std::span<const SeriesPoint> added) {
    append_points(run, attempt, rank, name, added);
    append_nodes(run, attempt, rank, name, added);
}

void SeriesWriter::append_nodes(const std::string& run, int attempt, int rank, const std::string& name,
                                std::span<const SeriesPoint> added) {
    for (int level = 1; level <= series_levels; ++level) append_level(run, attempt, rank, name, level, added);
}

void SeriesWriter::append_points(const std::string& run, int attempt, int rank, const std::string& name,
                                 std::span<const SeriesPoint> added) {
    std::int64_t chunk = 0;
    std::vector<SeriesPoint> points;
    if (last_chunk_.bind(run, attempt, rank, name).next()) {
        chunk = last_chunk_.integer(0);
        points = unpack_points(last_chunk_.blob(1));
        if (points.size() >= points_per_chunk) ++chunk, points.clear();
    }
    last_chunk_.reset();
    while (!added.empty()) {
        const std::size_t take = std::min(added.size(), points_per_chunk - points.size());
        points.insert(points.end(), added.begin(), added.begin() + static_cast<std::ptrdiff_t>(take));
        added = added.subspan(take);
        put_chunk_.bind(run, attempt, rank, name, chunk, std::as_bytes(std::span<const SeriesPoint>(points))).run();
        ++chunk;
        points.clear();
    }
}

void SeriesWriter::append_level(const std::string& run, int attempt, int rank, const std::string& name, int level,
                                std::span<const SeriesPoint> added) {
    std::int64_t block = 0;
    std::vector<SeriesNode> nodes;
    if (last_block_.bind(run, name, rank, level, attempt).next()) {
        block = last_block_.integer(0);
        nodes = unpack_blob<SeriesNode>(last_block_.blob(1));
    }
    last_block_.reset();
    const auto put = [&] {
        put_block_.bind(run, name, rank, level, attempt, block, std::as_bytes(std::span<const SeriesNode>(nodes))).run();
    };
    const auto span = static_cast<std::uint32_t>(span_of(level));
    for (const SeriesPoint& point : added) {
        SeriesNode one = SeriesNode::of(point);
        one.unordered = !nodes.empty() && point.step <= nodes.back().last_step ? 1 : 0;
        if (!nodes.empty() && nodes.back().count < span) {
            nodes.back().add(one);
            continue;
        }
        if (nodes.size() == nodes_per_block) {
            put();
            ++block;
            nodes.clear();
        }
        nodes.push_back(one);
    }
    put();
}

}  // namespace faceter
