#include "store/store.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestBrokenDocuments : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_torn_file_costs_itself_only_and_leaves_its_error_in_its_place() {
        const TemporaryDirectory project;
        const RunDirectory run = sample_run(project.path(), 1);
        write_attempt(run, 1, 3, "finished");
        write_results(run, 0, 3);
        for (const char* name : {"good", "torn"}) run.write_table(name, {{"type", "table"}, {"name", name}});
        overwrite(run.tables() / "torn.json", "{\"type\": ");
        overwrite(run.results() / "set1.json", "\xff\xfe");
        Store store(project.path());
        const std::vector<std::string> warnings = store.ingest_all();
        QCOMPARE(warnings.size(), std::size_t{2});
        QVERIFY(warnings[0].find("set1.json") != std::string::npos);
        QVERIFY(warnings[1].find("torn.json") != std::string::npos);
        QCOMPARE(store.results(run.info().id).size(), std::size_t{2});
        const auto tables = store.documents(run.info().id, "table");
        QCOMPARE(tables.size(), std::size_t{2});
        QCOMPARE(tables[0].second["name"].get<std::string>(), std::string("good"));
        QVERIFY(tables[1].second["error"].get<std::string>().find("torn.json") != std::string::npos);
    }
};

FACETER_TEST(TestBrokenDocuments)
#include "test_broken_documents.moc"
