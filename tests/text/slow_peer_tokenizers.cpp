#include <fmt/format.h>

#include "small_tokenizer.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

using Ids = std::vector<std::int32_t>;

/// Random tokenizers and texts against Hugging Face's own library. FACETER_PEERS names a python that has it (else the test is
/// skipped); FACETER_PEER_TOKENIZERS says how many tokenizers, FACETER_PEER_SEED which.
class SlowPeerTokenizers : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void random_tokenizers_give_random_texts_the_ids_of_the_peer() {
        const QString python = qEnvironmentVariable("FACETER_PEERS");
        if (python.isEmpty()) QSKIP("no python with the package tokenizers (FACETER_PEERS)");
        TemporaryDirectory folder;
        const QString count = qEnvironmentVariable("FACETER_PEER_TOKENIZERS", "60"), seed = qEnvironmentVariable("FACETER_PEER_SEED", "1");
        QStringList arguments{FACETER_SOURCE_DIR "/tests/text/peer_tokenizers.py", folder.path().c_str(), seed, count, "100"};
        if (!shared_folder().empty()) arguments << (shared_folder() / "fixtures/tokenizers").c_str();
        QProcess peer;
        peer.setStandardErrorFile(QProcess::nullDevice());
        peer.start(python, arguments);
        QVERIFY2(peer.waitForFinished(600'000) && peer.exitCode() == 0, "peer_tokenizers.py failed");
        std::size_t tokenizers = 0, texts = 0, different = 0;
        for (; fs::exists(folder.path() / std::to_string(tokenizers)); ++tokenizers)
            different += compare(folder.path() / std::to_string(tokenizers), texts);
        qInfo("%zu tokenizers, %zu texts, %zu differ", tokenizers, texts, different);
        QVERIFY(tokenizers > 0);
        QCOMPARE(different, std::size_t{0});
    }

  private:
    static std::size_t compare(const fs::path& folder, std::size_t& texts) {
        const Json cases = read_json(folder / "cases.json");
        const auto tokenizer = load_tokenizer(folder);
        std::size_t different = 0;
        for (std::size_t i = 0; i < cases["texts"].size(); ++i, ++texts) {
            const auto text = cases["texts"][i].get<std::string>();
            const auto ids = encode(*tokenizer, text, cases["max_length"].get<std::size_t>()), wanted = cases["ids"][i].get<Ids>();
            if (ids == wanted) continue;
            if (++different > 2) continue;
            qWarning("tokenizer %s, text %zu: %s: %s for %s", folder.filename().c_str(), i, Json(text).dump(-1, ' ', true).c_str(),
                     fmt::format("{}", fmt::join(ids, " ")).c_str(), fmt::format("{}", fmt::join(wanted, " ")).c_str());
        }
        if (different) {
            Json json = read_json(folder / "tokenizer.json");
            for (const char* part : {"normalizer", "pre_tokenizer"}) qWarning("%s", json[part].dump().substr(0, 400).c_str());
            json["model"].erase("vocab"), json["model"].erase("merges");
            qWarning("%s %zu of %zu", json["model"].dump().c_str(), different, cases["texts"].size());
        }
        return different;
    }
};

FACETER_TEST(SlowPeerTokenizers)
#include "slow_peer_tokenizers.moc"
