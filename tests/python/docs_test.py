"""Every block of Python in the documents runs, one after the other, as a reader would copy them."""

import importlib.util
import io
import os
import re
import contextlib
import warnings

from support import Test, main

SOURCE = os.environ.get("SALTUS_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
BLOCK = re.compile(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", re.S)


class Blocks(Test):
    def run_all(self, document, least):
        with open(os.path.join(SOURCE, document)) as file:
            blocks = BLOCK.findall(file.read())
        self.assertGreaterEqual(len(blocks), least)
        names = {}
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            for needs, code in blocks:
                if needs and importlib.util.find_spec(needs) is None:
                    print(f"skipped a block of {document}: {needs} is not installed")
                    continue
                with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    exec(compile(code, document, "exec"), names)
        finally:
            os.chdir(before)

    def test_python(self):
        self.run_all("docs/python.md", 10)

    def test_readme(self):
        self.run_all("README.md", 1)


if __name__ == "__main__":
    main()
