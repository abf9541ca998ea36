#include <set>

#include "common/strings.h"
#include "data/debian_packages.h"
#include "data/line_reader.h"
#include "data/overlap.h"
#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::request;

/// The machine's own package index, fetched into the cache folder where it is not there yet.
class SlowDebianIndex : public QObject {
    Q_OBJECT
    bool there_ = false;
    static DataRequest entry(Json settings) {
        settings["source"] = "debian";
        return request(settings);
    }

  private Q_SLOTS:
    void initTestCase() {
        if (!fs::exists("/usr/bin/apt-get")) QSKIP("no apt on this machine");
        try {
            there_ = !DebianPackages::open()->packages().empty();
        } catch (const Error& error) {
            QSKIP(error.what());
        }
    }
    void the_whole_index_is_read_and_its_texts_are_clean() {
        if (!there_) QSKIP("no package index");
        const auto index = DebianPackages::open();
        QVERIFY(index->packages().size() > 50000);
        QVERIFY(index->card().at("sections").get<int>() >= 40);
        for (const DebianPackage& package : index->packages())
            for (const std::uint32_t id : {package.synopsis, package.description}) {
                const std::string_view text = index->text(id);
                QVERIFY2(!text.empty() && text == trim(text) && is_valid_utf8(text) && text.find("\n.\n") == std::string_view::npos,
                         std::string(text).c_str());
            }
    }
    void no_text_of_a_training_view_is_in_the_test_split() {
        if (!there_) QSKIP("no package index");
        std::vector<TrainingSet> training;
        for (const char* view : {"synopsis_description", "section", "same_source"})
            training.push_back(load_training_set(entry({{"view", view}}), "x"));
        std::vector<EvaluationSet> evaluation;
        for (const char* view : {"synopsis_description", "section", "same_source"})
            evaluation.push_back(load_evaluation_set(entry({{"view", view}})));
        for (const Overlap& overlap : count_overlap(training, evaluation)) QFAIL(describe_overlap(overlap).c_str());
        QVERIFY(std::get<RetrievalData>(evaluation[0].data).documents.size() >= 4000);
        QVERIFY(training[0].examples.size() >= 40000);
    }
    void loading_again_gives_the_same_sets() {
        if (!there_) QSKIP("no package index");
        const auto again = DebianPackages::read(pinned_debian_lists());
        QCOMPARE(again->card().at("fingerprint"), DebianPackages::open()->card().at("fingerprint"));
        QCOMPARE(load_evaluation_set(entry({{"view", "section"}})).fingerprint,
                 load_evaluation_set(entry({{"view", "section"}})).fingerprint);
    }
    /// 10 GiB of zeros in 10 MiB of gzip: an error, within bounded memory.
    void ten_gibibytes_of_zeros_are_refused() {
        TemporaryDirectory folder;
        const fs::path file = folder.path() / "zeros.jsonl.gz";
        const gzFile out = gzopen(file.c_str(), "wb1");
        const std::string piece(1 << 22, '\0');
        for (int i = 0; i < 2560; ++i) gzwrite(out, piece.data(), static_cast<unsigned>(piece.size()));
        gzclose(out);
        const long before = faceter::testing::peak_memory_mib();
        EXPECT_ERROR(load_training_set(request({{"source", "file"}, {"path", file.string()}, {"format", "pairs"}}), "x"), "zeros.jsonl.gz");
        QVERIFY(faceter::testing::peak_memory_mib() - before < 300);
    }
};

FACETER_TEST(SlowDebianIndex)
#include "slow_debian_index.moc"
