#include <QClipboard>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTimer>
#include <QXmlStreamReader>
#include <utility>

#include "common/strings.h"
#include "desktop/support/save_dialog.h"
#include "view_support.h"

namespace faceter::desktop {

using namespace faceter::testing;

namespace {

QByteArray bytesOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// The texts of an SVG, a line each; an error of its form fails the test.
QStringList wordsOf(const QString& svg) {
    QXmlStreamReader reader(bytesOf(svg));
    QStringList words;
    while (!reader.atEnd())
        if (reader.readNext() == QXmlStreamReader::Characters) words << reader.text().toString();
    if (reader.hasError()) QTest::qFail(qPrintable(reader.errorString()), __FILE__, __LINE__);
    return words;
}

/// Where the shapes of an SVG reach that are drawn in `colour`.
QRectF reachOf(const QString& svg, const QColor& colour) {
    static const QRegularExpression pair(QStringLiteral("(-?[0-9.]+(?:e[-+]?[0-9]+)?),(-?[0-9.]+(?:e[-+]?[0-9]+)?)"));
    QXmlStreamReader reader(bytesOf(svg));
    QList<bool> coloured{false};  // of the groups around
    QPolygonF points;
    while (!reader.atEnd()) {
        const auto token = reader.readNext();
        const bool isGroup = reader.name() == QStringLiteral("g");
        if (isGroup && token == QXmlStreamReader::EndElement) coloured.removeLast();
        if (token != QXmlStreamReader::StartElement) continue;
        const QXmlStreamAttributes has = reader.attributes();
        const auto number = [&has](const char* name) { return has.value(QLatin1String(name)).toDouble(); };
        if (isGroup) coloured << (has.value(QLatin1String("stroke")) == colour.name() || has.value(QLatin1String("fill")) == colour.name());
        if (!coloured.last()) continue;
        for (const char* name : {"points", "d"})
            for (const QRegularExpressionMatch& found : pair.globalMatch(has.value(QLatin1String(name)).toString()))
                points << QPointF(found.captured(1).toDouble(), found.captured(2).toDouble());
        if (reader.name() == QStringLiteral("rect"))
            points << QPointF(number("x"), number("y")) << QPointF(number("x") + number("width"), number("y") + number("height"));
    }
    return points.boundingRect();
}

}  // namespace

class TestFigureExport : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_kind_gives_a_pdf_an_svg_with_its_words_and_a_png() {
        for (const Figure& figure :
             {sample_lines(), sample_bars(), sample_densities(), sample_scatter(), sample_box(), sample_heat_map()}) {
            auto view = shown(figure);
            const QTemporaryDir folder;
            const QString pdf = folder.filePath("f.pdf"), svg = folder.filePath("f.svg"), png = folder.filePath("f.png");
            view->exportTo(pdf, ExportFormat::pdf);
            QVERIFY(bytesOf(pdf).startsWith("%PDF-"));
            QVERIFY(bytesOf(pdf).size() > 3000);
            QVERIFY(bytesOf(pdf).contains("%%EOF"));
            view->exportTo(svg, ExportFormat::svg);
            const QString words = wordsOf(svg).join(QLatin1Char('\n'));
            QVERIFY(words.contains(QString::fromStdString(figure.title)));
            for (const Series& series : figure.series)
                QVERIFY2(words.contains(QString::fromStdString(series.name)) || figure.series.size() == 1, series.name.c_str());
            for (const std::string& row : figure.heat_map.rows) QVERIFY(words.contains(QString::fromStdString(row)));
            if (!figure.y.label.empty()) QVERIFY(words.contains(QString::fromStdString(figure.y.label)));
            view->exportTo(png, ExportFormat::png);
            QCOMPARE(QImage(png).size(), QSize(1280, 800));
        }
    }

