#!/usr/bin/env python3
"""What the Python package costs beside the program and beside plain PyTorch, with the bar of each
number. Times are of the processor, of one thread, unless they are said to be by the clock."""
import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np
import saltus
from saltus import _library

warnings.simplefilter("ignore")
QUIET = {"exact": False, "probe": False, "progress": False, "threads": 1}
REPEATS = 3  # the fastest of them counts


def fastest(f):
    return min(f() for _ in range(REPEATS))


def processor(f):
    start = time.process_time()
    f()
    return time.process_time() - start


def of_child(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def beside_the_program(program):
    """Processor time of drawing 50 times as much less that of drawing once, there over here."""
    random = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rbm.json")
        saltus.rbm(random.normal(0, 0.05, (500, 784)), visible_bias=-1).save(path)
        for name, model, chains, draws in (
            ("ising-lattice 5 x 5", "ising-lattice", 4, 200_000),
            ("ising-100x100", "ising-100x100", 4, 2_000),
            ("rbm 784 x 500", path, 100, 300),
        ):
            def there(n):
                words = ["--chains", str(chains), "--draws", str(n), "--warmup", "0", "--threads", "1"]
                return of_child([program, "sample", model, *words, "--json", "--out", os.path.join(folder, "out.npz")])

            def here(n):
                return processor(lambda: saltus.sample(model, chains=chains, draws=n, warmup=0, seed=1, **QUIET))

            few = max(1, draws // 50)
            theirs = fastest(lambda: there(draws)) - fastest(lambda: there(few))
            ours = fastest(lambda: here(draws)) - fastest(lambda: here(few))
            yield f"{name}: steps per second, of the program's", theirs / ours, 0.98, "at least", ""


def calls():
    version, n = _library.lib.saltus_abi, 200_000

    def many():
        for _ in range(n):
            version()

    yield "a call through ctypes", 1e6 * fastest(lambda: processor(many)) / n, 1, "at most", "us"
    libc = ctypes.CDLL(None)
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    count = [0]

    def back(a, b):
        count[0] += 1
        return 0

    numbers = (ctypes.c_int * 20_000)()

    def sort():
        count[0] = 0
        libc.qsort(numbers, len(numbers), 4, compare(back))

    seconds = fastest(lambda: processor(sort))
    yield "a callback", 1e6 * seconds / count[0], 0.5, "at most", "us"


def callables():
    """A DMALA step beyond the callable itself, which gives the same arrays each time."""
    for chains, dim, draws in ((4, 16, 100_000), (100, 784, 500), (16, 10_000, 300)):
        logp, score, count = np.zeros(chains), np.zeros((chains, dim)), [0]

        def f(x):
            count[0] += 1
            return logp[: len(x)], score[: len(x)]

        model = saltus.function(f, saltus.binary(dim))

        def run():
            count[0] = 0
            seconds = processor(lambda: saltus.sample(
                model, sampler=saltus.DMALA(step_size=0.2), chains=chains, draws=draws, warmup=0,
                record="moments", seed=1, exact=False, probe=False, progress=False))
            return seconds / count[0]

        bar = 5 + 0.007 * chains * dim
        yield f"a callable's step, {chains} x {dim}", 1e6 * fastest(run), bar, "at most", "us"


def plain_torch(net, x, alpha, steps):
    """The same sampler as one writes it."""
    import torch

    def evaluate(x):
        v = x.detach().requires_grad_()
        logp = net(v)
        return logp.detach(), torch.autograd.grad(logp.sum(), v)[0]

    logp, score = evaluate(x)
    for _ in range(steps):
        law = torch.distributions.Bernoulli(logits=(1 - 2 * x) * score / 2 - 1 / (2 * alpha), validate_args=False)
        flip = law.sample()
        y = torch.where(flip > 0, 1 - x, x)
        logp_y, score_y = evaluate(y)
        back = torch.distributions.Bernoulli(logits=(1 - 2 * y) * score_y / 2 - 1 / (2 * alpha), validate_args=False)
        ratio = logp_y - logp + (back.log_prob(flip) - law.log_prob(flip)).sum(1)
        accept = torch.rand(len(x)).log() < ratio
        x, score = torch.where(accept[:, None], y, x), torch.where(accept[:, None], score_y, score)
        logp = torch.where(accept, logp_y, logp)
    return x


def beside_torch():
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
    torch.manual_seed(1)
    random = np.random.default_rng(1)

    def rbm(visible, hidden):
        w = torch.tensor(random.normal(0, 0.05, (hidden, visible)), dtype=torch.float32)
        return lambda x: torch.nn.functional.softplus(x @ w.T).sum(1) - x.sum(1)

    for visible, hidden, chains, steps in ((784, 500, 100, 60), (16, 32, 16, 2000)):
        net = rbm(visible, hidden)
        x = torch.bernoulli(torch.full((chains, visible), 0.3))
        model = saltus.torch.target(net, saltus.binary(visible))
        sampler = saltus.torch.DMALA(step_size=0.2, seed=1)
        theirs = fastest(lambda: processor(lambda: plain_torch(net, x, 0.2, steps)))
        ours = fastest(lambda: processor(lambda: saltus.sample(
            model, sampler=saltus.DMALA(step_size=0.2), chains=chains, draws=steps, warmup=0, seed=1,
            record="moments", exact=False, probe=False, progress=False)))
        size = f"{visible} bits, {chains} chains"
        yield f"sample on a module in PyTorch, {size}: of a loop in plain PyTorch", theirs / ours, 1.25, "at least", ""
        ours = fastest(lambda: processor(lambda: sampler.step(x, net, n=steps)))
        yield f"saltus.torch.DMALA.step, {size}: of the same loop", theirs / ours, None, "", ""


def on_a_gpu():
    try:
        import torch
    except ImportError:
        return
    if not torch.cuda.is_available():
        return

    class Rbm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W = torch.nn.Parameter(torch.randn(500, 784) * 0.05)

        def forward(self, x):
            return torch.nn.functional.softplus(torch.nn.functional.linear(x, self.W)).sum(1) - x.sum(1)

    net, x = Rbm().cuda(), torch.bernoulli(torch.full((100, 784), 0.3)).cuda()
    for tf32 in (False, True):
        torch.backends.cuda.matmul.allow_tf32 = tf32
        sampler = saltus.torch.DMALA(step_size=0.2, seed=1)

        def run():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(20):
                sampler.step(x, net, n=40)
            torch.cuda.synchronize()
            return (time.perf_counter() - start) / 800

        run()
        products = "TF32" if tf32 else "single precision"
        yield f"a captured step on a GPU, rbm 784 x 500, 100 chains, {products} (clock)", 1e6 * fastest(run), 60, "at most", "us"


def imports():
    code = "import time, numpy; t = time.process_time(); import saltus, sys; print(time.process_time() - t, 'torch' in sys.modules)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() for _ in range(5)]
    assert {r[1] for r in runs} == {"False"}
    yield "import saltus, NumPy being there", 1e3 * min(float(r[0]) for r in runs), 150, "at most", "ms"


def interpreter_lock(program):
    """The longest pauses of a busy Python thread beside a run in another thread, less those beside
    the same run in another process, which holds no lock of ours."""
    def pauses(work):
        done, gaps = threading.Event(), []
        thread = threading.Thread(target=lambda: (work(), done.set()))
        thread.start()
        last = time.perf_counter()
        while not done.is_set():
            now = time.perf_counter()
            gaps.append(now - last)
            last = now
        thread.join()
        return 1e3 * sorted(gaps)[-max(3, len(gaps) // 100_000)]

    words = ["sample", "ising-100x100", "--draws", "1500", "--warmup", "0", "--threads", "1", "--json"]
    others = min(pauses(lambda: subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL)) for _ in range(REPEATS))
    ours = min(pauses(lambda: saltus.sample("ising-100x100", draws=1500, warmup=0, seed=1, **QUIET)) for _ in range(REPEATS))
    yield f"the interpreter is held beside a run (clock; {others:.1f} ms beside a process)", ours - others, 5, "at most", "ms"


def memory():
    code = """
import re, saltus, warnings
warnings.simplefilter("ignore")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
saltus.sample("ising-100x100", draws=10, chains=4, seed=1, exact=False, probe=False, progress=False)
before = peak()
r = saltus.sample("ising-100x100", draws=5000, chains=4, seed=1, exact=False, probe=False, progress=False)
print(peak() - before - r.levels.nbytes / 2**20)
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    yield "memory of a run beyond its draws", float(printed), 64, "at most", "MiB"
    code = """
import gc, os, saltus, warnings
warnings.simplefilter("ignore")
rss = lambda: int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
for k in range(1100):
    saltus.sample("ising-lattice", draws=100, warmup=10, seed=k, exact=False, probe=False, progress=False)
    if k == 99: gc.collect(); before = rss()
gc.collect(); print(rss() - before)
"""
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    yield "memory that 1,000 runs leave", float(printed), 1, "at most", "MiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?", default="build/release/saltus")
    parser.add_argument("--out", help="write the numbers here, as JSON")
    chosen = parser.parse_args()
    rows = []
    parts = (beside_the_program(chosen.program), calls(), callables(), beside_torch(), on_a_gpu(), imports(),
             interpreter_lock(chosen.program), memory())
    for part in parts:
        for what, value, bar, side, unit in part:
            holds = bar is None or (value >= bar if side == "at least" else value <= bar)
            wanted = "" if bar is None else f"{side} {bar:g} {unit}".rstrip()
            print(f"{what:<78} {value:9.3g} {unit:<4} {wanted:<16} {'' if holds else 'MISSED'}", flush=True)
            rows.append({"what": what, "value": value, "unit": unit, "bar": bar, "side": side, "holds": holds})
    if chosen.out:
        with open(chosen.out, "w") as file:
            json.dump({"version": saltus.__version__, "rows": rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
