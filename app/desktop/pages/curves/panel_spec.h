#pragma once
#include <QJsonObject>
#include <QStringList>
#include <optional>

namespace faceter::desktop {

/// Columns of the board on which panels lie.
constexpr int board_columns = 4;
constexpr int lowest_panel = 160, highest_panel = 1200;  // px

/// What a panel of page Curves shows, and what it has otherwise than the page.
struct PanelSpec {
    QStringList patterns{};          ///< names of series, globs ("loss/*"), or regular expressions between slashes ("/^loss/")
    std::optional<int> smoothing{};  ///< place of the slider, 0 to 100
    std::optional<bool> logX{}, logY{};
    std::optional<double> low{}, high{};  ///< ends of the value axis
    bool clipped = false;                 ///< outliers are left out of the value axis
    int width = 0;                        ///< in columns of the board; 0: as there is room
    int height = 0;                       ///< px; 0: as there is room
    QJsonObject toJson() const;
    /// What cannot be is left as it is by default: states are of other versions, and of anybody's hand.
    static PanelSpec fromJson(const QJsonObject& json);
    bool operator==(const PanelSpec&) const = default;
};

/// "loss/*, lr": patterns between commas. A regular expression may have commas of its own; in a name one is written "\,".
QStringList patternsFrom(const QString& text);
/// The text that patternsFrom() makes these of.
QString patternsText(const QStringList& patterns);
/// Of `names` those that a pattern matches, in their order.
QStringList matching(const QStringList& patterns, const QStringList& names);
/// Which pattern is no regular expression, and why; empty: none.
QString patternProblem(const QStringList& patterns);
/// A smoothing slider's 0 to 100 as a weight: fine near 1, where it matters.
double smoothingWeight(int slider);

}  // namespace faceter::desktop
