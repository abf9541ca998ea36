#pragma once
#include <string>

#include "figure/figure.h"

namespace faceter {

struct SvgOptions {
    double width = 640, height = 400;  ///< px; the figure is higher where its names and notes would leave the plot no room
    bool dark = false;
    bool background = true;  ///< paint the surface behind the figure
};

/// The figure as one self-contained SVG document: no script, no outside reference, every text escaped.
std::string figure_to_svg(const Figure& figure, const SvgOptions& options = {});
/// How high that document is.
double svg_height(const Figure& figure, const SvgOptions& options = {});

}  // namespace faceter
