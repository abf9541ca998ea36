#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/DeviceType.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <cstdlib>

#include "counters.h"
#include "gate.h"
#include "late_copies.h"
#include "memory.h"
#include "pretend.h"

namespace faceter::testing::pretend {
namespace {

/// The device's generator: what it is told goes to one of the host, from which the CPU's kernels draw.
struct Random final : c10::GeneratorImpl {
    explicit Random(c10::DeviceIndex index) : GeneratorImpl(pretend::device(index), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {}
    void set_current_seed(std::uint64_t seed) override { host.set_current_seed(seed); }
    std::uint64_t current_seed() const override { return host.current_seed(); }
    std::uint64_t seed() override {
        set_current_seed(c10::detail::getNonDeterministicRandom());
        return current_seed();
    }
    void set_offset(std::uint64_t) override { TORCH_CHECK_NOT_IMPLEMENTED(false, "the pretend device's generator has no offset"); }
    std::uint64_t get_offset() const override { return 0; }
    void set_state(const c10::TensorImpl& state) override { host.unsafeGetGeneratorImpl()->set_state(state); }
    c10::intrusive_ptr<c10::TensorImpl> get_state() const override { return host.unsafeGetGeneratorImpl()->get_state(); }
    Random* clone_impl() const override {
        auto* copy = new Random(device_.index());
        copy->host = host.clone();
        return copy;
    }
    at::Generator host = at::detail::createCPUGenerator();
};

at::Generator& generator_of(int index) {
    static auto* const all = [] {
        auto* made = new std::array<at::Generator, num_devices>;
        for (int i = 0; i < num_devices; ++i)
            (*made)[static_cast<std::size_t>(i)] = at::make_generator<Random>(static_cast<c10::DeviceIndex>(i));
        return made;
    }();
    return all->at(static_cast<std::size_t>(index < 0 ? current_device() : index));
}

struct Hooks final : at::PrivateUse1HooksInterface {
    bool isBuilt() const override { return true; }
    bool isAvailable() const override { return true; }
    bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
    c10::DeviceIndex deviceCount() const override { return num_devices; }
    c10::DeviceIndex getCurrentDevice() const override { return static_cast<c10::DeviceIndex>(current_device()); }
    void setCurrentDevice(c10::DeviceIndex index) const override { set_current_device(index); }
    c10::DeviceIndex exchangeDevice(c10::DeviceIndex index) const override {
        const c10::DeviceIndex before = getCurrentDevice();
        set_current_device(index);
        return before;
    }
    c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex index) const override {
        return index < 0 ? getCurrentDevice() : exchangeDevice(index);
    }
    const at::Generator& getDefaultGenerator(c10::DeviceIndex index) const override { return generator_of(index); }
    at::Generator getNewGenerator(c10::DeviceIndex index) const override {
        return at::make_generator<Random>(index < 0 ? getCurrentDevice() : index);
    }
    bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
    c10::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
};

/// One stream for all devices. Operators are done at once, copies that the host does not wait for when it waits for them (late_copies.h);
/// an event is its place among these.
struct Guard final : c10::impl::DeviceGuardImplInterface {
    c10::DeviceType type() const override { return c10::kPrivateUse1; }
    c10::Device getDevice() const override { return device(current_device()); }
    c10::Device exchangeDevice(c10::Device to) const override {
        const c10::Device before = getDevice();
        setDevice(to);
        return before;
    }
    void setDevice(c10::Device to) const override {
        TORCH_CHECK(to.index() < num_devices, "there are ", num_devices, " pretend devices, not ", to);
        uncheckedSetDevice(to);
    }
    void uncheckedSetDevice(c10::Device to) const noexcept override {
        if (to.has_index()) set_current_device(to.index());
    }
    c10::Stream getStream(c10::Device of) const override { return c10::Stream(c10::Stream::DEFAULT, of.has_index() ? of : getDevice()); }
    c10::Stream getDefaultStream(c10::Device of) const override { return getStream(of); }
    c10::Stream exchangeStream(c10::Stream to) const override { return getStream(to.device()); }
    void record(void** event, const c10::Stream&, const c10::DeviceIndex, const c10::EventFlag) const override {
        *event = reinterpret_cast<void*>(place_in_order());
    }
    void block(void*, const c10::Stream&) const override {}
    bool queryEvent(void* event) const override { return copies_under_way(reinterpret_cast<std::uintptr_t>(event)) == 0; }
    bool queryStream(const c10::Stream&) const override { return copies_under_way() == 0; }
    void synchronizeStream(const c10::Stream&) const override { count_wait("synchronize stream"); }
    void synchronizeEvent(void* event) const override { count_wait("synchronize event", reinterpret_cast<std::uintptr_t>(event)); }
    void synchronizeDevice(const c10::DeviceIndex) const override { count_wait("synchronize device"); }
    c10::DeviceIndex deviceCount() const noexcept override { return num_devices; }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

int& capability_now() {
    static int now = [] {
        const char* given = std::getenv("FACETER_PRETEND_CAPABILITY");
        return given ? std::atoi(given) : 90;
    }();
    return now;
}

const bool registered = [] {
    open_memory();
    static Hooks hooks;
    at::RegisterPrivateUse1HooksInterface(&hooks);
    c10::register_privateuse1_backend("pretend");
    return true;
}();

}  // namespace

void set_capability(int capability) { capability_now() = capability; }
int capability() { return capability_now(); }

at::Generator host_generator(int device) { return generator_of(device).get<Random>()->host; }

}  // namespace faceter::testing::pretend

extern "C" __attribute__((visibility("default"))) int faceter_compute_capability() { return faceter::testing::pretend::capability(); }
