#include "store/store.h"

namespace faceter {

std::unordered_map<std::string, std::string> Store::hosts() {
    std::unordered_map<std::string, std::string> hosts;
    // Ascending attempts: the newest one's host stays.
    Statement rows(
        *database_,
        "SELECT run, json_extract(fields, '$.host') FROM events WHERE type = 'attempt_started' AND rank = 0 ORDER BY run, attempt");
    while (rows.next())
        if (std::string host = rows.text(1); !host.empty()) hosts[rows.text(0)] = std::move(host);
    return hosts;
}

}  // namespace faceter
