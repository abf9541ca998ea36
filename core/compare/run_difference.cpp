#include "compare/run_difference.h"

#include <algorithm>
#include <map>
#include <set>

#include "common/strings.h"
#include "compare/settings_difference.h"
#include "stats/number.h"
#include "store/store_events.h"

namespace faceter {
namespace {

using Part = RunDifference::Part;

constexpr const char* absent = "—";
constexpr const char* not_recorded = "not recorded";
constexpr std::size_t shown_digits = 12;  // of a hash

const Json& member(const Json& object, const char* key) {
    static const Json none;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : none;
}

std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string short_hash(const Json& value) { return text_of(value).substr(0, shown_digits); }

/// What a run's attempts say, one behind the other where it changed from one to the next.
class OverAttempts {
  public:
    void add(const std::string& value) {
        if (values_.empty() || values_.back() != value) values_.push_back(value);
    }
    std::string text() const { return values_.empty() ? not_recorded : join(values_, ", then "); }

  private:
    std::vector<std::string> values_;
};

/// A data set as a run read it last.
struct DataRead {
    Json card;
    std::set<std::string> fingerprints;  ///< of all attempts
};

/// What the journals of a run say of its programs, machines and data.
struct Told {
    std::size_t attempts = 0;
    std::map<std::string, OverAttempts> code, machine;
    std::map<std::string, DataRead> data;
};

std::string name_of_set(const Json& fields) {
    const Json& card = member(fields, "card");
    for (const Json* name : {&member(fields, "name"), &member(card, "name"), &member(card, "view")})
        if (name->is_string()) return name->get<std::string>();
    const std::string path = text_of(member(card, "path"));
    return path.empty() ? "data set" : fs::path(path).filename().string();
}

std::string plugin_text(const Json& plugin) {
    const std::string library = short_hash(member(plugin, "library"));
    return text_of(member(plugin, "version")) + (library.empty() ? "" : " (library " + library + ")");
}

void take_machine(const Json& machine, Told& told) {
    if (!machine.is_object()) return;
    for (const auto& [key, value] : machine.items()) {
        if (key == "plugins" && value.is_object())
            for (const auto& [id, plugin] : value.items()) told.code["plugin " + id].add(plugin_text(plugin));
        else if (key == "faceter" || key == "libtorch")
            told.code[key].add(text_of(value));
        else if (key == "commit")
            told.code[key].add(value == "" ? "none: not built from a checkout" : text_of(value));
        else if (key == "memory_bytes" && value.is_number_unsigned())
            told.machine["memory"].add(format_bytes(value.get<std::uint64_t>()));
        else
            told.machine[key].add(text_of(value));
    }
}

Told told_by(const RunDirectory& run, StoredEvents& events) {
    Told told;
    for (const StoredEvent& event : events.of(run.folder(), "attempt_started")) {
        ++told.attempts;
        take_machine(member(event.fields, "machine"), told);
    }
    for (const StoredEvent& event : events.of(run.folder(), "data")) {
        const Json &fields = event.fields, &card = member(fields, "card");
        DataRead& read =
            told.data[fmt::format("{} {}/{}", text_of(member(fields, "use")), text_of(member(fields, "task")), name_of_set(fields))];
        read.card = card;
        if (const std::string hash = text_of(member(card, "fingerprint")); !hash.empty()) read.fingerprints.insert(hash);
    }
    return told;
}

/// A set that an older Faceter read has the name of its file; where the other run read the same path for the same use, it is that set.
void name_alike(std::map<std::string, DataRead>& one, std::map<std::string, DataRead>& other) {
    const auto reads = [](const std::string& name, const DataRead& read) {
        const std::string path = text_of(member(read.card, "path"));
        return path.empty() ? "" : name.substr(0, name.find('/') + 1) + path;
    };
    std::vector<std::pair<std::string, std::string>> renamed;
    for (const auto& [name, read] : one)
        if (!other.contains(name) && read.fingerprints.empty())
            for (const auto& [theirs, their_read] : other)
                if (!one.contains(theirs) && !reads(name, read).empty() && reads(name, read) == reads(theirs, their_read))
                    renamed.emplace_back(name, theirs);
    for (const auto& [name, theirs] : renamed)
        if (auto moved = one.extract(name); !moved.empty() && !one.contains(theirs)) one.emplace(theirs, std::move(moved.mapped()));
}

/// Fills one difference.
class Differ {
  public:
    explicit Differ(RunDifference& difference) : to_(difference) { to_.alike.assign(4, 0); }

