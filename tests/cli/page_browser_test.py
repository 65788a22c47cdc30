"""Pages in a browser: charts, keyboard, downloads, light and dark. Needs Chromium and Selenium."""

import csv
import glob
import io
import os
import shutil
import subprocess
import sys
import time

import saltus_cli
from saltus_cli import CliTest, strict_json

SKIPPED = 77

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
except ImportError:
    webdriver = None

browser, driver = shutil.which("chromium"), shutil.which("chromedriver")


def start(downloads):
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900":
        options.add_argument(argument)
    options.add_experimental_option("prefs", {"download.default_directory": downloads})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(service=Service(driver), options=options)
    window.implicitly_wait(10)  # for what a page adds a moment after a click
    return window


class PageTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.downloads = os.path.realpath(saltus_cli.tempfile.mkdtemp(prefix="saltus-page-"))
        cls.window = start(cls.downloads)

    @classmethod
    def tearDownClass(cls):
        cls.window.quit()
        shutil.rmtree(cls.downloads, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.colours("light")
        self.window.get("file://" + self.make_page())

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.window.get_log("browser")], [])

    def colours(self, scheme):
        self.window.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def js(self, code, *arguments):
        return self.window.execute_script("return " + code, *arguments)

    def find(self, selector):
        return self.window.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.window.find_elements(By.CSS_SELECTOR, selector)

    def data(self):
        return strict_json(self.js("document.getElementById('page-data').textContent"))

    def chart(self, plot, code):
        return self.js(f"((chart) => {code})(Chart.getChart(document.querySelector('#{plot} canvas')))")

    def press(self, *keys):
        for key in keys:
            self.window.switch_to.active_element.send_keys(key)

    def focus(self, plot):
        self.js(f"document.querySelector('#{plot} .chart').focus()")

    def announced(self):
        return self.js("document.getElementById('announcer').textContent")

    def tooltip(self, plot):
        """Data set and index of each point that the tooltip shows; nothing while it is hidden."""
        return self.chart(plot, "chart.tooltip.opacity && chart.tooltip.getActiveElements().map((e) => [e.datasetIndex, e.index])")

    def download(self, click):
        """The content of the file that a click downloads."""
        for old in glob.glob(self.downloads + "/*"):
            os.remove(old)
        click.click()  # not by script: a browser asks before a script may download twice
        end = time.monotonic() + 20
        while time.monotonic() < end:
            files = [f for f in os.listdir(self.downloads) if not f.endswith((".crdownload", ".tmp")) and f[0] != "."]
            if files:
                with open(os.path.join(self.downloads, files[0]), encoding="utf-8", newline="") as file:
                    return files[0], file.read()
            time.sleep(0.05)
        self.fail("nothing was downloaded")


