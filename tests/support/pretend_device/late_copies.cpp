#include "late_copies.h"

#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>

namespace faceter::testing::pretend {
namespace {

struct Copy {
    std::uintptr_t place;
    at::Tensor host, values;  ///< dense and of one type; the values as they were when the device was given the copy
    bool to_host;
};

struct Order {
    std::mutex mutex;
    std::uintptr_t next = 1;  // an event without a place is one that was never recorded
    std::deque<Copy> copies;
};
Order& order() {
    static auto* const one = new Order;
    return *one;
}

void add(const at::Tensor& host, const at::Tensor& values, bool to_host) {
    const std::scoped_lock lock(order().mutex);
    order().copies.push_back({order().next++, host, values, to_host});
}

/// By bytes: numbers that are none differ from themselves.
bool same_bytes(const at::Tensor& a, const at::Tensor& b) {
    const at::Tensor x = a.contiguous(), y = b.contiguous();
    return std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

}  // namespace

void write_later(const at::Tensor& host, const at::Tensor& values) {
    add(host, values.to(host.scalar_type()).expand_as(host).clone(), true);
}
void read_later(const at::Tensor& host) { add(host, host.clone(), false); }

std::uintptr_t place_in_order() {
    const std::scoped_lock lock(order().mutex);
    return order().next++;
}

void catch_up(std::uintptr_t place) {
    const at::AutoDispatchBelowADInplaceOrView below;
    const std::scoped_lock lock(order().mutex);
    auto& copies = order().copies;
    while (!copies.empty() && copies.front().place < place) {
        Copy copy = std::move(copies.front());
        copies.pop_front();
        if (copy.to_host) copy.host.copy_(copy.values);
        TORCH_CHECK(copy.to_host || same_bytes(copy.host, copy.values),
                    "the host has written to pinned memory while a copy from it to the pretend device was under way: ", copy.host.nbytes(),
                    " bytes of ", copy.host.scalar_type());
    }
}
void catch_up() { catch_up(std::numeric_limits<std::uintptr_t>::max()); }

std::size_t copies_under_way(std::uintptr_t place) {
    const std::scoped_lock lock(order().mutex);
    return static_cast<std::size_t>(
        std::count_if(order().copies.begin(), order().copies.end(), [&](const Copy& one) { return one.place < place; }));
}
std::size_t copies_under_way() { return copies_under_way(std::numeric_limits<std::uintptr_t>::max()); }

}  // namespace faceter::testing::pretend
