#include "data/parquet_file.h"
#include "data/sources.h"
#include "files.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;

namespace {

/// Made by pyarrow: "classes" {text, label, when, tags, meta} of 60 training texts in two shards and 10 to test, and "search" with three
/// documents. "categories" has its texts and labels as categories (dictionaries), "candidates" is a reranking set as mteb 2 writes it.
const fs::path sets = fs::path(FACETER_SOURCE_DIR) / "tests/data/parquet";

}  // namespace

class TestParquet : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    fs::path copy(const char* name) {
        fs::copy(sets / name, folder_.path() / name, fs::copy_options::recursive);
        return folder_.path() / name;
    }

  private Q_SLOTS:
    void a_build_without_the_reader_says_how_to_get_it() {
        if (reads_parquet()) QSKIP("this build reads Parquet");
        EXPECT_ERROR(load_evaluation_folder(sets / "classes"), "does not read Parquet", "packaging/setup.sh --parquet");
    }

    void a_set_in_the_hub_s_folders_is_read_with_all_its_shards() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const auto set = load_evaluation_folder(sets / "classes");
        QCOMPARE(set.task_type, std::string("classification"));
        const auto& data = std::get<ClassificationData>(set.data);
        QCOMPARE(data.train_labels.size(), std::size_t{60});
        QCOMPARE(data.test_labels.size(), std::size_t{10});
        QCOMPARE(data.train[59], std::string_view("text 59 \"quoted\"\n\\ \xC3\xBCn\xC3\xAF"));
        QCOMPARE(data.label_names.size(), std::size_t{2});
    }

    void a_retrieval_set_has_a_folder_a_table() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const auto set = load_evaluation_folder(sets / "search");
        const auto& data = std::get<RetrievalData>(set.data);
        QCOMPARE(data.query_ids, (std::vector<std::string>{"q1", "q2"}));
        QCOMPARE(data.qrels[1], (std::vector<std::pair<std::uint32_t, int>>{{1, 1}, {2, 0}}));
    }

    void categories_are_read_as_the_values_that_they_stand_for() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const auto set = load_evaluation_folder(sets / "categories");
        const auto& data = std::get<ClassificationData>(set.data);
        QCOMPARE(data.label_names, (std::vector<std::string>{"x", "y"}));
        QCOMPARE(data.test_labels, (std::vector<std::int32_t>{1, 0, 1}));
        QCOMPARE(data.test[2], std::string_view("f"));
    }

    void a_set_of_mteb_2_has_a_file_a_split_in_a_folder_a_table() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const auto set = load_evaluation_folder(sets / "candidates");
        QCOMPARE(set.task_type, std::string("reranking"));
        QVERIFY(set.subsets.empty());
        const auto& data = std::get<RerankingData>(set.data);
        QCOMPARE(data.queries.size(), std::size_t{2});
        QCOMPARE(data.texts[data.queries[0].negative.at(0)], std::string_view("T two"));
        DataRequest whole;
        whole.settings = {{"path", (sets / "candidates").string()}, {"task", "retrieval"}};
        QCOMPARE(std::get<RetrievalData>(load_evaluation_set(whole).data).document_ids.size(), std::size_t{3});
    }

    void shards_whose_ending_is_in_capitals_are_read() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const fs::path folder = copy("classes");
        for (const char* name : {"train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"})
            fs::rename(folder / "data" / (std::string(name) + ".parquet"), folder / "data" / (std::string(name) + ".PARQUET"));
        const auto set = load_evaluation_folder(folder);
        QCOMPARE(std::get<ClassificationData>(set.data).train_labels.size(), std::size_t{60});
        fs::remove_all(folder);
    }

    void a_packed_file_is_no_shard() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const fs::path folder = copy("classes"), shard = folder / "data/train-00001-of-00002.parquet";
        fs::rename(shard, shard.string() + ".gz");
        EXPECT_ERROR(load_evaluation_folder(folder), "train-00000-of-00002.parquet", "part 2 of 2 is missing");
        fs::remove_all(folder);
    }

    void a_missing_shard_and_a_torn_file_are_named() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const fs::path folder = copy("classes");
        fs::remove(folder / "data/train-00001-of-00002.parquet");
        EXPECT_ERROR(load_evaluation_folder(folder), "train-00000-of-00002.parquet", "part 2 of 2 is missing");
        const fs::path torn = folder / "data/test-00000-of-00001.parquet";
        const std::string whole = read_file(torn);
        for (const std::size_t size : {std::size_t{4}, whole.size() / 2, whole.size() - 1}) {
            put(torn, whole.substr(0, size));
            EXPECT_ERROR(load_evaluation_folder(folder), "test-00000-of-00001.parquet", "damaged or no Parquet file");
        }
    }

    void flipped_bytes_give_errors_and_never_a_crash() {
        if (!reads_parquet()) QSKIP("this build does not read Parquet (packaging/setup.sh --parquet)");
        const fs::path folder = copy("search"), corpus = folder / "corpus/corpus-00000-of-00001.parquet";
        const std::string whole = read_file(corpus);
        int refused = 0;
        for (std::size_t at = 4; at < whole.size(); at += 3) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ 0x55);
            put(corpus, changed);
            try {
                load_evaluation_folder(folder);
            } catch (const Error&) {
                ++refused;
            }
        }
        QVERIFY(refused > 20);
    }
};

FACETER_TEST(TestParquet)
#include "test_parquet.moc"
