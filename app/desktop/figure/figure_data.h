#pragma once
#include <QString>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace faceter::desktop {

class FigurePlot;

/// The numbers behind a plot as rows of texts and numbers.
struct FigureData {
    using Cell = std::variant<std::string, double>;
    std::vector<std::string> header{};
    std::vector<std::vector<Cell>> rows{};
    QString csv() const;
    QString tsv() const;
};

/// Of what the plot shows: visible series, points within the visible range of x. A value that is not a number is an empty cell.
FigureData figureData(const FigurePlot& plot);

}  // namespace faceter::desktop
