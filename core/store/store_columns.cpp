#include "store/store_columns.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "common/hash.h"
#include "common/stable_order.h"
#include "experiment/flat_settings.h"
#include "store/store.h"
#include "store/store_points.h"

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

/// Finds strings by views of them.
struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
template <typename Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// Names to consecutive numbers, in the order of first sight.
class Numbers {
  public:
    std::size_t of(std::string_view name) {
        if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
        return numbers_.emplace(std::string(name), numbers_.size()).first->second;
    }

  private:
    TextMap<std::size_t> numbers_;
};

/// The hashes of a run's settings, ascending, where SQLite has them: a list of all runs copies none.
class HashList {
  public:
    explicit HashList(std::string_view blob) : blob_(blob) {}
    std::size_t size() const { return blob_.size() / sizeof(std::int64_t); }
    std::int64_t operator[](std::size_t i) const {
        std::int64_t hash;
        std::memcpy(&hash, blob_.data() + i * sizeof hash, sizeof hash);
        return hash;
    }
    bool operator==(const std::vector<std::int64_t>& other) const {
        return size() == other.size() && (other.empty() || std::memcmp(blob_.data(), other.data(), size() * sizeof(std::int64_t)) == 0);
    }

  private:
    std::string_view blob_;
};

/// Keeps of `common` what `other` has too; both ascending.
void intersect(std::vector<std::int64_t>& common, const HashList& other) {
    if (other == common) return;
    std::size_t kept = 0, j = 0;
    for (const std::int64_t hash : common) {
        while (j < other.size() && other[j] < hash) ++j;
        if (j < other.size() && other[j] == hash) common[kept++] = hash;
    }
    common.resize(kept);
}

bool is_column_anyway(std::string_view key) { return key == "seed" || key == "name" || key == "variant.name" || key == "variant.method"; }

/// Two passes over the lists of hashes: what the runs of a set share, then what each has besides.
class KeySettingsReader {
  public:
    explicit KeySettingsReader(Database& database)
        : database_(database), text_(database, "SELECT key, value FROM setting_texts WHERE hash = ?") {}

    KeySettings within_experiments() {
        Numbers experiments;
        Statement runs(database_, "SELECT id, experiment FROM runs");
        while (runs.next()) set_of_.emplace(runs.text(0), experiments.of(runs.blob(1)));
        return read();
    }

    KeySettings among(const std::vector<std::string>& runs) {
        for (const std::string& run : runs) set_of_.emplace(run, 0);
        return read();
    }

  private:
    KeySettings read() {
        common_.resize(set_of_.size());
        for_each_run([&](std::string_view, std::size_t set, const HashList& hashes) { share(set, hashes); });
        settings_.values.reserve(set_of_.size());
        for_each_run([&](std::string_view run, std::size_t set, const HashList& hashes) { add(run, set, hashes); });
        for (const Unset& unset : unset_)
            if (said_.contains({unset.set, unset.text->column})) settings_.values[unset.run].emplace(unset.text->key, unset.text->value);
        std::set<int> columns;
        for (const auto& [set, column] : said_) columns.insert(column);
        std::vector<std::string> keys;
        for (const int column : columns) keys.push_back(std::move(settings_.keys[static_cast<std::size_t>(column)]));
        std::sort(keys.begin(), keys.end());
        settings_.keys = std::move(keys);
        return std::move(settings_);
    }

    struct Text {
        int column = -1;  ///< of settings_.keys as it grows; -1: no column
        std::string key, value;
        std::optional<std::size_t> said_in;  ///< the last set that was noted in said_ for it
    };
    /// A value that says nothing counts only where another run of the set has one that does.
    struct Unset {
        std::string run;
        std::size_t set;
        const Text* text;
    };

    template <typename Take>
    void for_each_run(Take take) {
        Statement rows(database_, "SELECT run, hashes FROM setting_lists");
        while (rows.next())
            if (const auto found = set_of_.find(rows.blob(0)); found != set_of_.end())
                take(rows.blob(0), found->second, HashList(rows.blob(1)));
    }

    void share(std::size_t set, const HashList& hashes) {
        auto& common = common_[set];
        if (common) return intersect(*common, hashes);
        common.emplace();
        for (std::size_t i = 0; i < hashes.size(); ++i) common->push_back(hashes[i]);
    }

    void add(std::string_view run, std::size_t set, const HashList& hashes) {
        const std::vector<std::int64_t>& same = *common_[set];
        auto& row = settings_.values[std::string(run)];
        std::size_t j = 0;
        for (std::size_t i = 0; i < hashes.size(); ++i) {
            const std::int64_t hash = hashes[i];
            while (j < same.size() && same[j] < hash) ++j;
            if (j < same.size() && same[j] == hash) continue;
            Text& text = look_up(hash);
            if (text.column < 0) continue;
            if (says_nothing(text.value)) {
                unset_.push_back({std::string(run), set, &text});
                continue;
            }
            row.emplace(text.key, text.value);
            if (text.said_in != set) said_.emplace(set, text.column);
            text.said_in = set;
        }
    }

