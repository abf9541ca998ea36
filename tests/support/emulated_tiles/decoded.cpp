#include "support/emulated_tiles/decoded.h"

namespace faceter::testing {
namespace {

/// By the processor's numbers.
std::size_t value_of(const greg_t* registers, unsigned number) {
    constexpr int places[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                              REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return static_cast<std::size_t>(registers[places[number]]);
}

/// What stands before an opcode: VEX (three bytes) or EVEX, of the map 0F 38, W 0. The bits that extend the numbers of registers.
struct Prefix {
    bool known, evex, broadcast;
    unsigned kind;  ///< 0: none, 1: 66, 2: F3, 3: F2
    unsigned reg, index, base, upper_reg, first;
    unsigned length, bits;  ///< bits: of a vector, as it says; 0: 128
};

bool bit(std::uint8_t byte, int which) { return byte >> which & 1; }

Prefix prefix_at(const std::uint8_t* code) {
    Prefix p{};
    p.evex = code[0] == 0x62;
    if (code[0] != 0xc4 && !p.evex) return p;
    p.reg = bit(code[1], 7) ? 0 : 8;
    p.index = bit(code[1], 6) ? 0 : 8;
    p.base = bit(code[1], 5) ? 0 : 8;
    p.kind = code[2] & 3u;
    p.first = ~(code[2] >> 3) & 15u;
    p.length = p.evex ? 4 : 3;
    const bool wide = bit(code[2], 7);
    if (!p.evex) {
        p.bits = bit(code[2], 2);
        p.known = (code[1] & 31) == 2 && !wide;
        return p;
    }
    p.upper_reg = bit(code[1], 4) ? 0 : 16;
    p.first += bit(code[3], 3) ? 0 : 16;
    p.broadcast = bit(code[3], 4);
    p.bits = code[3] >> 5 & 3u;
    const bool masked = bit(code[3], 7) || (code[3] & 7) != 0;
    p.known = (code[1] & 15) == 2 && !wide && bit(code[2], 2) && !masked;
    return p;
}

Operation vector_operation(const Prefix& p, unsigned opcode) {
    return p.bits == 2 && p.kind == 2 && opcode == 0x52 ? Operation::vdpbf16ps : Operation::unknown;
}

Operation tile_operation(const Prefix& p, unsigned opcode, unsigned modrm) {
    const bool in_memory = modrm < 0xc0;
    const unsigned key = opcode << 4 | p.kind;
    if (p.bits != 0) return Operation::unknown;
    if (key == 0x490 && in_memory) return Operation::configure;
    if (key == 0x490 && modrm == 0xc0) return Operation::release;
    if (key == 0x493 && !in_memory && (modrm & 7) == 0) return Operation::zero;
    if (key == 0x4b3 && in_memory && (modrm & 7) == 4) return Operation::load;
    if (key == 0x4b2 && in_memory && (modrm & 7) == 4) return Operation::store;
    if (key == 0x5c2 && !in_memory) return Operation::tdpbf16ps;
    if (key == 0x5e1 && !in_memory) return Operation::tdpbusd;
    return Operation::unknown;
}

/// The operand in memory, behind the opcode. `unit`: of a displacement of one byte.
void decode_memory(const std::uint8_t* at, const Prefix& p, const greg_t* registers, std::ptrdiff_t unit, Decoded& out) {
    const std::uint8_t* const begin = at;
    const unsigned mod = *at >> 6, rm = *at & 7u;
    ++at;
    std::size_t address = 0;
    bool no_base = mod == 0 && rm == 5;
    if (rm == 4) {
        const unsigned scale = *at >> 6, index = (*at >> 3 & 7u) + p.index, base = *at & 7u;
        ++at;
        if (index != 4) out.stride = value_of(registers, index) << scale;
        no_base = mod == 0 && base == 5;
        if (!no_base) address = value_of(registers, base + p.base);
    } else if (!no_base) {
        address = value_of(registers, rm + p.base);
    }
    std::int32_t displacement = 0;
    if (mod == 1) {
        address += static_cast<std::size_t>(static_cast<std::int8_t>(*at) * unit);
        ++at;
    } else if (mod == 2 || no_base) {
        __builtin_memcpy(&displacement, at, 4);
        address += static_cast<std::size_t>(std::ptrdiff_t{displacement});
        at += 4;
    }
    out.length += static_cast<std::size_t>(at - begin);
    if (no_base && rm == 5) address += static_cast<std::size_t>(registers[REG_RIP]) + out.length;
    // A tile's rows stand `stride` apart; elsewhere the index is a part of the address.
    if (out.operation != Operation::load && out.operation != Operation::store) address += out.stride;
    out.memory = reinterpret_cast<std::byte*>(address);
}

}  // namespace

Decoded decode(const std::uint8_t* code, const greg_t* registers) {
    const Prefix p = prefix_at(code);
    Decoded out;
    if (!p.known) return out;
    const unsigned opcode = code[p.length], modrm = code[p.length + 1];
    out.operation = p.evex ? vector_operation(p, opcode) : tile_operation(p, opcode, modrm);
    if (out.operation == Operation::unknown) return out;
    out.length = p.length + 1;
    out.to = (modrm >> 3 & 7u) + p.reg + p.upper_reg;
    out.first = p.first;
    out.broadcast = p.broadcast;
    if (modrm < 0xc0) {
        decode_memory(code + p.length + 1, p, registers, !p.evex ? 1 : p.broadcast ? 4 : 64, out);
        return out;
    }
    // TDP*: the second operand of three is in ModR/M, the third in VEX.vvvv; vectors have it the other way round.
    const unsigned rm = (modrm & 7u) + p.base + (p.evex ? 2 * p.index : 0);
    out.first = p.evex ? p.first : rm;
    out.second = p.evex ? rm : p.first;
    ++out.length;
    return out;
}

}  // namespace faceter::testing
