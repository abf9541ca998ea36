#include <fstream>
#include <regex>
#include <set>

#include "layers/layer_rules.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::layers;

namespace {

const fs::path project = FACETER_SOURCE_DIR;

std::set<std::string> listed_headers() {
    std::set<std::string> headers;
    std::ifstream in(project / "core/public_headers.txt");
    for (std::string line; std::getline(in, line);)
        if (!line.empty() && line.front() != '#') headers.insert(line);
    return headers;
}

/// Headers of core/ that a file includes, by their path below it.
std::set<std::string> core_headers_of(const fs::path& file) {
    static const std::regex directive("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"].*");
    std::set<std::string> headers;
    std::ifstream in(file);
    std::smatch match;
    for (std::string line; std::getline(in, line);) {
        if (!std::regex_match(line, match, directive)) continue;
        const std::string name = match[1].str();
        for (const fs::path& place : {fs::path(name), (fs::relative(file.parent_path(), project / "core") / name).lexically_normal()})
            if (*place.begin() != ".." && fs::is_regular_file(project / "core" / place)) headers.insert(place.string());
    }
    return headers;
}

/// What methods are made of: ours, and those that `faceter plugin new` writes.
std::vector<fs::path> sources_of_methods() {
    std::vector<fs::path> sources = sources_in(project / "plugins");
    for (const fs::path& file : sources_in(project / "resources/plugin_templates")) sources.push_back(file);
    sources.push_back(project / "packaging/cmake/manifest_main.cpp");
    sources.push_back(project / "core/plugin/abi.cpp");
    return sources;
}

}  // namespace

/// core/public_headers.txt: what is installed for plugins outside of this repository.
class TestPublicHeaders : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void what_methods_include_is_public_and_nothing_else() {
        std::set<std::string> wanted, waiting;
        for (const fs::path& source : sources_of_methods()) waiting.merge(core_headers_of(source));
        while (!waiting.empty()) {
            const std::string header = waiting.extract(waiting.begin()).value();
            if (!wanted.insert(header).second) continue;
            for (const std::string& further : core_headers_of(project / "core" / header))
                if (!wanted.contains(further)) waiting.insert(further);
        }
        QVERIFY(wanted.contains("plugin/registry.h"));
        const std::set<std::string> listed = listed_headers();
        std::string wrong;
        for (const std::string& header : wanted)
            if (!listed.contains(header)) wrong += "\n  add " + header;
        for (const std::string& header : listed)
            if (!wanted.contains(header)) wrong += "\n  take away " + header;
        QVERIFY2(wrong.empty(), ("core/public_headers.txt:" + wrong).c_str());
    }
};

FACETER_TEST(TestPublicHeaders)
#include "test_public_headers.moc"
