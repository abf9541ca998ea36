#pragma once
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <new>

namespace faceter::testing {

/// Zeroed memory that ends where a page begins which nobody may touch: reading or writing beyond it is a crash.
class GuardedBytes {
  public:
    explicit GuardedBytes(std::size_t size) {
        const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
        const std::size_t whole = (size + page - 1) / page * page;
        mapped_ = whole + page;
        pages_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages_ == MAP_FAILED) throw std::bad_alloc();
        auto* begin = static_cast<std::byte*>(pages_);
        if (::mprotect(begin + whole, page, PROT_NONE) != 0) throw std::bad_alloc();
        data_ = begin + whole - size;
    }
    ~GuardedBytes() { ::munmap(pages_, mapped_); }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;
    std::byte* data() const { return data_; }
    template <typename T>
    T* as() const {
        return reinterpret_cast<T*>(data_);
    }

  private:
    void* pages_;
    std::size_t mapped_;
    std::byte* data_;
};

}  // namespace faceter::testing
