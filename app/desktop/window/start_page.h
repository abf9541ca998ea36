#pragma once
#include <QWidget>

class QBoxLayout;
class QFormLayout;
class QVBoxLayout;

namespace faceter::desktop {

/// What a first start shows: the quick start, an experiment on data of one's own, a folder to open, projects opened before, and what this
/// machine can do.
class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(QWidget* parent = nullptr);
    void refresh();
    /// Looks once more at what this machine can do.
    void examine();

  Q_SIGNALS:
    void quickStartChosen();
    void dataChosen();
    void openChosen();
    /// The words of the command, without the program.
    void setUpChosen(const QStringList& words);
    void projectChosen(const QString& folder);

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    void showRecent(const QStringList& folders);
    void showReport(const QList<QPair<QString, QString>>& facts, const QStringList& problems, const QStringList& setUp);

    QBoxLayout* m_columns;
    QVBoxLayout* m_recent;
    QFormLayout* m_facts;
    QVBoxLayout* m_problems;
};

}  // namespace faceter::desktop
