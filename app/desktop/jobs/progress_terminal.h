#pragma once
#include <QObject>
#include <QString>

class QSocketNotifier;

namespace faceter::desktop {

/// The standard error of a program, which writes its line of progress where a terminal listens and nowhere else: so a terminal it is.
class ProgressTerminal : public QObject {
    Q_OBJECT
  public:
    explicit ProgressTerminal(QObject* parent = nullptr);
    ~ProgressTerminal() override;
    /// What the program writes to, to be made its standard error; -1 where the system gives no terminal.
    int programEnd() const { return m_program; }
    /// Reads what is there; call once more when the program has ended.
    void drain();

  Q_SIGNALS:
    /// A whole line, without what moves a cursor or colours it.
    void said(const QString& line);
    /// The line of progress as it stands now.
    void progressed(const QString& line);

  private:
    void take(const QByteArray& bytes);
    int m_terminal = -1, m_program = -1;  ///< our end; the program's
    QByteArray m_line;
};

}  // namespace faceter::desktop
