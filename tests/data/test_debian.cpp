#include <set>

#include "data/child_process.h"
#include "data/debian_packages.h"
#include "data/sources.h"
#include "files.h"
#include "support/test.h"

using namespace faceter;
using faceter::testing::put;
using faceter::testing::request;

namespace {

constexpr const char* packages_list = R"(Package: alpha
Version: 1
Description: first letter
Description-md5: aaa
Tag: implemented-in::c, role::program,
 use::editing
Section: contrib/editors

Package: alpha-doc
Source: alpha (1.0-1)
Description: first letter - documentation
Description-md5: bbb
Section: doc

Package: beta
Description: second letter
 Its own long description,
 in the list itself.
Section: utils

Package: gone
Description: without a translation
Description-md5: zzz
Section: utils

Package: alpha
Description: once more
Section: utils

Package: old
Description: transitional package for alpha
Description-md5: aaa
Section: oldlibs
)";
constexpr const char* translation_list = R"(Package: alpha
Description-md5: aaa
Description-en: first letter
 Alpha is the first letter
 of the alphabet.
 .
 It can:
  * begin words
  * end them
 and more.

Package: other
Description-md5: bbb
Description-en: first letter - documentation
 The manual.
)";

/// An index of `count` packages, two to a source, with tags if asked for.
void put_index(const fs::path& folder, int count, bool tags) {
    std::string packages, translations;
    for (int i = 0; i < count; ++i) {
        packages += fmt::format("Package: p{0}\nSource: src{1}x\nDescription: synopsis number {0}\nDescription-md5: {0:032x}\n", i, i / 2);
        if (tags) packages += fmt::format("Tag: use::{}, implemented-in::{}\n", i % 3 ? "editing" : "viewing", i % 2 ? "c" : "perl");
        packages += fmt::format("Section: universe/{}\n\n", i % 4 == 0 ? "net" : "libs");
        translations += fmt::format(
            "Package: p{0}\nDescription-md5: {0:032x}\nDescription-en: synopsis number {0}\n The long text of package {0}.\n\n", i);
    }
    put(folder / "example_dists_x_main_binary-amd64_Packages", packages);
    put(folder / "example_dists_x_main_i18n_Translation-en.gz", faceter::testing::gzip(translations));
}

}  // namespace

