#include "common/in_place.h"

#include "common/error.h"

namespace faceter {

void check_in_place(const fs::path& part) {
    std::error_code ignored;
    if (fs::status(part, ignored).type() == fs::file_type::not_found)
        throw failure(
            "{}: the run's folder was moved or removed while the run was at work; this attempt ends, and 'faceter resume' goes on "
            "where the folder is now",
            part.string());
}

}  // namespace faceter
