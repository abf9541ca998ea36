#include <QProcess>
#include <fstream>

#include "layers/layer_rules.h"
#include "layers/type_names.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::layers;

namespace {

const fs::path project = FACETER_SOURCE_DIR;

/// A small project with the same layout, to plant violations in.
class PlantedProject {
  public:
    PlantedProject() {
        write("core/layers.txt", "# a comment\nbase common:\nbase text: common\nlearn model: common text\n");
        write("core/common/error.h", "#include <string>\n");
        write("core/text/tokenizer.h", "#include \"common/error.h\"\n");
        write("core/model/encoder.h", "#include <torch/torch.h>\n#include \"text/tokenizer.h\"\n");
        write("core/model/kernels/gemm.h", "");
        write("core/model/kernels/gemm.cpp", "#include \"gemm.h\"\n#include \"model/encoder.h\"\n");
        write("plugins/mote/settings.cpp", "#include \"common/error.h\"\n");
        write("plugins/mote/blocks.h", "#include \"model/encoder.h\"\n");
        write("plugins/mote/mote.cpp", "#include \"blocks.h\"\n#include <ATen/ATen.h>\n");
        write("app/cli/main.cpp", "#include <CLI/CLI.hpp>\n#include \"text/tokenizer.h\"\n");
        write("app/cli/commands.h", "");
        write("app/cli/run.cpp", "#include \"cli/commands.h\"\n");
        write("app/worker/session.h", "");
        write("app/worker/main.cpp", "#include \"model/encoder.h\"\n#include <c10/util/Exception.h>\n");
        write("app/desktop/window.cpp", "#include <QMainWindow>\n#include <QtWidgets/QTreeView>\n#include \"text/tokenizer.h\"\n");
        for (const char* folder : {"core/common", "core/text", "core/model", "plugins/mote", "app/cli", "app/worker", "app/desktop"})
            write(std::string(folder) + "/README.md", "What lives here.\n");
    }
    const fs::path& root() const { return folder_.path(); }
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((root() / name).parent_path());
        std::ofstream(root() / name, std::ios::binary) << text;
    }

  private:
    TemporaryDirectory folder_;
};

QString joined(const std::vector<std::string>& lines) {
    QString all;
    for (const std::string& line : lines) all += "\n  " + QString::fromStdString(line);
    return all;
}

/// The files that git tracks or would track; empty where this is no checkout.
std::vector<fs::path> tracked_files() {
    QProcess git;
    git.setWorkingDirectory(QString::fromStdString(project.string()));
    git.start("git", {"ls-files", "-z", "--cached", "--others", "--exclude-standard"});
    if (!git.waitForFinished(60000) || git.exitCode() != 0) return {};
    std::vector<fs::path> files;
    for (const QByteArray& name : git.readAllStandardOutput().split('\0'))
        if (!name.isEmpty()) files.emplace_back(name.toStdString());
    return files;
}

}  // namespace

#define VERIFY_NONE(found) QVERIFY2((found).empty(), qPrintable(joined(found)))

