#!/usr/bin/env python3
"""Times saltus beside plain eager PyTorch: the same samplers on the same models, one thread each.
The PyTorch side is written in the obvious way: tensors of chains by coordinates, the gradient by
autograd, log p and gradient of the current state kept from step to step.
"""
import argparse
import json
import os
import subprocess
import tempfile
import time

import numpy as np
import torch
from torch.distributions import Bernoulli, Categorical

WARMUP = 100  # steps
PARTS, SECONDS = 3, 0.4  # timed parts, of which the fastest counts, and how long each takes

def lattice(side, a=0.1, b=0.2):
    """log p of spins on a torus: each pair of neighbours counts twice."""
    def logp(x):
        s = (2 * x - 1).view(-1, side, side)
        pairs = s * (s.roll(1, 1) + s.roll(-1, 1) + s.roll(1, 2) + s.roll(-1, 2))
        return (a * pairs + b * s).sum((1, 2))
    return logp, {"model": "ising-lattice", "shape": [side, side], "periodic": True, "a": a, "b": b}

def rbm(folder, visible=784, hidden=500):
    """Bits of which about one in six is on, as in pictures of digits."""
    rng = np.random.default_rng(1)
    arrays = {"weights": rng.normal(0, 0.1, (hidden, visible)),
              "visible_bias": rng.uniform(-6, -0.5, visible),
              "hidden_bias": rng.uniform(-0.3, 0.3, hidden)}
    np.savez(os.path.join(folder, "weights.npz"), **arrays)
    w, b, c = (torch.tensor(v, dtype=torch.float32) for v in arrays.values())

    def logp(x):
        return torch.nn.functional.softplus(x @ w.T + c).sum(1) + x @ b
    return logp, {"model": "rbm", "weights_file": "weights.npz"}

def adjusted(logp, x, law, flipped):
    """Draws from law(x, gradient), flips accordingly, and applies the Metropolis test."""
    def evaluate(x):
        value = logp(x.requires_grad_())
        return x.detach(), value.detach(), torch.autograd.grad(value.sum(), x)[0]
    x, value, gradient = evaluate(x.clone())
    while True:
        forward = law(x, gradient)
        draw = forward.sample()
        y, new_value, new_gradient = evaluate(flipped(x, draw))
        log_q = law(y, new_gradient).log_prob(draw) - forward.log_prob(draw)
        log_ratio = new_value - value + log_q.reshape(len(x), -1).sum(1)
        accept = torch.rand(len(x)).log() < log_ratio
        x, gradient = (torch.where(accept[:, None], new, old)
                       for new, old in ((y, x), (new_gradient, gradient)))
        value = torch.where(accept, new_value, value)
        yield float(log_ratio.clamp(max=0).exp().mean())

def dmala(logp, x, alpha):
    def law(x, gradient):
        logits = (1 - 2 * x) * gradient / 2 - 1 / (2 * alpha)
        return Bernoulli(logits=logits, validate_args=False)
    return adjusted(logp, x, law, lambda x, flip: torch.where(flip > 0, 1 - x, x))

def flip_one(x, i):
    y, rows = x.clone(), torch.arange(len(x))
    y[rows, i] = 1 - y[rows, i]
    return y

def gwg(logp, x):
    def law(x, gradient):
        return Categorical(logits=(1 - 2 * x) * gradient / 2, validate_args=False)
    return adjusted(logp, x, law, flip_one)

def gibbs(logp, x):
    value = logp(x)
    while True:
        y = flip_one(x, torch.randint(x.shape[1], (len(x),)))
        other = logp(y)
        flip = torch.rand(len(x)) < torch.sigmoid(other - value)
        x, value = torch.where(flip[:, None], y, x), torch.where(flip, other, value)
        yield 1.0

def time_torch(steps):
    """Milliseconds per step of all chains, and the mean acceptance probability."""
    acceptance, times = [], []
    for _ in range(WARMUP):
        next(steps)
    for _ in range(PARTS):
        start, before = time.perf_counter(), len(acceptance)
        while (used := time.perf_counter() - start) < SECONDS:
            acceptance.append(next(steps))
        times.append(1e3 * used / (len(acceptance) - before))
    return min(times), sum(acceptance) / len(acceptance)

def time_saltus(command):
    """The same of saltus; or None and what it said."""
    draws, times = 64, []
    while len(times) < PARTS:
        done = subprocess.run([*command, "--warmup", str(WARMUP), "--draws", str(draws)],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None, done.stderr.strip()
        answer = json.loads(done.stdout)
        seconds = draws / answer["steps_per_second"]
        if seconds > SECONDS / 3:
            times.append(1e3 * seconds / draws)
        else:
            draws = int(draws * min(50, SECONDS / max(seconds, 1e-6)))
    return min(times), answer["acceptance_rate"]

def compare(program, folder):
    for name, chains, dim, alpha, (logp, text) in [
            ("5 x 5 Ising torus", 100, 25, 0.4, lattice(5)),
            ("100 x 100 Ising torus", 16, 10000, 0.15, lattice(100)),
            ("RBM 784 x 500", 100, 784, 0.2, rbm(folder))]:
        model = os.path.join(folder, "model.json")
        with open(model, "w", encoding="utf-8") as file:
            json.dump(text, file)
        x = (torch.rand(chains, dim) < 0.5).float()
        for sampler, steps, settings in [
                ("dmala", dmala(logp, x, alpha), ["--set", f"step_size={alpha}"]),
                ("gwg", gwg(logp, x), ["--set", "flips=1"]),
                ("gibbs", gibbs(logp, x), ["--set", "scan=random", "--set", "updates=1"])]:
            command = [program, "sample", model, "--sampler", sampler, *settings, "--json",
                       "--chains", str(chains), "--threads", "1", "--record", "moments"]
            yield {"model": name, "chains": chains, "sampler": sampler,
                   "torch": time_torch(steps), "saltus": time_saltus(command)}

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--saltus", default="build/release/saltus", help="the program")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if not args.json:
        print(f"Milliseconds per step of all chains, one thread; PyTorch {torch.__version__}\n"
              f"{'model':<22} chains sampler   PyTorch    saltus  faster  acceptance of both")
    with tempfile.TemporaryDirectory() as folder:
        for row in compare(args.saltus, folder):
            (theirs, acceptance), (ours, said) = row["torch"], row["saltus"]
            both = f"{ours:9.4f} {theirs / ours:6.1f}x  {acceptance:.3f} {said:.3f}" if ours else \
                f"not available: {said}"
            print(json.dumps(row) if args.json else f"{row['model']:<22} {row['chains']:>6} "
                  f"{row['sampler']:>7} {theirs:9.3f} {both}", flush=True)

if __name__ == "__main__":
    main()
