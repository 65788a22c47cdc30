"""Writes the C++ programs that README.md and docs/*.md show into a folder, to be compiled.

    extract_guides.py ROOT OUT

A fenced block right after the line <!-- cpp: PATH --> goes to OUT/DOCUMENT/PATH; the blocks of one document
make one program. The block after <!-- output --> is what the program prints: OUT/DOCUMENT/expected.txt. Files
that have not changed are left as they are."""

import glob
import os
import re
import sys

MARK = re.compile(r"^<!-- *(?:cpp: *(\S+)|(output)) *-->$")


def marked_blocks(text):
    """(path, content) of the blocks that are marked."""
    lines = iter(text.splitlines())
    for line in lines:
        mark = MARK.match(line)
        if not mark:
            continue
        fence = next(lines)
        if not fence.startswith("```"):
            sys.exit(f"{line}: no block follows")
        content = []
        for inner in lines:
            if inner.startswith("```"):
                break
            content.append(inner)
        yield mark[1] or "expected.txt", "\n".join(content) + "\n"


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == content:
                return
    except FileNotFoundError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def main(root, out):
    for document in [os.path.join(root, "README.md"), *sorted(glob.glob(os.path.join(root, "docs", "*.md")))]:
        with open(document, encoding="utf-8") as file:
            name = os.path.splitext(os.path.basename(document))[0].lower()
            for path, content in marked_blocks(file.read()):
                write(os.path.join(out, name, path), content)


if __name__ == "__main__":
    main(*sys.argv[1:])
