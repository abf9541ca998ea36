#include "experiment/noise_rates.h"

#include <map>

#include "experiment/completed_settings.h"
#include "experiment/flat_settings.h"
#include "support/sample_runs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

/// One task `t` with this data entry, and more at the end.
std::string with_entry(const std::string& entry, const std::string& more = "") {
    return "name: x\ntasks:\n  t:\n    type: retrieval\n    train:\n      - " + entry + "\nvariants: {EM: {method: dense}}\n" + more;
}

/// Whatever the order of the keys.
std::map<std::string, std::string> flat(const Json& settings) {
    std::map<std::string, std::string> values;
    for_each_setting(settings, ItemKeys::bracketed, [&](const std::string& key, const Json& value) { values[key] = value.dump(); });
    return values;
}

const std::string noisy = "{source: file, path: a.tsv, noise_rate: 0.25}";

}  // namespace

/// noise_rate of data entries, as far as it can be judged before data are read.
class TestNoiseRates : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void the_rates_of_a_run_are_listed_by_task_and_data_set() {
        const auto runs = parse_sample(
                              "name: x\ntasks:\n"
                              "  retrieval:\n"
                              "    train:\n"
                              "      - {name: mine, source: file, path: a.tsv, noise_rate: 0.25}\n"
                              "      - {source: debian, view: synopsis_description, noise_rate: 0.05}\n"
                              "      - {source: file, path: b.tsv}\n"
                              "  clustering: {train: [{source: file, path: c.jsonl, noise_rate: 1}]}\n"
                              "variants: {EM: {method: dense}}\n")
                              .runs();
        const auto rates = noise_rates(runs.at(1).settings);
        QCOMPARE(rates.size(), std::size_t{3});
        QVERIFY(std::find(rates.begin(), rates.end(), NoiseRate{"retrieval", "mine", 0.25}) != rates.end());
        QVERIFY(std::find(rates.begin(), rates.end(), NoiseRate{"retrieval", "synopsis_description", 0.05}) != rates.end());
        QVERIFY(std::find(rates.begin(), rates.end(), NoiseRate{"clustering", "/base/c.jsonl", 1}) != rates.end());
        QVERIFY(noise_rates(runs.at(0).settings).empty());  // the start model is not trained
        QVERIFY(noise_rates(parse_sample().runs().at(1).settings).empty());
    }
    void where_it_makes_no_sense_the_check_names_the_place() {
        EXPECT_ERROR(parse_sample(with_entry("{source: file, path: a.txt, format: texts, noise_rate: 0.25}")),
                     "quick.yaml:6:", "tasks.t.train[0].noise_rate is set", "a pair with itself");
        EXPECT_ERROR(parse_sample(with_entry(noisy, "evaluation: {datasets: [{source: folder, path: scifact, noise_rate: 0.1}]}\n")),
                     "quick.yaml:8:", "evaluation.datasets[0].noise_rate is set", "scored");
        EXPECT_ERROR(parse_sample("name: x\ntasks:\n  t:\n    type: retrieval\n    train: [{source: file, path: a.tsv}]\n"
                                  "    validation: [{source: folder, path: b, noise_rate: 0.1}]\nvariants: {EM: {method: dense}}\n"),
                     "quick.yaml:6:", "tasks.t.validation[0].noise_rate is set", "scored");
        EXPECT_ERROR(parse_sample(with_entry(noisy, "objective: {method: masked_language}\n")), "tasks.t.train[0].noise_rate is set",
                     "reads each text alone");
        for (const char* rate : {"-0.1", "1.01", "many"})
            EXPECT_ERROR(parse_sample(with_entry(std::string("{source: file, path: a.tsv, noise_rate: ") + rate + "}")), "noise_rate");
    }
    void an_entry_without_noise_is_refused_nowhere() {
        parse_sample(with_entry("{source: file, path: a.txt, format: texts, noise_rate: 0}", "objective: {method: masked_language}\n"));
        parse_sample(with_entry(noisy, "evaluation: {datasets: [{source: folder, path: scifact, noise_rate: 0}]}\n"));
    }
    /// A stage of pairs after one of masked language reads them in pairs.
    void of_several_stages_one_of_pairs_is_enough() {
        const std::string masked = "{name: a, objective: {method: masked_language}}";
        parse_sample(with_entry(noisy, "stages: [" + masked + ", {name: b}]\n"));
        EXPECT_ERROR(parse_sample(with_entry(noisy, "stages: [" + masked + "]\n")), "reads each text alone");
    }
    void a_filter_and_mining_go_together_with_it() {
        parse_sample(with_entry(noisy, "stages: [{name: a, filter: {teacher: minilm, top_k: 2}}, {name: b, mine: {teacher: minilm}}]\n"));
    }
    void settings_from_before_a_setting_was_there_are_completed_with_its_default() {
        const Catalogue catalogue = sample_catalogue();
        const Json now = parse_sample().runs().at(1).settings;
        QCOMPARE(completed_settings(now, catalogue), now);
        Json before = now;
        before["tasks"]["retrieval"]["train"][0].erase("noise_rate");
        before["evaluation"]["datasets"][0].erase("noise_rate");
        before["training"].erase("max_grad_norm");
        before["objective"].erase("mask_false_negatives");
        QVERIFY(flat(before) != flat(now));
        QVERIFY(flat(completed_settings(before, catalogue)) == flat(now));
    }
    void what_was_set_stays_and_what_is_unknown_is_left_alone() {
        const Catalogue catalogue = sample_catalogue();
        Json settings = parse_sample(with_entry(noisy)).runs().at(1).settings;
        QCOMPARE(completed_settings(settings, catalogue).at("tasks").at("t").at("train").at(0).at("noise_rate").get<double>(), 0.25);
        settings["variant"] = {{"method", "of another plugin"}, {"size", 3}};
        settings["later"] = "unknown here";
        QCOMPARE(completed_settings(settings, catalogue), settings);
        for (const Json& odd : {Json(), Json::array({1}), Json{{"tasks", 3}, {"stages", "x"}, {"evaluation", nullptr}}})
            QCOMPARE(completed_settings(odd, catalogue), odd);
    }
};

FACETER_TEST(TestNoiseRates)
#include "test_noise_rates.moc"
