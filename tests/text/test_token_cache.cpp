#include "text/token_cache.h"

#include <cstring>
#include <fstream>

#include "common/hash.h"
#include "small_tokenizer.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestTokenCache : public QObject {
    Q_OBJECT
  private:
    std::unique_ptr<Tokenizer> tokenizer_ = TokenizerFolder().load();
    const std::vector<std::string_view> texts_{"a b", "", "unaffable", "中"};

    TokenCache open(const fs::path& folder, std::string_view prefix = "", std::size_t max_length = 0) const {
        return TokenCache::open_or_build(folder, *tokenizer_, texts_, prefix, max_length, 1);
    }
    void check(const TokenCache& cache, std::string_view prefix = "") const {
        QCOMPARE(cache.size(), texts_.size());
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            const auto ids = encode(*tokenizer_, std::string(prefix) + std::string(texts_[i]));
            QVERIFY(std::equal(ids.begin(), ids.end(), cache[i].begin(), cache[i].end()));
        }
    }
    /// The file with a number of `Value` changed and every hash as it would be: by somebody who knows the format.
    template <typename Value>
    void forge(const fs::path& path, std::size_t at, Value value) const {
        constexpr std::size_t header_bytes = 80, offsets_hash = 56, ids_hash = 64, header_hash = 72;
        std::string bytes = read_file(path);
        std::memcpy(bytes.data() + at, &value, sizeof value);
        const std::size_t ids = header_bytes + (texts_.size() + 1) * 8;
        const auto seal = [&](std::size_t place, std::size_t begin, std::size_t end) {
            const std::uint64_t hash = hash64(std::string_view(bytes).substr(begin, end - begin));
            std::memcpy(bytes.data() + place, &hash, sizeof hash);
        };
        seal(offsets_hash, header_bytes, ids);
        seal(ids_hash, ids, bytes.size());
        seal(header_hash, 0, header_hash);
        write_file_atomic(path, bytes);
    }
    static fs::path only_file(const fs::path& folder) { return *fs::directory_iterator(folder); }

  private Q_SLOTS:
    void the_second_opening_reuses_the_file() {
        TemporaryDirectory folder;
        const TokenCache built = open(folder.path() / "new" / "folder"), reused = open(folder.path() / "new" / "folder");
        QVERIFY(!built.reused() && reused.reused());
        check(built);
        check(reused);
    }
    void other_settings_texts_or_tokenizers_do_not_share_a_file() {
        TemporaryDirectory folder;
        open(folder.path());
        QVERIFY(!open(folder.path(), "a ").reused());
        QVERIFY(!open(folder.path(), "", 3).reused());
        check(open(folder.path(), "a "), "a ");
        const std::vector<std::string_view> joined{"a b", "", "unaffable中", ""};
        QVERIFY(!TokenCache::open_or_build(folder.path(), *tokenizer_, joined, "", 0, 1).reused());
        Json other = small_tokenizer_json();
        other["normalizer"]["lowercase"] = false;
        QVERIFY(!TokenCache::open_or_build(folder.path(), *TokenizerFolder(other).load(), texts_, "", 0, 1).reused());
    }
    void a_file_with_any_byte_changed_or_cut_is_rebuilt() {
        TemporaryDirectory folder;
        open(folder.path());
        const fs::path path = only_file(folder.path());
        const std::string whole = read_file(path);
        for (std::size_t i = 0; i < whole.size(); ++i) {
            std::string changed = whole;
            changed[i] = char(changed[i] ^ 0x41);
            write_file_atomic(path, changed);
            const TokenCache cache = open(folder.path());
            QVERIFY(!cache.reused());
            check(cache);
            write_file_atomic(path, whole.substr(0, i));
            QVERIFY(!open(folder.path()).reused());
        }
        write_file_atomic(path, whole + "x");
        QVERIFY(!open(folder.path()).reused());
        QCOMPARE(read_file(path), whole);
    }
    void ids_and_offsets_out_of_range_are_not_believed_whatever_the_hashes_say() {
        TemporaryDirectory folder;
        open(folder.path());
        const fs::path path = only_file(folder.path());
        const std::size_t ids = 80 + (texts_.size() + 1) * 8;
        forge(path, ids, encode(*tokenizer_, std::string(texts_[0])).at(0));
        QVERIFY(open(folder.path()).reused());  // what is forged passes, but for what is in it
        for (const std::int32_t id : {-1, 1'000'000'000, static_cast<std::int32_t>(tokenizer_->vocab_size())}) {
            forge(path, ids, id);
            const TokenCache cache = open(folder.path());
            QVERIFY(!cache.reused());
            check(cache);
        }
        for (const auto& [number, offset] : {std::pair<std::size_t, std::uint64_t>{0, 1}, {1, ~0ull}, {2, 0}, {4, 1}}) {
            forge(path, 80 + number * 8, offset);
            const TokenCache cache = open(folder.path());
            QVERIFY(!cache.reused());
            check(cache);
        }
    }
    void a_full_disk_leaves_the_ids_in_memory_and_no_half_file() {
        TemporaryDirectory folder;
        set_file_fault_hook([](FileOperation operation, const fs::path&) { return operation == FileOperation::write ? ENOSPC : 0; });
        const TokenCache cache = open(folder.path());
        set_file_fault_hook(nullptr);
        check(cache);
        QVERIFY(fs::is_empty(folder.path()));
        QVERIFY(!open(folder.path()).reused());
    }
    void a_cache_folder_that_is_a_file_does_no_harm() {
        TemporaryDirectory folder;
        write_file_atomic(folder.path() / "cache", "x");
        check(open(folder.path() / "cache"));
    }
};

FACETER_TEST(TestTokenCache)
#include "test_token_cache.moc"
