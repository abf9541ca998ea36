#include "data/json_items.h"
#include "data/leaves.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::gzip;
using faceter::testing::put;

namespace {

/// Two sections of 30 packages each, with a tag; every package is a source of its own.
void put_index(const fs::path& folder) {
    std::string packages, translation;
    for (int i = 0; i < 60; ++i) {
        const std::string n = std::to_string(i);
        const std::string name = std::string("pack") + static_cast<char>('a' + i / 26) + static_cast<char>('a' + i % 26);
        packages += "Package: " + name + "\nDescription: synopsis " + n + "\nDescription-md5: m" + n +
                    "\nTag: use::" + (i % 3 == 0 ? "editing" : "viewing") +
                    ", interface::x11\nSection: " + (i % 2 == 0 ? "utils" : "games") + "\n\n";
        translation +=
            "Package: " + name + "\nDescription-md5: m" + n + "\nDescription-en: synopsis " + n + "\n Long text of package " + n + ".\n\n";
    }
    put(folder / "x_main_binary-amd64_Packages", packages);
    put(folder / "x_main_i18n_Translation-en", translation);
}

/// Records over several lines, as MEDI's file has them.
const std::string medi =
    Json::array(
        {{{"query", {"Represent the question;", "who {is} \"it\"?"}},
          {"pos", {"Represent the answer; ", "it is he"}},
          {"neg", {"Represent the answer; ", "it is not"}},
          {"task_name", "qa"}},
         {{"query", {"Represent the title: ", "a title"}}, {"pos", {"Represent the abstract: ", "an abstract"}}, {"task_name", "titles"}},
         {{"query", {"Represent the question;", "where?"}},
          {"pos", {"Represent the answer; ", "there"}},
          {"neg", {"Represent the answer; ", "nowhere"}},
          {"task_name", "qa"}}})
        .dump(2);

}  // namespace

class TestLeaves : public QObject {
    Q_OBJECT
    std::unique_ptr<TemporaryDirectory> folder_;

    DataRequest entry(Json settings) const { return {std::move(settings), folder_->path()}; }
    std::vector<TrainingSet> load(Json settings) const { return load_training_sets(entry(std::move(settings)), "retrieval"); }

  private Q_SLOTS:
    void init() { folder_ = std::make_unique<TemporaryDirectory>(); }

    void an_array_of_medi_records_is_one_data_set_a_task() {
        put(folder_->path() / "medi.json", medi);
        const auto sets = load({{"source", "medi"}, {"path", "medi.json"}});
        QCOMPARE(sets.size(), std::size_t{2});
        QCOMPARE(sets[0].name, std::string("qa"));
        QCOMPARE(sets[0].examples.size(), std::size_t{2});
        QCOMPARE(sets[0].texts[sets[0].examples[0].anchor], std::string_view("who {is} \"it\"?"));
        QCOMPARE(sets[0].texts[sets[0].negatives[1]], std::string_view("nowhere"));
        const auto own = own_instructions(sets[0]);
        QCOMPARE(own->query, std::string("Represent the question; "));  // a blank parts it from the text
        QCOMPARE(own->negative, std::string("Represent the answer; "));
        QCOMPARE(own_instructions(sets[1])->document, std::string("Represent the abstract: "));
        QCOMPARE(sets[1].examples[0].num_negatives, 0U);
        QCOMPARE(load_training_set(entry({{"source", "medi"}, {"path", "medi.json"}}), "retrieval").examples.size(), std::size_t{3});
    }

    void the_entry_s_instructions_stand_in_place_of_the_data_s() {
        put(folder_->path() / "m.jsonl",
            "{\"task\": \"t\", \"instruction\": \"A\", \"query\": \"q1\", \"document\": \"d1\"}\n"
            "{\"task\": \"t\", \"instruction\": \"B\", \"query\": \"q2\", \"document\": \"d2\"}\n");
        put(folder_->path() / "ni.json", "{\"Definition\": \"Say it.\", \"Instances\": [{\"input\": \"a\", \"output\": \"b\"}]}");
        const Json own{{"query", "for {leaf}: "}, {"document", "text: "}};
        const auto sets = load({{"source", "medi"}, {"path", "m.jsonl"}, {"name", "x"}, {"instructions", own}});
        QCOMPARE(sets.size(), std::size_t{1});  // one task under one instruction
        QCOMPARE(sets[0].name, std::string("x/t"));
        QCOMPARE(own_instructions(sets[0])->query, std::string("for t: "));
        QCOMPARE(own_instructions(sets[0])->negative, std::string("text: "));
        const auto task = load({{"source", "natural_instructions"}, {"path", "ni.json"}, {"instructions", own}});
        QCOMPARE(own_instructions(task[0])->query, std::string("for ni: "));
        QCOMPARE(own_instructions(task[0])->document, std::string("text: "));
    }

