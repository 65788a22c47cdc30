"""saltus learn ebm: what it refuses, with and without libtorch."""

import saltus_cli
from ebm_cases import SMALL, EbmTest

USAGE, DATA, NO_INPUT = 64, 65, 66


class Refusals(EbmTest):
    def test_what_is_missing(self):
        self.refused(USAGE, ["--out DIR"], "--dataset", "images.csv")
        self.refused(USAGE, ["--dataset"], "--out", "out")
        self.refused(NO_INPUT, ["nothing.csv"], "--dataset", "nothing.csv", "--out", "out")
        self.refused(NO_INPUT, ["nowhere"], "--out", "nowhere", "--resume")
        self.refused(USAGE, ["tpu", "cpu or cuda"], "--dataset", "images.csv", "--out", "out", "--device", "tpu")
        self.refused(USAGE, ["double"], "--dataset", "images.csv", "--out", "out", "--precision", "double")
        self.assertEqual(self.files(), ["images.csv"])

    def test_images_that_are_none(self):
        self.write("odd.csv", "0,1,0\n" * 30)
        self.refused(DATA, ["odd.csv"], "--dataset", "odd.csv", "--out", "out")

    def test_without_libtorch(self):
        self.refused(USAGE, ["libtorch", "learning a deep energy"], "--dataset", "images.csv", "--out", "out", *SMALL,
                     env={"SALTUS_TORCH_MODULE": self.path("nowhere.so")})

    def test_a_missing_set_is_explained(self):
        self.refused(NO_INPUT, ["static_mnist", "Published"], "--dataset", "static_mnist", "--data", self.folder,
                     "--out", "out")


if __name__ == "__main__":
    saltus_cli.main()
