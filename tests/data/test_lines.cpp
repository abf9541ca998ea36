#include "data/line_reader.h"

#include <sys/stat.h>
#include <unistd.h>

#include "common/cancel.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::gzip;
using faceter::testing::put;

namespace {

std::vector<std::string> lines_of(const fs::path& file, std::size_t max_line = LineReader::max_line_bytes) {
    LineReader reader(file, max_line);
    std::vector<std::string> lines;
    while (const auto line = reader.next()) lines.emplace_back(*line);
    return lines;
}

/// A gzip file of `bytes` zeros, written piece by piece.
fs::path zeros_gz(const fs::path& file, std::uint64_t bytes, char byte = '\0') {
    const gzFile out = gzopen(file.c_str(), "wb1");
    const std::string piece(1 << 20, byte);
    for (std::uint64_t done = 0; done < bytes; done += piece.size()) gzwrite(out, piece.data(), static_cast<unsigned>(piece.size()));
    gzclose(out);
    return file;
}

fs::path repeated_zst(const fs::path& file, std::uint64_t bytes, char byte) {
    ZSTD_CCtx* context = ZSTD_createCCtx();
    std::ofstream out(file, std::ios::binary);
    const std::string piece(1 << 20, byte);
    std::string packed(ZSTD_CStreamOutSize(), '\0');
    for (std::uint64_t done = 0; done <= bytes; done += piece.size()) {
        ZSTD_inBuffer in{piece.data(), done < bytes ? piece.size() : 0, 0};
        const auto mode = done < bytes ? ZSTD_e_continue : ZSTD_e_end;
        for (std::size_t left = 1; left > 0 && (mode == ZSTD_e_end || in.pos < in.size);) {
            ZSTD_outBuffer to{packed.data(), packed.size(), 0};
            left = ZSTD_compressStream2(context, &to, &in, mode);
            out.write(packed.data(), static_cast<std::streamsize>(to.pos));
        }
    }
    ZSTD_freeCCtx(context);
    return file;
}

}  // namespace

