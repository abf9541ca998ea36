#include "pages/page.h"

#include <algorithm>

namespace faceter::desktop {
namespace {

std::vector<PageEntry>& registry() {
    static std::vector<PageEntry> entries;
    return entries;
}

}  // namespace

PageRegistration::PageRegistration(PageEntry entry) { registry().push_back(std::move(entry)); }

std::vector<PageEntry> pageEntries() {
    std::vector<PageEntry> entries = registry();
    std::sort(entries.begin(), entries.end(), [](const PageEntry& a, const PageEntry& b) { return a.order < b.order; });
    return entries;
}

}  // namespace faceter::desktop
