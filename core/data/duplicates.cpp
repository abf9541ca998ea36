#include "data/duplicates.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "common/hash.h"
#include "data/overlap.h"

namespace faceter {
namespace {

constexpr std::size_t most_rows = 10, most_groups = 200, between_progress = 4096;

struct Seen {
    std::size_t first = 0, copies = 0;
    Hash128 label;
    bool labels_differ = false;
};

/// What makes an example the same as another: the partner of a labelled text was drawn, and says nothing of it.
std::span<const ExampleRow::Text> own_texts(const ExampleRow& row) {
    const bool drawn = !row.label.is_null() && !row.texts.empty() && row.texts.front().role == "anchor";
    return std::span(row.texts).first(drawn ? 1 : row.texts.size());
}

Hash128 key_of(const ExampleRow& row) {
    std::string forms = std::to_string(row.part) + '\n';
    for (const ExampleRow::Text& text : own_texts(row)) {
        const std::string form = overlap_form(text.text);  // of ":)" and ":(" there is none
        forms += (form.empty() ? '\x01' + std::string(text.text) : form) + '\n';
    }
    return hash128(forms);
}

std::string text_of(const ExampleRow& row) {
    std::string text;
    for (const ExampleRow::Text& one : own_texts(row)) text += (text.empty() ? "" : " | ") + std::string(one.text);
    return text;
}

using SeenByKey = std::unordered_map<Hash128, Seen, Hash128Hasher>;

SeenByKey count(const ExampleRows& rows, const std::function<void(std::size_t)>& progress) {
    SeenByKey seen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (progress && i % between_progress == 0) progress(i);
        const ExampleRow row = rows.row(i, 0);
        if (row.texts.empty()) continue;
        Seen& one = seen[key_of(row)];
        const Hash128 label = hash128(row.label.dump());
        if (one.copies++ == 0) {
            one.first = i;
            one.label = label;
        }
        one.labels_differ |= !(one.label == label);
    }
    return seen;
}

using Repeated = std::vector<std::pair<Hash128, Seen>>;

Repeated most_repeated(const SeenByKey& seen) {
    Repeated repeated;
    for (const auto& entry : seen)
        if (entry.second.copies > 1) repeated.push_back(entry);
    std::sort(repeated.begin(), repeated.end(), [](const auto& a, const auto& b) {
        return a.second.copies != b.second.copies ? a.second.copies > b.second.copies : a.second.first < b.second.first;
    });
    return repeated;
}

std::vector<Duplicates::Group> groups_of(const ExampleRows& rows, const Repeated& repeated) {
    std::vector<Duplicates::Group> groups;
    std::unordered_map<Hash128, std::size_t, Hash128Hasher> places;
    for (const auto& [key, seen] : repeated) {
        places.emplace(key, groups.size());
        groups.push_back({{}, seen.copies, text_of(rows.row(seen.first, 0)), seen.labels_differ});
    }
    for (std::size_t i = 0; i < rows.size() && !places.empty(); ++i)
        if (const auto place = places.find(key_of(rows.row(i, 0))); place != places.end())
            if (auto& list = groups[place->second].rows; list.size() < most_rows) list.push_back(i);
    return groups;
}

}  // namespace

Duplicates find_duplicates(const ExampleRows& rows, const std::function<void(std::size_t)>& progress) {
    Repeated repeated = most_repeated(count(rows, progress));
    Duplicates found{rows.size(), 0, repeated.size(), 0, {}};
    for (const auto& [key, seen] : repeated) {
        found.repeated += seen.copies - 1;
        found.num_differ += seen.labels_differ;
    }
    repeated.resize(std::min(repeated.size(), most_groups));
    found.groups = groups_of(rows, repeated);
    return found;
}

Json to_json(const Duplicates& duplicates) {
    Json first = Json::array();
    for (const Duplicates::Group& group : duplicates.groups)
        first.push_back({{"rows", group.rows}, {"copies", group.copies}, {"text", group.text}, {"labels_differ", group.labels_differ}});
    return {{"examples", duplicates.examples},
            {"repeated", duplicates.repeated},
            {"groups", duplicates.num_groups},
            {"labels_differ", duplicates.num_differ},
            {"first", std::move(first)}};
}

}  // namespace faceter
