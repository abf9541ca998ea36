#pragma once
#include "pages/experts/experts_data.h"
#include "pages/text_question.h"

class QComboBox;
class QLabel;

namespace faceter::desktop {

class DataTable;
class TableModel;
struct TokenExperts;
class TokenStrip;

/// Tokens of a text by expert and block, and how many each expert got.
class ExpertTextView : public TextQuestion {
    Q_OBJECT
  public:
    explicit ExpertTextView(QWidget* parent = nullptr);
    /// Null: none.
    void setRun(const ExpertsRun* run);
    /// A row a token and block that has experts, to be written; without rows where nothing was answered.
    Table tokenTable() const;

  private:
    void take(const Json& answer) override;
    void hideAnswer() override;
    void showTokens(const TokenExperts& tokens);
    void showBlocks();
    void showLegend();
    void showTable();

    QComboBox* m_block;
    QLabel* m_chosen;
    TokenStrip* m_strip;
    QWidget* m_legend;
    DataTable* m_table;
    TableModel* m_model;
};

}  // namespace faceter::desktop
