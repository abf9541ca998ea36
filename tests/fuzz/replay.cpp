#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "common/strings.h"

using namespace faceter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) { LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size()); }

/// One small change: a byte, a cut, a copied or removed stretch, or a number that readers stumble over.
void change(std::string& text, RandomStream& random) {
    static const std::vector<std::string> pieces = {"0",
                                                    "-1",
                                                    "18446744073709551615",
                                                    "9223372036854775808",
                                                    "1e999",
                                                    "null",
                                                    "true",
                                                    "\"\"",
                                                    "[]",
                                                    "{}",
                                                    "\xFF",
                                                    "\xED\xA0\x80",
                                                    "..",
                                                    "/",
                                                    "\n",
                                                    "\\u0000",
                                                    "\t\t",
                                                    "\"a\":",
                                                    "[[[[",
                                                    "NaN",
                                                    "0.1",
                                                    ","};
    const std::size_t at = random.below(text.size() + 1), length = std::min<std::size_t>(random.below(16) + 1, text.size() - at);
    switch (random.below(6)) {
        case 0:
            if (at < text.size()) text[at] = static_cast<char>(random.below(256));
            break;
        case 1:
            if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.below(8)));
            break;
        case 2:
            text.erase(at, length);
            break;
        case 3:
            text.insert(random.below(text.size() + 1), text.substr(at, length));
            break;
        case 4:
            text.insert(at, pieces[random.below(pieces.size())]);
            break;
        default:
            text.resize(at);
    }
}

}  // namespace

/// usage: fuzz_NAME CORPUS [MUTATIONS]: every file of the folder, and that many changed copies of each; the same ones every time.
int main(int argc, char** argv) {
    if (argc < 2) return std::fprintf(stderr, "usage: %s CORPUS [MUTATIONS]\n", argv[0]), 2;
    const std::int64_t mutations = argc > 2 ? parse_int(argv[2]).value_or(0) : 0;
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(argv[1]))
        if (entry.is_regular_file()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) {
        const std::string seed = read_file(file);
        run(seed);
        RandomStream random(hash64(seed), "fuzz");
        for (std::int64_t i = 0; i < mutations; ++i) {
            std::string text = seed;
            for (std::uint64_t changes = random.below(4) + 1; changes > 0; --changes) change(text, random);
            run(text);
        }
    }
    std::printf("%zu seeds, %lld changed copies of each\n", files.size(), static_cast<long long>(mutations));
    return files.empty() ? 1 : 0;
}
