"""saltus verify on the built-in Poisson model: all of its checks."""

import saltus_cli
from saltus_cli import CliTest, strict_json


class VerifyPoisson(CliTest):
    def test_dmala(self):
        # DULA on a Poisson model is in verify_test.py, with a smaller one.
        j = strict_json(self.good("verify", "poisson", "--set", "window=1", "--json").out)
        self.assertIs(j["ok"], True)
        self.assertEqual({c["verdict"] for c in j["checks"]}, {"ok", "note"})


if __name__ == "__main__":
    saltus_cli.main()
