"""Runs the commands that README.md and docs/*.md show.

Every line of a fenced ```sh block that begins with `saltus ` or `build/release/saltus ` is run, those of
one document in order in one folder, and so is every line `python3 NAME.py`. A block right after the line
<!-- file: NAME --> is written to NAME first. Lines with a placeholder in capitals (MODEL, FILE.npz) are left
out, and those with scripts where the program or Python has no libtorch."""

import glob
import os
import re
import shlex
import subprocess

import saltus_cli
from deep_energies import has_torch
from saltus_cli import CliTest, environment, has_netcdf, has_pages, says

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FENCE = re.compile(r"^ {0,3}(```+|~~~+) *([\w+-]*)")
FILE = re.compile(r"^<!-- *file: *(\S+) *-->$")
COMMAND = re.compile(r"^(?:\$ )?(?:build/release/|\./build/release/)?saltus (?=\S)")
PYTHON = re.compile(r"^python3 \w+\.py$")
PLACEHOLDER = re.compile(r"(?<![\w./-])\[?[A-Z][A-Z_]+(?:\.[a-z]+)?\]?(?=\s|$|=)|=[A-Z]+(?:\s|$)|\.\.\.|<\w+>")


def blocks(text):
    """(language, file or None, lines) of each fenced block."""
    lines = iter(text.splitlines())
    before = ""
    for line in lines:
        fence = FENCE.match(line)
        if not fence:
            if line.strip():
                before = line.strip()
            continue
        content = []
        for inner in lines:
            if inner.strip().startswith(fence[1]):
                break
            content.append(inner)
        name = FILE.match(before)
        yield fence[2], name and name[1], content
        before = ""


def has_language_model():
    """Whether the program was built with libtorch, and with it the model of 'saltus infill'."""
    return not says("without libtorch", "infill", "a [MASK]", "--score", "man")


def commands(lines):
    """The commands of a block as the shell takes them, continuation lines joined, prompts removed; the
    program is $SALTUS."""
    whole = "\n".join(lines).replace("\\\n", " ")
    for line in whole.splitlines():
        found = COMMAND.match(line.strip())
        if found and not PLACEHOLDER.search(line.replace("[MASK]", "")):
            yield "$SALTUS " + line.strip()[found.end():]
        elif PYTHON.match(line.strip()):
            yield "/usr/bin/" + line.strip()


class DocumentTest(CliTest):
    def run_document(self, path):
        count = 0
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for language, name, lines in blocks(text):
            if name:
                os.makedirs(os.path.dirname(self.path(name)) or ".", exist_ok=True)
                self.write(name, "\n".join(lines) + "\n")
            elif language in ("sh", "bash", "console"):
                for command in commands(lines):
                    if ".nc" in command and not has_netcdf():
                        continue
                    if (".pt" in command or ".py" in command) and not has_torch():
                        continue
                    if " infill " in command and not has_language_model():
                        continue
                    if " report " in command and not has_pages():
                        continue
                    with self.subTest(os.path.relpath(path, ROOT), command=command):
                        # By the shell: a line may redirect or pipe.
                        done = subprocess.run(["sh", "-c", command.replace("$SALTUS", shlex.quote(saltus_cli.program))],
                                              cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL, capture_output=True,
                                              timeout=saltus_cli.TIMEOUT)
                        self.assertEqual(done.returncode, 0, done.stderr.decode())
                    count += 1
        return count


class Documents(DocumentTest):
    def check(self, paths):
        paths = [p for p in paths if os.path.exists(p)]
        count = sum(map(self.run_document, paths))
        if not count:
            self.skipTest("there is no command in " + (", ".join(os.path.relpath(p, ROOT) for p in paths) or "any document"))

    def test_readme(self):
        self.check([os.path.join(ROOT, "README.md")])

    def test_docs(self):
        documents = sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))
        if not documents:
            self.skipTest("there is no document yet")
        for path in documents:
            self.run_document(path)


class Extraction(DocumentTest):
    """The reader of documents itself."""

    TEXT = """Text with saltus sample in it.
<!-- file: m.json -->
```json
{"model": "bernoulli",
 "logits": [0]}
```
```sh
build/release/saltus sample m.json --draws 5   # a remark
saltus sample MODEL --out FILE.npz
$ saltus models
saltus sample --set step_size=0.4 \\
  --out draws.npz
make demo
```
```
saltus sample nothing
```
"""

    def test_blocks_and_commands(self):
        found = list(blocks(self.TEXT))
        self.assertEqual([(b[0], b[1]) for b in found], [("json", "m.json"), ("sh", None), ("", None)])
        self.assertEqual([" ".join(c.split()) for c in commands(found[1][2])],
                         ["$SALTUS sample m.json --draws 5 # a remark", "$SALTUS models",
                          "$SALTUS sample --set step_size=0.4 --out draws.npz"])

    def test_a_document_runs(self):
        self.write("doc.md", self.TEXT)
        self.assertEqual(self.run_document(self.path("doc.md")), 3)
        self.assertIn("draws.npz", self.files())


if __name__ == "__main__":
    saltus_cli.main()
