#include "common/hash.h"

#include <sys/stat.h>

#include "common/file.h"
#include "common/file_hash.h"
#include "common/random.h"
#include "support/test.h"

using namespace faceter;

class TestHash : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void hash64_is_xxh64() {  // values of the reference implementation
        QCOMPARE(hash64(""), std::uint64_t{0xEF46DB3751D8E999});
        QCOMPARE(hash64("a"), std::uint64_t{0xD24EC4F1A98C6E5B});
        QCOMPARE(hash64("abc"), std::uint64_t{0x44BC2CF5AD770999});
        QCOMPARE(hash64("Nobody inspects the spammish repetition"), std::uint64_t{0xFBCEA83C8A378BF1});
    }
    void sha256_and_git_have_their_published_values() {
        QCOMPARE(sha256_hex(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
        QCOMPARE(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
                 std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
        Sha256 pieces;
        for (const char* piece : {"a", "", "bc"}) pieces.update(piece);
        QCOMPARE(pieces.finish(), sha256_hex("abc"));
        QCOMPARE(git_blob_id(""), std::string("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"));
        QCOMPARE(git_blob_id("hello world\n"), std::string("3b18e512dba79e4c8300dd08aeb37f8e728b8dad"));
    }
    void what_cannot_be_read_has_no_hash() {
        const TemporaryDirectory folder;  // opens as a file does, and is none
        const fs::path pipe = folder.path() / "pipe";
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);  // that nobody writes into
        for (const fs::path& none : {folder.path(), pipe}) EXPECT_ERROR(sha256_file(none), "is not a file that can be read");
        EXPECT_ERROR(sha256_file(folder.path() / "nothing"), "cannot open");
        write_file_atomic(folder.path() / "three", std::string(std::size_t{3} << 20, 'x'));
        std::vector<std::uint64_t> pieces;
        QCOMPARE(sha256_file(folder.path() / "three", [&](std::uint64_t bytes) { pieces.push_back(bytes); }),
                 sha256_hex(std::string(std::size_t{3} << 20, 'x')));
        QCOMPARE(pieces, std::vector<std::uint64_t>(3, std::uint64_t{1} << 20));
    }
    void a_file_hashes_as_its_content() {
        const TemporaryDirectory folder;
        RandomStream random(1, "hash");
        for (const std::size_t size : {0, 1, 31, 32, 33, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 20) + 32, (3 << 20) + 77}) {
            std::string content(size, '\0');
            for (char& c : content) c = static_cast<char>(random.below(256));
            write_file_atomic(folder.path() / "f", content);
            QCOMPARE(hash64_file(folder.path() / "f"), hash64(content));
        }
        EXPECT_ERROR(hash64_file(folder.path() / "missing"), "missing", "cannot open");
    }
};

FACETER_TEST(TestHash)
#include "test_hash.moc"
