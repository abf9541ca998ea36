#include <ATen/ATen.h>
#include <fmt/format.h>

#include "common/file.h"
#include "eval/embedder.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// What embed_texts() promises whatever else is embedded with a text.
class TestEmbedTexts : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    /// Dynamic NTK turns the positions of a text by its length: here beyond 32 tokens.
    void a_text_beyond_the_trained_positions_does_not_depend_on_its_company() {
        NEED_SHARED();
        const TemporaryDirectory folder;
        fs::copy(shared_folder() / "fixtures/nomic_bert", folder.path(),
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        fs::permissions(folder.path() / "config.json", fs::perms::owner_write, fs::perm_options::add);
        fs::copy_file(folder.path() / "config_ntk.json", folder.path() / "config.json", fs::copy_options::overwrite_existing);
        const auto model = EmbeddingModel::open(ModelFolder::open(folder.path()));
        model->max_length = 128;
        std::vector<std::string> owned;
        for (const int words : {3, 20, 40, 40, 55, 90, 33, 8}) {
            owned.emplace_back();
            for (int i = 0; i < words; ++i) owned.back() += "cat ";
        }
        owned[3].replace(0, 3, "dog");
        const std::vector<std::string_view> texts(owned.begin(), owned.end());
        const at::Tensor together = embed_texts(*model, texts, {});
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const double difference = max_difference(embed_texts(*model, {&texts[i], 1}, {})[0], together[static_cast<std::int64_t>(i)]);
            QVERIFY2(difference < 1e-6, fmt::format("text {}: {}", i, difference).c_str());
        }
    }
};

FACETER_TEST(TestEmbedTexts)
#include "test_embed_texts.moc"
