#pragma once
#include <QString>
#include <QStringList>
#include <filesystem>
#include <vector>

namespace faceter::desktop {

/// What stands under one heading of a chapter, down to the next.
struct ManualSection {
    QString heading;  ///< the chapter's own for what stands first
    QString text;     ///< without the heading
};

struct ManualChapter {
    QString file;   ///< "comparing.md"
    QString title;  ///< its first heading
    QString markdown;
    std::vector<ManualSection> sections;
};

struct ManualHit {
    QString file, chapter, heading;
    QString excerpt;  ///< a line of text round the first word that was found
};

/// The manual that comes with Faceter (resources/manual): Markdown pages in the order in which its README.md lists them.
class Manual {
  public:
    /// A failure that names the folder where it or its README.md is missing.
    static Manual read(const std::filesystem::path& folder);

    const std::vector<ManualChapter>& chapters() const { return m_chapters; }
    /// Null where there is none of that file name.
    const ManualChapter* chapter(const QString& file) const;
    /// Sections that hold all words of a query (any case), those with all of them in the heading first.
    std::vector<ManualHit> search(const QString& query) const;

  private:
    std::vector<ManualChapter> m_chapters;
};

}  // namespace faceter::desktop
