#include <array>

#include "common/file.h"
#include "fuzz.h"
#include "text/tokenizer.h"

using namespace faceter;

namespace {

struct OneFile {
    const char* folder;
    const char* name;
    const char* right;
};
constexpr std::array<OneFile, 6> files = {{
    {"bert", "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\na\n##a\nb\n.\n"},
    {"bert", "tokenizer_config.json", R"({"do_lower_case": true})"},
    {"roberta", "vocab.json", R"({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "t": 4, "h": 5, "th": 6, "<mask>": 7})"},
    {"roberta", "merges.txt", "#version: 0.2\nt h\n"},
    {"roberta", "tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})"},
    {"roberta", "special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"})"},
}};

/// Tokenizers in their own files, all right; one file is replaced by the input.
struct Folders {
    TemporaryDirectory root;
    Folders() {
        for (const OneFile& file : files) {
            make_directories(root.path() / file.folder);
            put(file, file.right);
        }
    }
    void put(const OneFile& file, std::string_view content) const {
        OutputFile(root.path() / file.folder / file.name, OutputFile::Mode::truncate).write(content);
    }
};

void use(const Tokenizer& tokenizer) {
    for (const std::string_view sample : {"unaffable [MASK] the Caf\xC3\xA9", "", "\xFF <mask>  aa b"}) {
        std::vector<std::int32_t> whole, cut;
        tokenizer.encode(sample, 0, whole);
        for (const std::int32_t id : whole) FUZZ_CHECK(id >= 0 && static_cast<std::size_t>(id) < tokenizer.vocab_size());
        tokenizer.encode(sample, tokenizer.num_special() + 2, cut);
        FUZZ_CHECK(cut.size() <= tokenizer.num_special() + 2);
    }
}

}  // namespace

/// The first byte says which file the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folders folders;
    if (size == 0) return 0;
    const OneFile& file = files[data[0] % files.size()];
    folders.put(file, {reinterpret_cast<const char*>(data) + 1, size - 1});
    const int result = fuzz_one(data, size, [&](std::string_view) { use(*load_tokenizer(folders.root.path() / file.folder)); });
    folders.put(file, file.right);
    return result;
}
