#include "common/file.h"
#include "fuzz.h"
#include "text/own_files.h"
#include "text/token_cache.h"

using namespace faceter;

namespace {

constexpr std::string_view vocabulary = R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "t": 4, "h": 5, "th": 6, "<mask>": 7})";

/// A cache folder with one file in it.
struct Cache {
    TemporaryDirectory folder;
    PipelineTokenizer tokenizer{read_byte_level_tokenizer(vocabulary, "#version: 0.2\nt h\n", "/nonexistent", {})};
    std::vector<std::string_view> texts{"th t", "h", ""};
    fs::path file;

    Cache() {
        open();
        for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
            if (entry.is_regular_file()) file = entry.path();
        FUZZ_CHECK(!file.empty());
    }
    TokenCache open() const { return TokenCache::open_or_build(folder.path(), tokenizer, texts, "", 8, 1); }
};

}  // namespace

/// A file of the token cache that is not what it was: built anew, or read within its bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Cache cache;
    OutputFile(cache.file, OutputFile::Mode::truncate).write({reinterpret_cast<const char*>(data), size});
    return fuzz_one(data, size, [](std::string_view) {
        const TokenCache tokens = cache.open();
        FUZZ_CHECK(tokens.size() == cache.texts.size());
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < tokens.size(); ++i)
            for (const std::int32_t id : tokens[i]) sum += id;
        FUZZ_CHECK(tokens.reused() || sum >= 0);
    });
}
