#pragma once
#include <span>
#include <string>
#include <string_view>

#include "common/hash.h"
#include "data/text_table.h"

namespace faceter {

/// Hash of a sequence of parts; the borders between parts count.
class Fingerprint {
  public:
    void add(std::string_view part) {
        const Hash128 hash = hash128(part);
        hashes_.append(reinterpret_cast<const char*>(&hash), sizeof hash);
    }
    template <typename T>
    requires std::is_trivially_copyable_v<T>
    void add_values(std::span<const T> values) { add({reinterpret_cast<const char*>(values.data()), values.size_bytes()}); }
    void add_texts(const TextTable& texts) {
        std::string lengths;
        for (std::uint32_t id = 0; id < texts.size(); ++id) lengths.append(std::to_string(texts[id].size())).push_back(' ');
        add(lengths);
        if (!texts.empty()) add({texts[0].data(), texts.num_bytes()});
    }
    std::string hex() const { return hash128(hashes_).hex(); }

  private:
    std::string hashes_;
};

}  // namespace faceter
