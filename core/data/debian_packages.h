#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/debian_lists.h"
#include "data/text_table.h"

namespace faceter {

/// Splits of the Debian corpus, by source package: 80, 10 and 10 in a hundred.
enum class DebianSplit : std::uint8_t { train = 0, validation = 1, test = 2 };

/// One package; the members are ids of DebianPackages::texts.
struct DebianPackage {
    std::uint32_t name, source, section, synopsis, description;
    std::uint32_t first_tag = 0, num_tags = 0;
    DebianSplit split = DebianSplit::train;
    /// Its synopsis or description stands in an earlier split, too (by overlap_form): no view uses it.
    bool in_earlier_split = false;
};

/// All packages of the lists with their long descriptions, joined by name and Description-md5. Immutable.
class DebianPackages {
  public:
    std::span<const DebianPackage> packages() const { return packages_; }
    std::string_view text(std::uint32_t id) const { return texts_[id]; }
    std::span<const std::uint32_t> tags(const DebianPackage& package) const { return {tags_.data() + package.first_tag, package.num_tags}; }
    bool has_tags() const { return !tags_.empty(); }
    /// What was read: counts of packages, sources, sections, tags, splits, and of what was left out; with the card of the lists.
    const Json& card() const { return card_; }

    /// Reads and joins lists. Throws data errors where they are no package lists.
    static std::shared_ptr<const DebianPackages> read(const DebianLists& lists);
    /// The pinned lists of this machine (empty path) or those of a folder; read once in a process.
    static std::shared_ptr<const DebianPackages> open(const fs::path& folder = {});

  private:
    friend class DebianReader;
    void assign_splits();
    void count(Json lists);
    TextTable texts_;
    std::vector<DebianPackage> packages_;
    std::vector<std::uint32_t> tags_;
    Json card_;
};

/// A stanza's field: "Key: value", and the lines after it that begin with a blank. Views into the list.
struct DebianField {
    std::string_view key, value;
};
/// Takes the next stanza off `rest` (stanzas are separated by empty lines); false at the end. Lines without a key are passed over.
bool next_stanza(std::string_view& rest, std::vector<DebianField>& fields);
/// The long description as running text: lines joined by blanks, paragraphs (" .") and verbatim lines by line ends.
std::string running_text(std::string_view continuation_lines);
/// The name that decides a source package's split: version numbers at the end of its parts left out, so that gcc-11-cross and gcc-12-cross,
/// or llvm-toolchain-14 and -15, whose texts are alike, stay together.
std::string source_family(std::string_view source);
DebianSplit split_of_source(std::string_view source);

}  // namespace faceter