    Text& look_up(std::int64_t hash) {
        const auto [entry, unknown] = texts_.try_emplace(hash);
        Text& text = entry->second;
        if (!unknown || !text_.bind(hash).next()) return text;
        text.key = text_.text(0);
        text.value = text_.text(1);
        if (is_column_anyway(text.key)) return text;
        const auto [column, fresh] = columns_.try_emplace(text.key, static_cast<int>(settings_.keys.size()));
        if (fresh) settings_.keys.push_back(text.key);
        text.column = column->second;
        return text;
    }

    Database& database_;
    Statement text_;
    KeySettings settings_;
    TextMap<std::size_t> set_of_;                                   ///< run -> number of the runs that it is told apart from
    std::vector<std::optional<std::vector<std::int64_t>>> common_;  ///< set -> what all of its runs have
    std::unordered_map<std::int64_t, Text> texts_;
    std::unordered_map<std::string, int> columns_;
    std::vector<Unset> unset_;
    std::set<std::pair<std::size_t, int>> said_;  ///< sets with the columns that say something in them
};

}  // namespace

void for_each_score(std::string_view blob, const std::function<void(const StoredScore&)>& take) {
    while (!blob.empty()) {
        StoredScore score;
        score.name = take_name(blob);
        score.task_type = take_name(blob);
        if (blob.size() < sizeof score.score) return;
        std::memcpy(&score.score, blob.data(), sizeof score.score);
        blob.remove_prefix(sizeof score.score);
        take(score);
    }
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
    Statement text(database,  // one that was damaged is put right
                   "INSERT INTO setting_texts VALUES (?, ?, ?) ON CONFLICT (hash) DO UPDATE SET key = excluded.key, value = excluded.value "
                   "WHERE (key, value) IS NOT (excluded.key, excluded.value)");
    for (const auto& [key, value] : flat_settings(settings)) {
        hashes.push_back(static_cast<std::int64_t>(hash64(key + '\0' + value)));
        text.bind(hashes.back(), key, value).run();
    }
    std::sort(hashes.begin(), hashes.end());
    Statement(database, "INSERT OR REPLACE INTO setting_lists VALUES (?, ?)")
        .bind(run, std::as_bytes(std::span<const std::int64_t>(hashes)))
        .run();
}

RunScores Store::run_scores(std::int64_t since) {
    struct Row {
        std::string created, id;
        std::size_t first_cell, end_cell;
    };
    RunScores scores;
    Numbers numbers;
    std::vector<std::pair<std::size_t, double>> cells;  // set, score
    std::vector<Row> rows;
    Statement statement(*database_, "SELECT created, id, scores FROM runs WHERE revision > ?");
    statement.bind(since);
    std::string key;
    while (statement.next()) {
        rows.push_back({statement.text(0), statement.text(1), cells.size(), 0});
        for_each_score(statement.blob(2), [&](const StoredScore& score) {
            key.assign(score.name).push_back('\0');
            key += score.task_type;
            const std::size_t set = numbers.of(key);
            if (set == scores.sets.size()) scores.sets.push_back({std::string(score.name), std::string(score.task_type)});
            cells.emplace_back(set, score.score);
        });
        rows.back().end_cell = cells.size();
    }
    std::sort(rows.begin(), rows.end(), is_older<Row>);
    scores.arrange_sets();
    std::vector<std::size_t> place(scores.sets.size());
    for (std::size_t i = 0; i < scores.sets.size(); ++i) place[numbers.of(scores.sets[i].name + '\0' + scores.sets[i].task_type)] = i;
    scores.values.assign(rows.size() * scores.sets.size(), std::numeric_limits<double>::quiet_NaN());
    for (Row& row : rows) {
        double* values = scores.values.data() + scores.runs.size() * scores.sets.size();
        for (std::size_t i = row.first_cell; i < row.end_cell; ++i) values[place[cells[i].first]] = cells[i].second;
        scores.runs.push_back(std::move(row.id));
    }
    return scores;
}

void RunScores::arrange_sets() {
    std::sort(sets.begin(), sets.end(),
              [](const Set& a, const Set& b) { return std::tie(a.task_type, a.name) < std::tie(b.task_type, b.name); });
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
    KeySettings settings;
    database_->snapshot([&] { settings = KeySettingsReader(*database_).within_experiments(); });
    return settings;
}

KeySettings Store::key_settings(const std::vector<std::string>& runs) {
    KeySettings settings;
    database_->snapshot([&] { settings = KeySettingsReader(*database_).among(runs); });
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
    std::vector<bool> maybe(places);  // says no at once to nearly all of a run's settings
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
