#include <regex>
#include <set>

#include "common/strings.h"
#include "packaging/command.h"
#include "store/sqlite.h"
#include "store/store.h"
#include "support/sample_runs.h"

using namespace faceter;
using namespace faceter::packaging;
using namespace faceter::testing;

namespace {

const fs::path page = project / "resources/manual/records.md";

/// Lines of the table below a heading of records.md, without their first two.
std::vector<std::string> rows_below(const std::string& heading) {
    std::vector<std::string> rows;
    const std::string text = read_file(page);
    bool here = false;
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with("## ")) here = line == "## " + heading;
        if (here && line.starts_with("| `")) rows.emplace_back(line);
    }
    return rows;
}

/// What stands as `code` in a part of a row.
std::set<std::string> code_in(const std::string& text) {
    static const std::regex code("`([^`]+)`");
    std::set<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) found.insert((*it)[1].str());
    return found;
}

std::string cell(const std::string& row, std::size_t place) { return std::string(split(row, '|').at(place + 1)); }

std::set<std::string> first_cells(const std::string& heading) {
    std::set<std::string> names;
    for (const std::string& row : rows_below(heading)) names.merge(code_in(cell(row, 0)));
    return names;
}

void find_all(const fs::path& file, const std::string& pattern, std::set<std::string>& found) {
    const std::string text = read_file(file);
    const std::regex regex(pattern);
    for (std::sregex_iterator it(text.begin(), text.end(), regex), end; it != end; ++it) found.insert((*it)[1].str());
}

std::string missing(const std::set<std::string>& wanted, const std::set<std::string>& there) {
    std::string names;
    for (const std::string& name : wanted)
        if (!there.contains(name)) names += " " + name;
    return names;
}

}  // namespace

/// resources/manual/records.md says of the journal, the store and the session's protocol what the code does.
class TestRecordPages : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_event_of_the_journal_is_listed() {
        std::set<std::string> written;
        for (const char* folder : {"core", "app/worker", "plugins"})
            for (const auto& entry : fs::recursive_directory_iterator(project / folder))
                if (entry.path().extension() == ".cpp") find_all(entry.path(), "event\\(\\s*\"([a-z_]+)\"", written);
        find_all(project / "core/record/journal.cpp", "append\\(\"([a-z_]+)\"", written);
        QVERIFY(written.contains("attempt_started") && written.contains("finished"));
        const std::string names = missing(written, first_cells("The journal"));
        QVERIFY2(names.empty(), ("records.md lacks" + names).c_str());
    }
    void every_table_of_the_store_is_listed_with_its_columns() {
        const TemporaryDirectory folder;
        sample_run(folder.path());
        Store store(folder.path());
        store.ingest_all();
        Database database(store.file());
        std::map<std::string, std::set<std::string>> listed;
        for (const std::string& row : rows_below("The store"))
            for (const std::string& table : code_in(cell(row, 0))) listed[table] = code_in(cell(row, 1));
        Statement tables(database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'");
        int seen = 0;
        for (; tables.next(); ++seen) {
            const std::string table = tables.text(0);
            std::set<std::string> columns;
            for (Statement info(database, "SELECT name FROM pragma_table_info('" + table + "')"); info.next();)
                columns.insert(info.text(0));
            const std::string names = missing(columns, listed[table]);
            QVERIFY2(names.empty(), ("records.md lacks of " + table + names).c_str());
        }
        QCOMPARE(static_cast<int>(listed.size()), seen);
        QVERIFY2(read_file(page).find("version " + std::to_string(database.scalar("PRAGMA user_version")) + " (") != std::string::npos,
                 "records.md names another version of the store");
    }
    void every_method_of_the_session_is_listed() {
        std::set<std::string> methods;
        find_all(project / "app/worker/command_session.cpp", "\\{\"([a-z_]+)\", with_data", methods);
        QVERIFY(methods.size() > 10);
        QVERIFY(first_cells("The session's protocol") == methods);
    }
};

FACETER_TEST(TestRecordPages)
#include "test_record_pages.moc"
