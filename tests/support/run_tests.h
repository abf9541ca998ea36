#pragma once
#include <QCoreApplication>
#include <cstdio>
#include <map>

#include "support/checkout.h"
#include "support/test.h"

// Included once by each test program's main file.

namespace faceter::testing {
namespace {
std::map<std::string, std::function<std::unique_ptr<QObject>()>>& tests() {
    static std::map<std::string, std::function<std::unique_ptr<QObject>()>> all;
    return all;
}
}  // namespace

bool register_test(const char* file, std::function<std::unique_ptr<QObject>()> make) {
    tests()[std::filesystem::path(file).stem().string()] = std::move(make);
    return true;
}

std::filesystem::path shared_folder() {
    const char* set = std::getenv("FACETER_SHARED");
    const std::filesystem::path folder = set ? set : std::filesystem::path(FACETER_SOURCE_DIR) / ".." / "shared";
    return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

/// The program, once its application object is there. usage: test_FOLDER [NAME [QtTest arguments]]; without a name all tests of the folder
/// run.
inline int run_tests(int argc, char** argv) {
    // QtTest ends a function after five minutes: on a busy or slow machine that is a timed assertion which nobody wrote.
    if (!qEnvironmentVariableIsSet("QTEST_FUNCTION_TIMEOUT")) qputenv("QTEST_FUNCTION_TIMEOUT", "2147483647");
    const std::string wanted = argc > 1 ? argv[1] : "";
    int failed = 0, ran = 0;
    for (const auto& [name, make] : tests()) {
        if (!wanted.empty() && name != wanted) continue;
        // A crash ends at once: the handler would start a debugger, and again for what that throws.
        QStringList arguments{QString::fromUtf8(argv[0]), QStringLiteral("-nocrashhandler")};
        for (int i = 2; i < argc; ++i) arguments << QString::fromUtf8(argv[i]);
        const auto test = make();
        failed += QTest::qExec(test.get(), arguments) != 0;
        ++ran;
    }
    if (ran == 0) {
        std::fprintf(stderr, "no test named %s\n", wanted.c_str());
        return 2;
    }
    return failed ? 1 : 0;
}

}  // namespace faceter::testing