class TestLayers : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_include_is_allowed_by_the_table() {
        const auto found = include_violations(project);
        VERIFY_NONE(found);
    }
    void json_is_parsed_within_limits_only() {
        const auto found = raw_json_parsing(project);
        VERIFY_NONE(found);
    }
    void plugins_repeat_no_default_of_their_settings() {
        const auto found = repeated_defaults(project);
        VERIFY_NONE(found);
    }
    void core_repeats_no_default_of_its_settings() {
        const auto found = repeated_core_defaults(project);
        VERIFY_NONE(found);
    }
    void no_two_types_have_one_name() {
        const auto found = repeated_types(project);
        VERIFY_NONE(found);
    }
    void every_folder_says_what_lives_in_it() {
        const auto found = missing_readmes(project);
        VERIFY_NONE(found);
    }
    void no_source_file_is_longer_than_600_lines() {
        const auto files = tracked_files();
        if (files.empty()) QSKIP("not a git checkout");
        const auto found = long_files(project, files, 600);
        VERIFY_NONE(found);
    }
    void no_file_of_the_repository_is_larger_than_a_mebibyte() {
        const auto files = tracked_files();
        if (files.empty()) QSKIP("not a git checkout");
        const auto found = large_files(project, files, 1 << 20);
        VERIFY_NONE(found);
    }

    void a_project_that_keeps_the_rules_passes() {
        const PlantedProject planted;
        const auto found = include_violations(planted.root());
        VERIFY_NONE(found);
        VERIFY_NONE(missing_readmes(planted.root()));
    }
    void a_planted_default_is_found_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<bool>("allowed");
        QTest::newRow("json_or") << "rank_(json_or<std::int64_t>(settings, \"rank\", 8, \"variant\"))" << false;
        QTest::newRow("over two lines") << "rank_(json_or<std::vector<int>>(context.settings,\n  \"rank\", {}, name))" << false;
        QTest::newRow("value") << "settings.value(\"rank\", 8)" << false;
        QTest::newRow("the run's seed") << "json_or<std::uint64_t>(settings, \"seed\", 1, \"variant\")" << false;
        QTest::newRow("a name that is not written out") << "json_or<double>(settings_, key, fallback, \"variant\")" << false;
        QTest::newRow("demanded") << "json_at<std::int64_t>(settings, \"rank\", \"variant\")" << true;
        QTest::newRow("a member of a file") << "json_or<std::size_t>(gate, \"examples\", 0, name)" << true;
    }
    void a_planted_default_is_found() {
        QFETCH(QString, line);
        QFETCH(bool, allowed);
        for (const std::string folder : {"plugins/mote/", "resources/plugin_templates/variant/"}) {
            const PlantedProject planted;
            planted.write(folder + "settings.cpp", "integer(\"rank\", 8, \"Rank.\")");
            planted.write(folder + "mote.cpp", "// planted\n" + line.toStdString() + ";\n");
            const auto found = repeated_defaults(planted.root());
            QVERIFY2(found.size() == (allowed ? 0U : 1U), qPrintable(joined(found)));
            if (!allowed) QVERIFY2(found[0].find(folder + "mote.cpp:2: ") == 0, found[0].c_str());
        }
    }
    void a_planted_default_of_core_is_found_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<bool>("allowed");
        QTest::newRow("json_or") << "s.margin = json_or<double>(settings, \"margin\", 0.95, \"mine\");" << false;
        QTest::newRow("of a part") << "json_or<double>(run.settings().at(\"mine\"), \"margin\", s.margin, \"mine\");" << false;
        QTest::newRow("value") << "settings.value(\"margin\", 0.95);" << false;
        QTest::newRow("of an objective") << "json_or<std::string>(settings, \"hard_negatives\", \"all\", \"objective\") == \"all\";"
                                         << false;
        QTest::newRow("null is a value") << "json_or<std::int64_t>(entry, \"hard_negatives\", -1, \"data entry\");" << true;
        QTest::newRow("none") << "json_or<std::string>(settings, \"model\", \"\", \"settings\");" << true;
        QTest::newRow("demanded") << "json_at<double>(settings, \"margin\", \"mine\");" << true;
        QTest::newRow("another's") << "json_or<int>(json, \"decimals\", 2, name);" << true;
    }
    void a_planted_default_of_core_is_found() {
        QFETCH(QString, line);
        QFETCH(bool, allowed);
        const PlantedProject planted;
        planted.write("core/settings/core_settings.cpp",
                      "real(\"margin\", 0.95, \"M.\")\n  .at_least(0), text(\"model\", \"minilm\", \"M.\")");
        planted.write("core/data/settings.cpp", "optional_count(\"hard_negatives\", \"N.\")");
        planted.write("core/experiment/builtin_extensions.cpp", "choice(\"hard_negatives\", {\"all\"}, \"all\", \"N.\")");
        planted.write("app/worker/mine.cpp", "// planted\n" + line.toStdString() + "\n");
        const auto found = repeated_core_defaults(planted.root());
        QVERIFY2(found.size() == (allowed ? 0U : 1U), qPrintable(joined(found)));
        if (!allowed) QVERIFY2(found[0].find("app/worker/mine.cpp:2: ") == 0, found[0].c_str());
    }
    void a_planted_violation_is_found_data() {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("include");
        const auto row = [](const char* name, const char* file, const char* include) { QTest::newRow(name) << file << include; };
        row("a lower folder uses a higher one", "core/common/new.cpp", "#include \"text/tokenizer.h\"");
        row("the same with angle brackets", "core/common/new.cpp", "#include <text/tokenizer.h>");
        row("base uses learn", "core/text/new.h", "#include \"model/encoder.h\"");
        row("base uses torch", "core/text/new.cpp", "#include <torch/torch.h>");
        row("base uses ATen", "core/common/new.cpp", "  #  include <ATen/core/Tensor.h>");
        row("base uses c10", "core/common/new.cpp", "#include <c10/util/Exception.h>");
        row("base uses Qt", "core/common/new.cpp", "#include <QString>");
        row("learn uses Qt", "core/model/new.cpp", "#include <QtCore/QString>");
        row("learn uses Qt, old style", "core/model/kernels/new.cpp", "#include <qstring.h>");
        row("a subfolder of base uses torch", "core/text/deep/new.cpp", "#include <torch/torch.h>");
        row("the command line uses learn", "app/cli/new.cpp", "#include \"model/encoder.h\"");
        row("the command line uses torch", "app/cli/new.cpp", "#include <torch/torch.h>");
        row("the command line uses Qt", "app/cli/new.cpp", "#include <QCoreApplication>");
        row("the command line uses the worker", "app/cli/new.cpp", "#include \"worker/session.h\"");
        row("the worker uses Qt", "app/worker/new.cpp", "#include <QObject>");
        row("the desktop uses learn", "app/desktop/new.cpp", "#include \"model/encoder.h\"");
        row("the desktop uses torch", "app/desktop/new.cpp", "#include <ATen/ATen.h>");
        row("a plugin uses Qt", "plugins/mote/new.cpp", "#include <QObject>");
        row("a plugin's settings use torch", "plugins/mote/settings.h", "#include <ATen/ATen.h>");
        row("a plugin's settings use learn", "plugins/mote/settings.h", "#include \"model/encoder.h\"");
        row("a plugin uses another plugin", "plugins/other/new.cpp", "#include \"blocks.h\"");
        row("a path that climbs", "plugins/other/new.cpp", "#include \"../mote/blocks.h\"");
        row("an include that is computed", "core/common/new.cpp", "#include HEADER");
        row("a header that is nowhere", "core/common/new.cpp", "#include \"nowhere/at_all.h\"");
        row("a folder without a line in the table", "core/extra/new.cpp", "int x;");
    }
    void a_planted_violation_is_found() {
        QFETCH(QString, file);
        QFETCH(QString, include);
        const PlantedProject planted;
        planted.write(file.toStdString(), "// planted\n" + include.toStdString() + "\n");
        const auto found = include_violations(planted.root());
        QVERIFY2(found.size() == 1, qPrintable(joined(found)));
        const std::string where = file.startsWith("core/extra") ? "core/extra" : file.toStdString() + ":2";
        QVERIFY2(found[0].find(where) == 0, found[0].c_str());
    }
    void json_parsed_without_limits_is_found() {
        const PlantedProject planted;
        QVERIFY(raw_json_parsing(planted.root()).empty());
        planted.write("core/text/new.cpp", "auto a = parse_json(text, name);\nauto b = Json::parse(text);\n");
        planted.write("app/cli/new.cpp", "auto c = nlohmann::json::sax_parse(text, &events);\n");
        planted.write("core/common/json.cpp", "auto d = Json::parse(text);\n");
        const auto found = raw_json_parsing(planted.root());
        QCOMPARE(found.size(), std::size_t{2});
        QVERIFY2(found[0].find("core/text/new.cpp:2") == 0, found[0].c_str());
    }
    void a_second_type_of_a_name_is_found_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<bool>("allowed");
        QTest::newRow("struct") << "namespace faceter {\nstruct Found { int a; };\n}" << false;
        QTest::newRow("final class with a base") << "namespace faceter {\nclass Found final : public Base<int> { int a; };\n}" << false;
        QTest::newRow("enum") << "namespace faceter {\nenum class Found : char { a };\n}" << false;
        QTest::newRow("template") << "namespace faceter {\ntemplate <typename T> struct Found { T a; };\n}" << false;
        QTest::newRow("behind literals") << "namespace faceter {\nchar a = '{', b = U'{'; int c = 1'000'000; auto d = R\"x({)x\";\n"
                                            "#define E \"{\" \\\n {\nstruct Found {};\n}"
                                         << false;
        QTest::newRow("unnamed namespace") << "namespace faceter {\nnamespace {\nstruct Found { int a; };\n}}" << true;
        QTest::newRow("another namespace") << "namespace faceter::cli {\nstruct Found { int a; };\n}" << true;
        QTest::newRow("of another type") << "namespace faceter {\nstruct Search { struct Found { int a; }; };\n}" << true;
        QTest::newRow("of a function") << "namespace faceter {\ninline void f() { struct Found { int a; }; }\n}" << true;
        QTest::newRow("declared") << "namespace faceter {\nstruct Found;\nstruct Found* found() { return {}; }\n}" << true;
        QTest::newRow("specialised") << "namespace faceter {\ntemplate <> struct Found<int> {};\n}" << true;
        QTest::newRow("in a comment") << "namespace faceter {\n// struct Found {}\n/* struct Found {} */\n}" << true;
    }
    void a_second_type_of_a_name_is_found() {
        QFETCH(QString, text);
        QFETCH(bool, allowed);
        const PlantedProject planted;
        planted.write("core/common/found.h", "namespace faceter {\n\nstruct Found { int b; };\n}\n");
        planted.write("core/text/search.cpp", text.toStdString());
        const auto found = repeated_types(planted.root());
        QVERIFY2(found.size() == (allowed ? 0U : 1U), qPrintable(joined(found)));
        if (allowed) return;
        QVERIFY2(found[0].find("core/text/search.cpp:") == 0, found[0].c_str());
        QVERIFY2(found[0].find("faceter::Found") != std::string::npos, found[0].c_str());
        QVERIFY2(found[0].find("core/common/found.h:3") != std::string::npos, found[0].c_str());
    }
    void a_folder_without_a_readme_is_found() {
        const PlantedProject planted;
        fs::remove(planted.root() / "plugins/mote/README.md");
        QCOMPARE(missing_readmes(planted.root()).size(), std::size_t{1});
    }
    void a_long_and_a_large_file_are_found() {
        const PlantedProject planted;
        planted.write("core/common/long.cpp", std::string(601, '\n'));
        planted.write("core/common/short.cpp", std::string(600, '\n'));
        planted.write("core/common/large.bin", std::string(101, 'x'));
        const std::vector<fs::path> files{"core/common/long.cpp", "core/common/short.cpp", "core/common/large.bin"};
        QCOMPARE(long_files(planted.root(), files, 600).size(), std::size_t{1});
        QCOMPARE(large_files(planted.root(), {files[2]}, 100).size(), std::size_t{1});
        QCOMPARE(large_files(planted.root(), {files[2]}, 101).size(), std::size_t{0});
    }
    void a_wrong_line_in_the_table_is_named() {
        const PlantedProject planted;
        const auto table = [&](const char* text) {
            planted.write("core/layers.txt", text);
            return read_layers(planted.root() / "core/layers.txt");
        };
        EXPECT_ERROR(table("base common\n"), "layers.txt:1", "expected");
        EXPECT_ERROR(table("base a: b\nbase b:\n"), "layers.txt:1", "'b' has no line above");
        EXPECT_ERROR(table("learn a:\nbase b: a\n"), "layers.txt:2", "base may not use 'a'");
        EXPECT_ERROR(table("base a:\nbase a:\n"), "layers.txt:2", "two lines");
        EXPECT_ERROR(table("other a:\n"), "layers.txt:1", "'base' or 'learn'");
    }
};

FACETER_TEST(TestLayers)
#include "test_layers.moc"
