#!/usr/bin/env python3
"""Makes HTML pages of the manual with cmark-gfm: make_manual.py MARKDOWN_FOLDER HTML_FOLDER.

README.md becomes index.html; the chapters that it links to, in that order, stand in the contents beside each page, with the sections of
the page that is open. What else lies in MARKDOWN_FOLDER (style sheet, pictures/, tables) is copied. A link that leads nowhere is an error.
"""
import html
import pathlib
import re
import shutil
import subprocess
import sys

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="stylesheet" href="manual.css">
</head>
<body>
<nav class="contents" aria-label="Contents">
<ul>
{contents}</ul>
</nav>
<main>
{body}<nav class="neighbours" aria-label="Neighbours">{neighbours}</nav>
</main>
</body>
</html>
"""
EXTENSIONS = ("table", "strikethrough", "autolink")
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)
TARGET = re.compile(r'(href|src)="([^"]*)"')


def page_name(file):
    return "index.html" if file == "README.md" else file.removesuffix(".md") + ".html"


def slug(text, taken):
    """The anchor that GitHub gives a heading."""
    base = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
    name, count = base, 0
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name


class Chapter:
    def __init__(self, source):
        command = ["cmark-gfm", *(word for name in EXTENSIONS for word in ("-e", name))]
        self.file, self.page = source.name, page_name(source.name)
        self.title, self.sections, self.anchors = source.stem, [], set()
        self.body = HEADING.sub(self.anchored, subprocess.run(command, input=source.read_bytes(), stdout=subprocess.PIPE, check=True).stdout.decode())
        self.body = TARGET.sub(self.to_page, self.body)
        self.body = self.body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")

    def anchored(self, found):
        level, inner = int(found[1]), found[2]
        text = html.unescape(re.sub(r"<[^>]*>", "", inner))
        anchor = slug(text, self.anchors)
        if level == 1:
            self.title = text
        elif level == 2:
            self.sections.append((anchor, text))
        return f'<h{level} id="{anchor}">{inner}</h{level}>'

    def to_page(self, found):
        path, hash_sign, anchor = found[2].partition("#")
        if "/" in path or not path.endswith(".md"):
            return found[0]
        return f'{found[1]}="{page_name(path)}{hash_sign}{anchor}"'


def read_chapters(folder):
    contents = (folder / "README.md").read_text(encoding="utf-8")
    files = dict.fromkeys(["README.md", *re.findall(r"\]\(([\w-]+\.md)(?:#[^)]*)?\)", contents)])
    missing = {path.name for path in folder.glob("*.md")} - set(files)
    if missing:
        sys.exit(f"{folder / 'README.md'} does not list {', '.join(sorted(missing))}")
    return [Chapter(folder / file) for file in files]


def contents_of(chapters, current):
    lines = []
    for chapter in chapters:
        here = ' aria-current="page"' if chapter is current else ""
        lines.append(f'<li><a href="{chapter.page}"{here}>{html.escape(chapter.title)}</a>')
        if chapter is current and chapter.sections:
            sections = "".join(f'<li><a href="#{anchor}">{html.escape(text)}</a></li>\n' for anchor, text in chapter.sections)
            lines.append(f"\n<ul>\n{sections}</ul>\n")
        lines.append("</li>\n")
    return "".join(lines)


def neighbours_of(chapters, index):
    beside = ((index - 1, "prev", "← {}"), (index + 1, "next", "{} →"))
    return "".join(f'<a rel="{kind}" href="{chapters[at].page}">{form.format(html.escape(chapters[at].title))}</a>'
                   for at, kind, form in beside if 0 <= at < len(chapters))


def check_links(chapters, folder):
    anchors = {chapter.page: chapter.anchors for chapter in chapters}
    for chapter in chapters:
        for _, target in TARGET.findall(chapter.body):
            path, _, anchor = html.unescape(target).partition("#")
            if re.match(r"\w+:", path):
                continue
            page = path or chapter.page
            if not (page in anchors or (folder / page).is_file()) or (anchor and anchor not in anchors.get(page, ())):
                sys.exit(f"{chapter.file}: the link to {target} leads nowhere")


def make(source, destination):
    chapters = read_chapters(source)
    check_links(chapters, source)
    destination.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(destination / "pictures", ignore_errors=True)
    for old in destination.iterdir():
        if old.suffix == ".html":
            old.unlink()
    for index, chapter in enumerate(chapters):
        title = chapter.title if index == 0 else f"{chapter.title} — Faceter"
        page = PAGE.format(title=html.escape(title), body=chapter.body, contents=contents_of(chapters, chapter), neighbours=neighbours_of(chapters, index))
        (destination / chapter.page).write_text(page, encoding="utf-8")
    shutil.copytree(source, destination, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md"), copy_function=shutil.copyfile)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    make(*map(pathlib.Path, sys.argv[1:]))
