#include "checkpoint/safetensors.h"

#include <sys/stat.h>

#include <cstring>

#include "common/file.h"
#include "common/json.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// A file of that header and that many bytes of data.
std::string with_header(const std::string& header, std::size_t data_bytes) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data_bytes, '\1');
}

std::string tensor(const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

}  // namespace

class TestSafetensors : public QObject {
    Q_OBJECT
  private:
    TemporaryDirectory folder_;
    const fs::path path_ = folder_.path() / "x.safetensors";

    SafetensorsFile open(const std::string& content) const {
        write_file_atomic(path_, content);
        return SafetensorsFile(path_);
    }

  private Q_SLOTS:
    void a_pipe_in_its_place_holds_nobody() {
        const TemporaryDirectory folder;
        const fs::path pipe = folder.path() / "pipe.safetensors";
        QCOMPARE(::mkfifo(pipe.c_str(), 0600), 0);
        EXPECT_ERROR(SafetensorsFile(pipe), "pipe.safetensors", "is not a file that can be read");
    }
    void what_was_written_is_read_back() {
        const std::vector<float> a{1, 2, 3, 4, 5, 6};
        const std::vector<std::int64_t> b{-7};
        const std::vector<std::uint8_t> c{1, 2, 3};
        SafetensorsWriter writer;
        writer.add("encoder.\"a\" é", DType::f32, {2, 3}, a.data());
        writer.add("b", DType::i64, {}, [&] { return b.data(); });
        writer.add("none", DType::bf16, {0, 4}, nullptr);
        writer.add("c", DType::boolean, {3}, c.data());
        writer.set_metadata("step", "12");
        const std::uint64_t written = writer.write(path_);
        QCOMPARE(written, fs::file_size(path_));
        const SafetensorsFile file(path_);
        QCOMPARE(file.tensors().size(), std::size_t{4});
        QCOMPARE(file.metadata().at("step"), std::string("12"));
        QCOMPARE(file.metadata().at("format"), std::string("pt"));
        const TensorInfo* info = file.find("encoder.\"a\" é");
        QVERIFY(info && info->dtype == DType::f32 && info->shape == (std::vector<std::int64_t>{2, 3}) && info->numel() == 6);
        QCOMPARE(info->offset % 8, std::uint64_t{0});
        std::vector<float> read(6);
        file.read(*info, read.data());
        QCOMPARE(read, a);
        file.read(*info, 12, 8, read.data());
        QCOMPARE(read[1], 5.0f);
        std::int64_t number = 0;
        file.read(*file.find("b"), &number);
        QCOMPARE(number, std::int64_t{-7});
        QCOMPARE(file.find("none")->bytes, std::uint64_t{0});
        QVERIFY(!file.find("missing"));
        EXPECT_ERROR(file.read(*info, 20, 8, read.data()), "bytes 20 to 28", "it has 24");
    }
    void a_moved_file_still_finds_its_tensors() {
        SafetensorsFile first = open(with_header("{\"a\":" + tensor("U8", "[2]", "[0,2]") + "}", 2));
        const SafetensorsFile second = std::move(first);
        std::uint8_t values[2] = {};
        second.read(*second.find("a"), values);
        QCOMPARE(int(values[1]), 1);
    }
    void a_real_checkpoint_is_read() {
        NEED_SHARED();
        const SafetensorsFile file(shared_folder() / "fixtures/bert/model.safetensors");
        QVERIFY(file.tensors().size() > 10);
        std::uint64_t bytes = 0;
        for (const TensorInfo& info : file.tensors()) {
            std::vector<char> data(info.bytes);
            file.read(info, data.data());
            bytes += info.bytes;
        }
        QVERIFY(bytes > 1000 && bytes < fs::file_size(file.path()));
    }
    void a_file_that_is_none_says_so() {
        EXPECT_ERROR(SafetensorsFile(folder_.path() / "missing"), "missing", "cannot open");
        EXPECT_ERROR(SafetensorsFile(folder_.path()), "is not a file");
        EXPECT_ERROR(open(""), "x.safetensors", "0 bytes");
        EXPECT_ERROR(open("1234567"), "7 bytes");
        EXPECT_ERROR(open("PK\3\4 this is a zip file, as torch writes"), "not a safetensors file");
        EXPECT_ERROR(open(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF{}", 10)), "18446744073709551615");
        EXPECT_ERROR(open(with_header("[]", 0)), "not a JSON object");
        EXPECT_ERROR(open(with_header("", 0)), "not valid JSON");
        EXPECT_ERROR(open(with_header("{\"a\":", 0)), "not valid JSON");
        EXPECT_ERROR(open(with_header(std::string(50'000, '['), 0)), "not valid JSON");
    }
    void a_header_larger_than_the_limit_is_refused_unread() {
        const std::uint64_t length = 100'000'001;
        write_file_atomic(path_, {reinterpret_cast<const char*>(&length), 8});
        fs::resize_file(path_, length + 8);  // sparse
        EXPECT_ERROR(SafetensorsFile(path_), "header of 100000001 bytes");
    }
    void a_torn_file_at_any_byte_is_an_error() {
        const std::string whole =
            with_header("{\"a\":" + tensor("F32", "[2,2]", "[0,16]") + ",\"b\":" + tensor("U8", "[3]", "[16,19]") + "}", 19);
        QVERIFY(open(whole).find("b"));
        for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_ERROR(open(whole.substr(0, size)), "x.safetensors");
        EXPECT_ERROR(open(whole.substr(0, whole.size() - 1)), "'b'", "cut short");
    }
    void a_file_with_any_byte_changed_gives_an_error_or_stays_inside() {
        const std::string whole =
            with_header("{\"a\":" + tensor("F32", "[2,2]", "[0,16]") + ",\"b\":" + tensor("U8", "[3]", "[16,19]") + "}", 19);
        for (std::size_t i = 0; i < whole.size() - 19; ++i) {
            for (const char byte : {'0', '9', '"', '{', ',', '\0', '\x7F', '\xFF'}) {
                std::string changed = whole;
                changed[i] = byte;
                try {
                    const SafetensorsFile file = open(changed);
                    for (const TensorInfo& info : file.tensors()) QVERIFY(info.offset + info.bytes <= changed.size());
                } catch (const std::exception& error) {
                    QVERIFY(std::strstr(error.what(), "x.safetensors"));
                }
            }
        }
    }
    void wrong_tensors_are_named() {
        const auto open_one = [&](const std::string& description, std::size_t bytes = 16) {
            return open(with_header("{\"w\":" + description + "}", bytes));
        };
        EXPECT_ERROR(open_one("3"), "tensor 'w'", "not described");
        EXPECT_ERROR(open_one("{}"), "tensor 'w'", "no dtype");
        EXPECT_ERROR(open_one(tensor("Q4", "[1]", "[0,1]")), "dtype 'Q4'", "not supported");
        EXPECT_ERROR(open_one(tensor("F32", "4", "[0,16]")), "no shape");
        EXPECT_ERROR(open_one(tensor("F32", "[-4]", "[0,16]")), "not a list of sizes");
        EXPECT_ERROR(open_one(tensor("F32", "[4.5]", "[0,16]")), "not a list of sizes");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[0]")), "no data_offsets");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[-1,15]")), "no data_offsets");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[16,0]")), "bytes 16 to 0");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[4,20]")), "bytes 4 to 20 of 16");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[0,12]")), "takes 12 bytes", "need 16");
        EXPECT_ERROR(open_one(tensor("F32", "[4]", "[0,18446744073709551615]")), "18446744073709551615");
        EXPECT_ERROR(open_one(tensor("F32", "[4294967296,4294967296]", "[0,0]")), "too large");  // 2^66 bytes overflow
        EXPECT_ERROR(open_one(tensor("F32", "[9223372036854775807,2]", "[0,16]")), "too large");
        EXPECT_ERROR(open_one(tensor("F64", "[1152921504606846976]", "[0,0]")), "too large");  // 2^63 bytes
        EXPECT_ERROR(open_one(tensor("F32", "[1,1,1,1,1,1,1,1,4]", "[0,16]")), "tensor 'w'", "a shape of 9 sizes", "at most 8");
        QCOMPARE(open_one(tensor("F32", "[1,1,1,1,1,1,1,4]", "[0,16]")).find("w")->shape.size(), std::size_t{8});
        EXPECT_ERROR(open(with_header("{\"a\\u0007b\":" + tensor("U8", "[1]", "[0,1]") + "}", 1)), "control character");
        EXPECT_ERROR(open(with_header("{\"\":" + tensor("U8", "[1]", "[0,1]") + "}", 1)), "empty name");
        EXPECT_ERROR(open(with_header("{\"__metadata__\":3}", 0)), "__metadata__");
        EXPECT_ERROR(open(with_header("{\"__metadata__\":{\"a\":1}}", 0)), "__metadata__ 'a'");
    }
    void duplicates_overlaps_holes_and_what_stands_behind_are_refused() {
        const std::string first = "{\"a\":" + tensor("U8", "[4]", "[0,4]");
        EXPECT_ERROR(open(with_header(first + ",\"a\":" + tensor("U8", "[4]", "[4,8]") + "}", 8)), "tensor 'a'", "twice");
        EXPECT_ERROR(open(with_header(first + ",\"b\":" + tensor("U8", "[4]", "[3,7]") + "}", 8)), "'a' and 'b' overlap");
        EXPECT_ERROR(open(with_header("{\"b\":" + tensor("U8", "[1]", "[1,2]") + ",\"a\":" + tensor("U8", "[4]", "[0,4]") + "}", 8)),
                     "overlap");
        EXPECT_ERROR(open(with_header(first + ",\"b\":" + tensor("U8", "[2]", "[6,8]") + "}", 8)), "bytes 4 to 6, before tensor 'b'");
        EXPECT_ERROR(open(with_header("{\"a\":" + tensor("U8", "[4]", "[1,5]") + "}", 5)), "bytes 0 to 1, before tensor 'a'");
        EXPECT_ERROR(open(with_header(first + "}", 9)), "bytes 4 to 9, behind the last tensor");
        EXPECT_ERROR(open(with_header("{}", 1)), "bytes 0 to 1, behind the last tensor");
        EXPECT_ERROR(open(with_header(first + ",\"none\":" + tensor("U8", "[0]", "[2,2]") + "}", 4)), "'a' and 'none' overlap");
        QCOMPARE(open(with_header("{\"b\":" + tensor("U8", "[4]", "[0,4]") + ",\"none\":" + tensor("U8", "[0]", "[4,4]") +
                                      ",\"c\":" + tensor("U8", "[2]", "[4,6]") + "}",
                                  6))
                     .tensors()
                     .size(),
                 std::size_t{3});
    }
    void a_hundred_thousand_tensors_open_at_once() {
        std::string header = "{";
        for (int i = 0; i < 100'000; ++i)
            header += (i ? ",\"t" : "\"t") + std::to_string(i) +
                      "\":" + tensor("U8", "[1]", "[" + std::to_string(i) + "," + std::to_string(i + 1) + "]");
        QCOMPARE(open(with_header(header + "}", 100'000)).tensors().size(), std::size_t{100'000});
    }
    void a_file_cut_while_it_is_open_is_an_error_not_a_crash() {
        const SafetensorsFile file = open(with_header("{\"a\":" + tensor("U8", "[9000]", "[0,9000]") + "}", 9000));
        fs::resize_file(path_, 100);
        std::vector<char> data(9000);
        EXPECT_ERROR(file.read(*file.find("a"), data.data()), "changed by another program");
    }
    void a_failed_write_leaves_the_old_file() {
        SafetensorsWriter old;
        const float one = 1;
        old.add("w", DType::f32, {1}, &one);
        old.write(path_);
        const std::string before = read_file(path_);
        SafetensorsWriter writer;
        const std::vector<float> many(1000, 2);
        writer.add("w", DType::f32, {1000}, many.data());
        for (const FileOperation failing : {FileOperation::open, FileOperation::write, FileOperation::sync, FileOperation::rename}) {
            set_file_fault_hook([=](FileOperation operation, const fs::path&) { return operation == failing ? ENOSPC : 0; });
            EXPECT_ERROR(writer.write(path_), "x.safetensors", "No space");
            set_file_fault_hook(nullptr);
            QCOMPARE(read_file(path_), before);
        }
        QCOMPARE(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
        EXPECT_ERROR(writer.write_new(path_), "x.safetensors", "exists");
        EXPECT_ERROR(writer.add("w", DType::f32, {1}, &one), "'w'", "twice");
    }
};

FACETER_TEST(TestSafetensors)
#include "test_safetensors.moc"
