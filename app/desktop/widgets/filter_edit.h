#pragma once
#include <QLineEdit>
#include <QWidget>
#include <memory>

#include "store/filter.h"

class QCompleter;
class QLabel;
class QStringListModel;
class QTimer;

namespace faceter::desktop {

/// The filter expression: completion as one types (Ctrl+Space: all that could stand here), and what is wrong with it, under the field.
class FilterEdit : public QWidget {
    Q_OBJECT
  public:
    /// `name`: of the field for tests and style; NAMEError and NAMEWords are of what belongs to it.
    explicit FilterEdit(const QString& name, QWidget* parent = nullptr);
    QString text() const { return m_edit->text(); }
    void setText(const QString& text);
    /// What an expression may name. Until it is known (null) nothing is read.
    void setNames(std::shared_ptr<const FilterNames> names);
    /// The last expression that could be read; what the table shows.
    const Filter& filter() const { return m_filter; }
    QString error() const;
    /// Everything typed has been read.
    bool isSettled() const;
    QLineEdit* edit() const { return m_edit; }
    /// Reads the text now instead of when typing pauses.
    void apply();

  Q_SIGNALS:
    void filterChanged();
    void textEdited();

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

  private:
    void typed();
    void complete(bool asked);
    void insertWord(const QString& word);
    void setError(const QString& message);

    QLineEdit* m_edit;
    QLabel* m_error;
    QCompleter* m_completer;
    QStringListModel* m_words;
    QTimer* m_pause;
    std::shared_ptr<const FilterNames> m_names;
    Filter m_filter;
    QString m_read;             // what m_filter was made from
    Completions m_completions;  // what the list offers
};

}  // namespace faceter::desktop
