"""saltus report: a saved run as a page."""

import base64
import os
import re
import struct
import zlib

import saltus_cli
from saltus_cli import CliTest, lattice, strict_json

USAGE, DATA, NO_INPUT, CANNOT_CREATE = 64, 65, 66, 73


def data_of(html):
    found = re.search(r'<script type="application/json" id="page-data">(.*?)</script>', html, re.S)
    return strict_json(found.group(1))


def pictures_of(html):
    """Alternative text and pixels (rows of bytes) of each picture."""
    pictures = {}
    for alt, code in re.findall(r'<img alt="([^"]*)" src="data:image/png;base64,([^"]*)">', html):
        pictures[alt] = pixels_of(base64.b64decode(code))
    return pictures


def pixels_of(png):
    """Rows of an 8-bit greyscale PNG file: its data chunks, unpacked and unfiltered."""
    width, height = struct.unpack_from(">II", png, 16)
    packed, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        if kind == b"IDAT":
            packed += png[at + 8:at + 8 + length]
        at += length + 12
    data = zlib.decompress(packed)
    rows, above = [], bytes(width)
    for r in range(height):
        method, *line = data[r * (width + 1):(r + 1) * (width + 1)]
        for i in range(width):
            left, corner = (line[i - 1], above[i - 1]) if i else (0, 0)
            guess = left + above[i] - corner
            paeth = min((left, above[i], corner), key=lambda v: abs(guess - v))
            line[i] = (line[i] + (0, left, above[i], (left + above[i]) // 2, paeth)[method]) % 256
        above = bytes(line)
        rows.append(above)
    return rows


class ReportTest(CliTest):
    def setUp(self):
        super().setUp()
        self.needs_pages()

    def test_ladder_of_a_tempered_run(self):
        for name in "t.npz", "t.nc":
            if name.endswith(".nc") and not saltus_cli.has_netcdf():
                continue
            run = strict_json(self.good("sample", "ising-lattice", "--temper", 4, "--draws", 500, "--json", "--out", name).out)
            self.good("report", name, "--out", "t.html")
            html = self.read("t.html").decode()
            page = data_of(html)
            plots = {p["title"]: p for p in page["plots"]}
            t = run["tempering"]
            self.assertEqual(plots["Rejected exchanges"]["series"][0]["y"], t["rejection"])
            self.assertEqual(plots["Local barrier"]["series"][0]["y"][::2], t["local_barrier"])
            self.assertAlmostEqual(plots["Cumulative barrier"]["series"][0]["y"][-1], t["barrier"])
            paths = [s["y"] for s in plots["Paths of replicas"]["series"]]
            self.assertEqual((len(paths), len(paths[0])), (4, 150))
            self.assertTrue(all(sorted(slots) == [0, 1, 2, 3] for slots in zip(*paths)))
            ladder = next(table for table in page["tables"] if "ladder" in table["caption"])
            self.assertEqual([row[1] for row in ladder["rows"]], t["betas"])
            self.assertIn("round trips", html)
        self.good("sample", "ising-lattice", "--draws", 50, "--out", "plain.npz")
        self.good("report", "plain.npz")
        self.assertNotIn("ladder", self.read("plain.html").decode())

    def sample(self, name, *arguments):
        return self.summary(*saltus_cli.with_defaults(
            {"--chains": "3", "--draws": "400", "--seed": "4"}, [*arguments, "--out", name]))

    def report(self, *arguments):
        """The page's text and its data."""
        done = self.good("report", *arguments)
        self.assertEqual(done.err, "")
        with open(self.path(done.out.rstrip("\n")), encoding="utf-8") as file:
            html = file.read()
        return html, data_of(html)

    def formats(self):
        return ["npz", "csv"] + (["nc"] if saltus_cli.has_netcdf() else [])


class Pages(ReportTest):
    def coordinates(self, data):
        """The table of coordinates."""
        return next(t for t in data["tables"] if "ESS bulk" in t["columns"])

    def test_every_format_tells_the_same_diagnostics(self):
        for ending in self.formats():
            with self.subTest(ending):
                self.sample(f"d.{ending}", "ising-lattice")
                html, data = self.report(f"d.{ending}")
                self.assertTrue(html.startswith("<!DOCTYPE html>"))
                told = strict_json(self.good("diagnose", f"d.{ending}", "--json").out)
                table = self.coordinates(data)
                foot = dict(zip(table["columns"], table["foot"][0]))
                self.assertEqual(foot["ESS bulk"], told["ess"]["min"])
                self.assertEqual(foot["ESS tail"], told["ess_tail"]["min"])
                self.assertEqual(foot["R-hat"], told["rhat"]["max"])

    def test_table_has_the_worst_first(self):
        self.sample("d.npz", "ising-lattice")
        _, data = self.report("d.npz")
        table = self.coordinates(data)
        column = table["columns"].index("ESS bulk")
        ess = [row[column] for row in table["rows"]]
        self.assertEqual(len(ess), 25)
        self.assertEqual(ess, sorted(ess))

    def test_table_is_not_longer_than_200_rows(self):
        self.write("m.json", lattice(15, 14))
        self.sample("d.npz", "m.json")
        _, data = self.report("d.npz")
        table = self.coordinates(data)
        self.assertEqual(len(table["rows"]), 200)
        self.assertIn("200 of 210", table["caption"])

    def test_plots(self):
        self.sample("d.npz", "ising-lattice")
        _, data = self.report("d.npz", "--max-coordinates", 2)
        plots = {plot["title"]: plot for plot in data["plots"]}
        traces = [title for title in plots if title.startswith("Trace of x[")]
        self.assertEqual(len(traces), 2)
        self.assertLessEqual({"log p", "log p of each chain", "Acceptance", "Autocorrelation", "Values",
                              "Mean of each coordinate", "ESS and R-hat of each coordinate"}, set(plots))
        for plot in data["plots"]:
            self.assertTrue(plot["summary"], plot["title"])
        self.assertEqual([len(s["y"]) for s in plots["log p"]["series"]], [400] * 3)
        self.assertEqual(len(plots["log p of each chain"]["series"][0]["boxes"]), 3)
        for series in plots["Values"]["series"]:
            self.assertAlmostEqual(sum(series["y"]), 1, delta=1e-9)
        for series in plots["Autocorrelation"]["series"]:
            self.assertAlmostEqual(series["y"][0], 1, delta=1e-12)
        told = strict_json(self.good("diagnose", "d.npz", "--json").out)
        means = plots["Mean of each coordinate"]["series"][0]
        self.assertEqual(means["y"], told["mean"])
        for mean, high, mcse in zip(means["y"], means["high"], told["mcse"]):
            self.assertAlmostEqual(high, mean + 2 * mcse, delta=1e-12)

    def test_facts(self):
        if "nc" not in self.formats():
            self.skipTest("saltus was built without netCDF")
        self.sample("d.nc", "ising-lattice")
        html, data = self.report("d.nc")
        facts = data["facts"]
        self.assertEqual(facts["Seed"], "4")
        self.assertEqual(facts["Model"], "ising-lattice")
        self.assertEqual(facts["Run"], "3 chains × 400 draws")
        self.assertIn("--seed 4", facts["Command"])
        self.assertIn("saltus ", facts["This page"])
        self.assertIn("model.json", html)

    def test_title_is_text(self):
        self.sample("d.npz", "bernoulli")
        html, data = self.report("d.npz", "--title", "</title><script>alert(1)</script>")
        self.assertEqual(data["title"], "</title><script>alert(1)</script>")
        self.assertNotIn("<script>alert", html)
        self.assertEqual(html.count("</title>"), 1)

    def test_unadjusted_and_unmixed_runs_are_warned_of(self):
        if "nc" not in self.formats():
            self.skipTest("saltus was built without netCDF")
        self.sample("d.nc", "ising-lattice", "--sampler", "dula", "--draws", "20")
        html, _ = self.report("d.nc")
        self.assertIn("not exact", html)
        self.assertIn("the chains disagree", html)

    def test_many_draws_make_no_large_page(self):
        self.sample("d.npz", "bernoulli", "--draws", "200000", "--chains", "2")
        html, _ = self.report("d.npz")
        self.assertLess(len(html), 1 << 20)

    def test_few_and_no_changes(self):
        for draws in 1, 2, 3, 5:
            self.sample("d.npz", "bernoulli", "--draws", draws, "--chains", 1)
            self.report("d.npz")
        self.write("m.json", {"model": "bernoulli", "logits": [60, 60]})
        self.sample("d.npz", "m.json")
        html, _ = self.report("d.npz")
        self.assertIn("never changed", html)


class Pictures(ReportTest):
    def test_of_a_lattice(self):
        if "nc" not in self.formats():
            self.skipTest("saltus was built without netCDF")
        self.write("m.json", lattice(3, 7))
        self.sample("d.nc", "m.json")
        self.sample("d.npz", "m.json")
        html, _ = self.report("d.nc")
        pictures = pictures_of(html)
        self.assertEqual(len(pictures), 4)
        x = saltus_cli.read_npz(self.path("d.npz"))["x"]
        for chain in range(3):
            end = (chain + 1) * 400 * 21
            rows = pictures[f"The last draw of chain {chain + 1}, 3 × 7"]
            self.assertEqual(b"".join(rows), bytes(255 * k for k in x.data[end - 21:end]))
        told = strict_json(self.good("diagnose", "d.nc", "--json").out)
        for grey, mean in zip(b"".join(pictures["The mean of all draws, 3 × 7"]), told["mean"]):
            self.assertAlmostEqual(grey, 255 * (mean + 1) / 2, delta=0.501)

    def test_of_what_is_given(self):
        self.write("m.json", lattice(8, 8))
        self.good("sample", "m.json", "--given", "0=1,2=0,63=1", "--draws", 50, "--out", "d.npz")
        html, _ = self.report("d.npz")
        pixels = b"".join(pictures_of(html)["What is given, 8 × 8; grey is not"])
        self.assertEqual((pixels[0], pixels[2], pixels[63]), (255, 0, 255))
        self.assertEqual({p for i, p in enumerate(pixels) if i not in (0, 2, 63)}, {128})

    def test_of_a_square_number(self):
        self.write("m.json", {"model": "bernoulli", "logits": [0] * 784})
        self.sample("d.npz", "m.json", "--draws", "50")
        html, _ = self.report("d.npz")
        self.assertIn("The mean of all draws, 28 × 28", pictures_of(html))

    def test_none_of_other_models(self):
        self.sample("d.npz", "bernoulli")
        html, _ = self.report("d.npz")
        self.assertEqual(pictures_of(html), {})


class Places(ReportTest):
    def test_beside_the_draws_or_where_asked(self):
        os.mkdir(self.path("sub"))
        self.sample("sub/d.npz", "bernoulli")
        self.assertEqual(self.good("report", "sub/d.npz").out, "sub/d.html\n")
        self.assertEqual(self.good("report", "sub/d.npz", "--out", "page.html").out, "page.html\n")
        self.assertEqual(self.files(), ["page.html", "sub"])
        self.assertEqual(sorted(os.listdir(self.path("sub"))), ["d.html", "d.npz"])

    def refused(self, status, *arguments):
        return self.refusal(status, "report", *arguments)

    def test_refusals(self):
        self.sample("d.npz", "bernoulli")
        self.assertIn("none.npz", self.refused(NO_INPUT, "none.npz"))
        with open(self.path("d.npz"), "rb") as file:
            self.write("cut.npz", file.read()[:-100])
        self.assertIn("cut.npz", self.refused(DATA, "cut.npz"))
        self.write("text.nc", "no netCDF at all")
        self.refused(DATA if "nc" in self.formats() else NO_INPUT, "text.nc")
        self.assertIn("no/p.html", self.refused(CANNOT_CREATE, "d.npz", "--out", "no/p.html"))
        os.mkdir(self.path("folder"))
        self.refused(CANNOT_CREATE, "d.npz", "--out", "folder")
        self.refused(USAGE, "d.npz", "--out", "d.npz")
        self.refused(USAGE, "d.npz", "--max-coordinates", 0)
        self.refused(USAGE)


class NotBuilt(CliTest):
    def test_says_so(self):
        done = self.saltus("report", "none.npz")
        if "built without pages" not in done.err:
            self.skipTest("saltus was built with pages")
        self.assertEqual(done.status, USAGE, str(done))


if __name__ == "__main__":
    saltus_cli.main()
