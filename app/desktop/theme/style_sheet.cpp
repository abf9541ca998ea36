#include "theme/style_sheet.h"

#include <QRegularExpression>
#include <cmath>
#include <utility>

namespace faceter::desktop {
namespace {

// @names are colours of the theme, put in by styleSheet().
const char* const frame = R"(
QWidget { color: @text; }
QMainWindow, QDialog, QMessageBox { background: @window; }
QToolTip { background: @surface; color: @text; border: 1px solid @line; padding: 4px 6px; font-size: 12px; }
QMainWindow::separator { background: @line; width: 1px; height: 1px; }
QSplitter::handle { background: @line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QWidget#navigator, QWidget#inspector, QWidget#activity { background: @surface; }
QStatusBar { background: @surface; border-top: 1px solid @line; color: @secondary; }
QStatusBar::item { border: none; }
QToolBar { background: @surface; border: none; border-bottom: 1px solid @line; padding: 2px 8px; spacing: 4px; }
QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; font-weight: 600; }
QDockWidget::title { background: @surface; padding: 8px 12px; text-align: left; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QFrame[card="true"], QFrame[role="card"] { background: @surface; border: 1px solid @line; border-radius: 4px; }
QGroupBox { border: 1px solid @line; border-radius: 4px; margin-top: 20px; padding: 8px; background: @surface; }
QGroupBox::title { subcontrol-origin: margin; left: 0px; top: 0px; font-weight: 600; }
QLabel { background: transparent; }
QLabel[role="title"] { font-size: 18px; font-weight: 600; }
QLabel[role="heading"] { font-weight: 600; }
QLabel[role="secondary"] { color: @secondary; }
QLabel[role="error"] { color: @error; }
QLabel[role="chip"] { border: 1px solid @line; border-radius: 10px; padding: 1px 8px; font-size: 11px; color: @secondary; background: @surface; }
)";

const char* const menus = R"(
QMenuBar { background: @surface; border-bottom: 1px solid @line; padding: 2px 4px; }
QMenuBar::item { background: transparent; padding: 4px 8px; border-radius: 3px; }
QMenuBar::item:selected { background: @selection; }
QMenu { background: @surface; border: 1px solid @line; padding: 4px 0px; }
QMenu::item { padding: 4px 28px 4px 28px; }
QMenu::item:selected { background: @selection; }
QMenu::item:disabled { color: @faint; }
QMenu::separator { height: 1px; background: @line; margin: 4px 0px; }
QMenu::icon { left: 8px; }
QMenu::indicator { width: 14px; height: 14px; left: 8px; }
QMenu::indicator:non-exclusive:checked, QMenu::indicator:exclusive:checked { image: url(:/faceter/icons/tick.svg); }
QMenu::right-arrow { image: url(:/faceter/icons/arrow-right.svg); width: 12px; height: 12px; right: 6px; }
)";

const char* const tabs = R"(
QTabWidget::pane { border: none; border-top: 1px solid @line; background: transparent; }
QTabBar { background: transparent; qproperty-drawBase: 0; }
QTabBar::tear { background: @window; border: none; width: 4px; }
QTabBar::tab { background: transparent; color: @secondary; border: none; border-bottom: 2px solid transparent; padding: 7px 12px 6px 12px; }
QTabBar::tab:hover { color: @text; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; font-weight: 600; }
QTabBar::tab:selected:focus { color: @accent; border: 1px solid @accent; border-bottom: 2px solid @accent; padding: 6px 11px 6px 11px; }
)";

