#pragma once
#include <map>
#include <optional>
#include <string>

namespace faceter {

/// What runs say of the same things, such as the data that they were scored on: of each thing the first two that differ are told, once.
class Agreement {
  public:
    struct Said {
        std::string run, content;
    };
    /// What an earlier run said of the thing called `key` where this one is the first to say otherwise. Nothing said agrees with all.
    std::optional<Said> differs(const std::string& key, const std::string& run, const std::string& content);

  private:
    struct First {
        Said said;
        bool told = false;  ///< that another run differs
    };
    std::map<std::string, First> first_;
};

}  // namespace faceter
