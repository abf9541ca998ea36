#include <archive.h>
#include <archive_entry.h>

#include "common/archive.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/random.h"
#include "support/test.h"

using namespace faceter;

namespace {

struct Entry {
    std::string name, content = "x";
    unsigned type = AE_IFREG;
    std::string link{}, hardlink{};
};

/// Whatever an attacker's own program would write.
void write_tar(const fs::path& file, const std::vector<Entry>& entries) {
    archive* out = archive_write_new();
    archive_write_add_filter_gzip(out);
    archive_write_set_format_pax_restricted(out);
    archive_write_open_filename(out, file.c_str());
    for (const Entry& one : entries) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, one.name.c_str());
        archive_entry_set_filetype(entry, one.type);
        archive_entry_set_perm(entry, 0644);
        archive_entry_set_size(entry, one.type == AE_IFREG && one.hardlink.empty() ? static_cast<la_int64_t>(one.content.size()) : 0);
        if (!one.link.empty()) archive_entry_set_symlink(entry, one.link.c_str());
        if (!one.hardlink.empty()) archive_entry_set_hardlink(entry, one.hardlink.c_str());
        archive_write_header(out, entry);
        if (one.type == AE_IFREG && one.hardlink.empty()) archive_write_data(out, one.content.data(), one.content.size());
        archive_entry_free(entry);
    }
    archive_write_close(out);
    archive_write_free(out);
}

}  // namespace

