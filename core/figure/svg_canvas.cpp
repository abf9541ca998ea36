#include "figure/svg_canvas.h"

#include <fmt/format.h>

#include "figure/escape.h"
#include "figure/text_width.h"

namespace faceter {
namespace {

/// Two decimals, no trailing zeros.
std::string px(double value) {
    std::string text = fmt::format("{:.2f}", value);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

std::string stroke_text(const Stroke& stroke) {
    std::string text = fmt::format("stroke=\"{}\" stroke-width=\"{}\"", stroke.colour.hex(), px(stroke.width));
    if (!stroke.dash.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dash);
    if (stroke.opacity < 1) text += fmt::format(" stroke-opacity=\"{}\"", px(stroke.opacity));
    return text;
}

std::string fill_text(const Colour& fill, double opacity) {
    return fmt::format("fill=\"{}\"{}", fill.hex(), opacity < 1 ? fmt::format(" fill-opacity=\"{}\"", px(opacity)) : "");
}

}  // namespace

double text_width(std::string_view text, double size) { return 0.56 * size * display_width(text); }

void SvgCanvas::line(double x1, double y1, double x2, double y2, const Stroke& stroke) {
    body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", px(x1), px(y1), px(x2), px(y2), stroke_text(stroke));
}

void SvgCanvas::rectangle(double x, double y, double width, double height, const Colour& fill, double opacity) {
    body_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" {}/>\n", px(x), px(y), px(width), px(height),
                         fill_text(fill, opacity));
}

void SvgCanvas::circle(double x, double y, double radius, const Colour& fill, double opacity) {
    body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", px(x), px(y), px(radius), fill_text(fill, opacity));
}

std::string SvgCanvas::points_text(const Points& points) const {
    std::string text;
    for (const auto& [x, y] : points) text += (text.empty() ? "" : " ") + px(x) + "," + px(y);
    return text;
}

void SvgCanvas::polyline(const Points& points, const Stroke& stroke) {
    body_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\" {}/>\n",
                         points_text(points), stroke_text(stroke));
}

void SvgCanvas::polygon(const Points& points, const Colour& fill, double opacity) {
    body_ += fmt::format("<polygon points=\"{}\" {}/>\n", points_text(points), fill_text(fill, opacity));
}

void SvgCanvas::text(double x, double y, std::string_view text, const TextStyle& style) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"", px(x), px(y), px(style.size), style.colour.hex());
    if (style.anchor != "start") body_ += fmt::format(" text-anchor=\"{}\"", style.anchor);
    if (style.bold) body_ += " font-weight=\"600\"";
    if (style.turned != 0) body_ += fmt::format(" transform=\"rotate({} {} {})\"", px(style.turned), px(x), px(y));
    body_ += ">" + escape_xml(text) + "</text>\n";
}

std::string SvgCanvas::document(std::string_view title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
        "font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif\" "
        "style=\"font-variant-numeric: tabular-nums\">\n<title>{2}</title>\n{3}</svg>\n",
        px(width_), px(height_), escape_xml(title), body_);
}

}  // namespace faceter
