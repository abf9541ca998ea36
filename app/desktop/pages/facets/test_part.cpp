#include "pages/facets/test_part.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "pages/facets/names_in_words.h"
#include "project/runs_snapshot.h"
#include "widgets/labels.h"

namespace faceter::desktop {
TestPart::TestPart(QWidget* parent) : QWidget(parent), m_words(plainLabel()), m_notes(secondaryLabel()), m_switch(new QPushButton) {
    setObjectName(QStringLiteral("facetsTestPart"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(headingLabel(tr("Test")));
    for (QLabel* label : {m_words, m_notes}) {
        label->setWordWrap(true);
        label->setMinimumWidth(1);  // a name without a space makes the panel no wider
    }
    m_words->setObjectName(QStringLiteral("facetsTestWords"));
    layout->addWidget(m_words);
    m_switch->setProperty("link", true);
    m_switch->setObjectName(QStringLiteral("facetsSwitchTest"));
    m_switch->setCursor(Qt::PointingHandCursor);
    layout->addWidget(m_switch, 0, Qt::AlignLeft);
    layout->addWidget(m_notes);
    connect(m_switch, &QPushButton::clicked, this, [this] { Q_EMIT testWanted(m_other); });
}

void TestPart::setPicture(const FacetsPicture& picture, SimilarityTestKind kind) {
    QStringList words, notes;
    for (const SimilarityComparison& comparison : picture.comparisons) words << qs(similarity_words(comparison, kind));
    for (const std::string& note : picture.notes) notes << qs(note);
    if (picture.groups.empty())
        words << tr("No run that is shown has inter-task similarities to test.");
    else if (picture.groups.size() == 1)
        words << tr("One run is shown: nothing to test against. Choose a second one.");
    for (const auto& [label, text] :
         {std::pair{m_words, words.join(QStringLiteral("\n\n"))}, std::pair{m_notes, notes.join(QLatin1Char('\n'))}}) {
        label->setText(namesInWords(text, picture, label->fontMetrics()));
        label->setToolTip(label->text() == text ? QString() : text.toHtmlEscaped());
    }
    m_notes->setVisible(!notes.isEmpty());
    m_other = kind == SimilarityTestKind::paired ? SimilarityTestKind::welch : SimilarityTestKind::paired;
    m_switch->setText(m_other == SimilarityTestKind::paired ? tr("show paired") : tr("show Welch's, as published"));
    m_switch->setVisible(!picture.comparisons.empty());
}

QString TestPart::words() const { return m_words->text(); }

}  // namespace faceter::desktop
