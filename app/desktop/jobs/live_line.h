#pragma once
#include <QWidget>

class QProgressBar;
class QPushButton;
class QTimer;

namespace faceter::desktop {

class ElidedLabel;

/// What the live worker does for a page, once it takes longer than a moment: how far it is, and Cancel. Part of Activity.
class LiveLine : public QWidget {
    Q_OBJECT
  public:
    explicit LiveLine(QWidget* parent = nullptr);
    bool isEmpty() const { return !m_going; }
    /// How long a request may take before it is shown; so that Activity does not open for each short question.
    void setPatience(int ms);

  Q_SIGNALS:
    void cameOrWent();

  private:
    void follow();
    void showNow();

    ElidedLabel *m_name, *m_status;
    QProgressBar* m_bar;
    QPushButton* m_cancel;
    QTimer* m_patience;
    bool m_going = false;
};

}  // namespace faceter::desktop
