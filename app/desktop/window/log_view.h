#pragma once
#include <QTimer>
#include <QWidget>
#include <filesystem>

class QComboBox;
class QLineEdit;
class QPlainTextEdit;

namespace faceter::desktop {

class Workspace;

/// The worker's log of the current run, followed while it grows: newest attempt and rank 0 unless chosen otherwise; lines filtered by level
/// and text.
class LogView : public QWidget {
    Q_OBJECT
  public:
    explicit LogView(Workspace& workspace, QWidget* parent = nullptr);

  private:
    struct Part;
    static Part readPart(const std::filesystem::path& folder, int attempt, int rank, int shownAttempt, qint64 offset);
    void start();
    void follow();
    void take(const Part& part);
    void clear();
    void show(const QStringList& lines);
    void sayWhyEmpty();
    bool passes(const QString& line) const;
    void refilter();

    Workspace& m_workspace;
    QComboBox* m_attempt;
    QComboBox* m_rank;
    QComboBox* m_level;
    QLineEdit* m_search;
    QPlainTextEdit* m_text;
    QTimer m_timer;
    QString m_run;
    qint64 m_offset = 0;
    int m_shownAttempt = 0;
    bool m_reading = false;
    int m_generation = 0;
    QStringList m_lines;
};

}  // namespace faceter::desktop