const char* const buttons = R"(
QPushButton, QToolButton[role="button"] { background: @surface; border: 1px solid @line; border-radius: 4px; padding: 3px 10px; min-height: 18px; }
QPushButton:hover, QToolButton[role="button"]:hover { background: @hover; }
QPushButton:pressed, QPushButton:checked { background: @selection; }
QPushButton:disabled, QToolButton:disabled { color: @faint; }
QPushButton:focus, QToolButton:focus { border: 1px solid @accent; outline: none; }
QPushButton[role="primary"], QPushButton[primary="true"], QPushButton:default { background: @accent; border: 1px solid @accent; color: @onAccent; }
QPushButton[role="primary"]:hover, QPushButton[primary="true"]:hover, QPushButton:default:hover { background: @accentHover; }
QPushButton[role="primary"]:focus, QPushButton[primary="true"]:focus, QPushButton:default:focus { border: 2px solid @text; padding: 2px 9px; }
QPushButton[role="primary"]:disabled, QPushButton[primary="true"]:disabled, QPushButton:default:disabled { background: @line; border-color: @line; color: @secondary; }
QPushButton[role="quiet"] { background: transparent; border: 1px solid transparent; }
QPushButton[role="quiet"]:hover { background: @hover; }
QPushButton[role="quiet"]:focus { border: 1px solid @accent; }
QPushButton[link="true"], QToolButton[link="true"] { background: transparent; border: 1px solid transparent; color: @accent; padding: 2px 4px; text-align: left; }
QPushButton[link="true"]:hover, QToolButton[link="true"]:hover { background: @hover; }
QPushButton[link="true"]:focus, QToolButton[link="true"]:focus { border: 1px solid @accent; }
QPushButton[tag="true"], QToolButton[tag="true"] { border: 1px solid @line; border-radius: 10px; padding: 1px 8px; min-height: 14px; font-size: 11px; color: @secondary; }
QPushButton[role="danger"] { color: @error; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QPushButton::menu-indicator { image: url(:/faceter/icons/arrow-down.svg); width: 12px; height: 12px; right: 6px; subcontrol-position: right center; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px; padding: 3px; }
QToolButton:hover { background: @hover; }
QToolButton:pressed, QToolButton:checked { background: @selection; }
QToolButton::menu-indicator { image: none; }
QToolButton[popupMode="2"], QToolButton[popupMode="1"] { padding-right: 16px; }
QToolButton[popupMode="2"]::menu-indicator { image: url(:/faceter/icons/arrow-down.svg); width: 12px; height: 12px; subcontrol-origin: padding; subcontrol-position: right center; right: 2px; }
)";

const char* const inputs = R"(
QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox {
  background: @surface; border: 1px solid @line; border-radius: 4px; padding: 3px 7px; selection-background-color: @accent; selection-color: @onAccent; }
QLineEdit, QAbstractSpinBox, QComboBox { min-height: 18px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus, QComboBox:on { border: 1px solid @accent; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled, QPlainTextEdit:disabled { color: @faint; background: @window; }
QLineEdit[invalid="true"], QAbstractSpinBox[invalid="true"], QComboBox[invalid="true"] { border: 1px solid @error; }
QComboBox:hover { background: @hover; }
QComboBox { padding-right: 22px; }
QComboBox::drop-down { border: none; width: 22px; subcontrol-origin: padding; subcontrol-position: right center; }
QComboBox::down-arrow { image: url(:/faceter/icons/arrow-down.svg); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: @surface; border: 1px solid @line; selection-background-color: @selection; selection-color: @text; outline: none; }
QComboBox QAbstractItemView::item { min-height: 24px; padding: 0px 6px; }
QAbstractSpinBox { padding-right: 18px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: 16px; subcontrol-origin: border; background: transparent; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 1px 2px 0px 0px; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0px 2px 1px 0px; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: @hover; }
QAbstractSpinBox::up-arrow { image: url(:/faceter/icons/arrow-up.svg); width: 10px; height: 10px; }
QAbstractSpinBox::down-arrow { image: url(:/faceter/icons/arrow-down.svg); width: 10px; height: 10px; }
QCheckBox, QRadioButton { spacing: 6px; background: transparent; padding: 1px; border: 1px solid transparent; border-radius: 3px; }
QCheckBox:focus, QRadioButton:focus { border: 1px solid @accent; outline: none; }
QCheckBox::indicator, QAbstractItemView::indicator, QGroupBox::indicator { width: 12px; height: 12px; border: 1px solid @secondary; border-radius: 3px; background: @surface; }
QCheckBox::indicator:checked, QAbstractItemView::indicator:checked, QGroupBox::indicator:checked { background: @accent; border-color: @accent; image: url(:/faceter/icons/@tick.svg); }
QCheckBox::indicator:indeterminate, QAbstractItemView::indicator:indeterminate { background: @line; }
QCheckBox::indicator:disabled { border-color: @line; }
QRadioButton::indicator { width: 12px; height: 12px; border: 1px solid @secondary; border-radius: 7px; background: @surface; }
QRadioButton::indicator:checked { border: 4px solid @accent; width: 6px; height: 6px; }
QSlider::groove:horizontal { height: 4px; background: @line; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { background: @surface; border: 1px solid @secondary; width: 12px; height: 12px; margin: -5px 0px; border-radius: 7px; }
QSlider::handle:horizontal:focus { border: 2px solid @accent; }
)";

const char* const tables = R"(
QAbstractItemView { background: @surface; alternate-background-color: @surface; border: none; outline: none;
  selection-background-color: @selection; selection-color: @text; gridline-color: @line; }
QTableView, QTreeView, QListView, QTableWidget, QTreeWidget, QListWidget { font-size: 12px; }
QTableView::item { border: none; border-bottom: 1px solid @line; padding: 0px 6px; }
QTreeView::item { min-height: 23px; border: none; border-bottom: 1px solid @line; padding: 0px 4px; }
QListView::item { min-height: 24px; padding: 0px 8px; border: none; }
QTreeView[role="navigator"], QListView[role="navigator"] { background: transparent; font-size: 13px; }
QTreeView[role="navigator"]::item { border-bottom: none; }
QTableView::item:hover, QTreeView::item:hover, QListView::item:hover { background: @hover; }
QTableView::item:selected, QTreeView::item:selected, QListView::item:selected { background: @selection; color: @text; }
QTableView::item:focus, QTreeView::item:focus, QListView::item:focus { border: 1px solid @accent; }
QTreeView::branch { background: transparent; border: none; }
QTreeView::branch:selected { background: @selection; }
QTreeView::branch:has-children:closed { image: url(:/faceter/icons/arrow-right.svg); }
QTreeView::branch:has-children:open { image: url(:/faceter/icons/arrow-down.svg); }
QHeaderView { background: @window; color: @secondary; border: none; }
QHeaderView::section { background: @window; border: none; border-bottom: 1px solid @line; padding: 4px 6px; min-height: 16px; font-size: 12px; font-weight: 400; }
QHeaderView::section:hover { color: @text; }
QHeaderView::up-arrow { image: url(:/faceter/icons/arrow-up.svg); width: 10px; height: 10px; subcontrol-position: center right; right: 2px; }
QHeaderView::down-arrow { image: url(:/faceter/icons/arrow-down.svg); width: 10px; height: 10px; subcontrol-position: center right; right: 2px; }
QTableCornerButton::section { background: @window; border: none; border-bottom: 1px solid @line; }
)";

const char* const bars = R"(
QProgressBar { background: @line; border: none; border-radius: 2px; min-height: 4px; max-height: 4px; text-align: center; color: transparent; }
QProgressBar::chunk { background: @accent; border-radius: 2px; }
QProgressBar[state="failed"]::chunk { background: @error; }
QScrollBar { background: transparent; border: none; margin: 0px; }
QScrollBar:vertical { width: 10px; }
QScrollBar:horizontal { height: 10px; }
QScrollBar::handle { background: @scroll; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: @secondary; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0px; height: 0px; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: transparent; }
)";

