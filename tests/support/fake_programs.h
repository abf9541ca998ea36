#pragma once
#include <QByteArray>
#include <QtGlobal>
#include <filesystem>
#include <string>

#include "common/file.h"

namespace faceter::testing {

/// Shell scripts under the names of programs, first in PATH for as long as this object lives: a SLURM or an ssh whose answers a test
/// chooses.
class FakePrograms {
  public:
    FakePrograms() : path_(qgetenv("PATH")) { qputenv("PATH", (folder_.path().string() + ":" + path_.toStdString()).c_str()); }
    ~FakePrograms() { qputenv("PATH", path_); }
    FakePrograms(const FakePrograms&) = delete;
    FakePrograms& operator=(const FakePrograms&) = delete;

    void answers(const char* program, const std::string& script) const {
        write_file_atomic(folder_.path() / program, "#!/bin/sh\n" + script + "\n");
        std::filesystem::permissions(folder_.path() / program, std::filesystem::perms(0700));
    }

  private:
    TemporaryDirectory folder_;
    QByteArray path_;
};

}  // namespace faceter::testing
