#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "figure/colours.h"

namespace faceter {

struct Stroke {
    Colour colour;
    double width = 1;
    std::string dash{};
    double opacity = 1;
};

struct TextStyle {
    double size = 11;
    Colour colour;
    std::string_view anchor = "start";  ///< start, middle, end
    bool bold = false;
    double turned = 0;  ///< degrees about the anchor
};

using Points = std::vector<std::pair<double, double>>;

/// Elements of one SVG document, in pixels from the top left. Every text is escaped here and nowhere else.
class SvgCanvas {
  public:
    SvgCanvas(double width, double height) : width_(width), height_(height) {}
    void line(double x1, double y1, double x2, double y2, const Stroke& stroke);
    void rectangle(double x, double y, double width, double height, const Colour& fill, double opacity = 1);
    void circle(double x, double y, double radius, const Colour& fill, double opacity = 1);
    void polyline(const Points& points, const Stroke& stroke);
    void polygon(const Points& points, const Colour& fill, double opacity);
    void text(double x, double y, std::string_view text, const TextStyle& style);
    /// The whole document.
    std::string document(std::string_view title) const;

  private:
    std::string points_text(const Points& points) const;
    double width_, height_;
    std::string body_;
};

/// About how wide a text is drawn, in pixels (an average font: the writer has none).
double text_width(std::string_view text, double size);

}  // namespace faceter