    void labels_choose_records_of_medi_as_those_of_other_pairs() {
        put(folder_->path() / "m.jsonl",
            "{\"task\": \"t\", \"query\": \"q1\", \"document\": \"d1\", \"label\": \"entailment\"}\n"
            "{\"task\": \"t\", \"query\": \"q2\", \"document\": \"d2\", \"label\": \"neutral\"}\n");
        const auto chosen = load({{"source", "medi"}, {"path", "m.jsonl"}, {"labels", {"entailment"}}});
        QCOMPARE(chosen[0].examples.size(), std::size_t{1});
        QCOMPARE(chosen[0].texts[chosen[0].examples[0].anchor], std::string_view("q1"));
        QCOMPARE(chosen[0].card["file"]["counts"]["left_out_by_label"].get<int>(), 1);
        const auto all = load({{"source", "medi"}, {"path", "m.jsonl"}});
        QCOMPARE(all[0].examples.size(), std::size_t{2});
        QVERIFY(all[0].card["warnings"].dump().find("its pairs carry labels (entailment, neutral)") != std::string::npos);
    }

    void negatives_of_medi_have_all_the_names_that_those_of_pairs_have() {
        put(folder_->path() / "m.jsonl",
            "{\"task\": \"t\", \"query\": \"q1\", \"document\": \"d1\", \"hard_negatives\": [\"n1\", \"n2\"], \"negative_id\": \"d17\"}\n"
            "{\"task\": \"t\", \"query\": \"q2\", \"document\": \"d2\", \"negative_2\": \"b\", \"negative_1\": \"a\"}\n");
        const auto sets = load({{"source", "medi"}, {"path", "m.jsonl"}});
        QCOMPARE(sets[0].examples[0].num_negatives, 2U);
        QCOMPARE(sets[0].examples[1].num_negatives, 2U);
        QCOMPARE(sets[0].texts[sets[0].negatives[sets[0].examples[1].first_negative]], std::string_view("a"));
    }

    void the_same_records_as_packed_lines_give_the_same_sets() {
        put(folder_->path() / "medi.json", medi);
        std::string lines;
        JsonItems items(folder_->path() / "medi.json");
        while (const auto item = items.next()) {
            std::string line(*item);
            std::replace(line.begin(), line.end(), '\n', ' ');
            lines += line + "\n";
        }
        put(folder_->path() / "medi.jsonl.gz", gzip(lines));
        const auto array = load({{"source", "medi"}, {"path", "medi.json"}}),
                   packed = load({{"source", "medi"}, {"path", "medi.jsonl.gz"}});
        QCOMPARE(packed.size(), array.size());
        for (std::size_t i = 0; i < array.size(); ++i) QCOMPARE(packed[i].fingerprint, array[i].fingerprint);
    }

    void one_name_under_two_instructions_is_two_tasks() {
        put(folder_->path() / "m.jsonl",
            "{\"task\": \"t\", \"instruction\": \"A\", \"query\": \"q1\", \"document\": \"d1\", \"negatives\": [\"n1\", \"n2\"]}\n"
            "{\"task\": \"t\", \"instruction\": \"B\", \"query\": \"q2\", \"document\": \"d2\"}\n");
        const auto sets = load({{"source", "medi"}, {"path", "m.jsonl"}, {"name", "x"}});
        QCOMPARE(sets.size(), std::size_t{2});
        QCOMPARE(sets[0].name, std::string("x/t"));
        QCOMPARE(sets[1].name, std::string("x/t#2"));
        QCOMPARE(sets[0].examples[0].num_negatives, 2U);
        QCOMPARE(own_instructions(sets[1])->query, std::string("B "));
        QVERIFY(sets[0].fingerprint != sets[1].fingerprint);
        QCOMPARE(load({{"source", "medi"}, {"path", "m.jsonl"}, {"hard_negatives", 1}})[0].examples[0].num_negatives, 1U);
        EXPECT_ERROR(load({{"source", "medi"}, {"path", "m.jsonl"}, {"min_examples", 2}}), "no task with at least 2");
    }

