#include "worker/diagnosed_runs.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

struct Method {
    const char *name, *variant, *learning_rate, *more = "";
};
const std::vector<Method> methods = {
    {"dense", "{method: dense}", "2.0e-4"},
    {"specialists", "{method: specialists}", "2.0e-4"},
    {"experts", "{method: mote}", "2.0e-4"},
    {"token routing", "{method: token_routed_moe, experts: 2}", "2.0e-4"},
    {"adapters over a frozen base", "{method: task_lora}", "2.0e-3"},
    {"curriculum", "{method: instruction}", "2.0e-4", "curriculum: {method: data_cube}\n"},
    {"gates", "{method: router_retriever, multi_task: false}", "2.0e-3"},
};
const Method& method_named(const std::string& name) {
    return *std::find_if(methods.begin(), methods.end(), [&](const Method& one) { return one.name == name; });
}
Made made_by(const std::string& method, const std::string& name, int seed) {
    const Method& of = method_named(method);
    return {.name = name, .variant = of.variant, .learning_rate = of.learning_rate, .stages = of.more, .seed = seed};
}
bool any_starts_with(const std::set<std::string>& alarms, const std::string& start) {
    return std::any_of(alarms.begin(), alarms.end(), [&](const std::string& alarm) { return alarm.starts_with(start); });
}

}  // namespace

/// No false alarm in three seeds of each method; and the six faults under methods that test_diagnose.cpp leaves out.
class SlowDiagnoseMethods : public QObject {
    Q_OBJECT
    DiagnosedRuns runs_;

    std::set<std::string> alarms_of(const Made& made) const { return DiagnosedRuns::alarms_of(runs_.diagnosis_of(made)); }
    static QByteArray listed(const std::set<std::string>& alarms) {
        std::string all;
        for (const std::string& alarm : alarms) all += alarm + "; ";
        return QByteArray::fromStdString(all);
    }

  private Q_SLOTS:
    void initTestCase() {
        NEED_SHARED();
        runs_.write_test_set();
    }
    void a_healthy_run_has_no_alarm_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<int>("seed");
        for (std::size_t i = 0; i < methods.size(); ++i)
            for (int seed = 101; seed <= 103; ++seed) QTest::addRow("%s %d", methods[i].name, seed) << methods[i].name << seed;
    }
    void a_healthy_run_has_no_alarm() {
        NEED_SHARED();
        QFETCH(QString, method);
        QFETCH(int, seed);
        std::string name = fmt::format("healthy-{}-{}", method.toStdString(), seed);
        std::replace(name.begin(), name.end(), ' ', '-');
        const auto alarms = alarms_of(made_by(method.toStdString(), name, seed));
        QVERIFY2(alarms.empty(), listed(alarms));
    }
    void an_adapter_of_a_task_that_did_not_train_is_named() {
        NEED_SHARED();
        Made made = made_by("adapters over a frozen base", "frozen", 1);
        made.stages = "stages:\n  - {name: one, tasks: [first]}\n  - {name: two, tasks: [second], training: {learning_rate: 1.0e-14}}\n";
        const auto alarms = alarms_of(made);
        QVERIFY2(any_starts_with(alarms, "movement: adapter second"), listed(alarms));
        QVERIFY2(!any_starts_with(alarms, "movement: adapter first"), listed(alarms));
    }
    void a_rate_a_hundred_times_too_large_is_seen_among_experts() {
        NEED_SHARED();
        Made made = made_by("experts", "rate", 1);
        made.learning_rate = "2.0e-2";
        const auto alarms = alarms_of(made);
        QVERIFY2(any_starts_with(alarms, "collapse: ") || any_starts_with(alarms, "movement: "), listed(alarms));
    }
    void texts_cut_at_eight_tokens_are_counted_under_token_routing() {
        NEED_SHARED();
        Made made = made_by("token routing", "cut", 1);
        made.max_length = 8;
        const auto alarms = alarms_of(made);
        for (const char* side : {"texts_cut: first, query side", "texts_cut: second, document side"})
            QVERIFY2(alarms.contains(side), listed(alarms));
    }
    void shuffled_pairs_are_seen_under_adapters() {
        NEED_SHARED();
        Made made = made_by("adapters over a frozen base", "shuffled", 1);
        made.shuffled = true;
        const auto alarms = alarms_of(made);
        QVERIFY2(alarms.contains("pairs: first, shuffled-first"), listed(alarms));
    }
    void leaked_queries_are_counted_for_specialists() {
        NEED_SHARED();
        Made made = made_by("specialists", "leaked", 1);
        made.leaked = true;
        const auto alarms = alarms_of(made);
        QVERIFY2(alarms.contains("leak: held"), listed(alarms));
    }
    void a_temperature_of_ten_cannot_teach_experts() {
        NEED_SHARED();
        Made made = made_by("experts", "warm", 1);
        made.temperature = 10;
        const auto alarms = alarms_of(made);
        QVERIFY2(alarms.contains("temperature: first"), listed(alarms));
    }
};

FACETER_TEST(SlowDiagnoseMethods)
#include "slow_diagnose_methods.moc"
