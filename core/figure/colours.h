#pragma once
#include <string>

namespace faceter {

/// A colour as red, green, blue in [0, 1].
struct Colour {
    double red = 0, green = 0, blue = 0;
    std::string hex() const;
};

/// The colours of a figure: a frame without colour round data that has it.
struct Theme {
    Colour surface, line, text, secondary;
    bool dark = false;
    static Theme light();
    static Theme night();
    /// The palette's colour of a series (after Okabe and Ito, safe for colour-blind people), lightened on a dark surface until its contrast
    /// is 3:1; from the ninth on the colours come again with another dash.
    Colour series(int place) const;
    /// The same for text: with a contrast of 4.5:1.
    Colour series_text(int place) const;
};

/// "", "6 3", "2 2" for the first, second and third round of the palette: SVG's stroke-dasharray.
std::string palette_dash(int place);
/// viridis at t in [0, 1].
Colour sequential(double t);
/// blue - white - vermilion at t in [-1, 1].
Colour diverging(double t);
/// WCAG's ratio, 1 to 21.
double contrast(const Colour& a, const Colour& b);
Colour mix(const Colour& a, const Colour& b, double share_of_b);

}  // namespace faceter
