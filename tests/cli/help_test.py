"""What --help says: every line fits a terminal, and the examples work when they are copied."""

import re
import shlex

import saltus_cli
from saltus_cli import CliTest

COMMANDS = ["sample", "compare", "verify", "exact", "certify", "logz", "anneal", "diagnose", "report", "learn",
            "learn rbm", "learn ising", "learn ebm", "infill", "reproduce", "convert", "tune", "merge", "models", "samplers"]
NEEDS_MORE = {"infill", "reproduce", "report"}  # libtorch, a minute, Chart.js: not everywhere


class Help(CliTest):
    def test_lines_fit_a_terminal(self):
        for command in ["", *COMMANDS]:
            for line in self.good(*command.split(), "--help").out.splitlines():
                if not line.startswith("Usage:"):
                    self.assertLessEqual(len(line), 80, f"{command}: {line}")

    def test_types_and_defaults_are_readable(self):
        text = re.sub(r"\s+", " ", self.good("sample", "--help").out)
        self.assertIn("--draws N Draws of each chain (default 10000)", text)
        self.assertIn("--sampler NAME Sampler", text)
        for ugly in ":NUMBER", "{false}", "UINT", "TEXT":
            self.assertNotIn(ugly, text)
        for topic in "Model:", "Results:", "Tempering:", "Stopping and going on:":
            self.assertIn(topic, text)

    def test_footers_belong_to_their_command(self):
        for command in COMMANDS:
            text = self.good(*command.split(), "--help").out
            self.assertNotIn("COMMAND --help", text, command)

    def test_examples_work(self):
        for command in COMMANDS:
            if command in NEEDS_MORE:
                continue
            text = self.good(*command.split(), "--help").out
            examples = re.findall(r"^  saltus (.+)$", text.partition("Example")[2], re.M)
            self.assertTrue(examples or command in ("learn", "learn ebm"), command)
            for example in examples:
                with self.subTest(example=example):
                    if ".nc" in example:
                        self.needs_netcdf()
                    if example.startswith("report"):
                        self.needs_pages()
                    self.good(*shlex.split(example))


if __name__ == "__main__":
    saltus_cli.main()
