#include "common/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <cstring>
#include <memory>

#include "common/error.h"
#include "common/file_hash.h"
#include "common/open_file.h"

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

void check(int result) {
    if (result != 1) throw failure("libcrypto cannot compute a hash");
}

/// Ends the hash and writes it in hexadecimal digits.
std::string finish_digest(EVP_MD_CTX* context) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    check(EVP_DigestFinal_ex(context, digest, &size));
    std::string hex;
    for (unsigned i = 0; i < size; ++i) hex += fmt::format("{:02x}", digest[i]);
    return hex;
}

}  // namespace

std::uint64_t hash64(std::string_view bytes, std::uint64_t seed) {
    XxhLanes lanes(seed);
    const std::size_t whole = bytes.size() / 32 * 32;
    lanes.consume(bytes.substr(0, whole));
    return xxh_finish((whole > 0 ? lanes.merged() : seed + prime5) + bytes.size(), bytes.substr(whole));
}

std::uint64_t hash64_file(const std::filesystem::path& path) {
    XxhLanes lanes(0);
    std::uint64_t total = 0;
    std::string rest;
    read_pieces(path, [&](std::string_view piece) {
        const std::size_t whole = piece.size() / 32 * 32;  // all of a piece but the last
        lanes.consume(piece.substr(0, whole));
        total += piece.size();
        rest = piece.substr(whole);
    });
    return xxh_finish((total >= 32 ? lanes.merged() : prime5) + total, rest);
}

Hash128 hash128(std::string_view bytes) { return {hash64(bytes, 0), hash64(bytes, 0x5bd1e995a5a5a5a5)}; }

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::uint32_t crc32c(std::string_view bytes, std::uint32_t crc) {
    crc = ~crc;
    for (const char byte : bytes) crc = crc_table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
    return ~crc;
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) { check(context_ ? EVP_DigestInit_ex(context_, EVP_sha256(), nullptr) : 0); }
Sha256::~Sha256() { EVP_MD_CTX_free(context_); }

void Sha256::update(std::string_view bytes) { check(EVP_DigestUpdate(context_, bytes.data(), bytes.size())); }

std::string Sha256::finish() { return finish_digest(context_); }

std::string sha256_hex(std::string_view bytes) {
    Sha256 hash;
    hash.update(bytes);
    return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path, const std::function<void(std::uint64_t bytes)>& piece_read) {
    Sha256 hash;
    read_pieces(path, [&](std::string_view piece) {
        hash.update(piece);
        if (piece_read && !piece.empty()) piece_read(piece.size());
    });
    return hash.finish();
}

std::string sha256_file(const std::filesystem::path& path) { return sha256_file(path, {}); }

std::string git_blob_id(std::string_view content) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    const std::string header = fmt::format("blob {}", content.size());
    check(context ? EVP_DigestInit_ex(context.get(), EVP_sha1(), nullptr) : 0);
    check(EVP_DigestUpdate(context.get(), header.c_str(), header.size() + 1));  // its zero byte is hashed too
    check(EVP_DigestUpdate(context.get(), content.data(), content.size()));
    return finish_digest(context.get());
}

}  // namespace faceter
