"""What the program answers to words that it does not know, and where nothing was asked."""

import saltus_cli
from saltus_cli import CliTest


class GuidanceTest(CliTest):
    def test_overview_and_help(self):
        overview = self.good("help").out
        self.assertEqual(self.good().out, overview)
        self.assertIn("sample", overview)
        self.assertIn("saltus learn rbm", self.good("help", "learn", "rbm").out)
        self.assertEqual(self.good("learn").out, self.good("help", "learn").out)

    def test_mistyped_words_name_the_right_ones(self):
        for words, meant in [
            (("sampel",), "Did you mean sample?"),
            (("learn", "rmb"), "Did you mean rbm?"),
            (("help", "comapre"), "Did you mean compare?"),
            (("sample", "--drawz", "4"), "Did you mean --draws?"),
            (("sample", "--drawz=4"), "Did you mean --draws?"),
            (("learn", "rbm", "--hiden", "3"), "Did you mean --hidden?"),
            (("sample", "--sampler", "dmla"), "Did you mean dmala?"),
            (("sample", "--set", "stepsize=1"), "Did you mean step_size?"),
            (("sample", "ising-latice"), "Did you mean ising-lattice?"),
        ]:
            with self.subTest(words=words):
                self.assertIn(meant, self.refusal(66 if "latice" in words[-1] else 64, *words))

    def test_far_words_are_refused_without_a_guess(self):
        for words in [("nonsense",), ("sample", "--nonsense"), ("sample", "--sampler", "nonsense")]:
            self.assertNotIn("Did you mean", self.refusal(64, *words))

    def test_whole_numbers_as_people_write_them(self):
        j = self.summary("--draws", "1e3", "--warmup", "0", "--set", "step_size=0.4")
        self.assertEqual(j["draws"], 1000)
        for value in ["0", "-3", "1.5", "1e99", "many", "nan", ""]:
            with self.subTest(value=value):
                text = self.refusal(64, "sample", "--draws", value)
                self.assertIn("expected a whole number from 1 on", text)
        self.assertIn("from 1 to 4,096", self.refusal(64, "sample", "--threads", "5000"))


if __name__ == "__main__":
    saltus_cli.main()