    void what_is_zoomed_ends_at_the_axes_of_an_svg() {
        const QTemporaryDir folder;
        const QString svg = folder.filePath("f.svg");
        for (const Figure& figure : {sample_lines(), sample_bars(), sample_densities(), sample_scatter(), sample_box()}) {
            auto view = shown(figure);
            for (QCPAxis* axis : {view->plot()->xAxis, view->plot()->yAxis}) axis->scaleRange(0.6);
            view->exportTo(svg, ExportFormat::svg);
            QRectF reach;
            for (const PlottedSeries& series : view->grabData()) reach |= reachOf(svg, series.colour);
            const QString text = QStringLiteral("%1: %2 %3 %4 %5").arg(figure.name.c_str()).arg(reach.left()).arg(reach.top());
            QVERIFY2(QRectF(30, 25, 600, 355).contains(reach), qPrintable(text.arg(reach.right()).arg(reach.bottom())));
        }
    }

    void an_export_is_high_enough_for_the_names_of_all_its_lines() {
        Figure figure = sample_lines(30);
        for (std::size_t s = 0; s < figure.series.size(); ++s) figure.series[s].name = "line " + std::to_string(s) + ".";
        auto view = shown(figure);
        const QTemporaryDir folder;
        view->exportTo(folder.filePath("f.svg"), ExportFormat::svg);
        const QString words = wordsOf(folder.filePath("f.svg")).join(QLatin1Char('\n'));
        for (const Series& series : figure.series) QVERIFY2(words.contains(QString::fromStdString(series.name)), series.name.c_str());
        QVERIFY(!words.contains(QStringLiteral("more")));
        QVERIFY(figureImage(*view->plot()).height() > 800);
    }

    void a_long_title_of_a_colour_bar_breaks_and_is_not_cut() {
        Figure figure = sample_heat_map();
        figure.heat_map.label = "mean cosine similarity of the same texts under both tasks' instructions";
        const QTemporaryDir folder;
        const QString svg = folder.filePath("f.svg");
        shown(figure)->exportTo(svg, ExportFormat::svg);
        const QString words = wordsOf(svg).join(QLatin1Char('\n'));
        QVERIFY2(words.simplified().contains(QString::fromStdString(figure.heat_map.label)), qPrintable(words.simplified()));
    }

    void a_colour_bar_ends_where_the_values_do() {
        Figure figure = sample_heat_map(1, 4);
        figure.heat_map.values = {0.96, 0.01, 0.0, 0.03};  // shares of tokens by expert
        figure.heat_map.centre = 0.25;
        const QTemporaryDir folder;
        const QString svg = folder.filePath("f.svg");
        shown(figure)->exportTo(svg, ExportFormat::svg);
        QStringList below = wordsOf(svg);
        below.removeIf([](const QString& word) { return !word.trimmed().startsWith(QLatin1Char('-')); });
        QVERIFY2(below.isEmpty(), qPrintable(below.join(QLatin1Char(' '))));
    }

    void exports_are_light_in_a_dark_theme() {
        Theme::instance().setMode(Theme::Mode::dark);
        auto view = shown(sample_lines());
        const QImage screen = picture(*view), image = figureImage(*view->plot());
        Theme::instance().setMode(Theme::Mode::light);
        QVERIFY(screen.pixelColor(2, 2).lightnessF() < 0.3);
        QCOMPARE(image.pixelColor(2, 2), QColor(255, 255, 255));
    }

    void exports_show_the_range_and_series_of_the_screen() {
        auto view = shown(sample_lines());
        const QImage whole = figureImage(*view->plot());
        view->setSeriesVisible(0, false);
        const QImage fewer = figureImage(*view->plot());
        QVERIFY(fewer != whole);
        QTest::keyClick(view.get(), Qt::Key_Plus);
        QVERIFY(figureImage(*view->plot()) != fewer);
    }

    void exports_do_not_hang_on_the_size_of_the_users_text() {
        auto view = shown(sample_lines(5));
        const QImage usual = figureImage(*view->plot());
        QFont user;
        user.setPixelSize(29);
        Theme::instance().setUserFont(user);
        auto larger = shown(sample_lines(5));
        const bool isLarger = picture(*larger) != picture(*view), isSame = figureImage(*larger->plot()) == usual;
        user.setPixelSize(12);
        Theme::instance().setUserFont(user);
        QVERIFY(isLarger);
        QVERIFY(isSame);
    }

