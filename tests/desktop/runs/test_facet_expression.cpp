#include "pages/runs/facet_expression.h"
#include "support/test.h"

using namespace faceter::desktop;

class TestFacetExpression : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void a_tick_changes_its_clause_and_nothing_else_data() {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<QStringList>("values");
        QTest::addColumn<QString>("expected");
        const auto row = [](const char* name, const char* expression, const QStringList& values, const char* expected) {
            QTest::newRow(name) << QString::fromUtf8(expression) << values << QString::fromUtf8(expected);
        };
        row("added to nothing", "", {"em"}, "variant = em");
        row("added after what is typed", "retrieval > 60", {"em"}, "retrieval > 60 and variant = em");
        row("a second value", "variant = em and retrieval > 60", {"em", "mote"}, "variant in (em, mote) and retrieval > 60");
        row("one value less", "retrieval > 60 and variant in (em, mote)", {"mote"}, "retrieval > 60 and variant = mote");
        row("none", "retrieval > 60 and variant in (em, mote)", {}, "retrieval > 60");
        row("none of the only clause", "variant = em", {}, "");
        row("none where there is none", "seed = 1 or seed = 2", {}, "seed = 1 or seed = 2");
        row("an or is put in parentheses", "seed = 1 or seed = 2", {"em"}, "(seed = 1 or seed = 2) and variant = em");
        row("an or in parentheses stays", "(variant = a or pinned) and variant = b", {"c"}, "(variant = a or pinned) and variant = c");
        row("what needs quotes gets them", "", {"a b", "say \"x\""}, "variant in (\"a b\", \"say \"\"x\"\"\")");
        row("a negation is no list", "not variant = em", {"mote"}, "not variant = em and variant = mote");
        row("keywords in values", "", {"x,y"}, "variant = \"x,y\"");
        row("words of the language are values in quotes", "", {"and", "Or", "x"}, "variant in (\"and\", \"Or\", x)");
    }
    void a_tick_changes_its_clause_and_nothing_else() {
        QFETCH(QString, expression);
        QFETCH(QStringList, values);
        QFETCH(QString, expected);
        std::vector<std::string> wanted;
        for (const QString& value : values) wanted.push_back(value.toStdString());
        const std::string made = withFacet(expression.toStdString(), "variant", wanted);
        QCOMPARE(QString::fromStdString(made), expected);
        if (!wanted.empty()) QCOMPARE(facetValues(made, "variant"), wanted);
    }

    void what_was_typed_is_read_back() {
        QCOMPARE(facetValues("State in (failed, \"dead\") and seed = 1", "state"), (std::vector<std::string>{"failed", "dead"}));
        QCOMPARE(facetValues("state == failed", "state"), std::vector<std::string>{"failed"});
        QVERIFY(facetValues("state = failed or seed = 1", "state").empty());
        QVERIFY(facetValues("state != failed", "state").empty());
        QVERIFY(facetValues("state in (failed", "state").empty());
    }
};
FACETER_TEST(TestFacetExpression)
#include "test_facet_expression.moc"
