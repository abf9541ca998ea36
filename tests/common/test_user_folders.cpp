#include <pwd.h>
#include <unistd.h>

#include "common/file.h"
#include "common/user_folders.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// Folders that the environment names.
class TestUserFolders : public QObject {
    Q_OBJECT
    const QByteArray home_ = qgetenv("HOME"), temporary_ = qgetenv("TMPDIR");

  private Q_SLOTS:
    void cleanup() {
        qputenv("HOME", home_);
        temporary_.isEmpty() ? qunsetenv("TMPDIR") : qputenv("TMPDIR", temporary_);
    }
    void without_home_that_of_the_user_counts() {
        const passwd* user = ::getpwuid(::geteuid());
        if (!user) QSKIP("this user has no name");
        qputenv("HOME", "/somewhere");
        QCOMPARE(home_folder().string(), std::string("/somewhere"));
        for (const bool set : {true, false}) {
            set ? qputenv("HOME", "") : qunsetenv("HOME");
            QCOMPARE(home_folder().string(), std::string(user->pw_dir));
        }
    }
    void a_temporary_folder_that_is_not_there_is_named() {
        qputenv("TMPDIR", "/nonexistent/place");
        EXPECT_ERROR(temporary_folder(), "/nonexistent/place: no folder for temporary files: No such file or directory; set TMPDIR to one");
        EXPECT_ERROR(TemporaryDirectory{}, "/nonexistent/place: no folder for temporary files");
        qputenv("TMPDIR", "/tmp");
        QCOMPARE(temporary_folder().string(), std::string("/tmp"));
    }
};

FACETER_TEST(TestUserFolders)
#include "test_user_folders.moc"
