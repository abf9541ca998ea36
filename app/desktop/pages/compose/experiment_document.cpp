#include "pages/compose/experiment_document.h"

#include <QDir>
#include <QPlainTextDocumentLayout>
#include <QTextCursor>

#include "common/error.h"
#include "project/project_session.h"

namespace faceter::desktop {
namespace {

constexpr int debounce_ms = 120;
/// Edits in place parse the text in the interface's thread; an experiment is some kilobytes.
constexpr std::size_t most_bytes_for_form = 128 * 1024;

}  // namespace

ExperimentDocument::ExperimentDocument(QObject* parent) : QObject(parent), m_text(new QTextDocument(this)) {
    m_text->setDocumentLayout(new QPlainTextDocumentLayout(m_text));
    m_debounce.setSingleShot(true);
    m_debounce.setInterval(debounce_ms);
    connect(&m_debounce, &QTimer::timeout, this, &ExperimentDocument::check);
    // The signal also comes for colours and underlines, which the look at the text itself causes.
    connect(m_text, &QTextDocument::contentsChanged, this, [this] {
        QString now = plainText();
        if (now == m_seen) return;
        m_seen = std::move(now);
        changed();
    });
    ProjectSession::background([] { return std::make_shared<const SchemaGuide>(Catalogue::load(plugin_folders())); })
        .then(this,
              [this](const std::shared_ptr<const SchemaGuide>& guide) {
                  m_guide = guide;
                  Q_EMIT guideLoaded();
                  check();
              })
        .onFailed([this](const std::exception& error) { Q_EMIT refused(QString::fromUtf8(error.what())); });
}

ExperimentDocument::~ExperimentDocument() = default;

/// The same file again: what the text names is looked at again, and the text is what it was.
void ExperimentDocument::setFile(const QString& file) {
    if (file == m_file)
        m_debounce.start();
    else
        m_file = file, changed();
    Q_EMIT fileChanged();
}

void ExperimentDocument::setBaseFolder(const std::filesystem::path& folder) {
    if (folder == m_baseFolder) return;
    m_baseFolder = folder;
    changed();
}

void ExperimentDocument::reset(const QString& text, const QString& file, bool modified) {
    ++m_opened;
    m_text->setPlainText(text);
    m_text->clearUndoRedoStacks();
    m_text->setModified(modified);
    setFile(file);
}

void ExperimentDocument::reload(const QString& text) {
    QTextCursor cursor(m_text);
    cursor.beginEditBlock();
    cursor.select(QTextCursor::Document);
    cursor.insertText(text);
    cursor.endEditBlock();
    m_text->setModified(false);
}

void ExperimentDocument::setSmoke(bool smoke) {
    if (smoke == m_smoke) return;
    m_smoke = smoke;
    changed();
}

std::filesystem::path ExperimentDocument::checkedFile() const {
    if (!m_file.isEmpty()) return m_file.toStdString();
    return (m_baseFolder.empty() ? std::filesystem::path(QDir::homePath().toStdString()) : m_baseFolder) / "experiment.yaml";
}

void ExperimentDocument::changed() {
    ++m_revision;
    m_debounce.start();
}

/// One look at a time; what changed meanwhile is looked at after it.
void ExperimentDocument::check() {
    if (!m_guide || m_checking) {
        m_again = true;
        return;
    }
    m_checking = true;
    m_again = false;
    ProjectSession::background([guide = m_guide, text = bytes(), file = checkedFile(), smoke = m_smoke, revision = m_revision] {
        CheckReport report = checkText(text, file, guide->catalogue(), smoke);
        report.revision = revision;
        return report;
    }).then(this, [this](const CheckReport& report) { take(report); });
}

void ExperimentDocument::take(const CheckReport& report) {
    m_checking = false;
    if (m_again || report.revision != m_revision) return m_debounce.start();
    m_report = report;
    if (report.tree) m_tree = report.tree;
    Q_EMIT checked();
}

void ExperimentDocument::apply(const TextEdit& edit, const std::string& whole, bool joinPrevious) {
    const auto position = [&](std::size_t byte) {
        return static_cast<int>(QString::fromUtf8(whole.data(), static_cast<qsizetype>(byte)).size());
    };
    QTextCursor cursor(m_text);
    cursor.setPosition(position(edit.begin));
    cursor.setPosition(position(edit.end), QTextCursor::KeepAnchor);
    if (joinPrevious)
        cursor.joinPreviousEditBlock();
    else
        cursor.beginEditBlock();
    cursor.insertText(QString::fromStdString(edit.text));
    cursor.endEditBlock();
}

template <typename Make>
bool ExperimentDocument::change(Make make, bool joinPrevious) {
    const std::string whole = bytes();
    try {
        if (whole.size() > most_bytes_for_form) throw settings_error("the experiment is larger than the form can change; edit the text");
        apply(make(whole), whole, joinPrevious);
        return true;
    } catch (const std::exception& error) {
        Q_EMIT refused(QString::fromUtf8(error.what()));
        return false;
    }
}

bool ExperimentDocument::set(const YamlPath& path, const std::string& value, bool joinPrevious) {
    return change([&](const std::string& whole) { return yaml_set(whole, path, value); }, joinPrevious);
}

bool ExperimentDocument::remove(const YamlPath& path) {
    return change([&](const std::string& whole) { return yaml_remove(whole, path); }, false);
}

bool ExperimentDocument::has(const YamlPath& path) const {
    try {
        return yaml_at(parse_yaml(bytes(), "experiment"), path) != nullptr;
    } catch (const std::exception&) {
        return false;  // no YAML: nothing in it can be changed by the form
    }
}

bool ExperimentDocument::append(const YamlPath& list, const std::string& value) {
    return change([&](const std::string& whole) { return yaml_append(whole, list, value); }, false);
}

bool ExperimentDocument::rename(const YamlPath& path, const std::string& key) {
    return change([&](const std::string& whole) { return yaml_rename(whole, path, key); }, false);
}

}  // namespace faceter::desktop