class TestLines : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    fs::path at(const char* name) { return folder_.path() / name; }

  private Q_SLOTS:
    void a_pipe_in_place_of_a_file_holds_nobody() {
        QCOMPARE(::mkfifo(at("pipe.jsonl").c_str(), 0600), 0);
        EXPECT_ERROR(lines_of(at("pipe.jsonl")), "pipe.jsonl", "is not a file that can be read");
    }
    void line_ends_byte_order_mark_and_a_torn_last_line_are_understood() {
        const std::vector<std::string> expected{"one", "", "two", "last"};
        QCOMPARE(lines_of(put(at("unix"), "one\n\ntwo\nlast\n")), expected);
        QCOMPARE(lines_of(put(at("windows"), "\xef\xbb\xbfone\r\n\r\ntwo\r\nlast\r\n")), expected);
        QCOMPARE(lines_of(put(at("torn"), "one\n\ntwo\nlast")), expected);
        QCOMPARE(lines_of(put(at("empty"), "")).size(), std::size_t{0});
        QCOMPARE(lines_of(put(at("mark"), "\xef\xbb\xbf")).size(), std::size_t{0});
    }
    void packed_files_give_the_lines_of_the_plain_one() {
        std::string content;
        for (int i = 0; i < 200000; ++i) content += "line " + std::to_string(i * 7919) + "\n";
        const auto plain = lines_of(put(at("p"), content));
        QCOMPARE(plain.size(), std::size_t{200000});
        QCOMPARE(lines_of(put(at("p.gz"), gzip(content))), plain);
        QCOMPARE(lines_of(put(at("p.zst"), faceter::testing::zstd(content))), plain);
        const std::size_t half = content.find('\n', content.size() / 2) + 1;
        QCOMPARE(lines_of(put(at("two.gz"), gzip(content.substr(0, half)) + gzip(content.substr(half)))), plain);
        QCOMPARE(
            lines_of(put(at("two.zst"), faceter::testing::zstd(content.substr(0, half)) + faceter::testing::zstd(content.substr(half)))),
            plain);
    }
    /// A skippable frame in front, as pzstd writes it, between two others and behind them (RFC 8878, 3.1.2).
    void frames_that_are_to_be_skipped_are_skipped() {
        const std::string skipped = std::string("\x50\x2a\x4d\x18\x04\0\0\0", 8) + "abcd";
        const std::string last = std::string("\x5f\x2a\x4d\x18\0\0\0\0", 8);
        const std::string one = faceter::testing::zstd("one\n"), two = faceter::testing::zstd("two\n");
        QCOMPARE(lines_of(put(at("skip.zst"), skipped + one + last + two + skipped)), (std::vector<std::string>{"one", "two"}));
        EXPECT_ERROR(lines_of(put(at("skip_cut.zst"), skipped.substr(0, 10))), "skip_cut.zst", "cut short");
    }
    void a_zero_byte_is_refused_with_its_line_and_what_to_do() {
        const auto little = [](std::string_view ascii) {
            std::string wide;
            for (const char c : ascii) wide += {c, '\0'};
            return wide;
        };
        EXPECT_ERROR(lines_of(put(at("wide.csv"), little("text,label\na,x\n"))), "wide.csv:1:", "iconv -f UTF-16LE -t UTF-8");
        EXPECT_ERROR(lines_of(put(at("big.csv"), std::string(1, '\0') + little("text\n"))), "big.csv:1:", "iconv -f UTF-16BE");
        EXPECT_ERROR(lines_of(put(at("marked.csv"), "\xff\xfe" + little("text\n"))), "marked.csv:1:", "iconv -f UTF-16 ");
        EXPECT_ERROR(lines_of(put(at("hole.tsv"), "a\tb\nc" + std::string(1, '\0') + "d\te\n")), "hole.tsv:2:", "tr -d '\\000'");
        EXPECT_ERROR(lines_of(put(at("tail.txt"), "a\n" + std::string(512, '\0'))), "tail.txt:2:", "zero byte");
        EXPECT_ERROR(lines_of(put(at("sheet.csv"), std::string("PK\x03\x04\0\0x", 7))), "sheet.csv:1:", "a spreadsheet or an archive");
        EXPECT_ERROR(lines_of(put(at("a.jsonl.xz"), std::string("\3757zXZ\0\0\x04", 8))), "a.jsonl.xz:1:", "packed by xz");
        EXPECT_ERROR(lines_of(put(at("a.arrow"), std::string("ARROW1\0\0\n", 9))), "a.arrow:1:", "an Arrow file");
        EXPECT_ERROR(lines_of(put(at("b.arrow"), std::string("\xff\xff\xff\xff\x40\1\0\0\n", 9))), "b.arrow:1:", "an Arrow file");
    }
    void a_line_longer_than_the_buffer_is_read_whole() {
        const std::string longer(3 << 20, 'x');
        const auto lines = lines_of(put(at("long"), "a\n" + longer + "\nb"));
        QCOMPARE(lines.size(), std::size_t{3});
        QCOMPARE(lines[1], longer);
    }
    void a_line_over_the_limit_is_an_error_with_its_number() {
        put(at("over"), "a\n" + std::string(3 << 20, 'x') + "\nb");
        EXPECT_ERROR(lines_of(at("over"), 1 << 20), "over:2:", "longer than 1.0 MiB");
    }
    void files_cut_short_or_damaged_are_errors_that_name_the_file() {
        std::string content;
        for (int i = 0; i < 20000; ++i) content += "line " + std::to_string(i * 7919) + "\n";
        const std::string gz = gzip(content), zst = faceter::testing::zstd(content);
        EXPECT_ERROR(lines_of(put(at("cut.gz"), gz.substr(0, gz.size() / 2))), "cut.gz", "cut short");
        EXPECT_ERROR(lines_of(put(at("cut.zst"), zst.substr(0, zst.size() / 2))), "cut.zst", "cut short");
        EXPECT_ERROR(lines_of(put(at("head.gz"), gz.substr(0, 5))), "head.gz", "cut short");
        EXPECT_ERROR(lines_of(put(at("tail.gz"), gz + "garbage")), "tail.gz", "damaged");
        std::string bent = gz;
        for (std::size_t i = bent.size() / 2; i < bent.size() / 2 + 40; ++i) bent[i] = static_cast<char>(~bent[i]);
        EXPECT_ERROR(lines_of(put(at("bent.gz"), bent)), "bent.gz", "damaged");
        bent = zst;
        for (std::size_t i = bent.size() / 2; i < bent.size() / 2 + 40; ++i) bent[i] = static_cast<char>(~bent[i]);
        EXPECT_ERROR(lines_of(put(at("bent.zst"), bent)), "bent.zst", "damaged");
        EXPECT_ERROR(lines_of(at("missing.jsonl")), "missing.jsonl", "No such file");
        EXPECT_ERROR(lines_of(folder_.path()), "is a folder");
    }
    /// As in `faceter embed -` behind a program that does not go on: SIGTERM set the flag, and the read went on for ever.
    void waiting_for_a_pipe_ends_where_it_shall_stop() {
        int ends[2];
        QCOMPARE(::pipe(ends), 0);
        QCOMPARE(::write(ends[1], "a line\n", 7), ssize_t{7});
        request_stop();
        EXPECT_ERROR(lines_of("/proc/self/fd/" + std::to_string(ends[0])), "stopped before its end was read");
        clear_stop_request();
        ::close(ends[1]);
        QCOMPARE(lines_of("/proc/self/fd/" + std::to_string(ends[0])), std::vector<std::string>{});
        ::close(ends[0]);
    }
    /// One line of zeros meets the limit of a line, many lines that of growth; neither may take memory or minutes.
    void bombs_end_in_an_error_without_memory() {
        const long before = faceter::testing::peak_memory_mib();
        EXPECT_ERROR(lines_of(zeros_gz(at("zeros.gz"), std::uint64_t(100) << 20)), "zeros.gz");
        EXPECT_ERROR(lines_of(repeated_zst(at("zeros.zst"), std::uint64_t(100) << 20, '\0')), "zeros.zst");
        const auto count = [&](const fs::path& file) {
            LineReader reader(file);
            while (reader.next()) {
            }
        };
        EXPECT_ERROR(count(zeros_gz(at("ends.gz"), std::uint64_t(100) << 20, '\n')), "ends.gz", "expands to more than 150 times");
        EXPECT_ERROR(count(repeated_zst(at("ends.zst"), std::uint64_t(100) << 20, '\n')), "ends.zst", "expands to more than 150 times");
        QVERIFY2(faceter::testing::peak_memory_mib() - before < 400, "a bomb took memory");
    }
};

FACETER_TEST(TestLines)
#include "test_lines.moc"
