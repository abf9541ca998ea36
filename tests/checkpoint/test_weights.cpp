#include "checkpoint/weights.h"

#include <cmath>

#include "common/file.h"
#include "support/test.h"

using namespace faceter;

class TestWeights : public QObject {
    Q_OBJECT
  private:
    static void write_one(const fs::path& path, const std::string& name, DType dtype, std::int64_t size, const void* data) {
        SafetensorsWriter writer;
        writer.add(name, dtype, {size}, data);
        writer.write(path);
    }
    static void write_index(const fs::path& folder, const std::string& map) {
        write_file_atomic(folder / "model.safetensors.index.json", R"({"metadata": {"total_size": 8}, "weight_map": )" + map + "}");
    }

  private Q_SLOTS:
    void shards_are_one_checkpoint() {
        TemporaryDirectory folder;
        const float a = 3, b = 4;
        write_one(folder.path() / "model-00001-of-00002.safetensors", "a", DType::f32, 1, &a);
        write_one(folder.path() / "model-00002-of-00002.safetensors", "b", DType::f32, 1, &b);
        write_index(folder.path(), R"({"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"})");
        const auto files = find_weight_files(folder.path());
        const Weights weights(files);
        QCOMPARE(weights.names().size(), std::size_t{2});
        float value = 0;
        weights.read("b", &value);
        QCOMPARE(value, 4.0f);
        QVERIFY(!weights.find("c"));
        EXPECT_ERROR(weights.at("aa"), "no tensor 'aa'", "'a'", "2 files");
    }
    void every_float_type_becomes_float32() {
        TemporaryDirectory folder;
        const fs::path path = folder.path() / "model.safetensors";
        // 1, -2, smallest subnormal, largest half, infinity; the same in bfloat16 where it has them.
        const std::uint16_t halves[] = {0x3C00, 0xC000, 0x0001, 0x7BFF, 0x7C00, 0x8000}, bfloats[] = {0x3F80, 0xC000};
        const double doubles[] = {1, -2.5};
        const std::int64_t integer = 1;
        SafetensorsWriter writer;
        writer.add("half", DType::f16, {6}, halves);
        writer.add("bfloat", DType::bf16, {2}, bfloats);
        writer.add("double", DType::f64, {2}, doubles);
        writer.add("integer", DType::i64, {1}, &integer);
        writer.write(path);
        const Weights weights(std::vector<fs::path>{path});
        std::vector<float> values(6), two(2), one(1);
        weights.read_float("half", values);
        QCOMPARE(values[0], 1.0f);
        QCOMPARE(values[1], -2.0f);
        QCOMPARE(values[2], 0x1p-24f);
        QCOMPARE(values[3], 65504.0f);
        QVERIFY(std::isinf(values[4]) && std::signbit(values[5]));
        weights.read_float("bfloat", two);
        QVERIFY(two[0] == 1.0f && two[1] == -2.0f);
        weights.read_float("double", two);
        QVERIFY(two[0] == 1.0f && two[1] == -2.5f);
        EXPECT_ERROR(weights.read_float("integer", one), "'integer' is I64");
        EXPECT_ERROR(weights.read_float("double", one), "has 2 values, 1 were asked for");
    }
    void a_tensor_in_two_files_is_an_error() {
        TemporaryDirectory folder;
        const float value = 1;
        write_one(folder.path() / "1.safetensors", "a", DType::f32, 1, &value);
        write_one(folder.path() / "2.safetensors", "a", DType::f32, 1, &value);
        EXPECT_ERROR(Weights(std::vector{folder.path() / "1.safetensors", folder.path() / "2.safetensors"}), "2.safetensors", "'a'",
                     "1.safetensors");
    }
    void an_index_cannot_lead_out_of_its_folder() {
        TemporaryDirectory folder;
        for (const char* name : {"../model.safetensors", "/etc/passwd", "sub/model.safetensors", "..", ".", "", "a\\\\b"}) {
            write_index(folder.path(), std::string(R"({"a": ")") + name + "\"}");
            EXPECT_ERROR(find_weight_files(folder.path()), "index.json", "leaves the folder");
        }
        write_index(folder.path(), R"({"a": "gone.safetensors"})");
        EXPECT_ERROR(find_weight_files(folder.path()), "gone.safetensors", "is missing");
        write_index(folder.path(), R"({"a": 3})");
        EXPECT_ERROR(find_weight_files(folder.path()), "'a'", "in no file");
        write_index(folder.path(), "{}");
        EXPECT_ERROR(find_weight_files(folder.path()), "names no file");
        write_index(folder.path(), "7");
        EXPECT_ERROR(find_weight_files(folder.path()), "no weight_map");
    }
    void pickles_are_refused_with_the_reason() {
        TemporaryDirectory folder;
        EXPECT_ERROR(find_weight_files(folder.path()), "has no weights", "model.safetensors");
        write_file_atomic(folder.path() / "pytorch_model.bin", "x");
        EXPECT_ERROR(find_weight_files(folder.path()), "pytorch_model.bin", "runs whatever code", "AutoModel.from_pretrained(DIR)");
    }
    void pickles_of_a_model_of_modules_are_converted_with_all_its_parts() {
        TemporaryDirectory folder;
        make_directories(folder.path() / "2_Dense");
        write_file_atomic(folder.path() / "modules.json", "[]");
        for (const fs::path& part : {folder.path(), folder.path() / "2_Dense"}) {
            write_file_atomic(part / "pytorch_model.bin", "x");
            EXPECT_ERROR(find_weight_files(part), "pytorch_model.bin", "SentenceTransformer(DIR).save_pretrained(DIR)");
        }
    }
};

FACETER_TEST(TestWeights)
#include "test_weights.moc"
