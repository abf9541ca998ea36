#pragma once
#include <QSyntaxHighlighter>

#include "pages/compose/check_report.h"

namespace faceter::desktop {

/// Keys, texts, numbers and comments of YAML in the theme's colours, and what is wrong underlined at its place.
class YamlHighlighter : public QSyntaxHighlighter {
    Q_OBJECT
  public:
    explicit YamlHighlighter(QTextDocument* document);
    void setProblems(const std::vector<Problem>& problems);

  protected:
    void highlightBlock(const QString& text) override;

  private:
    void underline(const QString& text);
    std::vector<Problem> m_problems;
};

}  // namespace faceter::desktop
