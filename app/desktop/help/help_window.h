#pragma once
#include <QWidget>
#include <optional>

#include "help/manual.h"

class QLineEdit;
class QListWidget;

namespace faceter::desktop {

class ErrorBar;
class HelpPage;

/// The manual in a window of its own: chapters and what a search finds at the left, the page at the right. Nothing is fetched from
/// anywhere.
class HelpWindow : public QWidget {
    Q_OBJECT
  public:
    explicit HelpWindow(QWidget* parent = nullptr);

    /// Comes to the front with the contents.
    void showContents();
    /// Comes to the front with the section of `workbench.md` that has this page's title as its heading; the chapter's start where none has.
    void showAbout(const QString& page);
    /// Comes to the front with the field for searching in focus.
    void search();

  protected:
    void keyPressEvent(QKeyEvent* event) override;

  private:
    void readManual();
    void listChapters();
    void listHits();
    void openItem(int row);
    void openFirst();
    void open(const QString& file, const QString& heading = {});
    void follow(const QUrl& link);
    void spread();
    void markFound();
    void comeToFront();

    std::optional<Manual> m_manual;
    QString m_folder, m_file;
    ErrorBar* m_error;
    QLineEdit* m_search;
    QListWidget* m_list;
    HelpPage* m_page;
};

}  // namespace faceter::desktop
