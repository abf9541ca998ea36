#pragma once
#include <QWidget>

#include "pages/data/data_sets.h"

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QSplitter;

namespace faceter::desktop {

class DataTable;
class TableModel;

/// A table, what it comes to in a sentence, and below it the whole text of the row that is chosen.
class RowsView : public QWidget {
    Q_OBJECT
  public:
    /// Objects are named after `name`: NAMERows, NAMEText, NAMESentence.
    RowsView(const QString& name, const QString& accessible, QWidget* parent = nullptr);
    void setRows(const RowsWithTexts& rows, const QString& sentence);
    void clear(const QString& sentence = {});
    const Table& table() const;
    /// The line above the table.
    QHBoxLayout* bar() const { return m_bar; }

  private:
    void showText(int row);
    QHBoxLayout* m_bar;
    QLabel* m_sentence;
    QSplitter* m_split;  ///< hidden while there is no row
    DataTable* m_table;
    TableModel* m_model;
    QPlainTextEdit* m_text;
    QStringList m_texts;
};

}  // namespace faceter::desktop
