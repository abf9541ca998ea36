#include "data/debian_packages.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "data/files_read.h"
#include "data/fingerprint.h"
#include "data/overlap.h"

namespace faceter {
namespace {

std::string_view take_line(std::string_view& rest) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
}

bool is_continuation(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

std::string_view value_of(const std::vector<DebianField>& fields, std::string_view key) {
    for (const DebianField& field : fields)
        if (field.key == key) return field.value;
    return {};
}

std::string_view first_line(std::string_view value) { return trim(value.substr(0, value.find('\n'))); }
std::string_view further_lines(std::string_view value) {
    const std::size_t end = value.find('\n');
    return end == std::string_view::npos ? std::string_view() : value.substr(end + 1);
}

/// Empty packages that only lead an upgrade to another name: their texts say nothing about software.
bool is_placeholder(std::string_view synopsis) {
    const std::string text = lowercase_ascii(synopsis);
    for (const std::string_view sign : {"transitional", "transition package", "dummy package"})
        if (text.find(sign) != std::string::npos) return true;
    return false;
}

}  // namespace

bool next_stanza(std::string_view& rest, std::vector<DebianField>& fields) {
    fields.clear();
    while (!rest.empty()) {
        const std::string_view line = take_line(rest);
        if (trim(line).empty() && !is_continuation(line)) {
            if (!fields.empty()) return true;
        } else if (is_continuation(line)) {
            if (!fields.empty()) {
                std::string_view& value = fields.back().value;  // it goes on where this line ends
                value = {value.data(), static_cast<std::size_t>(line.data() + line.size() - value.data())};
            }
        } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
            const std::size_t begin = std::min(line.find_first_not_of(' ', colon + 1), line.size());
            fields.push_back({line.substr(0, colon), line.substr(begin)});
        }
    }
    return !fields.empty();
}

std::string running_text(std::string_view lines) {
    std::string text;
    bool begins_line = true;
    while (!lines.empty()) {
        const std::string_view line = take_line(lines);
        const std::string_view words = trim(line);
        if (words == "." || words.empty()) {
            begins_line = true;
            continue;
        }
        const bool verbatim = line.starts_with("  ") || line.starts_with(" \t") || words.starts_with("* ") || words.starts_with("- ");
        if (!text.empty()) text += begins_line || verbatim ? '\n' : ' ';
        text += words;
        begins_line = false;
    }
    return text;
}

std::string source_family(std::string_view source) {
    std::string family;
    for (std::string_view part : split(source, '-')) {
        while (!part.empty() && ((part.back() >= '0' && part.back() <= '9') || part.back() == '.')) part.remove_suffix(1);
        if (!part.empty()) family.append(family.empty() ? "" : "-").append(part);
    }
    return family.empty() ? std::string(source) : family;
}

DebianSplit split_of_source(std::string_view source) {
    const std::uint64_t bucket = hash64(source_family(source), 0x64656269616e) % 10;
    return bucket < 8 ? DebianSplit::train : bucket == 8 ? DebianSplit::validation : DebianSplit::test;
}

/// Joins one Packages list after the other with the descriptions.
class DebianReader {
  public:
    void read_translation(const fs::path& file) {
        const std::string_view content = keep(read_debian_list(file));
        std::string_view rest = content;
        while (next_stanza(rest, fields_)) {
            const std::string_view md5 = value_of(fields_, "Description-md5"), text = value_of(fields_, "Description-en");
            if (md5.empty() || text.empty()) continue;
            by_package_.try_emplace(key(value_of(fields_, "Package"), md5), text);
            by_md5_.try_emplace(hash64(md5), text);
        }
    }

    void read_packages(const fs::path& file) {
        const std::string content = read_debian_list(file);
        std::string_view rest = content;
        std::size_t stanzas = 0;
        while (next_stanza(rest, fields_)) stanzas += add_package();
        if (stanzas == 0 && !trim(content).empty())
            throw data_error("{}: no package in this list; a Packages file of apt is expected", file.string());
    }

    std::shared_ptr<const DebianPackages> finish(const Json& lists) {
        by_package_.clear();
        by_md5_.clear();
        kept_.clear();
        index_->assign_splits();
        index_->card_["left_out"] = {{"repeated_packages", repeated_},
                                     {"transitional_packages", placeholders_},
                                     {"without_long_description", without_text_},
                                     {"not_utf8", not_utf8_}};
        index_->count(lists);
        return index_;
    }

  private:
    static std::uint64_t key(std::string_view package, std::string_view md5) { return hash64(package, hash64(md5)); }

    std::string_view keep(std::string content) {
        kept_.push_back(std::make_unique<std::string>(std::move(content)));
        return *kept_.back();
    }

    /// The description's first line and what follows it: of the translation, else of the list itself.
    std::string_view description_of(std::string_view name, std::string_view own) const {
        const std::string_view md5 = value_of(fields_, "Description-md5");
        if (md5.empty()) return own;
        if (const auto found = by_package_.find(key(name, md5)); found != by_package_.end()) return found->second;
        if (const auto found = by_md5_.find(hash64(md5)); found != by_md5_.end()) return found->second;
        return own;
    }