    void settings() {
        // A level down the seed, threads and names are settings like others: settings_difference leaves them out where they stand at the
        // top.
        const SettingsDifference all =
            settings_difference({Json::object({{"", to_.before.settings}}), Json::object({{"", to_.after.settings}})});
        for (const SettingDifference& one : all.differing) line(one.key, one.values[0], one.values[1], Part::settings);
        to_.alike[index(Part::settings)] = all.equal;
    }

    void code(const Told& before, const Told& after) {
        values(Part::code, before.code, after.code);
        for (const char* key : {"commit", "plugins"})
            if (!has(before.code, key) && !has(after.code, key) && before.attempts + after.attempts > 0)
                to_.notes.push_back(fmt::format("The {} of neither run's program {} recorded: an older Faceter worked at them.", key,
                                                key == std::string("plugins") ? "are" : "is"));
    }

    void machine(const Told& before, const Told& after) { values(Part::machine, before.machine, after.machine); }

    void data(const Told& before, const Told& after) {
        for (const std::string& name : keys_of(before.data, after.data)) {
            const auto a = before.data.find(name), b = after.data.find(name);
            if (a == before.data.end() || b == after.data.end()) {
                line(name, a == before.data.end() ? absent : summary(a->second.card),
                     b == after.data.end() ? absent : summary(b->second.card));
                continue;
            }
            const std::size_t lines_before = to_.lines.size();
            files(name, a->second.card, b->second.card);
            counts(name, member(a->second.card, "counts"), member(b->second.card, "counts"));
            const bool known = content(name, a->second.card, b->second.card, to_.lines.size() == lines_before);
            if (known && to_.lines.size() == lines_before) ++to_.alike[index(Part::data)];
        }
        if (unrecorded_ > 0)
            to_.notes.push_back(
                fmt::format("Of {} data set{} no fingerprint is recorded in one of the runs or both: an older Faceter read {}.",
                            unrecorded_, unrecorded_ == 1 ? "" : "s", unrecorded_ == 1 ? "it" : "them"));
    }

    void of_one(const RunInfo& run, const Told& told) {
        if (told.attempts == 0)
            to_.notes.push_back(fmt::format("{} {}: nothing is known of program, data and machine.", run.shown_name(),
                                            run.is_imported() ? "was imported" : "has not been started"));
        for (const auto& [name, read] : told.data)
            if (read.fingerprints.size() > 1)
                to_.notes.push_back(fmt::format("{}: {} was other data in one attempt than in another.", run.shown_name(), name));
    }

    void scores(Store& store) {
        std::map<std::string, RunDifference::Score> all;
        const auto take = [&](const RunInfo& run, double RunDifference::Score::*side) {
            for (const ResultRow& row : store.results(run.id))
                all.try_emplace(row.name, RunDifference::Score{row.name, row.task_type, row.metric, not_a_number, not_a_number})
                        .first->second.*
                    side = row.score;
        };
        take(to_.before, &RunDifference::Score::before);
        take(to_.after, &RunDifference::Score::after);
        for (auto& [name, score] : all) to_.scores.push_back(std::move(score));
    }

  private:
    static std::size_t index(Part part) { return static_cast<std::size_t>(part); }

    template <typename T>
    static std::set<std::string> keys_of(const std::map<std::string, T>& before, const std::map<std::string, T>& after) {
        std::set<std::string> keys;
        for (const auto* side : {&before, &after})
            for (const auto& [key, value] : *side) keys.insert(key);
        return keys;
    }

    /// Whether anything of that name, or of several ("plugin mote"), is known.
    static bool has(const std::map<std::string, OverAttempts>& values, const std::string& key) {
        return std::any_of(values.begin(), values.end(),
                           [&](const auto& one) { return one.first == key || (key == "plugins" && one.first.starts_with("plugin ")); });
    }

    void line(const std::string& key, const std::string& before, const std::string& after, Part part = Part::data) {
        to_.lines.push_back({part, key, before, after});
    }

    void values(Part part, const std::map<std::string, OverAttempts>& before, const std::map<std::string, OverAttempts>& after) {
        const auto text = [](const auto& values, const std::string& key) {
            const auto found = values.find(key);
            return found == values.end() ? std::string(not_recorded) : found->second.text();
        };
        for (const std::string& key : keys_of(before, after)) {
            const std::string a = text(before, key), b = text(after, key);
            if (a == b)
                ++to_.alike[index(part)];
            else
                line(key, a, b, part);
        }
    }

