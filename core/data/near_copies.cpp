#include "data/near_copies.h"

#include <algorithm>
#include <string>

#include "common/hash.h"
#include "data/overlap.h"

namespace faceter {
namespace {

constexpr std::size_t fewest_words = 6;
constexpr std::uint64_t base = 0x9E3779B97F4A7C15;  // odd

std::vector<std::uint64_t> word_hashes(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n\f\v";
    std::vector<std::uint64_t> hashes;
    for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
        if (const std::string form = overlap_form(text.substr(begin, end - begin)); !form.empty()) hashes.push_back(hash64(form));
        begin = text.find_first_not_of(blanks, end);
    }
    return hashes;
}

/// The words as the digits of a number, modulo 2^64.
std::uint64_t hash_of(std::span<const std::uint64_t> words) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : words) hash = hash * base + word;
    return hash;
}

/// Of the text without its first word, without its second ...
std::vector<std::uint64_t> hashes_without_one(std::span<const std::uint64_t> words) {
    std::vector<std::uint64_t> hashes(words.size());
    std::uint64_t behind = 0, power = 1;  // the number that the words behind are, and base to how many they are
    std::vector<std::uint64_t> before(words.size());
    for (std::size_t i = 1; i < words.size(); ++i) before[i] = before[i - 1] * base + words[i - 1];
    for (std::size_t i = words.size(); i-- > 0;) {
        hashes[i] = before[i] * power + behind;
        behind += words[i] * power;
        power *= base;
    }
    return hashes;
}

}  // namespace

NearCopies::NearCopies(std::span<const std::string_view> texts) : found_(texts.size(), false) {
    for (std::uint32_t place = 0; place < texts.size(); ++place) {
        const auto words = word_hashes(texts[place]);
        if (words.size() < fewest_words) continue;
        lengths_.resize(std::max(lengths_.size(), words.size() + 1), false);
        lengths_[words.size()] = true;
        whole_[hash_of(words)].push_back(place);
        if (words.size() == fewest_words) continue;
        for (const std::uint64_t hash : hashes_without_one(words)) lacking_.push_back({hash, place, false});
    }
    std::sort(lacking_.begin(), lacking_.end(), [](const Lacking& a, const Lacking& b) { return a.hash < b.hash; });
}

void NearCopies::compare(std::string_view other) {
    const auto words = word_hashes(other);
    const auto has = [&](std::size_t length) { return length < lengths_.size() && lengths_[length]; };
    if (words.size() >= fewest_words && has(words.size() + 1)) {
        const std::uint64_t own = hash_of(words);
        const auto first =
            std::lower_bound(lacking_.begin(), lacking_.end(), own, [](const Lacking& one, std::uint64_t hash) { return one.hash < hash; });
        // Many texts may lack one word to be the same, and many others be that.
        for (auto one = first; one != lacking_.end() && one->hash == own && !one->marked; ++one) found_[one->text] = one->marked = true;
    }
    if (words.size() > fewest_words && has(words.size() - 1))
        for (const std::uint64_t hash : hashes_without_one(words))
            if (const auto at = whole_.find(hash); at != whole_.end())
                for (const std::uint32_t place : at->second) found_[place] = true;
}

}  // namespace faceter