    void the_csv_has_the_numbers_of_the_figure() {
        const Figure figure = sample_lines(2);
        auto view = shown(figure);
        const QStringList lines = figureCsv(*view->plot()).split("\r\n", Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + 2 * 120);
        QCOMPARE(lines[0], QString("series,examples seen,nDCG@10,low,high"));
        const Series& one = figure.series[1];
        for (std::size_t i = 0; i < one.y.size(); ++i) {
            const QStringList cells = lines[static_cast<qsizetype>(1 + 120 + i)].split(',');
            QCOMPARE(cells[0].toStdString(), one.name);
            QCOMPARE(parse_double(cells[1].toStdString()), one.x[i]);
            QCOMPARE(parse_double(cells[2].toStdString()), one.y[i]);
            QCOMPARE(parse_double(cells[4].toStdString()), one.high[i]);
        }
        view->setSeriesVisible(0, false);
        QCOMPARE(figureCsv(*view->plot()).split("\r\n", Qt::SkipEmptyParts).size(), 1 + 120);
        view->setXRange({0, 256.0 * 10 + 1});
        QCOMPARE(figureCsv(*view->plot()).split("\r\n", Qt::SkipEmptyParts).size(), 1 + 11);
    }

    void the_csv_of_cells_bars_and_boxes_is_one_row_a_value() {
        QCOMPARE(figureCsv(*shown(sample_heat_map())->plot()).split("\r\n", Qt::SkipEmptyParts).size(), 1 + 36);
        QCOMPARE(figureCsv(*shown(sample_bars(2))->plot()).split("\r\n", Qt::SkipEmptyParts).size(), 1 + 12);
        QCOMPARE(figureCsv(*shown(sample_box())->plot()).split("\r\n", Qt::SkipEmptyParts).size(), 1 + 5 * 60);
    }

    void a_formula_in_a_name_stays_text_in_csv() {
        Figure figure = sample_lines(2);
        figure.series[0].name = "=1+1,\"x\"";
        QVERIFY(figureCsv(*shown(figure)->plot()).contains("\"'=1+1,\"\"x\"\"\""));
    }

    void copying_gives_an_image_and_rows() {
        auto view = shown(sample_bars(1));
        view->copyImage();
        QVERIFY(!QApplication::clipboard()->image().isNull());
        view->copyData();
        QCOMPARE(QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts).size(), 7);
    }

    void a_figure_that_goes_while_its_file_is_chosen_is_said_to_have_gone() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("gone.csv");
        QWidget window;
        auto* view = new FigureView(sample_lines(), &window);
        window.show();
        QMenu* menu = view->createMenu(&window);
        QString said;
        QTimer person;
        connect(&person, &QTimer::timeout, this, [&] {
            QWidget* front = QApplication::activeModalWidget();
            if (qobject_cast<QFileDialog*>(front) && view) return delete std::exchange(view, nullptr);  // as a page does when a run ends
            if (qobject_cast<QFileDialog*>(front)) {
                auto* edit = front->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
                edit->setText(path);
                QTest::keyClick(edit, Qt::Key_Return);
            }
            auto* box = qobject_cast<QMessageBox*>(front);
            if (box) said = box->text(), box->accept();
        });
        person.start(20);
        for (QAction* action : menu->actions())
            if (action->text().contains(QStringLiteral("CSV"))) action->trigger();
        QVERIFY2(said.contains(path) && said.contains(QStringLiteral("drawn anew")), qPrintable(said));
        QVERIFY(!QFile::exists(path));
    }

    void a_name_without_an_ending_gets_that_of_its_form() {
        const QTemporaryDir folder;
        auto view = shown(sample_lines());
        std::unique_ptr<QMenu> menu(view->createMenu(nullptr));
        answer_save_dialog(folder.filePath("loss"));
        for (QAction* action : menu->actions())
            if (action->text().contains(QStringLiteral("SVG"))) action->trigger();
        QVERIFY(bytesOf(folder.filePath("loss.svg")).startsWith("<?xml"));
        QVERIFY(!QFile::exists(folder.filePath("loss")));
    }

    void a_folder_that_is_not_there_is_one_clear_error() {
        auto view = shown(sample_lines());
        EXPECT_ERROR(view->exportTo("/nowhere/at/all.pdf", ExportFormat::pdf), "/nowhere/at/all.pdf", "cannot be written",
                     "Choose another folder");
    }
};

FACETER_TEST(TestFigureExport)

}  // namespace faceter::desktop

#include "test_figure_export.moc"
