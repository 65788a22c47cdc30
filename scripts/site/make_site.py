#!/usr/bin/env python3
"""Makes pages of the documents: static, offline, searchable, without a request to anywhere.

    make_site.py OUT [--program build/release/saltus]

The pages lie as the files do in the repository, so that the links between documents work here as on a code host:
docs/tour.md becomes OUT/docs/tour.html, include/saltus/sample.hpp OUT/include/saltus/sample.hpp.html. With the
program, results/ become a gallery of its report pages. A link to a file or a section that is not there is an
error, and so is a page that would fetch something from elsewhere."""

import argparse
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys

from markdown_it import MarkdownIt
import pygments
import pygments.formatters
import pygments.lexers
import pygments.util

import headers
import navigation

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CODE = (".cpp", ".hpp")


def slug(heading, used):
    """The name of a section as code hosts make it."""
    name = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
    count = used.get(name, 0)
    used[name] = count + 1
    return f"{name}-{count}" if count else name


def highlighted(code, language):
    try:
        lexer = pygments.lexers.get_lexer_by_name(language)
    except pygments.util.ClassNotFound:
        return html.escape(code)
    return pygments.highlight(code, lexer, pygments.formatters.HtmlFormatter(nowrap=True, classprefix="c-"))


class Page:
    """A page of the site: where it lies, its title, its text as HTML and its sections, [[level, name, heading, text]]."""

    def __init__(self, place, title, source):
        self.place, self.title, self.source = place, title, source
        self.body, self.sections, self.links = "", [], []

    @property
    def depth(self):
        return "../" * self.place.count("/")


def place_of(path):
    """Where the page of a file of the repository lies; None for files that are copied."""
    if path == "README.md":
        return "index.html"
    if path.endswith(".md"):
        return path[:-3] + ".html"
    if path.endswith(CODE) and path.startswith(("include/", "examples/")):
        return path + ".html"
    return None


class Site:
    def __init__(self):
        self.pages, self.faults = {}, []
        self.copies = set()  # files of the repository that pages refer to
        self.made = set()  # pages that the program made
        self.markdown = MarkdownIt("commonmark", {"html": True, "highlight": lambda code, language, _: highlighted(code, language)})
        self.markdown.enable("table")

    def target_of(self, page, link):
        """The link as the site has it; notes files to copy, and faults."""
        if re.match(r"[a-z]+:", link):
            return link
        path, _, section = link.partition("#")
        if not path:
            page.links.append((page.place, section, link))
            return link
        full = os.path.normpath(os.path.join(os.path.dirname(page.source), path))
        if full in self.made:
            return link
        on_disk = os.path.join(ROOT, full)
        if full.startswith("..") or not os.path.exists(on_disk):
            self.faults.append(f"{page.source}: the link {link} leads to no file")
            return link
        if os.path.isdir(on_disk):
            inside = f"{full}/README.md"
            place = place_of(inside) if os.path.exists(os.path.join(ROOT, inside)) else f"{full}/index.html"
            page.links.append((place, section, link))
        else:
            place = place_of(full)
            if place:
                page.links.append((place, section, link))
            else:
                self.copies.add(full)
        relative = os.path.relpath(place or full, os.path.dirname(page.place) or ".")
        return relative + ("#" + section if section else "")

    def add_markdown(self, source, title=None, text=None):
        if text is None:
            with open(os.path.join(ROOT, source), encoding="utf-8") as file:
                text = file.read()
        page = Page(place_of(source), title, source)
        tokens = self.markdown.parse(text)
        used, section = {}, None
        for i, token in enumerate(tokens):
            if token.type == "heading_open":
                heading = plain_text(tokens[i + 1])
                name = slug(heading, used)
                token.attrSet("id", name)
                section = [int(token.tag[1]), name, heading, ""]
                page.sections.append(section)
            elif token.type == "inline":
                if section and tokens[i - 1].type != "heading_open":
                    section[3] += " " + plain_text(token)
                for child in token.children:
                    for attribute in ("href", "src"):
                        if child.attrGet(attribute):
                            child.attrSet(attribute, self.target_of(page, child.attrGet(attribute)))
                    if child.type == "html_inline":
                        child.content = self.html_links(page, child.content)
            elif token.type == "html_block":
                token.content = self.html_links(page, token.content)
            elif token.type == "fence" and section:
                section[3] += " " + token.content
        page.title = title or (page.sections[0][2] if page.sections else source)
        page.body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        page.body = page.body.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
        self.pages[page.place] = page

    def html_links(self, page, text):
        return re.sub(r'(href|src)="([^"]+)"', lambda m: f'{m[1]}="{html.escape(self.target_of(page, html.unescape(m[2])))}"',
                      text)

    def add_code(self, source):
        page = Page(place_of(source), source.removeprefix("include/"), source)
        with open(os.path.join(ROOT, source), encoding="utf-8") as file:
            code = file.read()
        page.body, page.sections = headers.page(page, code, highlighted)
        for include in re.findall(r'#include "(saltus/[^"]+)"', code):
            page.links.append((place_of(f"include/{include}"), "", include))
        self.pages[page.place] = page

    def refuse_outside(self, page):
        for fetched in re.findall(r'<(?:img|script|link|iframe|source)[^>]*"(?:[a-z]+:)?//[^"]*"|@import', page.body):
            self.faults.append(f"{page.source}: {fetched} would be fetched from elsewhere")

    def check(self):
        """Links between pages, sections and all; and that the menu leads to every document."""
        shown = {place for _, items in navigation.MENU for _, place in items}
        self.faults += [f"navigation.py: {place} is no page" for place in shown if place not in self.pages]
        self.faults += [f"navigation.py: {page.source} is not in the menu" for page in self.pages.values()
                        if page.source.startswith("docs/") and page.place not in shown]
        for page in self.pages.values():
            for place, section, link in page.links:
                other = self.pages.get(place)
                if not other:
                    self.faults.append(f"{page.source}: the link {link} leads to no page")
                elif section and section not in [s[1] for s in other.sections]:
                    self.faults.append(f"{page.source}: the link {link} leads to no section of {other.source}")
            self.refuse_outside(page)


