#pragma once
#include <QWidget>

#include "pages/facets/facets_data.h"

class QComboBox;
class QMenu;
class QPushButton;

namespace faceter::desktop {

/// What the page shows: baseline, second group, further ones, texts, test, view.
class FacetsBar : public QWidget {
    Q_OBJECT
  public:
    enum class View { pairs, matrix, texts };
    explicit FacetsBar(QWidget* parent = nullptr);
    void setData(const FacetsData& data, const FacetsChoice& choice);
    void setTest(SimilarityTestKind kind);
    SimilarityTestKind test() const;
    void setView(View view);
    View view() const;
    /// View and export, for the page's head; owned by whoever takes it into a layout.
    QWidget* actions() const { return m_actions; }
    /// What the Export button opens; filled by the page when it is about to show.
    QMenu* exportMenu() const { return m_exportMenu; }

  Q_SIGNALS:
    void baselineChosen(const std::string& key);
    void comparedChosen(const std::vector<std::string>& keys);
    void textsChosen(const std::string& key);
    void testChosen();
    void viewChosen();

  private:
    void fillMore();
    QComboBox* makeBox(const char* name, const QString& accessible, int widest);

    QWidget* m_actions;
    QComboBox *m_baseline, *m_second, *m_texts, *m_test, *m_view;
    QPushButton *m_more, *m_export;
    QMenu *m_moreMenu, *m_exportMenu;
    FacetsChoice m_choice;
    std::vector<std::pair<FacetRequest, bool>> m_groups;  // and whether it has the chosen texts
};

}  // namespace faceter::desktop
