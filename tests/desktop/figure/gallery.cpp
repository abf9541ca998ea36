// figure_gallery FOLDER: every kind of figure in light and dark at 1x and 2x, and a sheet of widgets, as PNG, to be looked at.
// figure_gallery --time: how long a replot takes with series of 1 and 10 million points.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QRadioButton>
#include <QSlider>
#include <QSpinBox>
#include <QTabBar>
#include <QTableWidget>
#include <QToolButton>
#include <cmath>
#include <cstdio>
#include <random>

#include "figure/figure_view.h"
#include "sample_figures.h"
#include "theme/icons.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

void saveView(const Figure& figure, const QString& path, int scale) {
    FigureView view(figure);
    view.resize(520, 320);
    QPixmap pixmap(view.size() * scale);
    pixmap.setDevicePixelRatio(scale);
    view.plot()->setBufferDevicePixelRatio(scale);
    view.show();
    QApplication::processEvents();
    view.plot()->replot(QCustomPlot::rpImmediateRefresh);
    view.render(&pixmap);
    pixmap.save(path);
}

/// Many pictures on one, to be looked at side by side.
void saveContacts(const QStringList& paths, const QString& path, int columns) {
    const QSize one = QImage(paths.first()).size();
    const int rows = (static_cast<int>(paths.size()) + columns - 1) / columns;
    QImage sheet(one.width() * columns, one.height() * rows, QImage::Format_RGB32);
    sheet.fill(Qt::gray);
    QPainter painter(&sheet);
    for (int i = 0; i < paths.size(); ++i) painter.drawImage(i % columns * one.width(), i / columns * one.height(), QImage(paths[i]));
    painter.end();
    sheet.save(path);
}

void saveSheet(const QString& path) {
    QWidget sheet;
    auto* grid = new QGridLayout(&sheet);
    grid->setContentsMargins(24, 24, 24, 24);
    int row = 0;
    auto* title = new QLabel("Runs");
    title->setProperty("role", "title");
    grid->addWidget(title, row++, 0);
    auto* tabs = new QTabBar;
    for (const char* name : {"Compose", "Runs", "Curves", "Compare", "Facets"}) tabs->addTab(name);
    tabs->setCurrentIndex(1);
    grid->addWidget(tabs, row++, 0, 1, 4);
    auto* primary = new QPushButton("New experiment");
    primary->setProperty("role", "primary");
    auto* quiet = new QPushButton("Quiet");
    quiet->setProperty("role", "quiet");
    auto* off = new QPushButton("Disabled");
    off->setEnabled(false);
    int column = 0;
    for (QWidget* w : std::initializer_list<QWidget*>{new QPushButton(icon("export"), "Export"), primary, quiet, off})
        grid->addWidget(w, row, column++);
    ++row;
    auto* combo = new QComboBox;
    combo->addItems({"Baseline: EM", "Baseline: IC"});
    auto* check = new QCheckBox("Show raw");
    check->setChecked(true);
    auto* radio = new QRadioButton("by step");
    radio->setChecked(true);
    auto* edit = new QLineEdit("retrieval > 0.60");
    auto* bad = new QLineEdit("temprature: 0.02");
    bad->setProperty("invalid", true);
    auto* bar = new QProgressBar;
    bar->setValue(60);
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setValue(40);
    column = 0;
    for (QWidget* w : std::initializer_list<QWidget*>{combo, new QSpinBox, edit, bad}) grid->addWidget(w, row, column++);
    ++row;
    column = 0;
    for (QWidget* w : std::initializer_list<QWidget*>{check, radio, bar, slider}) grid->addWidget(w, row, column++);
    ++row;
    auto* table = new QTableWidget(6, 4);
    table->setHorizontalHeaderLabels({"group", "state", "retrieval", "time"});
    table->verticalHeader()->hide();
    table->verticalHeader()->setDefaultSectionSize(24);
    table->setShowGrid(false);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->selectRow(1);
    for (int r = 0; r < 6; ++r)
        for (int c = 0; c < 4; ++c)
            table->setItem(r, c, new QTableWidgetItem(c == 0 ? "MoTE n = 3" : c == 1 ? "done" : c == 2 ? "67.04 ± 0.11" : "11 min 40 s"));
    table->horizontalHeader()->setStretchLastSection(true);
    grid->addWidget(table, row++, 0, 1, 4);
    auto* icons = new QWidget;
    auto* cells = new QGridLayout(icons);
    int i = 0;
    for (const QString& name : iconNames()) {
        auto* label = new QLabel;
        label->setPixmap(icon(name).pixmap(QSize(16, 16), 2.0));
        label->setToolTip(name);
        cells->addWidget(label, i / 13, i % 13);
        ++i;
    }
    grid->addWidget(icons, row++, 0, 1, 4);
    sheet.resize(640, 560);
    sheet.setObjectName("sheet");
    sheet.setStyleSheet(QStringLiteral("#sheet { background: %1; }").arg(Theme::instance().colours().window.name()));
    sheet.show();
    QApplication::processEvents();
    sheet.grab().save(path);
}

