#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>

#include "common/file.h"
#include "figure/figure_view.h"
#include "pages/compose/compose_page.h"
#include "pages/compose/estimate_panel.h"
#include "pages/compose/example_model.h"
#include "pages/compose/preview_panel.h"
#include "support/checkout.h"
#include "support/test.h"
#include "widgets/labels.h"
#include "worker/worker_client.h"

using namespace faceter;
using namespace faceter::desktop;
using namespace faceter::testing;

namespace {

constexpr int patience_ms = 600000;

}  // namespace

/// Examples and Estimate as a person asks for them, of the ready experiments on the Debian source, answered by the real worker.
class SlowLiveWorker : public QObject {
    Q_OBJECT

    Workspace m_workspace;
    std::unique_ptr<ComposePage> m_page;

    template <typename Widget>
    Widget* find(const char* name) {
        return m_page->findChild<Widget*>(QLatin1String(name));
    }
    void open(const char* experiment, int tab) {
        m_page = std::make_unique<ComposePage>(m_workspace);
        m_page->resize(1000, 800);
        m_page->show();
        m_workspace.requestCompose(QString::fromStdString((fs::path(FACETER_SOURCE_DIR) / "experiments" / experiment).string()));
        QTRY_VERIFY_WITH_TIMEOUT(m_page->isReady() && m_page->document().file().endsWith(QLatin1String(experiment)), 20000);
        QVERIFY(m_page->document().report().experiment);
        find<QTabWidget>("composePanels")->setCurrentIndex(tab);
    }
    QString status(const char* panel) { return find<QWidget>(panel)->findChild<ElidedLabel*>()->fullText(); }
    QString error(const char* panel) { return find<QWidget>(panel)->findChild<ErrorBar*>()->message(); }
    /// For a person to look at: in the folder that FACETER_PICTURES names.
    void picture(const char* name) {
        if (const QString folder = qEnvironmentVariable("FACETER_PICTURES"); !folder.isEmpty())
            m_page->grab().save(folder + QLatin1Char('/') + QLatin1String(name));
    }

  private Q_SLOTS:
    void initTestCase() {
        if (qEnvironmentVariableIsEmpty("FACETER_WORKER") && !fs::exists(fs::path(FACETER_BINARY_DIR) / "bin/faceter-worker"))
            QSKIP("faceter-worker is not built");
        if (!fs::exists(cache_directory() / "debian") || !fs::exists(cache_directory() / "models"))
            QSKIP("the package index or the model was not fetched (packaging/setup.sh, packaging/quickstart.sh)");
        QSettings().clear();
    }
    void cleanup() { m_page.reset(); }

    void examples_of_the_ready_experiments_are_packages_data() {
        QTest::addColumn<QString>("experiment");
        QTest::addColumn<int>("most");
        QTest::newRow("quick start") << QStringLiteral("quickstart.yaml") << 2400;
        QTest::newRow("all of Debian") << QStringLiteral("debian.yaml") << 200000;
    }
    void examples_of_the_ready_experiments_are_packages() {
        QFETCH(QString, experiment);
        QFETCH(int, most);
        open(experiment.toLatin1().constData(), 2);
        QTest::mouseClick(find<QPushButton>("showExamples"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!find<PreviewPanel>("previewPanel")->isBusy(), patience_ms);
        QCOMPARE(error("previewPanel"), QString());
        auto* sets = find<QListWidget>("previewSets");
        QCOMPARE(sets->count(), 6);  // three to train on, three to evaluate with
        const QAbstractItemModel* examples = find<QTableView>("previewExamples")->model();
        for (int row = 0; row < sets->count(); ++row) {
            sets->setCurrentRow(row);
            QVERIFY2(examples->rowCount() > 0, qPrintable(sets->item(row)->text()));
            QVERIFY(examples->index(0, ExampleModel::text).data().toString().size() > 5);
            QVERIFY2(find<FigureView>("previewLengths")->hasValues(), qPrintable(sets->item(row)->text()));
            QVERIFY2(status("previewPanel").contains(QStringLiteral("tokens on average")), qPrintable(status("previewPanel")));
        }
        sets->setCurrentRow(0);
        const qint64 size = sets->item(0)
                                ->text()
                                .section(QStringLiteral(" · "), -1)
                                .remove(QChar(0x202F))
                                .remove(QChar(0x2009))
                                .remove(QLatin1Char(' '))
                                .toLongLong();
        QVERIFY2(size > 100 && size <= most, qPrintable(sets->item(0)->text()));
        find<QComboBox>("previewVariant")->setCurrentIndex(find<QComboBox>("previewVariant")->findText(QStringLiteral("IC")));
        QTest::mouseClick(find<QPushButton>("showExamples"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!find<PreviewPanel>("previewPanel")->isBusy(), patience_ms);
        QVERIFY(
            examples->index(0, ExampleModel::text).data().toString().startsWith(QStringLiteral("search ")));  // the instruction in front
        picture(qPrintable(experiment + QStringLiteral("-examples.png")));
    }

    void an_estimate_is_cancelled_in_the_middle_and_asked_again_to_its_end() {
        open("quickstart.yaml", 3);
        auto *ask = find<QPushButton>("estimate"), *cancel = find<QPushButton>("cancelEstimate");
        QTest::mouseClick(ask, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(status("estimatePanel").contains(QStringLiteral(" · ")), patience_ms);  // it says what it does
        picture("estimate-going.png");
        QTest::mouseClick(cancel, Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!find<EstimatePanel>("estimatePanel")->isBusy(), 5000);
        QCOMPARE(status("estimatePanel"), QStringLiteral("cancelled"));
        QTest::mouseClick(ask, Qt::LeftButton);  // the worker lives, and is free at its next point of return
        QTRY_VERIFY_WITH_TIMEOUT(!find<EstimatePanel>("estimatePanel")->isBusy(), patience_ms);
        QCOMPARE(error("estimatePanel"), QString());
        const QAbstractItemModel* table = find<QTableView>("estimateTable")->model();
        QCOMPARE(table->rowCount(), 4);  // start, EM, IC, MoTE
        const QString total = find<QLabel>("estimateTotal")->text();
        QVERIFY2(total.contains(QStringLiteral("4 runs")) && total.contains(QStringLiteral("GiB")), qPrintable(total));
        picture("estimate.png");
    }
};

FACETER_TEST(SlowLiveWorker)
#include "slow_live_worker.moc"
