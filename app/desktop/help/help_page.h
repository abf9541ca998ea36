#pragma once
#include <QSet>
#include <QTextBrowser>
#include <QUrl>

namespace faceter::desktop {

/// A page of the manual with its pictures (PNG, SVG), which are as wide as they were made or as there is room for. Takes them from the
/// manual's folder alone.
class HelpPage : public QTextBrowser {
  public:
    explicit HelpPage(QWidget* parent = nullptr);
    void setFolder(const QString& folder) { m_folder = folder; }
    void showMarkdown(const QString& markdown);

  protected:
    QVariant loadResource(int type, const QUrl& name) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    /// Between the margins, of what is shown.
    int room() const;
    /// Null where there is none: the document would look for the file elsewhere, were it given nothing.
    QPixmap picture(const QUrl& name) const;

    QString m_folder;
    QSet<QUrl> m_pictures;  ///< of this page
    int m_fitted = 0;       ///< the room that they were made for
};

}  // namespace faceter::desktop
