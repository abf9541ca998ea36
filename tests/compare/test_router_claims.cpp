#include "compare/router_methods.h"
#include "compare/study.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Claims whose sides are methods of the analysis router_study: a wrong one was told of when all runs had been made.
class TestRouterClaims : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    static Catalogue catalogue() {
        Catalogue with_gates = sample_catalogue();
        with_gates.add(ExtensionKind::variant, {"router_retriever", "Gates.", {"router_retriever", "", {}}}, "demo");
        with_gates.add(ExtensionKind::analysis, {"router_study", "Routers.", {"router_study", "", {}}}, "demo");
        return with_gates;
    }
    /// Of the sample experiment with this method as its second variant.
    void check(const std::string& second, const std::string& claim) const {
        std::string text = std::string("model: IC-1\n") + sample_experiment() + "analyses: [{method: router_study}]\n";
        const std::string first = "EM: {method: dense}", mixture = "Mix: {method: mixture, placement: every_other}";
        text.replace(text.find(mixture), mixture.size(), "RR: {method: router_retriever}");
        text.replace(text.find(first), first.size(), "EM: {method: " + second + "}");
        overwrite(folder_.path() / "quick.yaml", text);
        overwrite(folder_.path() / "pairs.tsv", "a\tb\n");
        write_scifact(folder_.path());
        overwrite(folder_.path() / "s.yaml",
                  "name: s\nquestion: q\nhypothesis: h\nseeds: [1]\nclaims:\n  - {claim: c, measure: router_study, " + claim +
                      "}\nexperiments:\n  - {file: quick.yaml}\n");
        const Study study = read_study(folder_.path() / "s.yaml");
        check_claims(study, study_experiments(study, catalogue(), false));
    }

  private Q_SLOTS:
    void sides_are_methods_of_the_runs_of_one_variant() {
        check("dense", "better: RouterRetriever, than: no gate");
        EXPECT_ERROR(check("dense", "better: RouterRetriever, than: Pilots"), "claim 'c': 'router_study' of 'quick/RR'",
                     "scores no method 'Pilots' (it scores RouterRetriever, ");
        EXPECT_ERROR(check("dense", "better: no gate, than: no gate"), "both sides are 'no gate'");
        EXPECT_ERROR(check("dense", "better: RouterRetriever, than: no gate, sets: [scifcat]"), "no data set 'scifcat'");
        EXPECT_ERROR(check("router_retriever", "better: RouterRetriever, than: no gate"), "several configurations (quick/EM, quick/RR)");
    }
    void methods_follow_from_the_settings() {
        const auto methods = [](const std::string& method, const std::string& routers) {
            return router_methods(parse_json(R"({"variant": {"method": ")" + method + R"(", "single_gates": ["web"]}, "tasks": [{}, {}, {}],
                                                 "analyses": [{"method": "router_study", "routers": )" +
                                                 routers + "}]}",
                                             "settings"));
        };
        QCOMPARE(methods("router_retriever", R"(["dataset"])"),
                 (std::vector<std::string>{"RouterRetriever", "DatasetRouter", "RouterRetriever with the single gate", "no gate",
                                           "single gate: web", "Multi-Task", "Best Individual (oracle by data set)", "Oracle (by query)"}));
        QCOMPARE(methods("router_retriever", "[]").size(), std::size_t{11});
        QVERIFY(methods("dense", "[]").empty());
    }
};

FACETER_TEST(TestRouterClaims)
#include "test_router_claims.moc"
