#include "common/error.h"
#include "settings/check.h"
#include "settings/core_settings.h"
#include "support/test.h"

using namespace faceter;

namespace {

Schema example() {
    Schema inner{
        "task",
        "",
        {real("temperature", 0.05, "Temperature.").above(0).at_most(1), text("sampling", "all", "Which."), real("weight", 1, "Share.")}};
    return {"example",
            "",
            {text("name", "", "Name.").must(), integer("steps", 10, "Steps.").at_least(1).in("steps"), boolean("fast", true, "Fast."),
             choice("schedule", {"cosine", "linear"}, "cosine", "Schedule."), path("file", "", "File."), real("rate", 0.5, "Rate."),
             integer("limit", 0, "Limit.").optional(), list("seeds", integer("", 1, "").at_least(0), "Seeds."),
             map("tasks", section("", inner, ""), "Tasks."), section("one", inner, "One."), any("free", "Anything.")}};
}

Json check(const std::string& text) { return resolve(example(), parse_yaml(text, "mine.yaml"), "/base"); }

std::string errors_of(const std::string& text) {
    try {
        check(text);
    } catch (const Error& error) {
        return error.code() == ExitCode::settings ? error.what() : "wrong code";
    }
    return "";
}

}  // namespace

class TestCheck : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void defaults_are_filled_in_in_the_schemas_order() {
        const Json json = check("name: x\n");
        QCOMPARE(json.at("steps").get<int>(), 10);
        QCOMPARE(json.at("one").at("temperature").get<double>(), 0.05);
        QVERIFY(json.at("limit").is_null());
        QVERIFY(json.at("seeds").is_array());
        QCOMPARE(json.begin().key(), std::string("name"));
        QCOMPARE(json.size(), example().fields.size());
    }
    void what_is_missing_is_filled_in_and_what_is_given_stays() {
        const Json given = {{"rate", 2.5}, {"more", "kept"}, {"limit", nullptr}, {"fast", nullptr}, {"one", {{"weight", 3.0}}}};
        const Json all = filled_in(example(), given);
        QCOMPARE(all.at("rate").get<double>(), 2.5);
        QCOMPARE(all.at("more").get<std::string>(), std::string("kept"));
        QCOMPARE(all.at("steps").get<int>(), 10);
        QVERIFY(all.at("limit").is_null());
        QVERIFY(all.at("fast").get<bool>());
        QCOMPARE(all.at("one").at("weight").get<double>(), 3.0);
        QCOMPARE(all.at("one").at("temperature").get<double>(), 0.05);
        QVERIFY(!all.contains("name"));  // required: nobody else can know it
        QCOMPARE(filled_in(example(), all), all);
        QCOMPARE(all.begin().key(), std::string("rate"));
    }
    void an_unknown_key_names_the_nearest_and_all_known_ones() {
        QCOMPARE(errors_of("name: x\ntasks:\n  retrieval:\n    temprature: 0.1\n"),
                 std::string("mine.yaml:4:5: unknown setting 'temprature' in tasks.retrieval; did you mean 'temperature'? "
                             "(known: sampling, temperature, weight)"));
    }
    void a_wrong_type_names_value_and_expectation() {
        QCOMPARE(errors_of("name: x\nsteps: many\n"),
                 std::string("mine.yaml:2:8: steps is 'many'; expected a whole number of at least 1 (steps)"));
        QVERIFY(errors_of("name: x\nsteps: 1.5\n").find("'1.5'") != std::string::npos);
        QVERIFY(errors_of("name: x\nfast: no\n").find("expected true or false") != std::string::npos);
        QVERIFY(errors_of("name: x\nfast: 'true'\n").find("expected true or false") != std::string::npos);
        QVERIFY(errors_of("name: x\nsteps: [1]\n").find("steps is a list") != std::string::npos);
        QVERIFY(errors_of("name: x\nseeds: 1\n").find("expected a list, such as [1, 2]") != std::string::npos);
        QVERIFY(errors_of("name: x\none: 3\n").find("one is '3'; expected a map of settings") != std::string::npos);
        QVERIFY(errors_of("- 1\n").find("the file is a list") != std::string::npos);
    }
    void ranges_are_checked() {
        QCOMPARE(errors_of("name: x\none: {temperature: 0}\n"),
                 std::string("mine.yaml:2:20: one.temperature is '0'; expected a number above 0 and at most 1"));
        QVERIFY(errors_of("name: x\nsteps: 0\n").find("of at least 1") != std::string::npos);
        QVERIFY(errors_of("name: x\nsteps: 1e300\n").find("whole number") != std::string::npos);
        QVERIFY(errors_of("name: x\nseeds: [1, -2]\n").find("mine.yaml:2:12: seeds[1] is '-2'") != std::string::npos);
    }
    void a_whole_number_that_is_too_large_is_told_how_far_they_go() {
        QCOMPARE(errors_of("name: x\nseeds: [18446744073709551615]\n"),
                 std::string("mine.yaml:2:9: seeds[0] is '18446744073709551615'; expected a whole number of at least 0 and at most "
                             "9007199254740992"));
        QCOMPARE(check("name: x\nseeds: [9007199254740992]\n").at("seeds").at(0).get<std::int64_t>(), std::int64_t{1} << 53);
    }
    void a_choice_suggests_the_nearest() {
        QCOMPARE(errors_of("name: x\nschedule: cosin\n"),
                 std::string("mine.yaml:2:11: schedule is 'cosin'; expected one of cosine, linear; did you mean 'cosine'?"));
    }
    void a_missing_required_setting_is_named() {
        QVERIFY(errors_of("steps: 3\n").find("mine.yaml:1:1: name is missing") != std::string::npos);
        QVERIFY(errors_of("name: \"\"\n").find("mine.yaml:1:7: name is empty") != std::string::npos);
    }
    void all_problems_are_reported_at_once_up_to_twenty() {
        std::string text = "name: x\n";
        for (int i = 0; i < 30; ++i) text += fmt::format("wrong{}: 1\n", i);
        const std::string errors = errors_of(text);
        QCOMPARE(std::count(errors.begin(), errors.end(), '\n'), std::ptrdiff_t{20});
        QVERIFY(errors.find("... and 10 more") != std::string::npos);
        QVERIFY(errors.find("mine.yaml:21:1") != std::string::npos);
    }
    void whole_numbers_may_be_written_with_an_exponent() { QCOMPARE(check("name: x\nsteps: 1e3\n").at("steps").get<int>(), 1000); }
    void a_name_is_one_line_that_a_terminal_shows_as_it_is() {
        EXPECT_ERROR(check("name: \"a\\nb\"\n"),
                     "name is 'a\\x0ab'; expected a name without line breaks, control characters and marks of direction");
        EXPECT_ERROR(check("name: \"a\\e[31mb\"\n"), "expected a name without line breaks");
        QCOMPARE(check("name: Größe 1\n").at("name").get<std::string>(), std::string("Größe 1"));
    }
    void text_settings_take_unquoted_numbers_as_written() {
        QCOMPARE(check("name: 010\n").at("name").get<std::string>(), std::string("010"));
    }
    void an_empty_section_means_its_defaults() { QCOMPARE(check("name: x\none:\n").at("one").at("weight").get<double>(), 1.0); }
    void null_is_only_for_nullable_settings() {
        QVERIFY(check("name: x\nlimit: null\n").at("limit").is_null());
        QVERIFY(errors_of("name: x\nsteps: null\n").find("mine.yaml:2:8: steps is") != std::string::npos);
    }
    void paths_are_absolute_against_the_files_folder() {
        QCOMPARE(check("name: x\nfile: ../d/f\n").at("file").get<std::string>(), std::string("/d/f"));
        QCOMPARE(check("name: x\nfile: /a/b\n").at("file").get<std::string>(), std::string("/a/b"));
    }
    void an_override_is_checked_like_the_file_and_named() {
        YamlNode root = parse_yaml("name: x\n", "mine.yaml");
        apply_override(root, "steps=-1");
        apply_override(root, "one.temprature=1");
        EXPECT_ERROR(resolve(example(), root), "--set steps: steps is '-1'", "--set one.temprature: unknown setting");
    }
    void a_schema_survives_its_manifest() {
        const Json json = schema_to_json(example());
        QCOMPARE(schema_to_json(schema_from_json(parse_json(json.dump(), "m"), "m")), json);
        QCOMPARE(schema_to_json(schema_from_json(schema_to_json(training_schema()), "m")), schema_to_json(training_schema()));
    }
    void hostile_schemas_are_refused() {
        EXPECT_ERROR(schema_from_json(parse_json(R"({"fields": [{"key": "a", "type": "list"}]})", "m"), "m"), "without 'item'");
        EXPECT_ERROR(schema_from_json(parse_json(R"({"fields": [{"key": "a", "type": "wild"}]})", "m"), "m"), "unknown type");
        EXPECT_ERROR(schema_from_json(parse_json(R"({"fields": [{"type": "text"}]})", "m"), "m"), "key");
        EXPECT_ERROR(schema_from_json(parse_json(R"({"fields": 3})", "m"), "m"), "fields");
        EXPECT_ERROR(schema_from_json(parse_json(R"({"fields": [{"key":"a","type":"text"},{"key":"a","type":"text"}]})", "m"), "m"),
                     "twice");
        Json deep = {{"key", "x"}, {"type", "text"}};
        for (int i = 0; i < 30; ++i) deep = {{"key", "x"}, {"type", "list"}, {"item", deep}};
        EXPECT_ERROR(schema_from_json(Json{{"fields", Json::array({deep})}}, "m"), "nested deeper");
    }
    void the_json_schema_forbids_other_keys_and_knows_ranges() {
        const Json json = schema_to_json_schema(example());
        QCOMPARE(json.at("additionalProperties").get<bool>(), false);
        QCOMPARE(json.at("properties").at("steps").at("minimum").get<double>(), 1.0);
        QCOMPARE(json.at("required").at(0).get<std::string>(), std::string("name"));
        QCOMPARE(json.at("properties").at("tasks").at("additionalProperties").at("properties").size(), std::size_t{3});
    }
    void the_cores_own_defaults_pass_their_own_check() {
        for (const Schema& schema : {training_schema(), task_schema(), evaluation_schema(), experiment_head_schema()}) {
            const Json defaults = defaults_of(schema);
            QCOMPARE(resolve(schema, yaml_from_json(defaults, "defaults")), defaults);
        }
    }
};

FACETER_TEST(TestCheck)
#include "test_check.moc"
