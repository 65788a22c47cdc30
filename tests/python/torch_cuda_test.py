"""Samplers on tensors of a GPU: the laws, captured steps against eager ones, and what stays there.

Prints how long steps take; nothing depends on it.
"""

import itertools
import sys
import time
import warnings

from support import Test, main
import numpy as np

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed")
    sys.exit(77)
if not torch.cuda.is_available():
    print("skipped: PyTorch finds no GPU")
    sys.exit(77)

import saltus.torch

ONE = {"step_size": 0.3, "seed": 1}


class Lattice(torch.nn.Module):
    """4 x 4 spins with free ends, on 0 and 1 or -1 and +1."""

    def __init__(self, domain="binary"):
        super().__init__()
        self.domain = domain
        self.coupling = torch.nn.Parameter(torch.tensor(0.3))
        self.field = torch.nn.Parameter(torch.tensor(0.1))

    def forward(self, x):
        s = (2 * x - 1 if self.domain == "binary" else x).reshape(-1, 4, 4)
        pairs = (s[:, 1:] * s[:, :-1]).sum((1, 2)) + (s[:, :, 1:] * s[:, :, :-1]).sum((1, 2))
        return self.coupling * pairs + self.field * s.sum((1, 2))


class Rbm(torch.nn.Module):
    def __init__(self, visible, hidden):
        super().__init__()
        self.W = torch.nn.Parameter(torch.randn(hidden, visible) * 0.05)
        self.c = torch.nn.Parameter(torch.zeros(hidden))
        self.b = torch.nn.Parameter(torch.zeros(visible))

    def forward(self, x):
        return torch.nn.functional.softplus(torch.nn.functional.linear(x, self.W, self.c)).sum(1) + x @ self.b


def exact_means(net):
    states = torch.tensor(list(itertools.product((0.0, 1.0), repeat=16)), device="cuda")
    with torch.no_grad():
        p = torch.softmax(net(states).double(), 0)
    return (p @ states.double()).cpu().numpy()


def seconds_a_step(sampler, x, net, n, calls):
    for _ in range(2):
        x = sampler.step(x, net, n=n)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(calls):
        x = sampler.step(x, net, n=n)
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / (n * calls)


