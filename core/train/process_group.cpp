#include "train/process_group.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

namespace faceter {

std::string text_of_root(ProcessGroup& group, const std::string& text) {
    if (group.size() == 1) return text;
    const std::int64_t bytes = group.rank() == 0 ? static_cast<std::int64_t>(text.size()) : 0;
    const at::Tensor own = at::empty({bytes, 1}, at::kByte);
    if (bytes > 0) std::memcpy(own.data_ptr(), text.data(), text.size());
    const at::Tensor all = group.all_gather_rows(own).contiguous();
    return {static_cast<const char*>(all.data_ptr()), static_cast<std::size_t>(all.numel())};
}

Share share_of(std::int64_t count, int rank, int size) {
    const std::int64_t each = count / size, more = count % size, begin = rank * each + std::min<std::int64_t>(rank, more);
    return {begin, begin + each + (rank < more ? 1 : 0)};
}

}  // namespace faceter
