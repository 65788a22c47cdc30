"""What the tests of 'saltus learn ebm' share: small images, a small network."""

import csv

from saltus_cli import CliTest, strict_json

SMALL = ["--channels", 4, "--blocks", 2, "--batch", 20, "--buffer", 100, "--steps", 5, "--lr", 0.003,
         "--lr-warmup", 20, "--average-decay", 0.95, "--validation-betas", 100, "--validation-chains", 20]


def images(rows):
    """Left or right column on, with a little noise."""
    state, lines = 99, []
    for _ in range(rows):
        line = []
        for i in range(10):
            state = (state * 1103515245 + 12345) % 2**31
            line.append(state >> 16)
        side = line[9] % 2 * 2
        bits = [int((i % 3 == side) != (line[i] % 10 == 0)) for i in range(9)]
        lines.append(",".join(map(str, bits)))
    return "\n".join(lines) + "\n"


class EbmTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("images.csv", images(300))

    def learn(self, *arguments):
        return strict_json(self.good("learn", "ebm", *arguments, "--json").out)

    def begin_learning(self, out, *arguments):
        return self.learn("--dataset", "images.csv", "--out", out, *SMALL, *arguments)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def table(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def refused(self, status, words, *arguments, env=None):
        done = self.saltus("learn", "ebm", *arguments, env=env)
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "", str(done))
        for word in words:
            self.assertIn(word, done.err, str(done))


def has_torch():
    case = CliTest("setUp")
    case.setUp()
    try:
        done = case.saltus("learn", "ebm", "--dataset", case.write("x.csv", images(40)), "--out", "out", *SMALL,
                           "--iterations", 1, "--validate-every", 0)
    finally:
        case.doCleanups()
    return done.status == 0
