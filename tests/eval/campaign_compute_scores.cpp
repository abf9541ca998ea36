#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>

#include "data/sources.h"
#include "eval/tasks.h"
#include "model/compute.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What all-MiniLM-L6-v2 scores with products in bf16 and int8, against its scores in float32. Sets of semantic similarity, of thousands of
/// pairs, each; collections together: in one of 76 queries, two documents that change places are 0.3 %, either way.
class CampaignComputeScores : public QObject {
    Q_OBJECT
    static constexpr std::pair<Compute, double> lowered_[] = {{Compute::bf16, 0.1},
                                                              {Compute::int8, 0.4}};  ///< and what percentage may be lost

    static double score(const std::string& name, Compute compute) {
        const auto opened = EmbeddingModel::open(ModelFolder::open(minilm_folder()));
        prepare_products(*opened, compute, true);
        CachedEmbedder embedder(*opened);
        return evaluate_set(embedder, load_evaluation_folder(shared_folder() / "data" / name), {}).score;
    }
    /// The scores of one set in float32, bf16 and int8.
    static std::array<double, 3> scores(const std::string& name) {
        std::array<double, 3> all{};
        for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8}) {
            double& own = all[static_cast<std::size_t>(compute)];
            own = score(name, compute);
            fmt::print("{}, {}: {:.4f} ({:+.3f} %)\n", name, compute_name(compute), own, 100 * (own - all[0]) / all[0]);
            std::fflush(stdout);
        }
        return all;
    }
    static void require(const std::array<double, 3>& scores) {
        for (const auto& [compute, percent] : lowered_) {
            const double lost = 100 * (scores[0] - scores[static_cast<std::size_t>(compute)]) / scores[0];
            QVERIFY2(std::abs(lost) <= percent, fmt::format("{} of {:.4f}: {:.3f} %", compute_name(compute), scores[0], lost).c_str());
        }
    }

  private Q_SLOTS:
    void init() {
        NEED_SHARED();
        NEED_MINILM();
    }
    void similarity_stays_as_it_is_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"stsbenchmark", "sts13", "sts16", "sick_r"}) QTest::newRow(name) << QString::fromUtf8(name);
    }
    void similarity_stays_as_it_is() {
        QFETCH(QString, name);
        require(scores(name.toStdString()));
    }
    void retrieval_stays_as_it_is() {
        std::array<double, 3> sum{};
        for (const char* name : {"nfcorpus", "cranfield", "medline", "cisi"}) {
            const auto own = scores(name);
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i] / 4;
        }
        require(sum);
    }
};

FACETER_TEST(CampaignComputeScores)
#include "campaign_compute_scores.moc"