    static std::string files_text(const Json& files) {
        const Json &count = member(files, "count"), &bytes = member(files, "bytes");
        if (!count.is_number_unsigned() || !bytes.is_number_unsigned()) return not_recorded;
        return fmt::format("{} file{}, {}, sha256 {}", count.dump(), count == 1 ? "" : "s", format_bytes(bytes.get<std::uint64_t>()),
                           short_hash(member(files, "sha256")));
    }

    static std::string summary(const Json& card) {
        for (const char* count : {"examples", "queries", "pairs", "texts"})
            if (const Json& number = member(member(card, "counts"), count); number.is_number())
                return fmt::format("{} {}, {}", number.dump(), count, files_text(member(card, "files")));
        return files_text(member(card, "files"));
    }

    /// As a whole, and where there are several, each that differs.
    void files(const std::string& name, const Json& before, const Json& after) {
        const Json &a = member(before, "files"), &b = member(after, "files");
        if (a.is_null() || b.is_null() || member(a, "sha256") == member(b, "sha256")) return;
        line(name + ": files", files_text(a), files_text(b));
        if (member(a, "count") == 1 && member(b, "count") == 1) return;
        const auto left = listed(a), right = listed(b);
        for (const std::string& file : keys_of(left, right)) {
            const auto text = [&](const auto& list) { return list.contains(file) ? list.at(file) : std::string(absent); };
            if (text(left) != text(right)) line(name + ": file " + file, text(left), text(right));
        }
    }

    static std::map<std::string, std::string> listed(const Json& files) {
        std::map<std::string, std::string> all;
        if (const Json& list = member(files, "list"); list.is_array())
            for (const Json& file : list) all[text_of(member(file, "name"))] = "sha256 " + short_hash(member(file, "sha256"));
        return all;
    }

    void counts(const std::string& name, const Json& before, const Json& after) {
        std::map<std::string, std::string> a, b;
        const auto numbers = [](const Json& counts, std::map<std::string, std::string>& to) {
            if (counts.is_object())
                for (const auto& [key, value] : counts.items())
                    if (value.is_number()) to[key] = value.dump();
        };
        numbers(before, a);
        numbers(after, b);
        for (const std::string& key : keys_of(a, b)) {
            const auto text = [&](const auto& side) { return side.contains(key) ? side.at(key) : std::string(absent); };
            if (text(a) != text(b)) line(name + ": " + key, text(a), text(b));
        }
    }

    /// False where it cannot be said whether the sets are alike. What a filter left (no source) is counts alone.
    bool content(const std::string& name, const Json& before, const Json& after, bool files_and_counts_are_alike) {
        const Json &a = member(before, "fingerprint"), &b = member(after, "fingerprint");
        const bool recorded = a.is_string() && b.is_string(), is_set = member(before, "source").is_string();
        const Json &lists_a = member(member(before, "index"), "fingerprint"), &lists_b = member(member(after, "index"), "fingerprint");
        if (lists_a != lists_b) line(name + ": package lists", short_hash(lists_a), short_hash(lists_b));
        unrecorded_ += is_set && !recorded;
        if (a == b) return recorded || !is_set;
        line(name + ": content", a.is_string() ? short_hash(a) : not_recorded, b.is_string() ? short_hash(b) : not_recorded);
        if (recorded && files_and_counts_are_alike && lists_a == lists_b && member(before, "files").is_object())
            to_.notes.push_back(
                fmt::format("{}: the same files; what was drawn or taken of them differs (its seed, limits or instructions).", name));
        return true;
    }

    RunDifference& to_;
    std::size_t unrecorded_ = 0;
};

}  // namespace

const char* difference_part_name(Part part) {
    return part == Part::settings ? "settings" : part == Part::code ? "code" : part == Part::data ? "data" : "machine";
}

RunDifference run_difference(Store& store, const RunDirectory& before, const RunDirectory& after) {
    RunDifference difference;
    difference.before = before.info();
    difference.after = after.info();
    StoredEvents events(store);
    Told first = told_by(before, events), second = told_by(after, events);
    name_alike(first.data, second.data);
    name_alike(second.data, first.data);
    Differ differ(difference);
    differ.settings();
    differ.code(first, second);
    differ.data(first, second);
    differ.machine(first, second);
    differ.of_one(difference.before, first);
    if (before.info().id != after.info().id) differ.of_one(difference.after, second);
    differ.scores(store);
    return difference;
}

}  // namespace faceter