    /// Data by example: an instruction, several positives and negatives of its own a record, and no task that it names.
    void records_by_example_are_a_data_set_an_instruction() {
        put(folder_->path() / "own.jsonl",
            "{\"instruction\": \"A\", \"query\": \"q1\", \"positives\": [\"p1\", \"p2\"], \"negatives\": [\"n1\", \"n2\"], "
            "\"scores\": [4, 3, 2, 1]}\n"
            "{\"instruction\": \"B\", \"query\": \"q2\", \"document\": \"p3\", \"scores\": [5]}\n");
        const auto sets = load({{"source", "medi"}, {"path", "own.jsonl"}, {"hard_negatives", 1}});
        QCOMPARE(sets.size(), std::size_t{2});
        QCOMPARE(sets[0].name, std::string("own.jsonl"));
        QCOMPARE(sets[1].name, std::string("own.jsonl#2"));
        QCOMPARE(own_instructions(sets[1])->query, std::string("B "));
        QCOMPARE(sets[0].examples.size(), std::size_t{2});
        for (std::size_t i = 0; i < 2; ++i) {
            QCOMPARE(sets[0].texts[sets[0].examples[i].positive], std::string_view(i == 0 ? "p1" : "p2"));
            QCOMPARE(sets[0].examples[i].num_negatives, 1U);
            QCOMPARE(scores_of(sets[0], sets[0].examples[i]), (std::vector<float>{i == 0 ? 4.0f : 3.0f, 2.0f}));
        }
        QCOMPARE(load({{"source", "medi"}, {"path", "own.jsonl"}, {"name", "mine"}})[0].name, std::string("mine"));
    }

    void a_trial_run_takes_a_few_examples_of_each_task() {
        put_index(folder_->path());
        DataRequest request =
            entry({{"source", "debian_leaves"}, {"path", folder_->path().string()}, {"view", "section"}, {"min_examples", 5}});
        request.sample_limit = 50;
        const auto sets = load_training_sets(request, "retrieval");
        QCOMPARE(sets.size(), std::size_t{2});
        for (const TrainingSet& set : sets) QCOMPARE(set.examples.size(), std::size_t{4});
    }

    void bad_medi_files_are_named_with_their_line() {
        const auto fails = [&](const std::string& content, const std::string& first, const std::string& second) {
            put(folder_->path() / "bad.json", content);
            EXPECT_ERROR(load({{"source", "medi"}, {"path", "bad.json"}}), first, second);
        };
        fails("[\n{\"query\": [\"i\", \"t\"], \"pos\": [\"i\", \"p\"], \"task_name\": \"t\"}\n", "bad.json:3", "no end");
        fails("[{\"query\": \"a\"", "bad.json:1", "no end");
        fails("[{\"query\": \"a\"} {\"query\": \"a\"}]", "bad.json", "task_name");
        fails("[1, 2]", "bad.json:1", "expected an object");
        fails("\n{\"task_name\": \"t\", \"query\": [\"only a text\"], \"pos\": [\"i\", \"p\"]}", "bad.json:2",
              "no pair of instruction and text");
        fails("{\"task_name\": \"t\", \"query\": \"q\", \"pos\": \" \"}", "bad.json:1", "'pos' is empty");
        fails("[{\"task_name\": \"t\", \"query\": \"q\", \"pos\": \"p\"}] more", "bad.json:1", "follows the array");
        fails("", "bad.json", "no task");
        put(folder_->path() / "some.json",
            "[{\"task_name\": \"t\", \"query\": \"q\", \"pos\": \"p\"}, {\"task_name\": \"t\", \"query\": \"q\"}]");
        const auto sets = load({{"source", "medi"}, {"path", "some.json"}, {"on_error", "skip"}});
        QCOMPARE(sets[0].examples.size(), std::size_t{1});
        QCOMPARE(sets[0].card["file"]["skipped"]["records"].get<int>(), 1);
    }

