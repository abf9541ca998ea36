#include <algorithm>
#include <string>

#include "common/archive.h"
#include "common/file.h"
#include "fuzz.h"

using namespace faceter;

namespace {

constexpr ArchiveLimits limits{.files = 40, .bytes = 1 << 20, .free_bytes = 1 << 18, .growth = 20};

/// One entry as tar writes it, its sum right, whatever it says.
std::string entry(char type, std::string_view name, std::string_view content) {
    std::string head(512, '\0');
    const auto put = [&](std::size_t at, std::string_view text, std::size_t size) {
        head.replace(at, std::min(size, text.size()), text.substr(0, size));
    };
    put(0, name, 100);
    put(100, "0000644", 7);
    put(124, fmt::format("{:011o}", content.size()), 11);
    head[156] = type;
    put(157, content, type == '1' || type == '2' ? 100 : 0);
    put(257, std::string_view("ustar\00000", 8), 8);
    put(148, "        ", 8);
    unsigned sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    put(148, fmt::format("{:06o}", sum), 6);
    head[154] = '\0';
    std::string bytes = head + std::string(content);
    bytes.resize((bytes.size() + 511) / 512 * 512);
    return bytes;
}

/// Type, name up to a zero byte, content up to a zero byte; and so on.
std::string archive_of(std::string_view text) {
    std::string bytes;
    const auto part = [&] {
        const std::string_view taken = text.substr(0, text.find('\0'));
        text.remove_prefix(std::min(taken.size() + 1, text.size()));
        return taken;
    };
    while (!text.empty()) {
        const char type = text.front();
        text.remove_prefix(1);
        const std::string_view name = part();
        bytes += entry(type, name, part());
    }
    return bytes + std::string(1024, '\0');
}

/// Whatever became of it: only files and folders, all inside, and no more than the limits allow.
void check_taken(const fs::path& folder) {
    std::size_t things = 0;
    std::uint64_t bytes = 0;
    for (const auto& found : fs::recursive_directory_iterator(folder)) {
        FUZZ_CHECK(!found.is_symlink() && (found.is_regular_file() || found.is_directory()));
        if (found.is_regular_file()) bytes += found.file_size();
        ++things;
    }
    FUZZ_CHECK(things <= limits.files && bytes <= limits.bytes);
}

}  // namespace

/// A bundle's archive: behind an 'r' the bytes as they are, else a list of entries.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory root;
    if (size == 0) return 0;
    const fs::path file = root.path() / "input.tar", folder = root.path() / "inside", beside = root.path();
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    OutputFile(file, OutputFile::Mode::truncate).write(text.front() == 'r' ? std::string(text.substr(1)) : archive_of(text));
    make_directories(folder);
    const int result = fuzz_one(data, size, [&](std::string_view) { extract_archive(file, folder, limits); });
    check_taken(folder);
    FUZZ_CHECK(std::distance(fs::directory_iterator(beside), fs::directory_iterator()) == 2);
    remove_tree(folder);
    return result;
}