def plain_text(token):
    return "".join(" " if child.type in ("softbreak", "hardbreak") else child.content
                   for child in token.children if child.type != "html_inline")


def described_results():
    """The folders of results/ and what they hold, from the table in its README."""
    with open(os.path.join(ROOT, "results", "README.md"), encoding="utf-8") as file:
        return re.findall(r"(?m)^\| `([\w-]+)` \| ([^|]+) \|", file.read())


def verdicts(folder):
    """How the results stand beside the paper's, in a sentence."""
    with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
        given = [row.get("verdict") for row in json.load(file).get("rows", [])]
    words = {"agrees": "agree", "differs": "differ", "cannot hold": "cannot hold", "undecided": "are undecided"}
    counts = [f"{given.count(verdict)} {word}" for verdict, word in words.items() if verdict in given]
    return f" Of the paper's claims, {', '.join(counts)}." if counts else ""


def add_gallery(site, out, program):
    """Report pages of results/, and a page that lists them; without the program, their images alone."""
    os.makedirs(os.path.join(out, "gallery"))
    lines = ["# Gallery", "", "Report pages of the experiments in [results](../results/README.md), as `saltus report` "
             "makes them, and images that samplers drew.", ""]
    for name, about in described_results():
        folder = os.path.join(ROOT, "results", name)
        curves = os.path.exists(os.path.join(folder, "curves.json"))
        images = sorted(os.path.basename(p) for p in glob.glob(os.path.join(folder, "*.png")))
        if not images and not (program and curves):
            continue
        lines += [f"## {name}", "", about[0].upper() + about[1:] + "." + verdicts(folder), ""]
        if program and curves:
            subprocess.run([program, "report", folder, "--out", os.path.join(out, "gallery", f"{name}.html")],
                           check=True, stdout=subprocess.DEVNULL)
            site.made.add(f"gallery/{name}.html")
            lines += [f"[Open the page of {name}]({name}.html)", ""]
        lines += ['<div class="images">'] if images else []
        for image in images:
            lines += [f'<a href="../results/{name}/{image}"><img loading="lazy" src="../results/{name}/{image}" alt="">'
                      f"{html.escape(image[:-4])}</a>"]
        lines += ["</div>", ""] if images else []
    site.add_markdown("gallery/index.md", text="\n".join(lines))