    void a_task_file_gives_input_and_output_or_inputs_of_one_class() {
        put(folder_->path() / "ni/task001_free.json",
            "{\"Definition\": [\"Say it\", \"well.\"], \"Instances\": [{\"input\": \"a\", \"output\": [\"b\", \"c\"]}, {\"input\": \"d\", "
            "\"output\": \"e\"}]}");
        std::string instances;
        for (int i = 0; i < 30; ++i)
            instances +=
                (i ? "," : "") + Json{{"input", "text " + std::to_string(i)}, {"output", Json::array({i % 2 ? "Yes" : "No"})}}.dump();
        put(folder_->path() / "ni/task002_classes.json", "{\"Definition\": \"Is it?\", \"Instances\": [" + instances + "]}");
        const auto sets = load({{"source", "natural_instructions"}, {"path", "ni"}, {"hard_negatives", 1}});
        QCOMPARE(sets.size(), std::size_t{2});
        QCOMPARE(sets[0].name, std::string("task001_free"));
        QCOMPARE(sets[0].texts[sets[0].examples[0].positive], std::string_view("b"));
        QCOMPARE(own_instructions(sets[0])->query, std::string("Say it well. "));
        QCOMPARE(own_instructions(sets[0])->document, std::string());
        QCOMPARE(sets[1].examples.size(), std::size_t{30});
        QCOMPARE(sets[1].examples[0].num_negatives, 1U);
        QCOMPARE(own_instructions(sets[1])->document, std::string("Is it? "));
        for (const Example& example : sets[1].examples) {
            const auto number = [&](std::uint32_t text) { return std::stoi(std::string(sets[1].texts[text].substr(5))); };
            QCOMPARE(number(example.anchor) % 2, number(example.positive) % 2);
        }
    }

    void a_file_that_is_no_task_file_is_said() {
        put(folder_->path() / "x.json", "{\"a\": 1}");
        EXPECT_ERROR(load({{"source", "natural_instructions"}, {"path", "x.json"}}), "x.json", "Definition", "Instances");
        put(folder_->path() / "y.json", "{\"Definition\": \"d\", \"Instances\": [{\"input\": \"a\"}]}");
        EXPECT_ERROR(load({{"source", "natural_instructions"}, {"path", "y.json"}}), "y.json", "no input or no output");
        fs::create_directories(folder_->path() / "empty");
        EXPECT_ERROR(load({{"source", "natural_instructions"}, {"path", "empty"}}), "no task file");
    }

    void the_archive_is_one_task_a_section_or_a_facet_value() {
        put_index(folder_->path());
        const Json settings = {{"source", "debian_leaves"},
                               {"path", folder_->path().string()},
                               {"view", "section"},
                               {"min_examples", 5},
                               {"hard_negatives", 1}};
        const auto sections = load(settings);
        QCOMPARE(sections.size(), std::size_t{2});
        QCOMPARE(sections[0].name, std::string("section/games"));
        QVERIFY(own_instructions(sections[1])->query.find("utils") != std::string::npos);
        for (const Example& example : sections[0].examples) {
            QCOMPARE(example.num_negatives, 1U);
            const std::string query(sections[0].texts[example.anchor]),
                negative(sections[0].texts[sections[0].negatives[example.first_negative]]);
            QVERIFY(negative.find("package " + query.substr(9) + ".") == std::string::npos);
        }
        Json uses = settings;
        uses["view"] = "use";
        uses["instructions"] = {{"query", "for {leaf}: "}, {"document", "text: "}};
        const auto facets = load(uses);
        QCOMPARE(facets.size(), std::size_t{2});
        QCOMPARE(own_instructions(facets[0])->query, std::string("for editing: "));
        QCOMPARE(own_instructions(facets[0])->negative, std::string("text: "));
        uses["view"] = "colour";
        EXPECT_ERROR(load(uses), "no value of 'colour'", "min_examples");
    }

    void any_entry_may_have_instructions_of_its_own() {
        put(folder_->path() / "p.jsonl", "{\"query\": \"a\", \"document\": \"b\"}\n");
        const auto plain = load({{"source", "file"}, {"path", "p.jsonl"}});
        QVERIFY(!own_instructions(plain[0]));
        const auto own = load(
            {{"source", "file"}, {"path", "p.jsonl"}, {"instructions", {{"query", "find: "}, {"document", ""}, {"negative", nullptr}}}});
        QCOMPARE(own_instructions(own[0])->query, std::string("find: "));
        QVERIFY(own[0].fingerprint != plain[0].fingerprint);
    }

    void the_shared_sample_of_natural_instructions_is_seventy_tasks() {
        NEED_SHARED();
        const auto folder = faceter::testing::shared_folder() / "data/natural_instructions/train.jsonl";
        const auto sets = load({{"source", "medi"}, {"path", folder.string()}});
        std::size_t examples = 0;
        for (const TrainingSet& set : sets) examples += set.examples.size();
        QCOMPARE(sets.size(), std::size_t{70});
        QCOMPARE(examples, std::size_t{25633});
    }
};

FACETER_TEST(TestLeaves)
#include "test_leaves.moc"
