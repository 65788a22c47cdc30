"""saltus logz in several calls, and the base that it starts from."""

import saltus_cli
from saltus_cli import CliTest, strict_json

USAGE = 64


class Estimates(CliTest):
    def test_log_z_in_slices(self):
        """Of any model: stopped by the clock, gone on with, and the same in the end."""
        arguments = ["logz", "ising-lattice", "--betas", 2000, "--chains", 50, "--set", "step_size=0.3", "--json"]
        whole = strict_json(self.good(*arguments).out)
        out = ""
        for _ in range(200):
            how = "--resume" if "z.checkpoint" in self.files() else "--checkpoint"
            done = self.good(*arguments, how, "z.checkpoint", "--time", 0.05)
            if done.out:
                out = done.out
                break
            self.assertIn("--resume z.checkpoint", done.err)
        again = strict_json(out)
        for key in "forward", "reverse", "interval":
            self.assertEqual(again[key], whole[key])
        other = self.saltus(*arguments, "--resume", "z.checkpoint", "--seed", 2)
        self.assertEqual(other.status, USAGE, str(other))
        self.assertIn("other options", other.err)

    def test_both_methods_in_slices(self):
        arguments = ["logz", "ising-lattice", "--method", "both", "--betas", 300, "--chains", 20, "--draws", 10000,
                     "--set", "step_size=0.3", "--json"]
        whole = strict_json(self.good(*arguments).out)
        slices, out = 0, ""
        while not out:
            how = "--resume" if "z.checkpoint" in self.files() else "--checkpoint"
            out = self.good(*arguments, how, "z.checkpoint", "--time", 0.005).out
            slices += 1
        self.assertGreater(slices, 2)
        again = strict_json(out)
        for j in again, whole:
            del j["tempering"]["seconds"]
        for key in "forward", "reverse", "tempering":
            self.assertEqual(again[key], whole[key])
        other = self.saltus(*[a if a != "both" else "ais" for a in arguments[:8]], "--resume", "z.checkpoint")
        self.assertEqual(other.status, USAGE, str(other))

    def test_base_of_a_model_that_has_none(self):
        done = self.saltus("logz", "ising-lattice", "--base", "model")
        self.assertEqual(done.status, USAGE, str(done))
        self.assertIn("no base of its own", done.err)


if __name__ == "__main__":
    saltus_cli.main()
