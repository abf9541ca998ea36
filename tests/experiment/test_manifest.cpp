#include "experiment/manifest.h"

#include <sys/stat.h>

#include "common/error.h"
#include "experiment/catalogue.h"
#include "support/test.h"

using namespace faceter;

namespace {

Manifest sample_manifest(const std::string& id = "demo") {
    Manifest manifest;
    manifest.id = id;
    manifest.version = "1.0";
    manifest.summary = "A demonstration.";
    manifest.abi = 1;
    manifest.fingerprint = "torch=2.11.0";
    manifest.variants.push_back(
        {id + "_variant",
         "A variant.",
         {"",
          "",
          {integer("experts", 4, "Number of experts.").at_least(1), integer("chosen", 1, "Of these.").at_most_that_of("experts"),
           text("gate", "", "A gate.").naming({"base", "<task>"}, "router=fixed")}}});
    manifest.variants.back().training = {
        Training::What::adapters, "mode=apart", "gates", {{"joint", "single", /*of_them=*/true, /*several=*/2}}};
    return manifest;
}

}  // namespace

class TestManifest : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void what_a_generator_writes_is_read_back() {
        const TemporaryDirectory folder;
        QCOMPARE(write_manifest(sample_manifest(), folder.path() / "demo.json"), 0);
        const Manifest manifest = read_manifest(folder.path() / "demo.json");
        QCOMPARE(manifest_to_json(manifest), manifest_to_json(sample_manifest()));
        const Schema& settings = manifest.variants.at(0).schema;
        QCOMPARE(settings.find("chosen")->not_above, std::string("experts"));
        QCOMPARE(settings.find("gate")->names, (std::vector<std::string>{"base", "<task>"}));
        QVERIFY(manifest.variants.at(0).training.what == Training::What::adapters);
        QCOMPARE(manifest.variants.at(0).training.alone, std::string("mode=apart"));
        QCOMPARE(manifest.variants.at(0).training.anyway.at(0).setting, std::string("joint"));
        QCOMPARE(manifest.variants.at(0).training.anyway.at(0).several, std::size_t{2});
        QCOMPARE(settings.find("gate")->names_where, std::string("router=fixed"));
        QCOMPARE(manifest.library(), folder.path() / "demo.so");
    }
    void a_bad_manifest_is_listed_and_the_others_go_on() {
        const TemporaryDirectory folder;
        write_manifest(sample_manifest("good"), folder.path() / "good.json");
        write_file_atomic(folder.path() / "torn.json", "{\"faceter_plugin\": 1, \"id\"");
        write_file_atomic(folder.path() / "other.json", manifest_to_json(sample_manifest("another")).dump());
        write_file_atomic(folder.path() / "old.json", "{\"faceter_plugin\": 7}");
        const PluginList list = find_plugins({folder.path(), folder.path() / "missing"});
        QCOMPARE(list.manifests.size(), std::size_t{1});
        QCOMPARE(list.manifests[0].id, std::string("good"));
        QCOMPARE(list.rejected.size(), std::size_t{3});
        for (const RejectedPlugin& plugin : list.rejected)
            QVERIFY2(!plugin.reason.empty() && !plugin.reason.starts_with(plugin.file.string() + ":"), plugin.reason.c_str());
    }
    void a_plugin_of_another_version_is_left_out_with_the_field_named() {
        const TemporaryDirectory folder;
        Manifest other = sample_manifest("other");
        other.fingerprint = "cxx_abi=1017;torch=2.11.0;faceter=0.0.1;sanitizer=none";
        write_manifest(other, folder.path() / "other.json");
        write_manifest(sample_manifest("good"), folder.path() / "good.json");
        const Catalogue catalogue = Catalogue::load({folder.path()});
        QVERIFY(catalogue.plugin("good"));
        QVERIFY(!catalogue.find(ExtensionKind::variant, "other_variant"));
        QCOMPARE(catalogue.plugins().rejected.size(), std::size_t{1});
        const std::string reason = catalogue.plugins().rejected[0].reason;
        QVERIFY2(reason.starts_with("it was built with faceter=0.0.1, this program with faceter="), reason.c_str());
    }
    void a_plugin_of_other_headers_is_left_out_before_a_run_begins() {
        const TemporaryDirectory folder;
        Manifest other = sample_manifest("other");
        other.fingerprint = "cxx_abi=1017;torch=2.11.0;headers=0123456789abcdef;sanitizer=none";
        write_manifest(other, folder.path() / "other.json");
        const Catalogue catalogue = Catalogue::load({folder.path()});
        QCOMPARE(catalogue.plugins().rejected.size(), std::size_t{1});
        const std::string reason = catalogue.plugins().rejected[0].reason;
        QVERIFY2(reason.starts_with("it was built with headers=0123456789abcdef, this program with headers="), reason.c_str());
    }
    void a_plugin_of_before_headers_had_a_number_is_left_out() {
        const TemporaryDirectory folder;
        const auto reason_of = [&](const std::string& version) {
            Manifest other = sample_manifest("other");
            other.fingerprint = "cxx_abi=1017;torch=2.11.0;faceter=" + version + ";sanitizer=none";
            write_manifest(other, folder.path() / "other.json");
            return Catalogue::load({folder.path()}).plugins().rejected.at(0).reason;
        };
        const std::string of_another = reason_of("0.0.1"), before = "this program with faceter=";
        const std::size_t begin = of_another.find(before) + before.size();
        const std::string reason = reason_of(of_another.substr(begin, of_another.find(';', begin) - begin));
        QVERIFY2(reason.starts_with("it was built with no headers=, this program with headers="), reason.c_str());
    }
    void hostile_manifests_are_refused() {
        Json json = manifest_to_json(sample_manifest());
        json["id"] = "../evil";
        EXPECT_ERROR(manifest_from_json(json, "m"), "not a plugin's id");
        json = manifest_to_json(sample_manifest());
        json["variants"][0]["name"] = "<script>";
        EXPECT_ERROR(manifest_from_json(json, "m"), "is not a name");
        json = manifest_to_json(sample_manifest());
        json["variants"][0]["schema"]["fields"][0]["key"] = "method";
        EXPECT_ERROR(manifest_from_json(json, "m"), "'method'");
        json = manifest_to_json(sample_manifest());
        json["variants"][0]["learns_from"] = "order of pairs";
        EXPECT_ERROR(manifest_from_json(json, "m"), "'learns_from' is", "order", "negatives");
        json = manifest_to_json(sample_manifest());
        json["variants"][0]["training"]["what"] = "everything";
        EXPECT_ERROR(manifest_from_json(json, "m"), "'what' is 'everything'", "encoder_a_task");
        json["variants"] = 3;
        EXPECT_ERROR(manifest_from_json(json, "m"), "'variants' must be a list");
        EXPECT_ERROR(manifest_from_json(Json::array(), "m"), "faceter_plugin");
    }
    void a_folder_that_others_may_write_is_refused() {
        const TemporaryDirectory folder;
        write_manifest(sample_manifest(), folder.path() / "demo.json");
        ::chmod(folder.path().c_str(), 0777);
        const PluginList list = find_plugins({folder.path()});
        QVERIFY(list.manifests.empty());
        QCOMPARE(list.rejected.size(), std::size_t{1});
        QVERIFY(list.rejected[0].reason.find("may be written by everyone") != std::string::npos);
    }
    void a_library_that_others_may_write_is_refused() {
        const TemporaryDirectory folder;
        write_manifest(sample_manifest(), folder.path() / "demo.json");
        write_file_atomic(folder.path() / "demo.so", "x");
        ::chmod((folder.path() / "demo.so").c_str(), 0666);
        QVERIFY(find_plugins({folder.path()}).manifests.empty());
    }
    void the_first_of_two_plugins_with_one_name_wins() {
        const TemporaryDirectory first, second;
        write_manifest(sample_manifest(), first.path() / "demo.json");
        write_manifest(sample_manifest(), second.path() / "demo.json");
        const PluginList list = find_plugins({first.path(), second.path()});
        QCOMPARE(list.manifests.size(), std::size_t{1});
        QVERIFY(list.rejected.at(0).reason.find("was found before") != std::string::npos);
        QCOMPARE(find_plugins({first.path(), first.path()}).rejected.size(), std::size_t{0});
    }
    void a_method_that_core_offers_already_is_refused() {
        const TemporaryDirectory folder;
        Manifest manifest = sample_manifest();
        manifest.objectives.push_back({"infonce", "Mine.", {}});
        write_manifest(manifest, folder.path() / "demo.json");
        const Catalogue catalogue = Catalogue::load({folder.path()});
        QVERIFY(!catalogue.find(ExtensionKind::variant, "demo_variant"));
        QVERIFY(catalogue.plugins().rejected.at(0).reason.find("objective 'infonce'") != std::string::npos);
    }
    void a_catalogue_has_cores_own_and_the_plugins() {
        const TemporaryDirectory folder;
        write_manifest(sample_manifest(), folder.path() / "demo.json");
        const Catalogue catalogue = Catalogue::load({folder.path()});
        QCOMPARE(catalogue.find(ExtensionKind::variant, "demo_variant")->plugin, std::string("demo"));
        QCOMPARE(catalogue.find(ExtensionKind::curriculum, "static")->plugin, std::string("core"));
        QVERIFY(catalogue.plugin("demo"));
    }
};

FACETER_TEST(TestManifest)
#include "test_manifest.moc"
