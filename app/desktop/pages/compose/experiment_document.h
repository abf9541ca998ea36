#pragma once
#include <QObject>
#include <QTextDocument>
#include <QTimer>

#include "pages/compose/check_report.h"
#include "pages/compose/schema_guide.h"

namespace faceter::desktop {

/// The experiment that is being composed: its text, which editor and form change alike (one undo stack), its file, and what is wrong with
/// it, looked at in a background thread a moment after each change.
class ExperimentDocument : public QObject {
    Q_OBJECT
  public:
    explicit ExperimentDocument(QObject* parent = nullptr);
    ~ExperimentDocument() override;

    QTextDocument& text() const { return *m_text; }
    /// With its no-break spaces and line separators, which QTextDocument::toPlainText() makes others of.
    QString plainText() const { return m_text->toRawText().replace(QChar::ParagraphSeparator, QLatin1Char('\n')); }
    std::string bytes() const { return plainText().toStdString(); }
    /// Null until the plugins' manifests have been read.
    const SchemaGuide* guide() const { return m_guide.get(); }

    /// Empty: not saved yet.
    QString file() const { return m_file; }
    void setFile(const QString& file);
    /// Folder that relative paths of an unsaved experiment refer to.
    void setBaseFolder(const std::filesystem::path& folder);
    /// Replaces everything; forgets what could be undone.
    void reset(const QString& text, const QString& file, bool modified = false);
    /// Takes over what its file holds now, in a way that can be undone.
    void reload(const QString& text);
    void setSmoke(bool smoke);
    bool smoke() const { return m_smoke; }

    /// The newest look; its revision is the text's, where nothing changed since.
    const CheckReport& report() const { return m_report; }
    /// Which text this is: another after each reset().
    int opened() const { return m_opened; }
    /// Grows with every change of what is checked.
    int revision() const { return m_revision; }
    bool isChecked() const { return m_guide && m_report.revision == m_revision; }
    /// The last valid state; may be behind the text.
    const YamlNode* tree() const { return m_tree.get(); }

    // Changes from the form: just their place in the text. False where the text does not allow it (`refused` says why).
    bool set(const YamlPath& path, const std::string& value, bool joinPrevious = false);
    bool remove(const YamlPath& path);
    /// Whether the text says it now: tree() may be behind.
    bool has(const YamlPath& path) const;
    bool append(const YamlPath& list, const std::string& value);
    bool rename(const YamlPath& path, const std::string& key);

  Q_SIGNALS:
    void checked();
    void guideLoaded();
    void fileChanged();
    void refused(const QString& message);

  private:
    template <typename Make>
    bool change(Make make, bool joinPrevious);
    void apply(const TextEdit& edit, const std::string& whole, bool joinPrevious);
    void changed();
    void check();
    void take(const CheckReport& report);
    std::filesystem::path checkedFile() const;

    QTextDocument* m_text;
    std::shared_ptr<const SchemaGuide> m_guide;
    QString m_file, m_seen;
    std::filesystem::path m_baseFolder;
    bool m_smoke = false, m_checking = false;
    bool m_again = false;  ///< to be looked at once more
    int m_revision = 1, m_opened = 0;
    CheckReport m_report;
    std::shared_ptr<const YamlNode> m_tree;
    QTimer m_debounce;
};

}  // namespace faceter::desktop