def written_links(page, out):
    """Files that a written page refers to; the last check, of what is really there."""
    with open(os.path.join(out, page), encoding="utf-8") as file:
        text = file.read()
    for link in re.findall(r'(?:href|src)="([^"#]+)[^"]*"', text):
        link = html.unescape(link)
        if re.match(r"[a-z]+:", link):
            continue
        if not os.path.exists(os.path.join(out, os.path.dirname(page), link)):
            yield f"{page}: {link} is not in the site"


def search_index(pages):
    """[place, page title, heading, text] of every section."""
    entries = []
    for page in pages:
        for level, name, heading, text in page.sections:
            place = page.place + ("#" + name if level > 1 else "")
            entries.append([place, page.title, heading, " ".join(text.split())])
    return entries


def frame(page, menu):
    here = page.place
    links = []
    for title, items in menu:
        links.append(f"<h2>{html.escape(title)}</h2><ul>")
        for text, place in items:
            current = ' aria-current="page"' if place == here else ""
            links.append(f'<li><a href="{page.depth}{place}"{current}>{html.escape(text)}</a></li>')
        links.append("</ul>")
    contents = [s for s in page.sections if s[0] in (2, 3)]
    inside = ""
    if len(contents) > 2:
        inside = '<details class="contents"><summary>On this page</summary><ul>' + "".join(
            f'<li class="level{level}"><a href="#{name}">{html.escape(heading)}</a></li>'
            for level, name, heading, _ in contents) + "</ul></details>"
    title = page.title if page.title == "saltus" else page.title + " - saltus"
    return f"""<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{page.depth}site.css">
</head>
<body data-root="{page.depth}">
<header>
<a class="name" href="{page.depth}index.html">saltus</a>
<button type="button" class="menu" aria-expanded="false" aria-controls="menu">Menu</button>
<input type="search" placeholder="Search" aria-label="Search all documents" autocomplete="off" spellcheck="false">
</header>
<div id="found" hidden></div>
<nav id="menu">{"".join(links)}</nav>
<main>
{inside}
{page.body}
</main>
<script src="{page.depth}search_index.js" defer></script>
<script src="{page.depth}site.js" defer></script>
</body>
</html>
"""


def add_pages(site, out, program):
    documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
    for pattern in ("docs/*.md", "results/**/README.md"):
        documents += sorted(glob.glob(pattern, root_dir=ROOT, recursive=True))
    for document in documents:
        site.add_markdown(document)
    for pattern in ("include/**/*.hpp", "examples/*.cpp"):
        for path in sorted(glob.glob(pattern, root_dir=ROOT, recursive=True)):
            site.add_code(path)
    site.add_markdown("include/index.md", text=headers.index(ROOT))
    site.add_markdown("examples/index.md", text=headers.examples(ROOT))
    add_gallery(site, out, program)


def write(site, out):
    for page in site.pages.values():
        place = os.path.join(out, page.place)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            file.write(frame(page, navigation.MENU))
    for copy in site.copies:
        place = os.path.join(out, copy)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, copy), place)
    for name in ("site.css", "site.js"):
        shutil.copyfile(os.path.join(HERE, name), os.path.join(out, name))
    with open(os.path.join(out, "search_index.js"), "w", encoding="utf-8") as file:
        # A script, because a page that was opened as a file may not read another file.
        file.write("const SEARCH_INDEX = " + json.dumps(search_index(site.pages.values()), ensure_ascii=False) + ";\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--program", help="saltus, for the report pages of the gallery")
    arguments = parser.parse_args()
    out = os.path.abspath(arguments.out)
    if os.path.exists(out) and os.listdir(out) and not os.path.exists(os.path.join(out, "search_index.js")):
        sys.exit(f"{out} is not empty and no earlier site: name another folder, or remove it.")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    site = Site()
    add_pages(site, out, arguments.program)
    site.check()
    write(site, out)
    for page in site.pages:
        site.faults += written_links(page, out)
    if site.faults:
        sys.exit("\n".join(sorted(set(site.faults))))
    print(f"{len(site.pages) + len(site.made)} pages: open {os.path.join(out, 'index.html')}")


if __name__ == "__main__":
    main()
