#pragma once
#include <QWidget>

#include "pages/facets/facets_data.h"

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace faceter::desktop {

/// The inspector's part: the test behind the stars in words, and a link to the other one.
class TestPart : public QWidget {
    Q_OBJECT
  public:
    explicit TestPart(QWidget* parent = nullptr);
    void setPicture(const FacetsPicture& picture, SimilarityTestKind kind);
    QString words() const;

  Q_SIGNALS:
    void testWanted(faceter::SimilarityTestKind kind);

  private:
    QLabel* m_words;
    QLabel* m_notes;
    QPushButton* m_switch;
    SimilarityTestKind m_other = SimilarityTestKind::welch;
};

}  // namespace faceter::desktop