QColor between(const QColor& a, const QColor& b, double share) {
    const auto mix = [share](int from, int to) { return static_cast<int>(from + (to - from) * share); };
    return {mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue())};
}

/// Sizes of texts in proportion; everything else stays.
QString scaled(const QString& sheet, double scale) {
    static const QRegularExpression size(QStringLiteral("font-size: (\\d+)px"));
    QString result;
    qsizetype end = 0;
    for (auto found = size.globalMatch(sheet); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        result += sheet.mid(end, match.capturedStart() - end) +
                  QStringLiteral("font-size: %1px").arg(std::lround(match.captured(1).toInt() * scale));
        end = match.capturedEnd();
    }
    return result + sheet.mid(end);
}

}  // namespace

QString styleSheet(const ThemeColours& c, double scale) {
    QString sheet;
    for (const char* part : {frame, menus, tabs, buttons, inputs, tables, bars}) sheet += QLatin1String(part);
    // Longer names first: @accentHover before @accent.
    const std::pair<const char*, QColor> colours[] = {{"@accentHover", between(c.accent, c.text, 0.15)},
                                                      {"@onAccent", c.onAccent},
                                                      {"@accent", c.accent},
                                                      {"@secondary", c.secondary},
                                                      {"@selection", c.selection},
                                                      {"@surface", c.surface},
                                                      {"@window", c.window},
                                                      {"@scroll", between(c.line, c.secondary, 0.35)},
                                                      {"@faint", between(c.secondary, c.surface, 0.4)},
                                                      {"@error", c.error},
                                                      {"@hover", c.hover},
                                                      {"@line", c.line},
                                                      {"@text", c.text}};
    sheet.replace(QLatin1String("@tick"), QLatin1String(c.dark ? "tick-dark" : "tick-light"));
    for (const auto& [name, colour] : colours) sheet.replace(QLatin1String(name), colour.name());
    return scaled(sheet, scale);
}

}  // namespace faceter::desktop
