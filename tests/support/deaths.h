#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "common/error.h"
#include "common/file.h"

namespace faceter::testing {

/// Runs `body` in a process of its own that dies at its `wanted`th operation of the file layer (from 1), `torn`: after half of it where
/// that is a write. False where it came to its end before.
inline bool dies_at(int wanted, bool torn, const std::function<void()>& body) {
    constexpr int died = 9;
    const pid_t child = ::fork();
    if (child == 0) {
        int count = 0;
        set_file_fault_hook([&](FileOperation operation, const fs::path&) {
            if (++count < wanted) return 0;
            if (count == wanted && torn && operation == FileOperation::write) return short_write;
            ::_exit(died);
        });
        try {
            body();
        } catch (const std::exception&) {
        }
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == died;
}

/// Calls `body` on a new scene for each operation that it does, in a process that dies there, and `check` on what is left. Returns how
/// many operations there were.
template <typename Scene>
int die_everywhere(const std::function<void(Scene&)>& body, const std::function<void(Scene&)>& check) {
    for (int operation = 1;; ++operation) {
        bool died = false;
        for (const bool torn : {false, true}) {
            Scene scene;
            died |= dies_at(operation, torn, [&] { body(scene); });
            check(scene);
        }
        if (!died) return operation - 1;
    }
}

/// The same in this process, with an operation that fails: once for each of the errors that a disk gives. `body` may throw an Error or go
/// on.
template <typename Scene>
int fail_everywhere(const std::function<void(Scene&)>& body, const std::function<void(Scene&)>& check) {
    for (int operation = 1;; ++operation) {
        bool failed = false;
        for (const int error : {ENOSPC, EIO, EROFS, EACCES, EDQUOT}) {
            Scene scene;
            int count = 0;
            set_file_fault_hook([&](FileOperation, const fs::path&) { return ++count == operation ? error : 0; });
            try {
                body(scene);
            } catch (const Error&) {
            }
            set_file_fault_hook(nullptr);
            failed |= count >= operation;
            check(scene);
        }
        if (!failed) return operation - 1;
    }
}

}  // namespace faceter::testing