class Laws(Test):
    def test_means(self):
        net = Lattice().cuda()
        expected = exact_means(net)
        chains = 4000
        for sampler, warm, steps in (
            (saltus.torch.DMALA(**ONE), 100, 200),
            (saltus.torch.GWG(seed=2), 100, 400),
            (saltus.torch.Gibbs(seed=3), 200, 600),
        ):
            x = sampler.step(torch.bernoulli(torch.full((chains, 16), 0.5, device="cuda")), net, n=warm)
            total = torch.zeros(chains, 16, device="cuda")
            for _ in range(steps // 10):
                x = sampler.step(x, net, n=10)
                total += x
            means = (total / (steps // 10)).double().cpu().numpy()
            error = means.std(0) / np.sqrt(chains)
            self.assertTrue((np.abs(means.mean(0) - expected) < 5 * error).all(), type(sampler).__name__)

    def test_kernels_and_plain_operations_follow_one_law(self):
        # All 16 states of four bits, each from each: the counts of two ways to take a step.
        net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.SiLU(), torch.nn.Linear(8, 1), torch.nn.Flatten(0))
        net = net.cuda()
        states = torch.tensor(list(itertools.product((0.0, 1.0), repeat=4)), device="cuda")
        start = states.repeat_interleave(4000, 0)
        powers = torch.tensor([8, 4, 2, 1], device="cuda")
        for kind in (saltus.torch.DMALA, saltus.torch.DULA):
            tables = []
            for fused in (True, False):
                sampler = kind(0.6, seed=5 + fused, capture=False)
                if not fused:
                    sampler._is_fused = lambda *_: False
                y = sampler.step(start, net, n=2)
                at = torch.arange(16, device="cuda").repeat_interleave(4000) * 16 + (y @ powers.float()).long()
                tables.append(torch.bincount(at, minlength=256).double().cpu().numpy())
            a, b = tables
            used = a + b > 10
            statistic = ((a - b)[used] ** 2 / (a + b)[used]).sum()
            freedom = used.sum() - 16
            self.assertLess(statistic, freedom + 5 * np.sqrt(2 * freedom), kind.__name__)

    def test_spins(self):
        net = Lattice("spin").cuda()
        sampler = saltus.torch.DMALA(2.0, seed=1, domain="spin", adapt=True)
        x = sampler.step(torch.ones(4000, 16, device="cuda"), net, n=300)
        self.assertEqual(set(x.unique().tolist()), {-1.0, 1.0})
        expected = 2 * exact_means(Lattice().cuda()) - 1
        means = x.double().mean(0).cpu().numpy()
        self.assertTrue((np.abs(means - expected) < 5 / np.sqrt(4000)).all())
        self.assertNotEqual(sampler.step_size, 2.0)


class Captured(Test):
    def test_is_the_same_as_eager(self):
        torch.manual_seed(1)
        net = Rbm(40, 30).cuda()
        x = torch.bernoulli(torch.full((64, 40), 0.5, device="cuda"))
        for make in (
            lambda c: saltus.torch.DMALA(**ONE, capture=c),
            lambda c: saltus.torch.DULA(0.2, seed=1, capture=c),
            lambda c: saltus.torch.DMALA(**ONE, adapt=True, capture=c),
            lambda c: saltus.torch.GWG(seed=1, capture=c),
            lambda c: saltus.torch.Gibbs(seed=1, capture=c),
            lambda c: saltus.torch.PAS(seed=1, capture=c),
        ):
            eager, captured = make(False), make("auto")
            a, b = x, x
            for n in (3, 8, 21):
                a, b = eager.step(a, net, n=n), captured.step(b, net, n=n)
                self.assertTrue(torch.equal(a, b), type(eager).__name__)
                self.assertAlmostEqual(eager.info.acceptance_rate, captured.info.acceptance_rate, 4)
                self.assertAlmostEqual(eager.info.changes, captured.info.changes, 3)
            self.assertIsNotNone(captured._graphs._graph, type(eager).__name__)
            self.assertAlmostEqual(eager.step_size, captured.step_size, 5)

    def test_follows_an_optimiser(self):
        net = Rbm(12, 6).cuda()
        sampler = saltus.torch.DMALA(**ONE)
        x = torch.zeros(32, 12, device="cuda")
        x = sampler.step(x, net, n=8)
        graph = sampler._graphs._graph
        with torch.no_grad():
            net.b.fill_(100.0)
        x = sampler.step(x, net, n=40)
        self.assertIs(sampler._graphs._graph, graph)
        self.assertEqual(float(x.mean()), 1.0)
        sampler.step(x[:16], net, n=8)  # another shape: captured again
        self.assertIsNot(sampler._graphs._graph, graph)

    def test_what_cannot_be_captured_is_eager(self):
        class Branching(Rbm):
            def forward(self, x):
                logp = super().forward(x)
                return logp if float(logp.detach().sum()) > -1e9 else 2 * logp  # reads a value

        net = Branching(12, 6).cuda()
        sampler = saltus.torch.DMALA(**ONE)
        x = torch.zeros(32, 12, device="cuda")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            x = sampler.step(x, net, n=8)
            x = sampler.step(x, net, n=8)
        self.assertEqual(sum("not captured" in str(w.message) for w in caught), 1)
        self.assertEqual(set(x.unique().tolist()) - {0.0, 1.0}, set())
        again = saltus.torch.DMALA(**ONE, capture=False)
        y = again.step(again.step(torch.zeros(32, 12, device="cuda"), net, n=8), net, n=8)
        self.assertTrue(torch.equal(x, y))

    def test_functions_are_captured_when_asked(self):
        net = Rbm(12, 6).cuda()
        x = torch.zeros(32, 12, device="cuda")
        auto, always = saltus.torch.DMALA(**ONE), saltus.torch.DMALA(**ONE, capture=True)
        f = lambda v: net(v)  # noqa: E731
        self.assertTrue(torch.equal(auto.step(x, f, n=9), always.step(x, f, n=9)))
        self.assertIsNone(auto._graphs._graph)
        self.assertIsNotNone(always._graphs._graph)

    def test_streams(self):
        net = Rbm(40, 30).cuda()
        x = torch.zeros(64, 40, device="cuda")
        here, there = saltus.torch.DMALA(**ONE), saltus.torch.DMALA(**ONE)
        expected = here.step(here.step(x, net, n=16), net, n=16)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            y = there.step(x, net, n=16)
        torch.cuda.current_stream().wait_stream(stream)
        self.assertTrue(torch.equal(there.step(y, net, n=16), expected))

    def test_nothing_is_copied_to_the_host(self):
        net = Rbm(40, 30).cuda()
        for capture in ("auto", False):
            sampler = saltus.torch.DMALA(**ONE, capture=capture, adapt=True)
            x = sampler.step(torch.zeros(64, 40, device="cuda"), net, n=16)
            torch.cuda.synchronize()
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                x = sampler.step(x, net, n=16)
                torch.cuda.synchronize()
            names = [event.key for event in profile.key_averages()]
            self.assertFalse([name for name in names if "DtoH" in name], capture)
            self.assertEqual(x.device.type, "cuda")

    def test_random_numbers_can_be_saved(self):
        net = Rbm(40, 30).cuda()
        one = saltus.torch.DMALA(**ONE, adapt=True)
        x = one.step(torch.zeros(64, 40, device="cuda"), net, n=10)
        two = saltus.torch.DMALA(adapt=True)
        two.load_state_dict(one.state_dict())
        self.assertTrue(torch.equal(one.step(x, net, n=10), two.step(x, net, n=10)))


class Learning(Test):
    def test_finds_a_ring(self):
        J = np.zeros((5, 5))
        for i in range(5):
            J[i, (i + 1) % 5] = J[(i + 1) % 5, i] = 0.4

        class Pairs(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.W = torch.nn.Parameter(torch.zeros(5, 5))

            def forward(self, x):
                return torch.einsum("ri,ij,rj->r", x, (self.W + self.W.T).triu(1), x)

        states = np.array(list(itertools.product((-1.0, 1.0), repeat=5)))
        p = np.exp(np.einsum("si,ij,sj->s", states, np.triu(J, 1), states))
        p /= p.sum()
        moments = torch.tensor(np.einsum("s,si,sj->ij", p, states, states), dtype=torch.float32, device="cuda")
        net = Pairs().cuda()
        sampler = saltus.torch.DMALA(step_size=1.0, seed=1, domain="spin", adapt=True)
        x = torch.sign(torch.randn(4000, 5, device="cuda"))
        total = torch.zeros(5, 5, device="cuda")
        for k in range(240):
            x = sampler.step(x, net, n=2)
            with torch.no_grad():
                net.W += (0.3 / (1 + k / 60)) * ((moments - x.T @ x / len(x)) / 2).fill_diagonal_(0)
                total += net.W if k >= 120 else 0
        learned = (total / 120 * 2).cpu().numpy()
        self.assertLess(abs(learned - J).max(), 0.05)


class Devices(Test):
    def test_the_second_gpu(self):
        if torch.cuda.device_count() < 2:
            self.skipTest("there is one GPU")
        net = Rbm(12, 6).to("cuda:1")
        x = saltus.torch.DMALA(**ONE).step(torch.zeros(8, 12, device="cuda:1"), net, n=9)
        self.assertEqual(str(x.device), "cuda:1")


class Times(Test):
    def test_are_printed(self):
        torch.manual_seed(1)
        net = Rbm(784, 500).cuda()
        x = torch.bernoulli(torch.full((100, 784), 0.5, device="cuda"))
        for name, capture in (("captured", "auto"), ("eager", False)):
            sampler = saltus.torch.DMALA(0.2, seed=1, capture=capture)
            print(f"RBM 784 x 500, 100 chains, {name}: {1e6 * seconds_a_step(sampler, x, net, 40, 20):.1f} us a step")

        def alone(n=200):
            v = x.clone().requires_grad_(True)
            torch.autograd.grad(net(v).sum(), v)
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(n):
                torch.autograd.grad(net(v).sum(), v)
            torch.cuda.synchronize()
            return (time.perf_counter() - start) / n

        print(f"its evaluation alone, eager: {1e6 * alone():.1f} us")


if __name__ == "__main__":
    main()
