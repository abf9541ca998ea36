#include "pages/curves/panel_options.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSlider>
#include <QVBoxLayout>
#include <cmath>

#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int narrowest = 380, most_quoted = 40;

enum Scale { as_page, linear, logarithmic };

std::optional<bool> scaleOf(const QComboBox* box) {
    return box->currentIndex() == as_page ? std::nullopt : std::optional(box->currentIndex() == logarithmic);
}

/// Nothing where no number stands, or one that no axis can end at (inf, nan).
std::optional<double> numberIn(const QLineEdit* edit) {
    bool isNumber = false;
    const double value = QLocale::c().toDouble(edit->text().trimmed(), &isNumber);
    return isNumber && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace

PanelOptions::PanelOptions(const PanelSpec& spec, int pageSmoothing, bool pageLogY, QWidget* parent)
    : QDialog(parent),
      m_spec(spec),
      m_pageLogY(pageLogY),
      m_patterns(new QLineEdit(patternsText(spec.patterns))),
      m_problem(plainLabel()),
      m_ownSmoothing(new QCheckBox(tr("its own"))),
      m_smoothing(new QSlider(Qt::Horizontal)),
      m_logX(new QComboBox),
      m_logY(new QComboBox),
      m_low(new QLineEdit),
      m_high(new QLineEdit),
      m_clipped(new QCheckBox(tr("left out of the axis"))) {
    setWindowTitle(tr("Panel"));
    setAttribute(Qt::WA_DeleteOnClose);
    setObjectName(QStringLiteral("panelOptions"));
    setMinimumWidth(narrowest);
    auto* layout = new QVBoxLayout(this);
    auto* form = new QFormLayout;
    layout->addLayout(form);
    m_patterns->setObjectName(QStringLiteral("panelSeries"));
    m_patterns->setAccessibleName(tr("Series of this panel"));
    m_patterns->setToolTip(tr("Names, * for anything, or a /regular expression/; several between commas (\\, is one of a name)"));
    m_problem->setProperty("role", QStringLiteral("error"));
    m_problem->setObjectName(QStringLiteral("panelProblem"));
    m_problem->setWordWrap(true);
    form->addRow(tr("Series"), m_patterns);
    form->addRow(m_problem);
    m_ownSmoothing->setChecked(spec.smoothing.has_value());
    m_ownSmoothing->setObjectName(QStringLiteral("panelOwnSmoothing"));
    m_smoothing->setRange(0, 100);
    m_smoothing->setValue(spec.smoothing.value_or(pageSmoothing));
    m_smoothing->setEnabled(m_ownSmoothing->isChecked());
    m_smoothing->setObjectName(QStringLiteral("panelSmoothing"));
    m_smoothing->setAccessibleName(tr("Smoothing of this panel"));
    form->addRow(tr("Smoothing"), m_ownSmoothing);
    form->addRow(QString(), m_smoothing);
    addScale(form, m_logX, tr("x axis"), "panelLogX", spec.logX);
    addScale(form, m_logY, tr("Value axis"), "panelLogY", spec.logY);
    addEnd(form, m_low, tr("Values from"), "panelLow", spec.low);
    addEnd(form, m_high, tr("Values to"), "panelHigh", spec.high);
    m_clipped->setChecked(spec.clipped);
    m_clipped->setObjectName(QStringLiteral("panelClipped"));
    form->addRow(tr("Outliers"), m_clipped);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    layout->addWidget(buttons);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_patterns, &QLineEdit::textEdited, this, &PanelOptions::check);
    connect(m_ownSmoothing, &QCheckBox::toggled, m_smoothing, &QWidget::setEnabled);
    connect(m_ownSmoothing, &QCheckBox::toggled, this, &PanelOptions::changed);
    connect(m_smoothing, &QSlider::valueChanged, this, &PanelOptions::changed);
    connect(m_clipped, &QCheckBox::toggled, this, &PanelOptions::changed);
    connect(m_logY, &QComboBox::currentIndexChanged, this, [this] { showProblem(problem()); });  // an end may have no place on it
    check();
}

void PanelOptions::addScale(QFormLayout* form, QComboBox* box, const QString& label, const char* name, const std::optional<bool>& value) {
    box->addItems({tr("as the page"), tr("linear"), tr("logarithmic")});
    box->setCurrentIndex(!value ? as_page : *value ? logarithmic : linear);
    box->setObjectName(QLatin1String(name));
    box->setAccessibleName(label);
    form->addRow(label, box);
    connect(box, &QComboBox::currentIndexChanged, this, &PanelOptions::changed);
}

void PanelOptions::addEnd(QFormLayout* form, QLineEdit* edit, const QString& label, const char* name, const std::optional<double>& value) {
    if (value) edit->setText(QLocale::c().toString(*value, 'g', QLocale::FloatingPointShortest));
    edit->setPlaceholderText(tr("the data's"));
    edit->setObjectName(QLatin1String(name));
    edit->setAccessibleName(label);
    form->addRow(label, edit);
    connect(edit, &QLineEdit::textEdited, this, &PanelOptions::check);
}

QString PanelOptions::problem() const {
    const QString patterns = patternProblem(patternsFrom(m_patterns->text()));
    if (!patterns.isEmpty()) return patterns;
    const bool isLog = scaleOf(m_logY).value_or(m_pageLogY);
    for (const QLineEdit* end : {m_low, m_high}) {
        const QString text = end->text().trimmed().left(most_quoted);
        const std::optional<double> number = numberIn(end);
        if (!text.isEmpty() && !number) return tr("%1 is no number that an axis can end at").arg(text);
        if (isLog && number && *number <= 0)
            return tr("A logarithmic axis has no place for %1: it ends at a number above 0, and until then where the data end").arg(text);
    }
    if (numberIn(m_low) && numberIn(m_high) && *numberIn(m_low) >= *numberIn(m_high)) return tr("the axis ends where it begins, or before");
    return {};
}

void PanelOptions::showProblem(const QString& problem) {
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    if (layout()->hasHeightForWidth()) resize(width(), std::max(height(), layout()->totalHeightForWidth(width())));  // room for all of it
}

/// What is no pattern, and no number, is said and not taken.
void PanelOptions::check() {
    const QString found = problem();
    showProblem(found);
    if (found.isEmpty()) Q_EMIT changed();
}

PanelSpec PanelOptions::spec() const {
    PanelSpec spec = m_spec;
    if (const QStringList patterns = patternsFrom(m_patterns->text()); !patterns.isEmpty()) spec.patterns = patterns;
    spec.smoothing = m_ownSmoothing->isChecked() ? std::optional(m_smoothing->value()) : std::nullopt;
    spec.logX = scaleOf(m_logX);
    spec.logY = scaleOf(m_logY);
    spec.low = numberIn(m_low);
    spec.high = numberIn(m_high);
    spec.clipped = m_clipped->isChecked();
    return spec;
}

}  // namespace faceter::desktop
