"""What scripts/setup.sh does where packages are missing, with dpkg-query, apt-get and id that only pretend.

    setup_test.py ROOT
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

root = None
GROUPS = ["build", "deep", "package", "site", "python", "test", "bench", "peers", "fuzz", "format", "lint", "coverage"]


class SetupTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="saltus-setup-")
        self.addCleanup(shutil.rmtree, self.folder)
        for tool in ["bash", "env", "grep"]:  # and no other program
            os.symlink(shutil.which(tool), os.path.join(self.folder, tool))

    def pretend(self, name, script):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(f"#!{shutil.which('bash')}\n{script}\n")
        os.chmod(path, 0o755)

    def debian(self, user, installed="none"):
        self.pretend("dpkg-query", f'[ "${{@: -1}}" = {installed} ] && echo installed')
        self.pretend("apt-get", f'echo "$@" >> {self.folder}/calls')
        self.pretend("id", f"echo {user}")

    def setup_script(self, group):
        return subprocess.run([os.path.join(root, "scripts", "setup.sh"), group], env={"PATH": self.folder},
                              capture_output=True, text=True, timeout=60)

    def calls(self):
        path = os.path.join(self.folder, "calls")
        if not os.path.exists(path):
            return ""
        with open(path) as file:
            return file.read()

    def test_another_user_than_root_is_shown_the_command(self):
        for group in GROUPS:
            self.debian(user=1000)
            done = self.setup_script(group)
            self.assertEqual((done.returncode, done.stdout), (69, ""), done.stderr)
            self.assertEqual(self.calls(), "")
            command = re.search(r"^  sudo apt-get install --no-install-recommends (.+)$", done.stderr, re.M)
            for package in command[1].split():
                self.assertRegex(done.stderr, rf"(?m)^  {re.escape(package)} +\w+ \S", "no purpose")

    def test_root_reads_what_and_why_before_anything_is_installed(self):
        self.debian(user=0, installed="cmake")
        done = self.setup_script("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^  g\+\+ +compiles C\+\+20$")
        self.assertNotIn("  cmake", done.stdout)
        self.assertRegex(self.calls(), r"install .* g\+\+ ninja-build")

    def test_the_container_installs_the_packages_of_the_build(self):
        self.debian(user=1000)
        missing = re.search(r"^  sudo apt-get install --no-install-recommends (.+)$", self.setup_script("package").stderr, re.M)
        with open(os.path.join(root, "Containerfile"), encoding="utf-8") as file:
            text = file.read().replace("\\\n", " ")
        stages = re.split(r"(?m)^FROM ", text)[1:]
        self.assertEqual([stage.split()[0] for stage in stages], ["debian:12", "debian:12"])
        listed = re.search(r"apt-get install -y --no-install-recommends ([^&]+)&&", stages[0])[1].split()
        self.assertEqual(sorted(listed), sorted(missing[1].split()))

    def test_the_citation_can_be_read(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("Python has no yaml")
        with open(os.path.join(root, "CITATION.cff"), encoding="utf-8") as file:
            citation = yaml.safe_load(file)
        with open(os.path.join(root, "CMakeLists.txt"), encoding="utf-8") as file:
            version = re.search(r"project\(saltus VERSION (\S+)", file.read())[1]
        self.assertEqual({key: citation[key] for key in ("cff-version", "title", "version", "license", "authors")},
                         {"cff-version": "1.2.0", "title": "saltus", "version": version, "license": "Apache-2.0",
                          "authors": [{"name": "The saltus authors"}]})
        paper = citation["references"][0]
        self.assertEqual((paper["title"], paper["year"], [author["family-names"] for author in paper["authors"]]),
                         ("A Langevin-like Sampler for Discrete Distributions", 2022, ["Zhang", "Liu", "Liu"]))

    def test_other_systems_are_left_alone(self):
        done = self.setup_script("test")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    root = os.path.abspath(sys.argv.pop(1))
    unittest.main()