void gallery(const QString& folder) {
    QDir().mkpath(folder);
    for (const bool dark : {false, true}) {
        Theme::instance().setMode(dark ? Theme::Mode::dark : Theme::Mode::light);
        const QString theme = dark ? "dark" : "light";
        int i = 0;
        QStringList small;
        for (const Figure& figure : testing::sample_figures()) {
            for (const int scale : {1, 2}) {
                const QString name = QStringLiteral("%1-%2-%3-%4x.png")
                                         .arg(i, 2, 10, QLatin1Char('0'))
                                         .arg(QString::fromStdString(figure.name), theme)
                                         .arg(scale);
                saveView(figure, folder + QLatin1Char('/') + name, scale);
                if (scale == 1) small << folder + QLatin1Char('/') + name;
            }
            ++i;
        }
        for (int first = 0, sheet = 1; first < small.size(); first += 9, ++sheet)
            saveContacts(small.mid(first, 9), QStringLiteral("%1/all-%2-%3.png").arg(folder, theme).arg(sheet), 3);
        saveSheet(QStringLiteral("%1/widgets-%2.png").arg(folder, theme));
    }
    for (const Figure& figure : {testing::sample_lines(), testing::sample_heat_map(), testing::sample_bars()}) {
        FigureView view(figure);
        view.resize(500, 300);
        for (const ExportFormat format : {ExportFormat::pdf, ExportFormat::svg, ExportFormat::png})
            view.exportTo(QStringLiteral("%1/export-%2.%3").arg(folder, QString::fromStdString(figure.name), exportSuffix(format)), format);
    }
}

void timeReplots(std::size_t points) {
    std::mt19937 random(1);
    std::normal_distribution<double> noise(0, 0.1);
    std::vector<double> x(points), y(points);
    for (std::size_t i = 0; i < points; ++i) {
        x[i] = static_cast<double>(i);
        y[i] = 2 * std::exp(-3.0 * static_cast<double>(i) / static_cast<double>(points)) + noise(random);
    }
    Figure figure;
    figure.series = {{.name = "loss", .x = std::move(x), .y = std::move(y)}};
    QElapsedTimer timer;
    timer.start();
    FigureView view(figure);
    const double build = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    view.resize(1280, 480);
    view.show();
    QApplication::processEvents();
    double worst = 0, sum = 0;
    constexpr int frames = 60;
    for (int i = 0; i < frames; ++i) {
        const double n = static_cast<double>(points), size = n * std::pow(0.9, i % 40);
        view.plot()->xAxis->setRange(n * 0.3 - size * 0.3, n * 0.3 + size * 0.7);
        timer.restart();
        view.plot()->replot(QCustomPlot::rpImmediateRefresh);
        const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
        worst = std::max(worst, ms);
        sum += ms;
    }
    std::printf("%9zu points: taken in %.0f ms, replot at 1280 x 480 %.1f ms on average, %.1f ms at worst (%d zoom steps)\n", points, build,
                sum / frames, worst, frames);
}

}  // namespace
}  // namespace faceter::desktop

int main(int argc, char** argv) {
    using namespace faceter::desktop;
    QApplication application(argc, argv);
    Theme::instance().apply();
    const QString argument = argc > 1 ? QString::fromLocal8Bit(argv[1]) : QString();
    if (argument == "--time") {
        for (const std::size_t points : {std::size_t{1000}, std::size_t{1000000}, std::size_t{10000000}}) timeReplots(points);
        return 0;
    }
    if (argument.isEmpty()) {
        std::fprintf(stderr, "usage: figure_gallery FOLDER | --time\n");
        return 2;
    }
    gallery(argument);
    return 0;
}
