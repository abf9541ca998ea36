#pragma once

class QTextDocument;

/// Lets a table, or a figure, that would be torn by the end of a page begin on the next one, with the headings and the caption above it.
/// What is longer than a page is left as it is; its header is repeated.
void keep_tables_whole(QTextDocument& page);
