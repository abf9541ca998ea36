#include "data/input_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "common/cancel.h"
#include "common/error.h"
#include "common/open_file.h"
#include "common/strings.h"
#include "data/files_read.h"
#include "data/parquet_file.h"

namespace faceter {
namespace {

namespace fs = std::filesystem;

/// The file itself, with room to look at its first bytes.
class PlainStream : public InputStream {
  public:
    explicit PlainStream(const fs::path& path) : path_(path), hashed_(path) {
        if (fs::is_directory(path)) throw data_error("{}: is a folder; a file is expected here", path.string());
        descriptor_ = open_to_read(path);
        struct stat info {};
        may_wait_ = ::fstat(descriptor_, &info) == 0 && !S_ISREG(info.st_mode);
    }
    ~PlainStream() override {
        read_the_little_that_is_left();
        ::close(descriptor_);
    }

    std::size_t read(char* to, std::size_t size) override {
        if (peeked_at_ < peeked_.size()) {
            const std::size_t take = std::min(size, peeked_.size() - peeked_at_);
            std::memcpy(to, peeked_.data() + peeked_at_, take);
            peeked_at_ += take;
            return take;
        }
        const std::size_t got = read_on(to, size);
        if (got == 0 && size > 0) hashed_.finish();
        return got;
    }

    /// The first `count` bytes (fewer where the file is shorter); they are read again later.
    std::string_view peek(std::size_t count) {
        peeked_.resize(count);
        std::size_t have = 0;
        while (have < count) {
            const std::size_t got = read_on(peeked_.data() + have, count - have);
            if (got == 0) break;
            have += got;
        }
        peeked_.resize(have);
        return {peeked_.data(), peeked_.size()};
    }

  private:
    /// A signal that asks to stop interrupts no read, which would wait for as long as nobody writes.
    void wait_for_more() const {
        constexpr int between_looks_ms = 200;
        pollfd input{descriptor_, POLLIN, 0};
        while (may_wait_ && (::poll(&input, 1, between_looks_ms) == 0 || input.revents == 0))
            if (stop_requested() != StopRequest::none) throw Error(ExitCode::stopped, path_.string() + ": stopped before its end was read");
    }

    std::size_t read_on(char* to, std::size_t size) {
        for (;;) {
            wait_for_more();
            const ssize_t got = ::read(descriptor_, to, size);
            if (got >= 0) {
                hashed_.add({to, static_cast<std::size_t>(got)});
                return static_cast<std::size_t>(got);
            }
            if (errno != EINTR) throw data_error("{}: cannot read: {}", path_.string(), errno_text(errno));
        }
    }

    /// What closes an array, or blank lines: a reader that has all it needs does not ask for them. One that only looked at the beginning of
    /// a large file has not read it.
    void read_the_little_that_is_left() noexcept {
        constexpr int most_reads = 16;
        char rest[4096];
        for (int i = 0; i < most_reads && hashed_.is_noted() && stop_requested() == StopRequest::none; ++i) {
            const ssize_t got = ::read(descriptor_, rest, sizeof rest);
            if (got < 0) return;
            try {
                if (got == 0) return hashed_.finish();
                hashed_.add({rest, static_cast<std::size_t>(got)});
            } catch (...) {  // it is not noted then
                return;
            }
        }
    }

    fs::path path_;
    HashedFile hashed_;
    int descriptor_;
    bool may_wait_ = false;  ///< a pipe, a terminal
    std::vector<char> peeked_;
    std::size_t peeked_at_ = 0;
};

/// What gzip and zstd share: the compressed input buffer and the limit on growth.
class CompressedStream : public InputStream {
  public:
    CompressedStream(const fs::path& path, std::unique_ptr<InputStream> source, ExpansionLimit limit)
        : path_(path), source_(std::move(source)), limit_(limit), input_(1 << 16) {}

  protected:
    bool refill() {
        available_ = source_->read(input_.data(), input_.size());
        compressed_ += available_;
        return available_ > 0;
    }
    std::size_t produced(std::size_t bytes) {
        expanded_ += bytes;
        if (expanded_ > limit_.free_bytes && static_cast<double>(expanded_) > limit_.max_ratio * static_cast<double>(compressed_))
            throw data_error(
                "{}: expands to more than {} times its size ({} from {}); such a file is refused, since real text compresses far less",
                path_.string(), limit_.max_ratio, format_bytes(expanded_), format_bytes(compressed_));
        return bytes;
    }
    [[noreturn]] void damaged(std::string_view reason) const {
        throw data_error("{}: the compressed data is damaged ({}, near byte {}); fetch the file again", path_.string(), reason,
                         compressed_);
    }
    [[noreturn]] void cut_short() const {
        throw data_error("{}: ends in the middle of its compressed data; the file was cut short, fetch it again", path_.string());
    }