class Gallery(PageTest):
    """One of everything: decay (lines with bands, log axes), boxes, bars, points."""

    def make_page(self):
        page = self.path("gallery.html")
        subprocess.run([os.environ["SALTUS_GALLERY"], page], check=True, timeout=60)
        return page

    def test_no_text_runs_as_a_script(self):
        self.assertIsNone(self.js("window.attacked"))
        self.assertEqual(len(self.find_all("main img")), 1)
        self.assertIn("<script>", self.find("h1").text)
        self.assertIn("<script>", self.find("#plot-1 .legend button").text)
        self.find("#plot-1 details summary").click()
        self.assertIn("<script>", self.find("#plot-1 .tools table").text)
        self.assertIsNone(self.js("window.attacked"))

    def test_lines_have_points_bands_and_log_axes(self):
        self.assertEqual(self.chart("plot-1", "chart.data.datasets.map((d) => d.data.length)"), [30] * 6)
        self.assertEqual(self.chart("plot-1", "[chart.scales.x.type, chart.scales.y.type]"), ["logarithmic"] * 2)
        self.assertEqual(self.chart("plot-1", "chart.data.datasets[2].fill"), "-1")
        # A value that is missing leaves a gap; a band below zero ends where the axis does.
        self.assertTrue(self.chart("plot-1", "chart.getDatasetMeta(0).data[7].skip"))
        self.assertGreater(self.chart("plot-1", "chart.data.datasets[1].data[20].y"), 0)
        self.assertFalse(self.chart("plot-1", "chart.data.datasets.some((d) => d.data.some((p) => p.y <= 0))"))

    def test_boxes_fit_into_the_axis(self):
        self.assertEqual(self.chart("plot-2", "chart.data.datasets[0].data"), [[2, 4], [2.375, 4.5], [0.75, 2.75]])
        low, high = self.chart("plot-2", "[chart.scales.y.min, chart.scales.y.max]")
        self.assertLessEqual(low, 0)
        self.assertGreaterEqual(high, 9)

    def test_arrow_keys_walk_through_points_and_series(self):
        self.focus("plot-4")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.tooltip("plot-4"), [[0, 0]])
        self.assertEqual(self.announced(), "x 0, points: 1 (0 to 2)")
        self.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT)
        self.assertEqual(self.tooltip("plot-4"), [[0, 1]])
        self.press(Keys.END, Keys.ARROW_RIGHT)
        self.assertEqual(self.tooltip("plot-4"), [[0, 4]])
        self.press(Keys.ESCAPE)
        self.assertFalse(self.tooltip("plot-4"))
        self.assertEqual(self.announced(), "")
        self.focus("plot-2")
        self.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
        self.assertEqual(self.tooltip("plot-2"), [[1, 0]])
        self.assertEqual(self.announced(), "sampler dmala, second: median 5.5, quartiles 4.75 to 6.25, whiskers 4 to 7")
        self.press(Keys.ARROW_RIGHT)  # a box without values
        self.assertIn("median none", self.announced())

    def test_a_missing_value_is_announced(self):
        self.focus("plot-1")
        self.press(*[Keys.ARROW_RIGHT] * 8)
        self.assertIn(": none", self.announced())
        self.press(Keys.ARROW_DOWN)
        self.assertIn("slow", self.announced())

    def test_tab_reaches_every_plot(self):
        reached = set()
        self.js("document.body.focus()")
        for _ in range(60):
            self.press(Keys.TAB)
            reached.add(self.js("document.activeElement.matches('.chart') && document.activeElement.parentNode.id"))
        self.assertLessEqual({"plot-1", "plot-2", "plot-3", "plot-4"}, reached)

    def test_the_legend_hides_a_series(self):
        button = self.find("#plot-1 .legend button")
        self.assertEqual(button.get_attribute("aria-pressed"), "true")
        button.click()
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        visible = "[0, 1, 2, 3, 4, 5].map((i) => chart.isDatasetVisible(i))"
        self.assertEqual(self.chart("plot-1", visible), [False] * 3 + [True] * 3)
        self.focus("plot-1")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.tooltip("plot-1"), [[3, 0]])

    def test_text_alternatives(self):
        for plot in self.find_all("figure.plot"):
            chart = plot.find_element(By.CSS_SELECTOR, ".chart")
            self.assertTrue(chart.get_attribute("aria-label"))
            self.assertTrue(self.find("#" + chart.get_attribute("aria-describedby")).text)
        self.find("#plot-3 details summary").click()
        cells = [cell.text for cell in self.find_all("#plot-3 .tools td")]
        self.assertEqual(cells[:5], ["x", "-1", "0.2", "0.15", "0.25"])
        self.assertEqual(len(cells), 15)
        self.assertTrue(all(image.get_attribute("alt") for image in self.find_all("img")))

    def test_downloads(self):
        name, text = self.download(self.find("#download-data"))
        self.assertTrue(name.endswith(".json"), name)
        self.assertEqual(strict_json(text), self.data())
        name, text = self.download(self.find("#plot-1 .csv"))
        self.assertTrue(name.endswith(".csv"), name)
        rows = list(csv.reader(io.StringIO(text, newline="")))
        self.assertEqual(len(rows), 61)
        series = self.data()["plots"][0]["series"][0]
        self.assertEqual(rows[0], ["series", "steps", "error", "low", "high"])
        self.assertEqual(rows[1][0], series["name"])
        self.assertEqual([float(v) for v in rows[1][1:]], [series[k][0] for k in ("x", "y", "low", "high")])
        self.assertEqual(rows[8][2], "")

    def background(self):
        return self.js("getComputedStyle(document.body).backgroundColor")

    def test_light_and_dark(self):
        button = self.find("#toggle-theme")
        light, label = self.background(), button.text
        ticks = self.chart("plot-1", "chart.options.scales.x.ticks.color")
        button.click()
        self.assertNotEqual(self.background(), light)
        self.assertNotEqual(button.text, label)
        self.assertNotEqual(self.chart("plot-1", "chart.options.scales.x.ticks.color"), ticks)
        dark = self.background()
        button.click()
        self.assertEqual(self.background(), light)
        self.colours("dark")  # the button's choice stands against the system's
        self.assertEqual(self.background(), light)
        self.window.refresh()
        self.assertEqual(self.background(), dark)
        self.assertEqual(self.js("document.getElementById('toggle-theme').textContent"), "Light colours")

    def check_colours(self):
        drawn = "chart.getDatasetMeta(0).data[0].options.backgroundColor"
        wanted = self.js("getComputedStyle(document.documentElement).getPropertyValue('--series-1').trim()")
        self.assertEqual([self.chart(plot, drawn) for plot in ("plot-1", "plot-2", "plot-3", "plot-4")],
                         [wanted, wanted + "2e", wanted, wanted])

    def test_charts_have_the_colours_of_the_page(self):
        self.check_colours()
        self.find("#toggle-theme").click()
        self.check_colours()
        self.addCleanup(self.window.set_window_size, 1280, 900)
        before = self.chart("plot-3", "chart.width")
        self.window.set_window_size(600, 900)
        end = time.monotonic() + 10
        while self.chart("plot-3", "chart.width") == before and time.monotonic() < end:
            time.sleep(0.05)
        self.check_colours()

    def test_tables_sort(self):
        head = self.find_all("main > .table th button")[1]
        numbers = "[...document.querySelectorAll('main > .table tbody td')].map((cell) => cell.textContent)"
        head.click()
        self.assertEqual(self.js(numbers), ["-1,000", "2.50", "inf", "-"])
        head.click()
        self.assertEqual(self.js(numbers), ["inf", "2.50", "-1,000", "-"])

    def test_fits_a_phone(self):
        self.window.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 360, "height": 700, "deviceScaleFactor": 2, "mobile": True})
        self.addCleanup(self.window.execute_cdp_cmd, "Emulation.clearDeviceMetricsOverride", {})
        self.window.refresh()
        self.assertLessEqual(self.js("document.documentElement.scrollWidth"), 360)
        self.assertLess(self.chart("plot-1", "chart.width"), 360)


