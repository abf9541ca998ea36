#pragma once
#include <string>
#include <vector>

namespace faceter {

/// Places of an axis and their labels.
struct Tick {
    double value = 0;
    std::string label;
};

/// At most about `count` round places (1, 2 or 5 times a power of ten) within [low, high]. Nothing for a range that is empty or not finite.
std::vector<Tick> linear_ticks(double low, double high, int count);
/// The same of what has nothing between whole numbers.
std::vector<Tick> whole_ticks(double low, double high, int count);
/// Powers of ten within [low, high], with 2 and 5 between them where there is room; 0 < low < high.
std::vector<Tick> log_ticks(double low, double high, int count);

}  // namespace faceter
