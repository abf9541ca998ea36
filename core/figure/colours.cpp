#include "figure/colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace faceter {
namespace {

constexpr int palette_size = 8;

Colour of_hex(std::uint32_t rgb) { return {(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0}; }

double luminance(const Colour& c) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(c.red) + 0.7152 * linear(c.green) + 0.0722 * linear(c.blue);
}

}  // namespace

std::string Colour::hex() const {
    const auto byte = [](double v) { return static_cast<int>(std::lround(std::clamp(v, 0.0, 1.0) * 255)); };
    return fmt::format("#{:02X}{:02X}{:02X}", byte(red), byte(green), byte(blue));
}

Theme Theme::light() { return {of_hex(0xFFFFFF), of_hex(0xDADDE1), of_hex(0x1B1F24), of_hex(0x5B6470), false}; }

Theme Theme::night() { return {of_hex(0x1E2227), of_hex(0x343A42), of_hex(0xE6E9ED), of_hex(0x9AA4B0), true}; }

Colour Theme::series(int place) const {
    constexpr std::array<std::uint32_t, palette_size> palette{0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                              0xE69F00, 0x56B4E9, 0x8C6D31, 0x7F7F7F};
    Colour colour = of_hex(palette[static_cast<std::size_t>(place % palette_size)]);
    while (dark && contrast(colour, surface) < 3) colour = mix(colour, {1, 1, 1}, 0.1);
    return colour;
}

Colour Theme::series_text(int place) const {
    Colour colour = series(place);
    while (contrast(colour, surface) < 4.5) colour = mix(colour, text, 0.1);
    return colour;
}

std::string palette_dash(int place) {
    const int round = place / palette_size % 3;
    return round == 0 ? "" : round == 1 ? "6 3" : "2 2";
}

Colour sequential(double t) {
    constexpr std::array<std::uint32_t, 9> stops{0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725};
    const double at = std::clamp(t, 0.0, 1.0) * (stops.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    return mix(of_hex(stops[below]), of_hex(stops[below + 1]), at - static_cast<double>(below));
}

Colour diverging(double t) {
    const Colour white{1, 1, 1};
    return t < 0 ? mix(white, of_hex(0x0072B2), std::min(1.0, -t)) : mix(white, of_hex(0xD55E00), std::min(1.0, t));
}

double contrast(const Colour& a, const Colour& b) {
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

Colour mix(const Colour& a, const Colour& b, double share) {
    return {a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share, a.blue + (b.blue - a.blue) * share};
}

}  // namespace faceter
