#include <cstring>
#include <limits>
#include <vector>

/// Does what a sanitizer must find (`address`, `undefined`) and ends well where none did.
int main(int argc, char** argv) {
    if (argc != 2) return 0;
    if (std::strcmp(argv[1], "address") == 0) {
        const std::vector<char> bytes(static_cast<std::size_t>(argc));
        const volatile char* end = bytes.data() + bytes.size();
        return *end == 1 ? 0 : 0;
    }
    volatile int most = std::numeric_limits<int>::max();
    most = most + argc;
    return 0;
}
