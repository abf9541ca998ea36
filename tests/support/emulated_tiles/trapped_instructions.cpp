#include "support/emulated_tiles/trapped_instructions.h"

#include <cpuid.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include "model/kernels/product_choice.h"
#include "support/emulated_tiles/decoded.h"
#include "support/emulated_tiles/emulated_tiles.h"

namespace faceter::testing {
namespace {

std::uint64_t trapped = 0;

/// Where the parts of a register stand in what a signal's frame keeps of the processor (the standard form of XSAVE).
struct Layout {
    unsigned upper_128, upper_256, second_16;
};
Layout layout;

unsigned offset_of(unsigned component) {
    unsigned size = 0, offset = 0, c = 0, d = 0;
    __get_cpuid_count(0xd, component, &size, &offset, &c, &d);
    return offset;
}

/// The vectors of the code that was interrupted.
class Vectors {
  public:
    explicit Vectors(void* frame) : frame_(static_cast<std::byte*>(frame)) {}

    void read(unsigned number, std::uint32_t (&to)[16]) const {
        __builtin_memset(to, 0, sizeof to);
        each_part(number, [&](std::byte* at, unsigned word, unsigned bytes, unsigned component) {
            if (present() >> component & 1) __builtin_memcpy(to + word, at, bytes);
        });
    }
    void write(unsigned number, const float (&from)[16]) {
        each_part(number, [&](std::byte* at, unsigned word, unsigned bytes, unsigned component) {
            __builtin_memcpy(at, from + word, bytes);
            present() |= std::uint64_t{1} << component;
        });
    }

  private:
    std::uint64_t& present() const { return *reinterpret_cast<std::uint64_t*>(frame_ + 512); }

    /// Calls body(address, first word, bytes, number of XSAVE's component).
    template <typename Body>
    void each_part(unsigned number, Body body) const {
        constexpr unsigned sse = 1, avx = 2, zmm_upper = 6, zmm_second_16 = 7;
        if (number >= 16) return body(frame_ + layout.second_16 + 64 * (number - 16), 0, 64, zmm_second_16);
        body(frame_ + 160 + 16 * number, 0, 16, sse);
        body(frame_ + layout.upper_128 + 16 * number, 4, 16, avx);
        body(frame_ + layout.upper_256 + 32 * number, 8, 32, zmm_upper);
    }

    std::byte* frame_;
};

void multiply_vectors(const Decoded& in, void* frame) {
    std::uint32_t sums[16], values[16], weights[16];
    Vectors vectors(frame);
    vectors.read(in.to, sums);
    vectors.read(in.first, values);
    if (!in.memory) vectors.read(in.second, weights);
    for (std::size_t i = 0; in.memory && i < 16; ++i) __builtin_memcpy(weights + i, in.memory + (in.broadcast ? 0 : 4 * i), 4);
    float result[16];
    __builtin_memcpy(result, sums, sizeof result);
    multiply_bf16_pairs(result, values, weights);
    vectors.write(in.to, result);
}

void run(const Decoded& in, void* frame) {
    const int to = static_cast<int>(in.to), first = static_cast<int>(in.first), second = static_cast<int>(in.second);
    switch (in.operation) {
        case Operation::configure:
            return configure_tiles(in.memory);
        case Operation::release:
            return release_tiles();
        case Operation::zero:
            return zero_tile(to);
        case Operation::load:
            return load_tile(to, in.memory, in.stride);
        case Operation::store:
            return store_tile(to, in.memory, in.stride);
        case Operation::tdpbf16ps:
            return multiply_bf16_tiles(to, first, second);
        case Operation::tdpbusd:
            return multiply_int8_tiles(to, first, second);
        case Operation::vdpbf16ps:
            return multiply_vectors(in, frame);
        case Operation::unknown:
            break;
    }
}

void say(const char* what) {
    if (::write(2, what, __builtin_strlen(what)) < 0) return;
}

/// What is not known dies by the signal, as if nobody had looked.
void handle(int, siginfo_t*, void* context) {
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
    const Decoded in = decode(reinterpret_cast<const std::uint8_t*>(machine.gregs[REG_RIP]), machine.gregs);
    if (in.operation == Operation::unknown) {
        say("an instruction that neither the processor nor the tests know\n");
        ::signal(SIGILL, SIG_DFL);
        return;
    }
    try {
        run(in, machine.fpregs);
    } catch (const TileFault& fault) {
        say("the processor would refuse an instruction on tiles; it wants ");
        say(fault.what);
        say("\n");
        ::signal(SIGILL, SIG_DFL);
        return;
    }
    __atomic_fetch_add(&trapped, 1, __ATOMIC_RELAXED);
    machine.gregs[REG_RIP] += static_cast<greg_t>(in.length);
}

bool install() {
    if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) return false;
    if (!__builtin_cpu_supports("avx512vnni")) return false;
    if (__builtin_cpu_supports("amx-tile") && !kernels::ask_for_tiles()) return false;
    layout = {offset_of(2), offset_of(6), offset_of(7)};
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    return ::sigaction(SIGILL, &action, nullptr) == 0;
}

}  // namespace

bool trap_missing_instructions() {
    static const bool runs = install();
    return runs;
}

std::uint64_t num_trapped() { return __atomic_load_n(&trapped, __ATOMIC_RELAXED); }

}  // namespace faceter::testing
