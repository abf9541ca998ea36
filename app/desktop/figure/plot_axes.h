#pragma once
#include "figure/qcustomplot_header.h"

#include "figure/plot_style.h"
#include "figure/svg_plot.h"

namespace faceter::desktop {

/// A label of core/figure/ticks.h as the screen has it: with a minus sign, thin spaces in large numbers, powers of ten as 10⁻⁵.
QString tickText(const std::string& label);

/// Round places with the labels of core/figure/ticks.h, so that screen and report agree; powers of ten as 10⁻⁵.
class RoundTicker : public QCPAxisTicker {
  public:
    /// `whole`: nothing is between whole numbers, so no place is.
    RoundTicker(bool logarithmic, bool whole) : m_logarithmic(logarithmic), m_whole(whole) {}
    void setCount(int count) { m_count = count; }
    void generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks, QVector<double>* subTicks,
                  QVector<QString>* labels) override;

  private:
    bool m_logarithmic, m_whole;
    int m_count = 5;
};

/// Names at the places 0, 1, 2 ...; where there is no room every so many-th.
class NameTicker : public QCPAxisTicker {
  public:
    explicit NameTicker(QStringList names) : m_names(std::move(names)), m_shown(m_names) {}
    const QStringList& names() const { return m_names; }
    /// What is written instead of the names (wrapped, cut); as many.
    void setShown(QStringList shown, int every) {
        m_shown = std::move(shown);
        m_every = every;
    }
    void generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks, QVector<double>* subTicks,
                  QVector<QString>* labels) override;

  private:
    QStringList m_names, m_shown;
    int m_every = 1;
};

/// Lines, colours, fonts and tickers of both axes for `figure`; a grid on the value axis only.
void dressAxes(QCPAxis* x, QCPAxis* y, const Figure& figure, const PlotStyle& style);
/// Fits numbers of ticks and the writing of categories to the room there is: wrapped, turned, cut, or every n-th. Call after a layout.
void fitTicks(QCPAxis* x, QCPAxis* y, const PlotStyle& style);
/// Writes the title of an axis in as many as two lines, and cuts it where these are too few. Call after a layout.
void fitTitle(QCPAxis* axis, const QString& title, const PlotStyle& style);
/// In one line or two of at most `room`, cut in its middle where those do not hold it.
QString fittedTitle(const QString& title, double room, const QFontMetricsF& metrics);
/// How far left of the plot's left edge turned names reach: as margin of the axes it keeps the first of them whole.
int overhang(const QCPAxis* x, const PlotStyle& style);
/// The ranges of the data, as core/figure/svg_plot.h takes them, bounded to what an axis can show.
QCPRange homeRange(const Figure& figure, Qt::Orientation orientation);

}  // namespace faceter::desktop
