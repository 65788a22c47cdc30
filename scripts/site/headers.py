"""Pages of code: a public header or an example, with what its first comment says, a list of what it declares, and
links between headers."""

import glob
import html
import os
import re

# Declarations that begin a line, at the outermost level: namespaces are not indented.
DECLARED = re.compile(r"^(?:template <.*> )?(?:inline |constexpr |extern )*(?:"
                      r"(?P<kind>class|struct|enum class|using|concept) (?:\[\[\w+\]\] )?(?P<type>\w+)"
                      r"|(?!return|namespace|public|private|protected|if|for|static_assert|#|//|\})[\w:<>,&* ]+?[ &*]"
                      r"(?P<function>\w+)\()")


def first_comment(code):
    """The comment that a file begins with, as text."""
    lines = []
    for line in code.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" ").rstrip())
    return lines


def paragraphs(lines):
    text = "\n".join(lines).split("\n\n")
    return [" ".join(part.split()) for part in text]


def as_html(text):
    """Words between backquotes are code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def introduction(lines, highlighted):
    """The first comment as HTML; indented parts of it are code."""
    body = ""
    for part in re.split(r"\n\n", "\n".join(lines)):
        if part.startswith("  "):
            body += f'<pre><code>{highlighted(part, "cpp")}</code></pre>'
        else:
            body += f'<p>{as_html(" ".join(part.split()))}</p>'
    return body


def comment_above(lines, i):
    """The comment right above line i, as one text."""
    first = i
    while first > 0 and lines[first - 1].startswith("//"):
        first -= 1
    return " ".join(line[2:].strip() for line in lines[first:i])


def declarations(code):
    """(line, name, kind, comment) of what a header declares; of overloads the first."""
    seen, lines = set(), code.splitlines()
    for i, line in enumerate(lines):
        found = DECLARED.match(line)
        if not found or re.match(r"(class|struct) \w+;", line):
            continue
        name = found["type"] or found["function"]
        if name not in seen:
            seen.add(name)
            yield i, name, found["kind"] or "function", comment_above(lines, i)


def with_links(shown, page):
    """#include "saltus/..." as links."""
    def link(found):
        place = os.path.relpath(f"include/{found[2]}.html", os.path.dirname(page.place))
        return f'{found[1]}<a href="{place}">{found[2]}</a>'
    return re.sub(r"(&quot;|\")(saltus/[\w/]+\.hpp)(?=&quot;|\")", link, shown)


def page(page, code, highlighted):
    """The page's body and its sections."""
    about = paragraphs(first_comment(code))
    anchors, sections = {}, [[1, "", page.title, " ".join(about)]]
    listed = ""
    is_header = page.source.endswith(".hpp")
    for line, name, kind, comment in declarations(code) if is_header else ():
        anchors[line] = name
        sections.append([4, name, name, f"{kind} {comment}"])
        listed += (f'<tr><td><a href="#{name}"><code>{html.escape(name)}</code></a></td><td>{kind}</td>'
                   f"<td>{as_html(comment.split('. ')[0].rstrip('.'))}</td></tr>")
    lines = with_links(highlighted(code, "cpp"), page).split("\n")
    for line, name in anchors.items():
        lines[line] = f'<span id="{name}">{lines[line]}</span>'
    body = f"<h1>{html.escape(page.title)}</h1>" + introduction(first_comment(code), highlighted)
    if is_header:
        body += f'<p><code>#include &lt;{html.escape(page.title)}&gt;</code></p>'
    if listed:
        body += ('<div class="wide"><table class="declared"><thead><tr><th>name</th><th>kind</th><th>what it is for</th></tr>'
                 f"</thead><tbody>{listed}</tbody></table></div>")
    return body + '<pre class="code"><code>' + "\n".join(lines) + "</code></pre>", sections


def first_sentence(path):
    with open(path, encoding="utf-8") as file:
        text = paragraphs(first_comment(file.read()))[0]
    return re.split(r"(?<=[.:;])\s", text)[0].rstrip(".:;").replace("<", "&lt;").replace("|", "\\|")


FOLDERS = {
    "": "Services: a request in, a result out", "core": "Rows, domains, random numbers, errors", "model": "Models as values",
    "target": "Targets: log p and its score", "sampler": "Samplers", "run": "Runs of chains, and what records them",
    "anneal": "Annealing and search", "temper": "Parallel tempering", "couple": "Coupled chains", "learn": "Learning",
    "compare": "Races of samplers", "diagnose": "Diagnostics and checks", "io": "Files", "text": "Text",
    "cuda": "GPUs", "mpi": "MPI", "torch": "Networks"}


def index(root):
    """The page that lists the public headers, as Markdown."""
    lines = ["# Public headers", "", "What a program includes, by folder. The services come first: most programs need "
             "no other header than one of them and that of a model or target. "
             "[In a C++ program](../docs/embedding.md) shows them at work.", ""]
    folders = sorted({os.path.dirname(p) for p in glob.glob("**/*.hpp", root_dir=os.path.join(root, "include", "saltus"),
                                                           recursive=True)},
                     key=lambda f: list(FOLDERS).index(f) if f in FOLDERS else 99)
    for folder in folders:
        lines += [f"## {FOLDERS.get(folder, folder)}", "", "| header | what it is for |", "|---|---|"]
        for path in sorted(glob.glob(os.path.join(root, "include", "saltus", folder, "*.hpp"))):
            name = os.path.relpath(path, os.path.join(root, "include"))
            lines.append(f"| [{name}]({name}) | {first_sentence(path)} |")
        lines.append("")
    return "\n".join(lines)


def examples(root):
    lines = ["# Examples", "", "Whole programs, each of which is also a test. "
             "[Installing](../docs/installing.md#in-a-cmake-project) says how a project finds saltus.", "",
             "| program | what it shows |", "|---|---|"]
    for path in sorted(glob.glob(os.path.join(root, "examples", "*.cpp"))):
        name = os.path.basename(path)
        lines.append(f"| [{name}]({name}) | {first_sentence(path)} |")
    return "\n".join(lines)
