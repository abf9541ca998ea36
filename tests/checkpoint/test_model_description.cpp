#include "checkpoint/model_description.h"
#include "common/file.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

class TestModelDescription : public QObject {
    Q_OBJECT

    static ModelDescription read(const std::string& text) {
        return ModelDescription::from_json(parse_json(text, "faceter.json"), "faceter.json");
    }

  private Q_SLOTS:
    void what_is_written_is_read_again() {
        ModelDescription model;
        model.num_encoders = 2;
        model.blocks = {{}, {3, true}, {0, false, 4, 2, true}};
        model.adapters = {"one", "two"};
        model.tasks = {{"nature", "retrieval", {"query: ", 1, 2, -1, false}, {"", 0, -1, 1, true}}};
        const ModelDescription again = ModelDescription::from_json(model.to_json(), "again");
        QCOMPARE(again.to_json(), model.to_json());
        QVERIFY(again.has_task_experts() && again.has_routed_blocks() && !again.is_plain());
        QVERIFY(ModelDescription{}.is_plain());
    }

    void a_folder_without_the_file_has_none() {
        const TemporaryDirectory folder;
        QVERIFY(!ModelDescription::read(folder.path()));
    }

    void what_is_damaged_or_lies_is_named_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* name, const char* text, const char* said) { QTest::newRow(name) << text << said; };
        row("torn", "{\"faceter_model\": 1, \"enc", "faceter.json:1");
        row("no object", "[1]", "no JSON object");
        row("another form", "{\"faceter_model\": 9}", "form 9");
        row("no encoder", "{\"faceter_model\": 1, \"encoders\": 0}", "'encoders' is 0");
        row("a billion encoders", "{\"faceter_model\": 1, \"encoders\": 1000000000}", "expected 1 to");
        row("a billion experts", "{\"faceter_model\": 1, \"blocks\": [{\"task_experts\": 1000000000}]}", "'task_experts'");
        row("two kinds", "{\"faceter_model\": 1, \"blocks\": [{\"task_experts\": 2, \"routed_experts\": 2}]}", "one kind");
        row("more choices than experts", "{\"faceter_model\": 1, \"blocks\": [{\"routed_experts\": 2, \"top_k\": 3}]}", "'top_k' is 3");
        const std::string task =
            "{\"faceter_model\": 1, \"blocks\": [{\"task_experts\": 2}], \"tasks\": [{\"name\": \"a\", \"document\": {}, \"query\": ";
        row("an encoder that is not there", (task + "{\"encoder\": 1}}]}").c_str(), "'encoder' is 1");
        row("an expert that is not there", (task + "{\"expert\": 2}}]}").c_str(), "'expert' is 2");
        row("an adapter that is not there", (task + "{\"adapter\": 0}}]}").c_str(), "'adapter' is 0");
        row("a number as instruction", (task + "{\"instruction\": 7}}]}").c_str(), "instruction");
    }
    void what_is_damaged_or_lies_is_named() {
        QFETCH(QString, text);
        QFETCH(QString, said);
        EXPECT_ERROR(read(text.toStdString()), said.toStdString());
    }
};

FACETER_TEST(TestModelDescription)
#include "test_model_description.moc"
