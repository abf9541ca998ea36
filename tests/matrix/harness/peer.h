#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "common/file.h"
#include "common/json.h"

namespace faceter::matrix {

/// sentence-transformers in a Python process that serves one request after another. Thread safe.
class Peer {
  public:
    explicit Peer(const std::string& python);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;
    /// {"embeddings": [[...]]}, or {"error": why}. `prompt`: the name of one of the folder's prompts; empty: its default.
    Json encode(const fs::path& folder, const std::string& prompt, const std::vector<std::string>& texts);

  private:
    Json ask(const Json& request);
    std::mutex mutex_;
    std::string python_;
    int to_ = -1, from_ = -1;
    int process_ = -1;
    std::string buffer_;
};

}  // namespace faceter::matrix
