#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "data/sources.h"
#include "eval/tasks.h"
#include "model/compute.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What all-MiniLM-L6-v2 scores with products in bf16 and int8, against its scores in float32: each of eight sets, and the four collections
/// together. In one of 76 queries two documents that change places are 0.3 %, either way: those that are beyond what may be lost are
/// named below, and a form that brings one of them within must take its name out.
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
    static constexpr const char* collections_[] = {"nfcorpus", "cranfield", "medline", "cisi"};

    /// The scores of one set in float32, bf16 and int8, measured once.
    static const std::array<double, 3>& scores(const std::string& name) {
        static std::map<std::string, std::array<double, 3>> known;
        if (const auto found = known.find(name); found != known.end()) return found->second;
        std::array<double, 3>& all = known[name];
        for (const Compute compute : {Compute::float32, Compute::bf16, Compute::int8}) {
            double& own = all[static_cast<std::size_t>(compute)];
            own = score(name, compute);
            fmt::print("{}, {}: {:.4f} ({:+.3f} %)\n", name, compute_name(compute), own, 100 * (own - all[0]) / all[0]);
            std::fflush(stdout);
        }
        return all;
    }
    static void require(const std::array<double, 3>& scores, Compute compute, double percent) {
        const double change = 100 * (scores[static_cast<std::size_t>(compute)] - scores[0]) / scores[0];
        QVERIFY2(std::abs(change) <= percent, fmt::format("{} of {:.4f}: {:+.3f} %", compute_name(compute), scores[0], change).c_str());
    }

  private Q_SLOTS:
    void init() {
        NEED_SHARED();
        NEED_MINILM();
    }
    void a_set_scores_as_in_float32_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("lowered");
        for (int i = 0; i < 2; ++i) {
            const std::string compute(compute_name(lowered_[i].first));
            for (const char* name : {"stsbenchmark", "sts13", "sts16", "sick_r"})
                QTest::addRow("%s, %s", name, compute.c_str()) << QString::fromUtf8(name) << i;
            for (const char* name : collections_) QTest::addRow("%s, %s", name, compute.c_str()) << QString::fromUtf8(name) << i;
        }
    }
    void a_set_scores_as_in_float32() {
        QFETCH(QString, name);
        QFETCH(int, lowered);
        const auto& own = scores(name.toStdString());
        QEXPECT_FAIL("cisi, bf16", "of 76 queries; +0.16 to +0.36 % where 0.1 % is asked for", Continue);
        QEXPECT_FAIL("cranfield, int8", "of 225 queries; +0.95 % where 0.4 % is asked for", Continue);
        QEXPECT_FAIL("cisi, int8", "of 76 queries; -0.81 % where 0.4 % is asked for", Continue);
        require(own, lowered_[lowered].first, lowered_[lowered].second);
    }
    void collections_together_score_as_in_float32() {
        std::array<double, 3> mean{};
        for (const char* name : collections_)
            for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += scores(name)[i] / static_cast<double>(std::size(collections_));
        for (const auto& [compute, percent] : lowered_) require(mean, compute, percent);
    }
};

FACETER_TEST(CampaignComputeScores)
#include "campaign_compute_scores.moc"