class Report(PageTest):
    """The page of a run."""

    def make_page(self):
        self.summary("ising-lattice", "--chains", 3, "--draws", 500, "--seed", 1, "--out", "d.npz")
        return self.path(self.good("report", "d.npz").out.strip())

    def test_every_plot_has_its_points(self):
        plots = self.data()["plots"]
        self.assertGreater(len(plots), 6)
        for plot in plots:
            with self.subTest(plot["title"]):
                lengths = self.chart(plot["id"], "chart.data.datasets.filter((d) => !d.band).map((d) => d.data.length)")
                self.assertEqual(lengths, [len(s.get("boxes") or s["y"]) for s in plot["series"]])
                self.assertGreater(self.chart(plot["id"], "chart.width"), 200)

    def test_every_plot_can_be_walked(self):
        for plot in self.data()["plots"]:
            with self.subTest(plot["title"]):
                self.focus(plot["id"])
                self.press(Keys.ARROW_RIGHT)
                self.assertEqual(self.tooltip(plot["id"]), [[0, 0]])
                self.assertIn(plot["series"][0]["name"], self.announced())

    def test_a_pointer_shows_a_tooltip(self):
        webdriver.ActionChains(self.window).move_to_element(self.find("#plot-1 canvas")).perform()
        self.assertTrue(self.tooltip("plot-1"))

    def test_download(self):
        _, text = self.download(self.find("#download-data"))
        self.assertEqual(strict_json(text), self.data())


def missing():
    if webdriver is None:
        return "python3-selenium is not installed"
    if not browser or not driver:
        return "chromium or chromium-driver is not installed"
    if "SALTUS_GALLERY" not in os.environ:
        return "saltus was built without pages, or SALTUS_GALLERY does not name the program write_gallery"
    return ""


if __name__ == "__main__":
    if missing():
        print("skipped: " + missing())
        sys.exit(SKIPPED)
    saltus_cli.main()
