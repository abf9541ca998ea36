#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

namespace faceter {

/// The last few things that were made, by key: what is asked again is not made again. What was asked for least recently goes first, where
/// there are more than `most`, or where all of them together weigh more than `most_bytes`; the newest stays whatever it weighs, and lives
/// on outside while somebody holds it.
template <typename Value>
class Recent {
  public:
    explicit Recent(std::size_t most) : most_(most) {}
    Recent(std::size_t most, std::uint64_t most_bytes, std::function<std::uint64_t(const Value&)> bytes_of)
        : most_(most), most_bytes_(most_bytes), bytes_of_(std::move(bytes_of)) {}

    template <typename Make>
    std::shared_ptr<Value> get(const std::string& key, Make make) {
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
            if (entry->key == key) {
                entries_.splice(entries_.begin(), entries_, entry);
                return entries_.front().value;
            }
        auto value = std::make_shared<Value>(make());
        const std::uint64_t bytes = bytes_of_ ? bytes_of_(*value) : 0;
        entries_.push_front({key, value, bytes});
        bytes_ += bytes;
        while (entries_.size() > 1 && (entries_.size() > most_ || (bytes_of_ && bytes_ > most_bytes_))) drop_last();
        return value;
    }
    void clear() {
        entries_.clear();
        bytes_ = 0;
    }
    std::size_t size() const { return entries_.size(); }
    std::uint64_t bytes() const { return bytes_; }

  private:
    struct Entry {
        std::string key;
        std::shared_ptr<Value> value;
        std::uint64_t bytes = 0;
    };
    void drop_last() {
        bytes_ -= entries_.back().bytes;
        entries_.pop_back();
    }

    std::size_t most_;
    std::uint64_t most_bytes_ = 0, bytes_ = 0;
    std::function<std::uint64_t(const Value&)> bytes_of_;
    std::list<Entry> entries_;
};

}  // namespace faceter
