"""The manual pages and completion scripts, which the program writes from its own options."""

import os
import re
import shutil
import subprocess

import saltus_cli
from saltus_cli import CliTest


class ManualTest(CliTest):
    def setUp(self):
        super().setUp()
        self.good("manual", self.folder)

    def script(self, *place):
        return self.path(os.path.join(*place))

    BASH = ("bash-completion", "completions", "saltus")
    ZSH = ("zsh", "site-functions", "_saltus")
    FISH = ("fish", "vendor_completions.d", "saltus.fish")

    def text(self, *place):
        with open(self.script(*place), encoding="utf-8") as file:
            return file.read()

    def commands(self, *path):
        """Every command that help shows, as a tuple of words, the program itself first."""
        text = self.good(*path, "--help").out
        yield path, text
        if "\nSubcommands:\n" in text:
            for name in re.findall(r"(?m)^  (\w+) ", text.split("\nSubcommands:\n")[1].split("\nExample")[0]):
                yield from self.commands(*path, name)

    @staticmethod
    def options(text):
        return re.findall(r"(?m)^  (?:-\w )?(--[\w-]+)", text)

    def test_help_does_not_show_it(self):
        self.assertNotIn("manual", self.good("--help").out)

    def test_every_option_of_every_command_is_there(self):
        zsh, fish, bash = self.text(*self.ZSH), self.text(*self.FISH), self.text(*self.BASH)
        count = 0
        for path, help_text in self.commands():
            page = self.text("man", "man1", "-".join(("saltus", *path)) + ".1").replace("\\-", "-")
            in_zsh = re.search(rf"(?ms)^{'_'.join(('_saltus', *path))}\(\) {{$(.*?)^}}$", zsh)[1]
            in_bash = re.search(rf"(?ms)^    '{' '.join(path)}'\)$(.*?)^      ;;$", bash)[1]
            in_fish = "\n".join(re.findall(rf"(?m)^complete -c saltus -n '{' '.join(('__saltus_at', *path))}' (.*)", fish))
            for option in self.options(help_text):
                with self.subTest(path=path, option=option):
                    self.assertRegex(page, rf"(?m)^(?:\\fB-\w\\fR, )?\\fB{option}\\fR")
                    self.assertRegex(in_zsh, rf"'\*?{option}[=\[]")
                    self.assertRegex(in_bash, rf"[' ]{option}[' ]")
                    self.assertRegex(in_fish, rf"(?m)-l {option[2:]} ")
                    count += 1
        self.assertGreater(count, 200)

    def test_pages_have_the_examples_of_the_help(self):
        page = self.text("man", "man1", "saltus-learn-rbm.1").replace("\\-", "-")
        example = re.search(r"(?m)^  (saltus learn rbm .*)", self.good("learn", "rbm", "--help").out)[1]
        self.assertIn(f"\n{example}\n", page)

    def test_manual_pages_have_no_fault(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("man or groff is not installed")
        folder = self.path("man/man1")
        self.assertIn("saltus-learn-rbm.1", os.listdir(folder))
        for page in os.listdir(folder):
            done = subprocess.run(["man", "--warnings", "-l", "-Tutf8", os.path.join(folder, page)], capture_output=True,
                                  env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80", "MANROFFSEQ": ""})
            self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), page)
            self.assertIn(b"--help", re.sub(b".\x08", b"", done.stdout))

    def test_a_fault_in_a_page_would_be_seen(self):
        if not shutil.which("man") or not shutil.which("groff"):
            self.skipTest("man or groff is not installed")
        page = self.write("broken.1", ".TH A 1\n.SH NAME\n.nosuchmacro\n")
        done = subprocess.run(["man", "--warnings", "-l", "-Tutf8", self.path(page)], capture_output=True)
        self.assertNotEqual(done.stderr, b"")

    def completed(self, *words):
        """What bash offers for the last word, as readline splits the line."""
        if not shutil.which("bash"):
            self.skipTest("bash is not installed")
        script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _saltus 2>&1; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "--norc", "-c", script, "bash", self.script(*self.BASH), "saltus", *words],
                              cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_bash_completes(self):
        self.write("my-model.json", {"model": "bernoulli", "logits": [0]})
        os.mkdir(self.path("a-folder"))
        for words, expected in [
            (("sam",), ["sample", "samplers"]),
            (("learn", ""), ["rbm", "ising", "ebm"]),
            (("learn", "rbm", "--hid"), ["--hidden"]),
            (("sample", "--dr"), ["--draws"]),
            (("sample", "--device", ""), ["cpu", "cuda"]),
            (("sample", "--device", "=", "cu"), ["cuda"]),
            (("sample", "--domain", "b"), ["binary"]),
            (("sample", "--draws", ""), []),
            (("sample", "--sampler", "gw"), ["gwg"]),
            (("sample", "--sampler", "dmala+gw"), ["dmala+gwg"]),
            (("sample", "--sampler", "gwg", "--set", "fl"), ["flips="]),
            (("sample", "--sampler", "=", "gwg", "--set", "fl"), ["flips="]),
            (("sample", "--set", "step"), ["step_size="]),
            (("sample", "--set", "step_size", "=", ""), []),
            (("sample", "my"), ["my-model.json"]),
            (("sample", "ising-la"), ["ising-lattice"]),
            (("report", "my"), ["my-model.json"]),
            (("reproduce", "--data", "a"), ["a-folder"]),
            (("sample", "--out", "my"), ["my-model.json"]),
        ]:
            with self.subTest(words=words):
                found = self.completed(*words)
                self.assertEqual(found, expected)

    def check_syntax(self, shell, *place):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed: its completion script is not checked")
        done = subprocess.run([shell, "-n", self.script(*place)], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_bash_syntax(self):
        self.check_syntax("bash", *self.BASH)

    def test_zsh_syntax(self):
        self.check_syntax("zsh", *self.ZSH)

    def test_fish_syntax(self):
        self.check_syntax("fish", *self.FISH)

    def test_fish_completes(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed: its completion script is not run")
        for line, expected in [("saltus sam", {"sample", "samplers"}), ("saltus learn rbm --hid", {"--hidden"}),
                               ("saltus sample --device c", {"cpu", "cuda"}),
                               ("saltus sample --sampler gwg --set fl", {"flips="})]:
            done = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]",
                                   self.script(*self.FISH), line], cwd=self.folder, capture_output=True, text=True,
                                  env={**os.environ, "HOME": self.folder})
            self.assertEqual(done.stderr, "")
            self.assertEqual({offer.split("\t")[0] for offer in done.stdout.splitlines()}, expected, line)

    def test_a_folder_that_cannot_be_written(self):
        self.write("file", "")
        self.assertIn("cannot write file/man/man1/saltus.1", self.refusal(73, "manual", "file"))


if __name__ == "__main__":
    saltus_cli.main()
