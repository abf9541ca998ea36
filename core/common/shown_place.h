#pragma once
#include "common/file.h"

namespace faceter {

/// While it lives, errors of the file layer say `place` where `made` or something in it cannot be written: what is made under a name of its
/// own and put in place when it is whole (AtomicFile, a staged folder) goes before anybody reads the error.
class ShownPlace {
  public:
    ShownPlace(const fs::path& made, const fs::path& place);
    ~ShownPlace();
    ShownPlace(const ShownPlace&) = delete;
    ShownPlace& operator=(const ShownPlace&) = delete;

  private:
    std::string made_;
};

}  // namespace faceter
