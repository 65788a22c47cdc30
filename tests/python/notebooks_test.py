"""The notebooks of examples/notebooks run, cell by cell, from the first to the last.

Where matplotlib is missing a stand-in takes its calls. With --images FOLDER the plots are written
there as NAME-1.png, NAME-2.png, ..., as the documents show them.
"""

import ast
import contextlib
import importlib.util
import io
import json
import os
import sys
import types
import unittest.mock
import warnings

from support import Test, main

SOURCE = os.environ.get("SALTUS_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
FOLDER = os.path.join(SOURCE, "examples", "notebooks")
IMAGES = None


def cells(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        book = json.load(file)
    return [c for c in book["cells"]]


MATPLOTLIB = importlib.util.find_spec("matplotlib") is not None
if not MATPLOTLIB:
    print("matplotlib is not installed: plots are not drawn")
METHODS = ("errorbar", "hist", "imshow", "legend", "plot", "set", "set_ylabel")


class Plots:
    """pyplot, as a notebook has it: `show` ends a figure."""

    def __init__(self, name):
        self.name, self.count = name.rpartition(".")[0], 0
        self.real = MATPLOTLIB

    def modules(self):
        if self.real:
            import matplotlib

            matplotlib.use("agg")
            import matplotlib.pyplot as plt

            plt.show = lambda: self.show()
            return {}
        plt = types.ModuleType("matplotlib.pyplot")
        plt.subplots = self.subplots
        plt.show = self.show
        parent = types.ModuleType("matplotlib")
        parent.pyplot = plt
        return {"matplotlib": parent, "matplotlib.pyplot": plt}

    @staticmethod
    def subplots(rows=1, columns=1, **_):
        import numpy as np

        axes = np.empty(rows * columns, object)
        axes[:] = [types.SimpleNamespace(**{m: (lambda *_, **__: None) for m in METHODS}) for _ in axes]
        shaped = axes.reshape(rows, columns).squeeze()
        return types.SimpleNamespace(suptitle=lambda text: None), shaped.item() if shaped.ndim == 0 else shaped

    def show(self):
        self.count += 1
        if not self.real:
            return
        import matplotlib.pyplot as plt

        for number in plt.get_fignums():
            figure = plt.figure(number)
            if IMAGES is None:
                figure.savefig(io.BytesIO(), dpi=40)
            else:
                figure.savefig(os.path.join(IMAGES, f"{self.name}-{self.count}.png"), dpi=72)
            plt.close(figure)


def run_cell(code, names):
    """Runs a cell; its last expression is shown as a notebook shows it."""
    tree = ast.parse(code)
    last = None
    if isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    exec(compile(tree, "a cell", "exec"), names)
    shown = eval(compile(last, "a cell", "eval"), names) if last else None
    if shown is not None:
        return shown._repr_html_() if hasattr(shown, "_repr_html_") else repr(shown)
    return None


class Notebooks(Test):
    def run_all(self, name, figures):
        plots = Plots(name)
        names = {"__name__": "__main__"}
        shown = []
        sys.modules.update(plots.modules())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                for cell in cells(name):
                    if cell["cell_type"] == "code":
                        self.assertEqual(cell["outputs"], [])
                        shown.append(run_cell("".join(cell["source"]), names))
        self.assertEqual(plots.count, figures)
        return names, out.getvalue(), shown

    def test_a_spin_glass(self):
        names, text, shown = self.run_all("spin_glass.ipynb", 2)
        self.assertIn("Warning: R-hat", "".join(s or "" for s in shown))
        error = {k: abs(names[k].mean - names["exact"].mean).max() for k in ("plain", "tempered")}
        self.assertLess(error["tempered"], 0.1)
        self.assertGreater(error["plain"], 2 * error["tempered"])
        self.assertIn("largest error", text)

    def test_your_energy(self):
        if importlib.util.find_spec("torch") is None:
            self.skipTest("PyTorch is not installed")
        names, _, shown = self.run_all("your_energy.ipynb", 1)
        self.assertLess(abs(names["error"]).max(), 5)
        model, data = names["learned"].draws.reshape(-1, 16), names["data"].numpy()
        self.assertLess(abs(names["changes"](model).mean() - names["changes"](data).mean()), 1.5)
        self.assertTrue(any(s and "gradient" in s for s in shown))

    def test_learn_an_rbm(self):
        names, text, _ = self.run_all("learn_an_rbm.ipynb", 5)
        self.assertGreater(names["low"], -12)
        self.assertLess(names["high"], -4.8)
        self.assertIn("between", text)

    def test_are_notebooks(self):
        for name in sorted(os.listdir(FOLDER)):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                book = json.load(file)
            self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
            if importlib.util.find_spec("nbformat"):
                import nbformat

                nbformat.validate(book)


class Jupyter(Test):
    """The progress of a run in a real notebook kernel: one display that is updated."""

    def test_one_display(self):
        if any(importlib.util.find_spec(m) is None for m in ("nbclient", "nbformat", "ipykernel")):
            self.skipTest("nbclient, nbformat and ipykernel are not all installed")
        import nbclient
        import nbformat

        code = (
            "import saltus\n"
            "r = saltus.sample('ising-lattice', draws=10**9, record='moments', time_limit=2, seed=1, progress=True)\n"
            "r"
        )
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
        environment = {"PYTHONWARNINGS": "ignore", "JUPYTER_PLATFORM_DIRS": "1"}
        with unittest.mock.patch.dict(os.environ, environment):
            nbclient.NotebookClient(book, timeout=120, kernel_name="python3").execute()
        outputs = [o for o in book.cells[0].outputs if o.output_type != "stream"]
        self.assertEqual([o.output_type for o in outputs], ["display_data", "execute_result"])
        self.assertEqual({kind for o in outputs for kind in o.data} - {"text/plain", "text/html"}, set())
        self.assertIn("<table>", outputs[1].data["text/html"])


if __name__ == "__main__":
    if "--images" in sys.argv:
        at = sys.argv.index("--images")
        IMAGES = sys.argv[at + 1]
        del sys.argv[at : at + 2]
    main()
