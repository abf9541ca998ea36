#include "common/file.h"
#include "matrix/harness/columns.h"
#include "matrix/harness/rows.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::matrix;

class TestCapabilities : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void README_shows_the_table_of_every_start_model_and_method() {
        const std::string table = read_file(FACETER_SOURCE_DIR "/tests/matrix/TABLE.md");
        QVERIFY(read_file(FACETER_SOURCE_DIR "/README.md").find(table) != std::string::npos);
        for (const Row& row : made_rows()) QVERIFY2(table.find("| " + row.name + " |") != std::string::npos, row.name.c_str());
        const std::string head = table.substr(0, table.find('\n'));
        for (const conform::Column& column : columns())
            if (column.objective.empty())
                QVERIFY2(head.find("| " + column.name.substr(0, column.name.find(' ')) + " |") != std::string::npos, column.name.c_str());
    }
};

FACETER_TEST(TestCapabilities)
#include "test_capabilities.moc"