    /// True where the stanza is a package at all.
    bool add_package() {
        const std::string_view name = first_line(value_of(fields_, "Package"));
        if (name.empty()) return false;
        if (!names_.insert(hash64(name)).second) return ++repeated_, true;
        const std::string_view own = value_of(fields_, "Description");
        const std::string_view synopsis = first_line(own.empty() ? value_of(fields_, "Description-en") : own);
        if (is_placeholder(synopsis)) return ++placeholders_, true;
        const std::string text = running_text(further_lines(description_of(name, own)));
        if (text.empty() || synopsis.empty()) return ++without_text_, true;
        if (!is_valid_utf8(text) || !is_valid_utf8(synopsis) || !is_valid_utf8(name)) return ++not_utf8_, true;
        DebianPackage package{};
        TextTable& texts = index_->texts_;
        package.name = texts.intern(name);
        package.source = texts.intern(source_of(name));
        package.section = texts.intern(section());
        package.synopsis = texts.intern(synopsis);
        package.description = texts.intern(text);
        add_tags(package);
        index_->packages_.push_back(package);
        return true;
    }

    /// "Source: gcc-12 (12.2.0-14)" or, without the field, the package's own name.
    std::string_view source_of(std::string_view name) const {
        const std::string_view source = first_line(value_of(fields_, "Source"));
        return source.empty() ? name : source.substr(0, source.find(' '));
    }

    /// Without the component ("contrib/net", "universe/libs").
    std::string_view section() const {
        const std::string_view section = first_line(value_of(fields_, "Section"));
        return section.substr(section.rfind('/') + 1);
    }

    void add_tags(DebianPackage& package) {
        package.first_tag = static_cast<std::uint32_t>(index_->tags_.size());
        for (const std::string_view part : split(value_of(fields_, "Tag"), ','))
            if (const std::string_view tag = trim(part); !tag.empty() && is_valid_utf8(tag))
                index_->tags_.push_back(index_->texts_.intern(tag));
        package.num_tags = static_cast<std::uint32_t>(index_->tags_.size()) - package.first_tag;
    }

    std::shared_ptr<DebianPackages> index_ = std::make_shared<DebianPackages>();
    std::vector<DebianField> fields_;
    std::vector<std::unique_ptr<std::string>> kept_;  ///< translations: the maps point into them
    std::unordered_map<std::uint64_t, std::string_view> by_package_, by_md5_;
    std::set<std::uint64_t> names_;
    std::size_t repeated_ = 0, placeholders_ = 0, without_text_ = 0, not_utf8_ = 0;
};

void DebianPackages::assign_splits() {
    std::unordered_map<std::uint64_t, DebianSplit> earliest;  // by the text's form
    const auto form_hash = [&](std::uint32_t id) { return hash64(overlap_form(text(id))); };
    for (DebianPackage& package : packages_) {
        package.split = split_of_source(text(package.source));
        for (const std::uint32_t id : {package.synopsis, package.description}) {
            auto& split = earliest.try_emplace(form_hash(id), package.split).first->second;
            split = std::min(split, package.split);
        }
    }
    for (DebianPackage& package : packages_)
        package.in_earlier_split =
            earliest.at(form_hash(package.synopsis)) < package.split || earliest.at(form_hash(package.description)) < package.split;
}

void DebianPackages::count(Json lists) {
    std::set<std::uint32_t> sources, sections, tags(tags_.begin(), tags_.end());
    std::size_t tagged = 0, in_earlier = 0, by_split[3] = {0, 0, 0};
    for (const DebianPackage& package : packages_) {
        sources.insert(package.source);
        sections.insert(package.section);
        tagged += package.num_tags > 0;
        in_earlier += package.in_earlier_split;
        if (!package.in_earlier_split) ++by_split[static_cast<int>(package.split)];
    }
    card_["packages"] = packages_.size();
    card_["sources"] = sources.size();
    card_["sections"] = sections.size();
    card_["tagged_packages"] = tagged;
    card_["tags"] = tags.size();
    card_["splits"] = {
        {"train", by_split[0]}, {"validation", by_split[1]}, {"test", by_split[2]}, {"text_in_an_earlier_split", in_earlier}};
    Fingerprint fingerprint;
    fingerprint.add_texts(texts_);
    fingerprint.add_values(std::span<const std::uint32_t>(tags_));
    card_["fingerprint"] = fingerprint.hex();
    card_["lists"] = std::move(lists);
}

std::shared_ptr<const DebianPackages> DebianPackages::read(const DebianLists& lists) {
    DebianReader reader;
    for (const fs::path& file : lists.translations) reader.read_translation(file);
    for (const fs::path& file : lists.packages) reader.read_packages(file);
    auto index = reader.finish(lists.card);
    if (index->packages().empty())
        throw data_error(
            "{}: its {} package lists hold no package with a long description; English translations (*_Translation-en) are needed",
            lists.folder.string(), lists.packages.size());
    return index;
}

std::shared_ptr<const DebianPackages> DebianPackages::open(const fs::path& folder) {
    static std::mutex mutex;
    static std::pair<std::string, std::shared_ptr<const DebianPackages>> last;
    const std::lock_guard guard(mutex);
    const FilesRead apart;  // of the set that comes first alone they would be noted; all sets have the lists' own hash in their cards
    const std::string key = folder.empty() ? "pinned" : absolute_path(folder).string();
    if (!last.second || last.first != key) last = {key, read(folder.empty() ? pinned_debian_lists() : find_debian_lists(folder))};
    return last.second;
}

}  // namespace faceter
