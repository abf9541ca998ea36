#include <fmt/format.h>

#include <cmath>

#include "data/sources.h"
#include "eval/tasks.h"
#include "model/compute.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What all-MiniLM-L6-v2 scores with products in bf16 and int8, against its scores in float32: nDCG@10 of four collections, and four sets
/// of semantic similarity.
class CampaignComputeScores : public QObject {
    Q_OBJECT
    static std::unique_ptr<EmbeddingModel> model(Compute compute) {
        auto model = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        prepare_products(*model, compute, true);
        return model;
    }

  private Q_SLOTS:
    void scores_stay_as_they_are_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"stsbenchmark", "sts13", "sts16", "sick_r", "nfcorpus", "cranfield", "medline", "cisi"})
            QTest::newRow(name) << QString::fromUtf8(name);
    }
    void scores_stay_as_they_are() {
        NEED_SHARED();
        NEED_MINILM();
        QFETCH(QString, name);
        const auto set = load_evaluation_folder(shared_folder() / "data" / name.toStdString());
        const auto score = [&](Compute compute) {
            const auto opened = model(compute);
            CachedEmbedder embedder(*opened);
            return evaluate_set(embedder, set, {}).score;
        };
        const double exact = score(Compute::float32);
        for (const auto& [compute, percent] : {std::pair(Compute::bf16, 0.1), std::pair(Compute::int8, 0.4)}) {
            const double lost = 100 * (exact - score(compute)) / exact;
            fmt::print("{}: float32 {:.4f}, {} loses {:.3f} %\n", name.toStdString(), exact, compute_name(compute), lost);
            QVERIFY2(std::abs(lost) <= percent, fmt::format("{} of {:.4f}: {:.3f} %", compute_name(compute), exact, lost).c_str());
        }
    }
};

FACETER_TEST(CampaignComputeScores)
#include "campaign_compute_scores.moc"