class TestArchive : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path file_ = folder_.path() / "a.tar.gz", out_ = folder_.path() / "inner/out";

    void refuses(const std::string& piece, const ArchiveLimits& limits = {}) {
        try {
            extract_archive(file_, out_, limits);
            QFAIL("it was taken");
        } catch (const Error& error) {
            QVERIFY2(std::string(error.what()).find(piece) != std::string::npos, error.what());
            QCOMPARE(error.code(), ExitCode::data);
        }
        for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
            QVERIFY2(!fs::is_symlink(entry) && entry.path().filename() != "evil", entry.path().c_str());
    }

  private Q_SLOTS:
    void init() {
        fs::remove_all(out_);
        fs::create_directories(out_);
    }
    void what_is_written_is_read_again() {
        const std::string large(300'000, 'x'), awkward = "a/ö b/ü.json";
        ArchiveWriter writer(file_);
        writer.add("top/small", "content");
        writer.add("top/empty", "");
        writer.add(awkward, large);
        writer.finish();
        extract_archive(file_, out_);
        QCOMPARE(read_file(out_ / "top/small"), std::string("content"));
        QCOMPARE(read_file(out_ / "top/empty"), std::string());
        QCOMPARE(read_file(out_ / awkward), large);
    }
    void the_same_content_gives_the_same_bytes_and_an_unfinished_archive_is_none() {
        std::vector<std::string> made;
        for (int i = 0; i < 2; ++i) {
            ArchiveWriter writer(file_);
            writer.add("a", "one");
            writer.finish();
            made.push_back(read_file(file_));
        }
        QCOMPARE(made[0], made[1]);
        const fs::path other = folder_.path() / "other.tar.gz";
        { ArchiveWriter(other).add("a", "one"); }
        QVERIFY(!fs::exists(other));
    }
    void one_that_is_stopped_leaves_nothing() {
        const fs::path folder = folder_.path() / "stopped";
        fs::create_directories(folder);
        {
            ArchiveWriter writer(folder / "x.tar.gz");
            writer.add("a", "one");
            request_stop();
            EXPECT_ERROR(writer.add("b", "two"), "stopped");
            clear_stop_request();
        }
        QVERIFY(fs::is_empty(folder));
    }
    void hostile_names_are_refused_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"../evil", "a/../../evil", "/tmp/evil", "a/./evil", "./../evil", ".//tmp/evil", "a//evil", "..", "a/.."})
            QTest::newRow(name) << name;
    }
    void hostile_names_are_refused() {
        QFETCH(QString, name);
        write_tar(file_, {{"good"}, {name.toStdString()}});
        refuses("leaves the folder");
    }
    void a_name_that_is_not_utf8_is_refused() {
        write_tar(file_, {{"good"},
                          {"b\xff"
                           "d"}});
        refuses("which is not UTF-8");
    }
    void a_name_that_no_disk_holds_is_refused_and_told_short() {
        for (const std::string& name : {std::string(300, 'n'), std::string(300, 'n') + "/a"}) {
            fs::remove_all(out_);
            write_tar(file_, {{"good"}, {name}});
            refuses("names '" + std::string(80, 'n') + "...', and a file's name has at most 255 bytes; nothing was taken from it");
        }
        std::string deep = "a";
        for (int i = 0; i < 20; ++i) deep = std::string(250, 'n') + "/" + deep;
        write_tar(file_, {{deep}});
        refuses("...', and a path has at most 4095 bytes; nothing was taken from it");
    }
    void links_and_devices_are_refused() {
        write_tar(file_, {{"a", "", AE_IFLNK, "/etc"}, {"a/evil"}});
        refuses("link or a device");
        write_tar(file_, {{"a"}, {"b", "", AE_IFREG, "", "a"}});
        refuses("link or a device");
        write_tar(file_, {{"fifo", "", AE_IFIFO}});
        refuses("link or a device");
    }
    void one_name_stands_once() {
        write_tar(file_, {{"a", "one"}, {"a", "two"}});
        refuses("twice");
        write_tar(file_, {{"b/a"}, {"b/a/c"}});
        refuses("has 'b/a' as a file and as a folder");
        write_tar(file_, {{"b/a/c"}, {"b/a"}});
        refuses("has 'b/a' as a file and as a folder");
    }
    void a_bomb_is_refused_before_it_is_unpacked() {
        write_tar(file_, {{"zeros", std::string(3 << 20, '\0')}});
        ArchiveLimits limits;
        limits.free_bytes = 1 << 16;
        refuses("far beyond what its size lets one expect", limits);
        QVERIFY(fs::is_empty(out_));
        limits = {};
        limits.files = 2;
        write_tar(file_, {{"a"}, {"b"}, {"c"}});
        refuses("more than 2 files and folders", limits);
        QVERIFY(fs::is_empty(out_));
    }
    void folders_count_as_well_and_lie_in_each_other_only_so_far() {
        std::vector<Entry> folders;
        for (int i = 0; i < 30; ++i) folders.push_back({fmt::format("d{}/", i), "", AE_IFDIR});
        write_tar(file_, folders);
        ArchiveLimits limits;
        limits.files = 20;
        refuses("more than 20 files and folders", limits);
        QVERIFY(fs::is_empty(out_));
        init();
        write_tar(file_, {{"a/b/c/d/one"}, {"a/b/c/e/two"}, {"f/g/h/i/three"}});
        limits.files = 8;
        refuses("more than 8 files and folders", limits);
        QVERIFY(fs::is_empty(out_));
        init();
        std::string deep;
        for (int i = 0; i < 1000; ++i) deep += "d/";
        write_tar(file_, {{deep + "file"}});
        refuses("deeper than 32");
        QVERIFY(!fs::exists(out_ / "d"));
    }
    void only_folders_that_hold_a_file_are_made() {
        write_tar(file_, {{"a/", "", AE_IFDIR}, {"a/b/", "", AE_IFDIR}, {"a/one"}});
        QCOMPARE(extract_archive(file_, out_), std::size_t{1});
        QCOMPARE(read_file(out_ / "a/one"), std::string("x"));
        QVERIFY(!fs::exists(out_ / "a/b"));
    }
    /// As tar writes a folder that it was called in.
    void names_behind_a_point_are_those_without() {
        write_tar(file_, {{"./", "", AE_IFDIR}, {"./a/", "", AE_IFDIR}, {"./a/one"}, {"././b"}});
        QCOMPARE(extract_archive(file_, out_), std::size_t{2});
        QCOMPARE(read_file(out_ / "a/one") + read_file(out_ / "b"), std::string("xx"));
        write_tar(file_, {{"one"}, {"./one"}});
        refuses("has 'one' twice");
    }
    void a_few_bytes_do_not_stand_for_thousands_of_files_and_folders() {
        std::vector<Entry> folders, files, again;
        for (int i = 0; i < 5'000; ++i) {
            folders.push_back({fmt::format("{}/", i), "", AE_IFDIR});
            files.push_back({fmt::format("{}/x", i % 50 * 100 + i / 50), ""});
            again.push_back({"a/", "", AE_IFDIR});
        }
        for (const auto& entries : {folders, files, again}) {
            init();
            write_tar(file_, entries);
            refuses("far more than its size lets one expect");
            QVERIFY(fs::is_empty(out_));  // it would take minutes to fill, and to empty again
        }
        std::vector<Entry> honest;  // as much in each as a bundle has of each file at least: a hash
        RandomStream random(1, "honest");
        for (int i = 0; i < 2'000; ++i) {
            std::string hash;
            while (hash.size() < 64) hash += fmt::format("{:x}", random.below(16));
            honest.push_back({fmt::format("runs/{}/journal", i), hash});
        }
        init();
        write_tar(file_, honest);
        QCOMPARE(extract_archive(file_, out_), honest.size());
    }
    void torn_and_foreign_files_are_refused() {
        std::string noise(20'000, '\0');
        for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 2654435761u >> 13);
        write_tar(file_, {{"a", noise}});
        const std::string whole = read_file(file_);
        for (const std::size_t size : {whole.size() / 2, whole.size() / 4, std::size_t{30}, std::size_t{0}}) {
            OutputFile(file_, OutputFile::Mode::truncate).write(whole.substr(0, size));
            fs::remove_all(out_);
            fs::create_directories(out_);
            refuses(size == 0 ? "" : "a.tar.gz");
        }
        OutputFile(file_, OutputFile::Mode::truncate).write("a text, and no archive at all, however long it is\n");
        refuses("is no .tar.gz");
    }
};

FACETER_TEST(TestArchive)
#include "test_archive.moc"
