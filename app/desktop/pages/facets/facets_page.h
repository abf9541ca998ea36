#pragma once
#include "pages/facets/facets_bar.h"
#include "pages/page.h"
#include "workspace/store_query.h"

class QLabel;
class QStackedWidget;

namespace faceter::desktop {

class EmptyState;
class ErrorBar;
class FigureView;
class MatrixView;
class PairsView;
class TestPart;
class TextsView;

/// How far apart the shown runs hold the tasks: the similarity of the same texts under two instructions (MoTE, section 5.2).
class FacetsPage : public Page {
    Q_OBJECT
  public:
    explicit FacetsPage(Workspace& workspace);
    ~FacetsPage() override;
    QJsonObject state() const override;
    void restore(const QJsonObject& state) override;
    bool isReady() const override { return !m_query->isBusy() && m_asked == m_done; }
    QWidget* inspector() override;
    const FacetsPicture& picture() const { return *m_picture; }

  private:
    QWidget* makeHead();
    void clear();
    void take(FacetsDataPtr data);
    void draw();
    void showPicture(std::shared_ptr<const FacetsPicture> picture);
    void showTest();
    void showView();
    void showEmpty();
    void choose(const FacetsChoice& wanted);
    void fillExportMenu();
    std::vector<std::pair<FigureView*, QString>> figuresInFront() const;
    void exportAllFigures(const QString& suffix);

    FacetsBar* m_bar;
    QLabel* m_subtitle;
    QStackedWidget* m_stack;
    PairsView* m_pairs;
    MatrixView* m_matrix;
    TextsView* m_texts;
    EmptyState* m_empty;
    QWidget* m_loading;
    ErrorBar* m_error;
    StoreQuery<FacetsDataPtr>* m_query;
    TestPart* m_part;
    FacetsDataPtr m_data;
    std::shared_ptr<const FacetsPicture> m_picture;
    FacetsChoice m_wanted;                            // by a person; what it leaves open is chosen anew with the runs
    FacetsChoice m_choice;                            // that is shown
    bool m_matrixIsOld = true, m_textsAreOld = true;  // filled when they come to the front
    int m_asked = 0, m_done = 0;                      // drawings
};

}  // namespace faceter::desktop
