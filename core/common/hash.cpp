#include "common/hash.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "common/error.h"
#include "common/file_hash.h"

namespace faceter {
namespace {

constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9, prime4 = 0x85EBCA77C2B2AE63,
                        prime5 = 0x27D4EB2F165667C5;

template <typename T>
T load(const char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

std::uint64_t xxh_round(std::uint64_t accumulator, std::uint64_t input) { return std::rotl(accumulator + input * prime2, 31) * prime1; }

/// The four accumulators of XXH64, fed with multiples of 32 bytes.
struct XxhLanes {
    explicit XxhLanes(std::uint64_t seed) : lanes{seed + prime1 + prime2, seed + prime2, seed, seed - prime1} {}
    void consume(std::string_view blocks) {
        for (std::size_t at = 0; at < blocks.size(); at += 32)
            for (std::size_t lane = 0; lane < 4; ++lane)
                lanes[lane] = xxh_round(lanes[lane], load<std::uint64_t>(blocks.data() + at + 8 * lane));
    }
    std::uint64_t merged() const {
        std::uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
        for (const std::uint64_t lane : lanes) hash = (hash ^ xxh_round(0, lane)) * prime1 + prime4;
        return hash;
    }
    std::uint64_t lanes[4];
};

/// `hash` already holds the length; `rest` are the last bytes, fewer than 32.
std::uint64_t xxh_finish(std::uint64_t hash, std::string_view rest) {
    const char* at = rest.data();
    const char* const end = at + rest.size();
    for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ xxh_round(0, load<std::uint64_t>(at)), 27) * prime1 + prime4;
    if (end - at >= 4) {
        hash = std::rotl(hash ^ (load<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
        at += 4;
    }
    for (; at < end; ++at) hash = std::rotl(hash ^ (static_cast<unsigned char>(*at) * prime5), 11) * prime1;
    hash = (hash ^ (hash >> 33)) * prime2;
    hash = (hash ^ (hash >> 29)) * prime3;
    return hash ^ (hash >> 32);
}

constexpr std::array<std::uint32_t, 256> crc_table = [] {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1 ? 0x82F63B78u : 0u);
        table[i] = value;
    }
    return table;
}();

constexpr std::array<std::uint32_t, 64> sha_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
    XxhLanes lanes(seed);
    const std::size_t whole = bytes.size() / 32 * 32;
    lanes.consume(bytes.substr(0, whole));
    return xxh_finish((whole > 0 ? lanes.merged() : seed + prime5) + bytes.size(), bytes.substr(whole));
}

std::uint64_t hash64_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw data_error("{}: cannot open: {}", path.string(), errno_text(errno));
    std::string buffer(std::size_t{1} << 20, '\0');  // a multiple of 32: only the last piece has a rest
    XxhLanes lanes(0);
    std::uint64_t total = 0;
    for (;;) {
        file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
        if (file.bad()) throw data_error("{}: cannot read: {}", path.string(), errno_text(errno));
        const std::string_view piece(buffer.data(), static_cast<std::size_t>(file.gcount()));
        const std::size_t whole = piece.size() / 32 * 32;
        lanes.consume(piece.substr(0, whole));
        total += piece.size();
        if (piece.size() < buffer.size()) return xxh_finish((total >= 32 ? lanes.merged() : prime5) + total, piece.substr(whole));
    }
}

Hash128 hash128(std::string_view bytes) { return {hash64(bytes, 0), hash64(bytes, 0x5bd1e995a5a5a5a5)}; }

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
    crc = ~crc;
    for (const char byte : bytes) crc = crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
    return ~crc;
}

Sha256::Sha256() : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::block(const unsigned char* data) {
    std::uint32_t w[64];
    for (int i = 0; i < 16; ++i)
        w[i] =
            std::uint32_t{data[4 * i]} << 24 | std::uint32_t{data[4 * i + 1]} << 16 | std::uint32_t{data[4 * i + 2]} << 8 | data[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
        const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (int i = 0; i < 64; ++i) {
        const std::uint32_t t1 = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                 sha_constants[static_cast<std::size_t>(i)] + w[i];
        const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::uint32_t added[8] = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state_[i] += added[i];
}

void Sha256::update(std::string_view bytes) {
    total_ += bytes.size();
    while (!bytes.empty()) {
        const std::size_t take = std::min(bytes.size(), buffer_.size() - buffered_);
        std::memcpy(buffer_.data() + buffered_, bytes.data(), take);
        buffered_ += take;
        bytes.remove_prefix(take);
        if (buffered_ == buffer_.size()) {
            block(buffer_.data());
            buffered_ = 0;
        }
    }
}

std::string Sha256::finish() {
    const std::uint64_t bits = total_ * 8;
    update(std::string_view("\x80", 1));
    while (buffered_ != 56) update(std::string_view("\0", 1));
    char length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(bits >> (56 - 8 * i));
    update({length, 8});
    std::string hex;
    for (const std::uint32_t word : state_) hex += fmt::format("{:08x}", word);
    return hex;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw data_error("{}: cannot open", path.string());
    Sha256 hash;
    std::string buffer(1 << 18, '\0');
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0)
        hash.update({buffer.data(), static_cast<std::size_t>(file.gcount())});
    return hash.finish();
}

}  // namespace faceter
