#pragma once
#include <QWidget>

class QLineEdit;

namespace faceter::desktop {

/// A path that can be typed, and a button that asks for it.
class PathEdit : public QWidget {
    Q_OBJECT
  public:
    enum class Kind { file, folder, fileOrFolder, newFile, newFolder };
    /// The field is called `name`, for tests and screen readers too.
    PathEdit(const QString& name, const QString& accessibleName, Kind kind, QWidget* parent = nullptr);
    /// Without blanks round it, `~` opened, and absolute; empty: none.
    QString path() const;
    void setPath(const QString& path);
    /// What the file dialog offers: "Tables (*.csv *.tsv)".
    void setFilter(const QString& filter) { m_filter = filter; }

  Q_SIGNALS:
    void pathChanged();

  private:
    void addButton(const QString& text, Kind kind);
    void browse(Kind kind);
    QString m_filter;
    QLineEdit* m_edit;
};

}  // namespace faceter::desktop
