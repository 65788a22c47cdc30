"""The site of the documents: it can be made, its links lead somewhere, and faults are found.

    site_test.py ROOT
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

root = None


def make_site():
    sys.path.insert(0, os.path.join(root, "scripts", "site"))
    import make_site as module
    return module


class SiteTest(unittest.TestCase):
    def test_it_is_made_and_fetches_nothing_from_elsewhere(self):
        with tempfile.TemporaryDirectory(prefix="saltus-site-") as out:
            done = subprocess.run([sys.executable, os.path.join(root, "scripts", "site", "make_site.py"), out],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            for page in ("index.html", "docs/tour.html", "include/saltus/sample.hpp.html", "gallery/index.html",
                         "site.css", "site.js", "search_index.js", "docs/report.png"):
                self.assertTrue(os.path.exists(os.path.join(out, page)), page)
            pages = glob.glob(os.path.join(out, "**", "*.html"), recursive=True)
            self.assertGreater(len(pages), 100)
            for page in [*pages, os.path.join(out, "site.css"), os.path.join(out, "site.js")]:
                with open(page, encoding="utf-8") as file:
                    text = file.read()
                self.assertNotRegex(re.sub(r"<pre.*?</pre>", "", text, flags=re.S),
                                    r"""<(?:img|script|link)[^>]*(?:src|href)="(?:https?:)?//|@import|url\(|fetch\(""", page)

    def faults(self, text):
        site = make_site().Site()
        site.add_markdown("docs/tour.md", text="# A tour\n\n## One part\n")
        site.add_markdown("README.md", text=text)
        site.check()
        return [fault for fault in site.faults if fault.startswith("README.md")]

    def test_broken_links_are_found(self):
        self.assertEqual(self.faults("# a\n\n[b](docs/tour.md) [c](docs/tour.md#one-part) [d](#a) [e](LICENSE)"), [])
        for text in ("[b](docs/nothing.md)", "[b](docs/tour.md#no-part)", "[b](#no-part)", "![b](nothing.png)",
                     '<img src="nothing.png">', "[b](../outside.md)", '<img src="https://example.org/a.png">'):
            with self.subTest(text=text):
                self.assertEqual(len(self.faults("# a\n\n" + text)), 1)

    def test_sections_have_the_names_that_code_hosts_give(self):
        used, slug = {}, make_site().slug
        self.assertEqual([slug(h, used) for h in ("Several in turn: dmala+gwg", "From C++", "From C++")],
                         ["several-in-turn-dmalagwg", "from-c", "from-c-1"])

    def test_another_folder_is_not_replaced(self):
        with tempfile.TemporaryDirectory(prefix="saltus-site-") as out:
            with open(os.path.join(out, "mine"), "w"):
                pass
            done = subprocess.run([sys.executable, os.path.join(root, "scripts", "site", "make_site.py"), out],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no earlier site", done.stderr)
            self.assertEqual(os.listdir(out), ["mine"])


if __name__ == "__main__":
    root = os.path.abspath(sys.argv.pop(1))
    try:
        import markdown_it  # noqa: F401
        import pygments  # noqa: F401
    except ImportError as e:
        print(f"skipped: {e}")
        sys.exit(77)
    unittest.main()
