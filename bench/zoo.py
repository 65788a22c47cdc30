"""Models that measurements are made on, small enough to be written by a formula. Their random parts have fixed seeds."""

import itertools
import math
import random


def torus(rows, cols):
    """The pairs of neighbours of a periodic lattice."""
    for i, j in itertools.product(range(rows), range(cols)):
        yield i * cols + j, i * cols + (j + 1) % cols
        yield i * cols + j, (i + 1) % rows * cols + j


def ising(n, couplings, fields=None):
    return {"model": "ising", "n": n, "couplings": couplings, "fields": fields or [0] * n}


def signs(n, seed):
    return [random.Random(seed).choice((-1, 1)) for _ in range(n)]


def turned(pairs, coupling, n, seed):
    """A ferromagnet whose spins are turned at random, so that its modes are no uniform states."""
    xi = signs(n, seed)
    return ising(n, [[i, j, coupling * xi[i] * xi[j]] for i, j in pairs])


def complete(n, coupling, field):
    """All spins coupled, and the mean of each by the number of spins that are up."""
    log_weight = []
    for up in range(n + 1):
        m = 2 * up - n
        log_weight.append(math.lgamma(n + 1) - math.lgamma(up + 1) - math.lgamma(n - up + 1)
                          + coupling * (m * m - n) / 2 + field * m)
    top = max(log_weight)
    weight = [math.exp(w - top) for w in log_weight]
    mean = sum(w * (2 * up - n) / n for up, w in enumerate(weight)) / sum(weight)
    pairs = itertools.combinations(range(n), 2)
    return ising(n, [[i, j, coupling] for i, j in pairs], [field] * n), [mean] * n


def two_patterns(n, strength, seed):
    """An RBM of one hidden unit whose two modes are opposite patterns of equal weight: all means are 1/2."""
    xi = signs(n, seed)
    return {"model": "rbm", "weights": [[2 * strength * s for s in xi]], "visible_bias": [-strength * s for s in xi],
            "hidden_bias": [-strength * sum(xi)]}


def potts(pairs, n, q, coupling):
    table = [[coupling if a == b else 0 for b in range(q)] for a in range(q)]
    return {"model": "potts", "levels": [q] * n, "unary": [[0] * q] * n,
            "pairwise": [{"between": [i, j], "table": table} for i, j in pairs]}


def hopfield(n, seed, strength):
    a, b = signs(n, seed), signs(n, seed + 1)
    return ising(n, [[i, j, strength / n * (a[i] * a[j] + b[i] * b[j])] for i, j in itertools.combinations(range(n), 2)])


def random_pairs(n, degree, seed):
    r = random.Random(seed)
    return sorted(r.sample(list(itertools.combinations(range(n), 2)), n * degree // 2))


def sherrington(n, beta, seed):
    r = random.Random(seed)
    return ising(n, [[i, j, r.gauss(0, beta / math.sqrt(n))] for i, j in itertools.combinations(range(n), 2)])


def independent_bits(n, seed):
    r = random.Random(seed)
    logits = [r.gauss(0, 1) for _ in range(n)]
    return {"model": "bernoulli", "logits": logits}, [1 / (1 + math.exp(-x)) for x in logits]


def independent_levels(n, seed):
    """Ordered levels, 0 to 9, log p = b x - 0.1 x^2."""
    r = random.Random(seed)
    b = [r.uniform(0, 1.5) for _ in range(n)]
    means = []
    for slope in b:
        weight = [math.exp(slope * x - 0.1 * x * x) for x in range(10)]
        means.append(sum(x * w for x, w in enumerate(weight)) / sum(weight))
    return {"model": "quadratic", "levels": [10] * n, "A": [[i, i, -0.1] for i in range(n)], "b": b}, means


def small_rbm(n, hidden, seed):
    """Weights of both signs and no bias but that which makes x and 1 - x alike: all means are 1/2."""
    r = random.Random(seed)
    w = [[r.gauss(0, 0.3) for _ in range(n)] for _ in range(hidden)]
    return {"model": "rbm", "weights": w, "hidden_bias": [-sum(row) / 2 for row in w],
            "visible_bias": [-sum(row[i] for row in w) / 2 for i in range(n)]}


def lattice(*shape, a, b=0):
    return {"model": "ising-lattice", "shape": list(shape), "periodic": True, "a": a, "b": b}


def dense_rbm(visible, hidden, scale, seed):
    r = random.Random(seed)
    return {"model": "rbm", "weights": [[r.gauss(0, scale) for _ in range(visible)] for _ in range(hidden)],
            "visible_bias": [r.gauss(0, 0.3) for _ in range(visible)], "hidden_bias": [r.gauss(0, 0.3) for _ in range(hidden)]}


def levels_on_pairs(pairs, n, levels, coupling, seed):
    """Ordered levels with a curvature of their own, coupled along the pairs."""
    r = random.Random(seed)
    middle = (levels - 1) / 2
    a = [[i, i, -0.15] for i in range(n)] + [[i, j, coupling] for i, j in pairs]
    return {"model": "quadratic", "levels": levels, "A": a, "b": [r.uniform(0, 0.3 * middle) for _ in range(n)]}