    fs::path path_;
    std::unique_ptr<InputStream> source_;
    ExpansionLimit limit_;
    std::vector<char> input_;
    std::size_t available_ = 0;  ///< bytes that the last refill() brought
    std::uint64_t compressed_ = 0, expanded_ = 0;
};

class GzipStream : public CompressedStream {
  public:
    using CompressedStream::CompressedStream;
    ~GzipStream() override {
        if (started_) ::inflateEnd(&state_);
    }

    std::size_t read(char* to, std::size_t size) override {
        start();
        state_.next_out = reinterpret_cast<Bytef*>(to);
        state_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1u << 30));
        const uInt wanted = state_.avail_out;
        while (state_.avail_out == wanted) {
            if (state_.avail_in == 0 && !feed()) {
                if (!between_members_) cut_short();
                return 0;
            }
            step();
        }
        return produced(wanted - state_.avail_out);
    }

  private:
    void start() {
        if (started_) return;
        if (::inflateInit2(&state_, 15 + 16) != Z_OK) throw std::bad_alloc();
        started_ = true;
    }
    bool feed() {
        if (!refill()) return false;
        state_.next_in = reinterpret_cast<Bytef*>(input_.data());
        state_.avail_in = static_cast<uInt>(available_);
        return true;
    }
    void step() {
        if (between_members_) {
            ::inflateReset(&state_);
            between_members_ = false;
        }
        const int result = ::inflate(&state_, Z_NO_FLUSH);
        if (result == Z_STREAM_END)
            between_members_ = true;
        else if (result != Z_OK && result != Z_BUF_ERROR)
            damaged(state_.msg ? state_.msg : "gzip");
    }

    z_stream state_{};
    bool started_ = false, between_members_ = false;
};

class ZstdStream : public CompressedStream {
  public:
    ZstdStream(const fs::path& path, std::unique_ptr<InputStream> source, ExpansionLimit limit)
        : CompressedStream(path, std::move(source), limit), context_(::ZSTD_createDCtx()) {
        if (!context_) throw std::bad_alloc();
        ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, 27);  // at most 128 MiB, whatever the header asks for
    }
    ~ZstdStream() override { ::ZSTD_freeDCtx(context_); }

    std::size_t read(char* to, std::size_t size) override {
        ZSTD_outBuffer out{to, size, 0};
        while (out.pos == 0) {
            if (in_.pos == in_.size && !inside_block_) {
                if (!refill()) {
                    if (!between_frames_) cut_short();
                    return 0;
                }
                in_ = {input_.data(), available_, 0};
            }
            const std::size_t left = ::ZSTD_decompressStream(context_, &out, &in_);
            if (::ZSTD_isError(left)) damaged(::ZSTD_getErrorName(left));
            between_frames_ = left == 0;
            inside_block_ = out.pos == out.size;  // the context may hold more output: ask again before reading on
        }
        return produced(out.pos);
    }

  private:
    ZSTD_DCtx* context_;
    ZSTD_inBuffer in_{nullptr, 0, 0};
    bool between_frames_ = true, inside_block_ = false;
};

/// Of zstd, or one to be passed over in front of it, as pzstd and programs that keep an index write (RFC 8878, 3.1.2).
bool begins_a_frame(std::string_view head) {
    return head == "\x28\xb5\x2f\xfd" || (head.ends_with("\x2a\x4d\x18") && (head.front() & 0xf0) == 0x50);
}

}  // namespace

std::unique_ptr<InputStream> InputStream::open(const fs::path& path, ExpansionLimit limit) {
    auto file = std::make_unique<PlainStream>(path);
    const std::string_view head = file->peek(4);
    if (head.starts_with("\x1f\x8b")) return std::make_unique<GzipStream>(path, std::move(file), limit);
    if (begins_a_frame(head)) return std::make_unique<ZstdStream>(path, std::move(file), limit);
    if (head == "PAR1") return open_parquet(path, limit);
    return file;
}

}  // namespace faceter