class TestDebian : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    DataRequest entry(const fs::path& folder, Json settings) {
        settings["source"] = "debian";
        settings["path"] = folder.string();
        return request(settings);
    }

  private Q_SLOTS:
    void packages_are_joined_with_their_long_descriptions() {
        const fs::path folder = folder_.path() / "join";
        put(folder / "a_Packages", packages_list);
        put(folder / "a_Translation-en", translation_list);
        const auto index = DebianPackages::read(find_debian_lists(folder));
        QCOMPARE(index->packages().size(), std::size_t{3});
        const auto text = [&](std::uint32_t id) { return std::string(index->text(id)); };
        const DebianPackage& alpha = index->packages()[0];
        QCOMPARE(text(alpha.name), std::string("alpha"));
        QCOMPARE(text(alpha.source), std::string("alpha"));
        QCOMPARE(text(alpha.section), std::string("editors"));
        QCOMPARE(text(alpha.synopsis), std::string("first letter"));
        QCOMPARE(text(alpha.description),
                 std::string("Alpha is the first letter of the alphabet.\nIt can:\n* begin words\n* end them and more."));
        QCOMPARE(alpha.num_tags, 3u);
        QCOMPARE(text(index->tags(alpha)[2]), std::string("use::editing"));
        const DebianPackage& doc = index->packages()[1];
        QCOMPARE(text(doc.source), std::string("alpha"));
        QCOMPARE(text(doc.description), std::string("The manual."));  // found by its md5 under another package's name
        QCOMPARE(text(index->packages()[2].description), std::string("Its own long description, in the list itself."));
        const Json& left_out = index->card().at("left_out");
        QCOMPARE(left_out.at("repeated_packages").get<int>(), 1);
        QCOMPARE(left_out.at("without_long_description").get<int>(), 1);
        QCOMPARE(left_out.at("transitional_packages").get<int>(), 1);
    }
    void a_stanza_ends_at_an_empty_line_and_a_field_goes_on_over_indented_ones() {
        std::string_view rest = "\n\nA: 1\nB:\n two\n\tthree\nno colon\n\n C: lost\nD:4";
        std::vector<DebianField> fields;
        QVERIFY(next_stanza(rest, fields));
        QCOMPARE(fields.size(), std::size_t{2});
        QCOMPARE(std::string(fields[1].value), std::string("\n two\n\tthree"));
        QVERIFY(next_stanza(rest, fields));
        QCOMPARE(std::string(fields[0].key), std::string("D"));
        QCOMPARE(std::string(fields[0].value), std::string("4"));
        QVERIFY(!next_stanza(rest, fields));
    }
    void hostile_lists_are_errors_or_left_out() {
        const auto read = [&](std::string_view content) {
            put(folder_.path() / "hostile/x_Packages", content);
            return DebianPackages::read(find_debian_lists(folder_.path() / "hostile"));
        };
        EXPECT_ERROR(read("<html>not a list</html>\n"), "x_Packages", "no package in this list");
        EXPECT_ERROR(read("Package: a\nDescription: b\n"), "no package with a long description");
        EXPECT_ERROR(read("Package: a\nDescription: b\n \xff\xfe\n"), "no package with a long description");
        EXPECT_ERROR(read(""), "no package with a long description");
        QCOMPARE(read("Package: a\nDescription: b\n c")->packages().size(), std::size_t{1});
        QCOMPARE(read(":::\n: x\nPackage: a\nDescription: b\n c\n" + std::string(1 << 20, ':'))->packages().size(), std::size_t{1});
        EXPECT_ERROR(find_debian_lists(folder_.path()), "no list of packages");
        EXPECT_ERROR(find_debian_lists(folder_.path() / "nowhere"), "no such folder");
        put(folder_.path() / "broken/x_Packages.lz4", "this is not lz4");
        EXPECT_ERROR(DebianPackages::read(find_debian_lists(folder_.path() / "broken")), "x_Packages.lz4");
    }
    void pockets_and_third_parties_are_left_aside_where_a_base_suite_is() {
        const fs::path folder = folder_.path() / "suites";
        const auto list = [&](const std::string& prefix, const char* origin, const char* suite) {
            put(folder / (prefix + "_InRelease"),
                fmt::format("-----BEGIN PGP SIGNED MESSAGE-----\nOrigin: {}\nSuite: {}\nCodename: {}\nDate: today\n", origin, suite,
                            suite));
            put(folder / (prefix + "_main_binary-amd64_Packages"), fmt::format("Package: {}\nDescription: x\n y {}\n", prefix, prefix));
        };
        list("deb_dists_bookworm", "Debian", "bookworm");
        list("deb_dists_bookworm-updates", "Debian", "bookworm-updates");
        list("shop_dists_stable", "Shop", "stable");
        const auto index = DebianPackages::read(find_debian_lists(folder));
        QCOMPARE(index->packages().size(), std::size_t{1});
        QCOMPARE(index->card().at("lists").at("lists_left_aside").get<int>(), 2);
        QCOMPARE(index->card().at("lists").at("suites").at(0).at("codename").get<std::string>(), std::string("bookworm"));
    }
    void versions_of_one_source_stay_in_one_split() {
        QCOMPARE(source_family("gcc-12-cross"), std::string("gcc-cross"));
        QCOMPARE(source_family("llvm-toolchain-14"), std::string("llvm-toolchain"));
        QCOMPARE(source_family("boost1.74"), std::string("boost"));
        QCOMPARE(source_family("7"), std::string("7"));
        QCOMPARE(split_of_source("llvm-toolchain-14"), split_of_source("llvm-toolchain-15"));
        int train = 0;
        for (int i = 0; i < 10000; ++i) train += split_of_source(fmt::format("s{}x", i)) == DebianSplit::train;
        QVERIFY(train > 7800 && train < 8200);
    }
    void no_source_and_no_text_is_in_two_splits() {
        const fs::path folder = folder_.path() / "splits";
        put_index(folder, 2000, true);
        std::set<std::string> train, test;
        const auto retrieval = load_training_set(entry(folder, {{"view", "synopsis_description"}}), "retrieval");
        for (std::uint32_t i = 0; i < retrieval.texts.size(); ++i) train.emplace(retrieval.texts[i]);
        const auto set = load_evaluation_set(entry(folder, {{"view", "synopsis_description"}}));
        for (const std::string_view text : all_texts(set)) QVERIFY(!train.contains(std::string(text)));
        std::map<std::string, DebianSplit> split_of;
        const auto index = DebianPackages::open(folder);
        for (const DebianPackage& package : index->packages()) {
            const auto [at, is_new] = split_of.emplace(index->text(package.source), package.split);
            QVERIFY(is_new || at->second == package.split);
        }
    }
    void equal_descriptions_are_one_document_and_equal_synopses_one_query() {
        const fs::path folder = folder_.path() / "merge";
        std::string list;
        for (int i = 0; i < 3; ++i)
            list += fmt::format("Package: m{}\nSource: same\nDescription: {}\n {}\n\n", i, i < 2 ? "one synopsis" : "another",
                                i == 0 ? "text a" : "text b");
        put(folder / "x_Packages", list);
        const char* split = split_of_source("same") == DebianSplit::train  ? "train"
                            : split_of_source("same") == DebianSplit::test ? "test"
                                                                           : "validation";
        const auto set = load_evaluation_set(entry(folder, {{"view", "synopsis_description"}, {"split", split}}));
        const auto& data = std::get<RetrievalData>(set.data);
        QCOMPARE(data.documents.size(), std::size_t{2});
        QCOMPARE(data.queries.size(), std::size_t{2});
        QCOMPARE(data.qrels[0].size(), std::size_t{2});
        QCOMPARE(data.qrels[1], (std::vector<std::pair<std::uint32_t, int>>{{1, 1}}));
    }
    void every_view_gives_its_task() {
        const fs::path folder = folder_.path() / "views";
        put_index(folder, 2000, true);
        const auto section = load_evaluation_set(entry(folder, {{"view", "section"}}));
        const auto& labels = std::get<ClassificationData>(section.data);
        QCOMPARE(labels.label_names, (std::vector<std::string>{"libs", "net"}));
        QVERIFY(labels.train.size() > 1400 && labels.test.size() > 100);
        const auto use = load_evaluation_set(entry(folder, {{"view", "use"}}));
        const auto& sets = std::get<ClusteringData>(use.data).sets;
        QCOMPARE(sets.size(), std::size_t{10});
        QCOMPARE(sets[0].num_labels, 2);
        QVERIFY(sets[0].texts[0] != sets[1].texts[0] || sets[0].texts[1] != sets[1].texts[1] || sets[0].texts[2] != sets[1].texts[2]);
        const auto pairs = load_evaluation_set(entry(folder, {{"view", "same_source"}}));
        const auto& scored = std::get<PairData>(pairs.data);
        QVERIFY(scored.first.size() > 100);
        QCOMPARE(scored.scores[0] + scored.scores[1], 1.0);
        QCOMPARE(load_evaluation_set(entry(folder, {{"view", "same_source"}, {"task", "reranking"}})).task_type, std::string("reranking"));
        for (const char* view : {"section", "implemented_in", "use", "same_source", "synopsis_description"})
            QVERIFY(load_training_set(entry(folder, {{"view", view}, {"max_examples", 30}, {"hard_negatives", 1}}), "x").examples.size() ==
                    30);
        QCOMPARE(load_texts(entry(folder, {{"view", "descriptions"}, {"count", 12}})).size(), std::size_t{12});
    }
    void sections_are_domains_of_their_own_against_the_same_documents() {
        const fs::path folder = folder_.path() / "domains";
        put_index(folder, 1000, true);
        const auto count = [&](Json more) {
            Json settings = {{"view", "synopsis_description"}};
            settings.update(more);
            const auto set = load_evaluation_set(entry(folder, settings));
            const auto& data = std::get<RetrievalData>(set.data);
            return std::pair(data.queries.size(), data.documents.size());
        };
        const auto all = count(Json::object()), libs = count({{"sections", {"libs"}}}), net = count({{"sections", {"net"}}});
        QVERIFY(libs.first > 5 && net.first > 5);
        QCOMPARE(libs.first + net.first, all.first);
        QCOMPARE(libs.second + net.second, all.second);
        QCOMPARE(count({{"sections", {"libs"}}, {"other_documents", true}}), std::pair(libs.first, all.second));
        QCOMPARE(count({{"sections", {"net", "libs"}}}), all);
        const auto trained = load_training_set(entry(folder, {{"view", "synopsis_description"}, {"sections", {"net"}}}), "retrieval");
        QVERIFY(!trained.examples.empty() &&
                trained.examples.size() <
                    load_training_set(entry(folder, {{"view", "synopsis_description"}}), "retrieval").examples.size());
        EXPECT_ERROR(count({{"sections", {"nett"}}}), "no section 'nett'", "did you mean 'net'");
        EXPECT_ERROR(load_training_set(entry(folder, {{"view", "synopsis_description"}, {"other_documents", true}}), "retrieval"),
                     "other_documents");
    }
    void views_made_of_tags_switch_off_where_there_are_none() {
        const fs::path folder = folder_.path() / "untagged";
        put_index(folder, 400, false);
        for (const char* view : {"use", "implemented_in"}) {
            EXPECT_ERROR(load_training_set(entry(folder, {{"view", view}}), "clustering"), "needs debtags", "left out");
            QVERIFY_EXCEPTION_THROWN(load_evaluation_set(entry(folder, {{"view", view}})), DataUnavailable);
        }
        QVERIFY(load_training_set(entry(folder, {{"view", "section"}}), "classification").examples.size() > 100);
    }
    /// Ubuntu's index has a handful of tags among 70,000 packages.
    void views_made_of_tags_switch_off_where_there_are_too_few() {
        const fs::path folder = folder_.path() / "few";
        put_index(folder, 30, true);
        EXPECT_ERROR(load_evaluation_set(entry(folder, {{"view", "use"}})), "two are needed", "left out");
        QVERIFY_EXCEPTION_THROWN(load_evaluation_set(entry(folder, {{"view", "use"}})), DataUnavailable);
    }
    void wrong_views_splits_and_tasks_are_settings_errors() {
        const fs::path folder = folder_.path() / "wrong";
        put_index(folder, 30, true);
        EXPECT_ERROR(load_training_set(entry(folder, {{"view", "sections"}}), "x"), "did you mean 'section'");
        EXPECT_ERROR(load_training_set(entry(folder, Json::object()), "x"), "needs a view");
        EXPECT_ERROR(load_training_set(entry(folder, {{"view", "section"}, {"split", "all"}}), "x"), "no split 'all'");
        EXPECT_ERROR(load_evaluation_set(entry(folder, {{"view", "section"}, {"task", "sts"}})), "cannot be scored as sts");
        EXPECT_ERROR(load_training_set(entry(folder, {{"view", "descriptions"}}), "x"), "cannot be trained on");
        EXPECT_ERROR(load_evaluation_set(entry(folder, {{"view", "use"}})), "classes");
    }
    void programs_get_their_arguments_as_they_are_and_a_limit() {
        const auto echo = run_child({"printf", "%s|%s", "a b; $(id)", "'\"*"}, std::chrono::seconds(20), 1 << 20);
        QCOMPARE(echo.output, std::string("a b; $(id)|'\"*"));
        QCOMPARE(echo.exit_code, 0);
        QCOMPARE(run_child({"/no/such/program"}, std::chrono::seconds(20), 100).exit_code, 127);
        QCOMPARE(run_child({"false"}, std::chrono::seconds(20), 100).exit_code, 1);
        EXPECT_ERROR(run_child({"sleep", "60"}, std::chrono::seconds(0), 100), "took longer");
        EXPECT_ERROR(run_child({"yes"}, std::chrono::seconds(60), 1 << 20), "wrote more than");
    }
};

FACETER_TEST(TestDebian)
#include "test_debian.moc"
