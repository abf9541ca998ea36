#include "run/store_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <unordered_map>

#include "common/hash.h"
#include "run/flat_settings.h"
#include "run/store.h"
#include "run/store_points.h"

namespace faceter {
namespace {

constexpr std::size_t max_name = 255;

void put_name(std::string& blob, std::string_view name) {
    name = name.substr(0, max_name);
    blob += static_cast<char>(static_cast<unsigned char>(name.size()));
    blob += name;
}

std::string_view take_name(std::string_view& blob) {
    const std::size_t size = blob.empty() ? 0 : static_cast<unsigned char>(blob.front());
    const std::string_view name = blob.substr(std::min<std::size_t>(1, blob.size()), size);
    blob.remove_prefix(std::min(blob.size(), size + 1));
    return name;
}

/// Names to consecutive numbers, in the order of first sight.
class Numbers {
  public:
    std::size_t of(std::string_view name) {
        if (const auto found = numbers_.find(std::string(name)); found != numbers_.end()) return found->second;
        return numbers_.emplace(std::string(name), numbers_.size()).first->second;
    }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
};

struct RunHashes {
    std::string run, experiment;
    std::vector<std::int64_t> hashes;   ///< ascending
};

/// Keeps of `common` what `other` has too; both ascending.
void intersect(std::vector<std::int64_t>& common, const std::vector<std::int64_t>& other) {
    if (common == other) return;
    std::size_t kept = 0, j = 0;
    for (const std::int64_t hash : common) {
        while (j < other.size() && other[j] < hash) ++j;
        if (j < other.size() && other[j] == hash) common[kept++] = hash;
    }
    common.resize(kept);
}

bool is_column_anyway(std::string_view key) { return key == "seed" || key == "name" || key == "variant.name" || key == "variant.method"; }

}  // namespace

std::vector<StoredScore> unpack_scores(std::string_view blob) {
    std::vector<StoredScore> scores;
    while (!blob.empty()) {
        StoredScore score;
        score.name = take_name(blob);
        score.task_type = take_name(blob);
        if (blob.size() < sizeof score.score) break;
        std::memcpy(&score.score, blob.data(), sizeof score.score);
        blob.remove_prefix(sizeof score.score);
        scores.push_back(score);
    }
    return scores;
}

bool put_scores(Database& database, const std::string& run) {
    std::string blob;
    Statement results(database, "SELECT name, task_type, score FROM results WHERE run = ? AND score IS NOT NULL ORDER BY name");
    results.bind(run);
    while (results.next()) {
        put_name(blob, results.text(0));
        put_name(blob, results.text(1));
        const double score = results.real(2);
        blob.append(reinterpret_cast<const char*>(&score), sizeof score);
    }
    const auto bytes = std::as_bytes(std::span<const char>(blob.data(), blob.size()));
    Statement(database, "UPDATE runs SET scores = ?1 WHERE id = ?2 AND scores IS NOT ?1").bind(bytes, run).run();
    return database.changes() > 0;
}

void put_settings(Database& database, const std::string& run, const Json& settings) {
    std::vector<std::int64_t> hashes;
    Statement text(database, "INSERT OR IGNORE INTO setting_texts VALUES (?, ?, ?)");
    for (const auto& [key, value] : flat_settings(settings)) {
        hashes.push_back(static_cast<std::int64_t>(hash64(key + '\0' + value)));
        text.bind(hashes.back(), key, value).run();
    }
    std::sort(hashes.begin(), hashes.end());
    Statement(database, "INSERT OR REPLACE INTO setting_lists VALUES (?, ?)").bind(run, std::as_bytes(std::span<const std::int64_t>(hashes))).run();
}

RunScores Store::run_scores(std::int64_t since) {
    struct Cell {
        std::size_t row, set;
        double score;
    };
    RunScores scores;
    Numbers numbers;
    std::vector<Cell> cells;
    Statement rows(*database_, "SELECT id, scores FROM runs WHERE revision > ? ORDER BY created, id");
    rows.bind(since);
    std::string key;
    while (rows.next()) {
        for (const StoredScore& score : unpack_scores(rows.blob(1))) {
            key.assign(score.name).push_back('\0');
            key += score.task_type;
            const std::size_t set = numbers.of(key);
            if (set == scores.sets.size()) scores.sets.push_back({std::string(score.name), std::string(score.task_type)});
            cells.push_back({scores.runs.size(), set, score.score});
        }
        scores.runs.push_back(rows.text(0));
    }
    scores.arrange_sets();
    std::vector<std::size_t> place(scores.sets.size());
    for (std::size_t i = 0; i < scores.sets.size(); ++i) place[numbers.of(scores.sets[i].name + '\0' + scores.sets[i].task_type)] = i;
    scores.values.assign(scores.runs.size() * scores.sets.size(), std::numeric_limits<double>::quiet_NaN());
    for (const Cell& cell : cells) scores.values[cell.row * scores.sets.size() + place[cell.set]] = cell.score;
    return scores;
}

void RunScores::arrange_sets() {
    std::sort(sets.begin(), sets.end(), [](const Set& a, const Set& b) { return std::tie(a.task_type, a.name) < std::tie(b.task_type, b.name); });
    task_types.clear();
    for (const Set& set : sets)
        if (task_types.empty() || task_types.back() != set.task_type) task_types.push_back(set.task_type);
}

double RunScores::type_mean(std::size_t run, std::string_view task_type) const {
    double sum = 0;
    int count = 0;
    for (std::size_t i = 0; i < sets.size(); ++i)
        if (sets[i].task_type == task_type && !std::isnan(at(run, i))) sum += at(run, i), ++count;
    return count ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

KeySettings Store::key_settings() {
    std::vector<RunHashes> runs;
    std::unordered_map<std::string, std::vector<std::int64_t>> common;   // experiment -> what all of its runs have
    Statement rows(*database_, "SELECT id, experiment, hashes FROM runs JOIN setting_lists ON run = id ORDER BY created, id");
    while (rows.next()) {
        runs.push_back({rows.text(0), rows.text(1), unpack_blob<std::int64_t>(rows.blob(2))});
        const auto [entry, first] = common.try_emplace(runs.back().experiment, runs.back().hashes);
        if (!first) intersect(entry->second, runs.back().hashes);
    }
    KeySettings settings;
    std::unordered_map<std::int64_t, std::pair<int, std::string>> texts;   // hash -> column (-1: not one), value
    std::unordered_map<std::string, int> columns;
    Statement text(*database_, "SELECT key, value FROM setting_texts WHERE hash = ?");
    const auto look_up = [&](std::int64_t hash) -> const std::pair<int, std::string>& {
        const auto [entry, unknown] = texts.try_emplace(hash, -1, "");
        if (!unknown || !text.bind(hash).next()) return entry->second;
        const std::string key = text.text(0);
        entry->second.second = text.text(1);
        if (is_column_anyway(key)) return entry->second;
        const auto [column, fresh] = columns.try_emplace(key, static_cast<int>(settings.keys.size()));
        if (fresh) settings.keys.push_back(key);
        entry->second.first = column->second;
        return entry->second;
    };
    for (const RunHashes& run : runs) {
        auto& row = settings.values[run.run];
        const std::vector<std::int64_t>& same = common.at(run.experiment);
        std::size_t j = 0;
        for (const std::int64_t hash : run.hashes) {
            while (j < same.size() && same[j] < hash) ++j;
            if (j < same.size() && same[j] == hash) continue;
            const auto& [column, value] = look_up(hash);
            if (column >= 0) row.emplace(settings.keys[static_cast<std::size_t>(column)], value);
        }
    }
    std::sort(settings.keys.begin(), settings.keys.end());
    return settings;
}

std::vector<std::string> Store::setting_keys() {
    std::vector<std::string> keys;
    Statement rows(*database_, "SELECT DISTINCT key FROM setting_texts ORDER BY key");
    while (rows.next()) keys.push_back(rows.text(0));
    return keys;
}

std::unordered_map<std::string, std::string> Store::setting(const std::string& key) {
    std::unordered_map<std::int64_t, std::string> texts;
    Statement values(*database_, "SELECT hash, value FROM setting_texts WHERE key = ?");
    values.bind(key);
    while (values.next()) texts.emplace(values.integer(0), values.text(1));
    std::unordered_map<std::string, std::string> found;
    if (texts.empty()) return found;
    constexpr std::size_t places = 1 << 16;
    std::vector<bool> maybe(places);   // says no at once to nearly all of a run's settings
    for (const auto& [hash, value] : texts) maybe[static_cast<std::size_t>(hash) % places] = true;
    Statement rows(*database_, "SELECT run, hashes FROM setting_lists");
    while (rows.next())
        for (const std::int64_t hash : unpack_blob<std::int64_t>(rows.blob(1))) {
            if (!maybe[static_cast<std::size_t>(hash) % places]) continue;
            if (const auto text = texts.find(hash); text != texts.end()) found.emplace(rows.text(0), text->second);
        }
    return found;
}

}  // namespace faceter
