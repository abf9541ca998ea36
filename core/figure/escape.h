#pragma once
#include <string>
#include <string_view>

namespace faceter {

// One escape function for each sink. Text from outside (names of runs, data sets, plugins) is data there, never markup.

/// XML and HTML, for text and for attribute values in double quotes. Control characters, which XML forbids, become U+FFFD.
std::string escape_xml(std::string_view text);
/// Text of a LaTeX document, in text mode. Characters that pdflatex does not know are wrapped in \faceterunicode{HEX}{character}, which
/// every exported table provides and XeLaTeX users may redefine to print the character.
std::string escape_latex(std::string_view text);
/// A field of RFC 4180, in quotes where needed; what a spreadsheet would run as a formula gets an apostrophe in front. Of control
/// characters tabs and line breaks stay, others become U+FFFD.
std::string escape_csv(std::string_view text);
/// A field between tabs: tabs and line breaks become blanks; formulas and other control characters as above.
std::string escape_tsv(std::string_view text);
/// Text inside a GitHub-flavoured Markdown table.
std::string escape_markdown(std::string_view text);

}  // namespace faceter
