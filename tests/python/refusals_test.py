"""What is refused: the kind of error, and the sentence. No sentence has a name of C++, and none
takes long."""

import re
import time

from support import Test, main
import numpy as np
import saltus
from saltus.sklearn import RBM

U, D, F = saltus.UsageError, saltus.DataError, saltus.FileError
nan = float("nan")
bits = saltus.bernoulli([0.1, 0.2, 0.3])
spins = saltus.ising([[0, 1.0], [1, 0]])
classes = saltus.potts([[0, 1, 2.0], [0, 1]])


def f(x):
    return x.sum(1), np.ones_like(x)


def sample(*arguments, **options):
    return saltus.sample(*arguments, **{"draws": 10, "warmup": 2, **options})


NO_GRADIENT = saltus.function(lambda x: x.sum(1), saltus.binary(2), gradient=False)


class Odd(saltus.DMALA):
    name = "dmala"

    def settings(self):
        return {"stepsize": 0.1}


TABLE = [
    # models
    (D, "J[0][1] is nan, not a finite number", lambda: saltus.ising([[0, nan], [nan, 0]])),
    (D, "J has shape (2, 3); expected a square matrix", lambda: saltus.ising(np.zeros((2, 3)))),
    (D, "J[1][1] is 2.0: a spin is not coupled to itself", lambda: saltus.ising([[0, 1], [1, 2]])),
    (D, "expected a symmetric matrix or a triangular one", lambda: saltus.ising([[0, 1], [2, 0]])),
    (D, "J is no array of numbers", lambda: saltus.ising([["a", "b"], ["c", "d"]])),
    (D, "h has 3 entries; there are 2 coordinates", lambda: saltus.ising(np.zeros((2, 2)), h=[1, 2, 3])),
    (D, "h has an entry for 5, which is no coordinate", lambda: saltus.ising(np.zeros((2, 2)), h={5: 1})),
    (D, "logits[1] is inf, not a finite number", lambda: saltus.bernoulli([0, np.inf])),
    (D, "logits has shape (1, 2); expected 1 dimension", lambda: saltus.bernoulli([[1, 2]])),
    (D, "must be above 0", lambda: saltus.poisson([-1.0])),
    (D, "W has shape (3,); expected 2 dimensions", lambda: saltus.rbm([1, 2, 3])),
    (D, "visible_bias has 2 entries; there are 3 coordinates", lambda: saltus.rbm(np.ones((2, 3)), visible_bias=[1, 2])),
    (U, "levels is 1; it must be from 2", lambda: saltus.quadratic([[1.0]], levels=1)),
    (D, "pairwise[0].table", lambda: saltus.potts([[0, 1], [0, 1]], {(0, 1): [[1, 2, 3], [4, 5, 6]]})),
    (D, "is 5; it must be from 0 to 1", lambda: saltus.potts([[0, 1], [0, 1]], {(0, 5): np.ones((2, 2))})),
    (D, "shape[0] is 0", lambda: saltus.lattice((0, 3), a=1)),
    (F, "there is no model file and no built-in model 'isng'. Did you mean ising?", lambda: saltus.model("isng")),
    (U, "there is no option 'formt'", lambda: saltus.model("ising", formt="rudy")),
    # domains and callables
    (U, "a domain of shape 0", lambda: saltus.binary(0)),
    (U, "levels is 1; it must be a whole number from 2", lambda: saltus.ordered(3, levels=1)),
    (U, "3 cannot be called", lambda: saltus.function(3, saltus.binary(2))),
    (U, "a callable needs a domain", lambda: sample(f)),
    (U, "int is no model", lambda: sample(3)),
    (U, "the model bernoulli has its own domain", lambda: sample(bits, domain=saltus.spin(3))),
    (U, "domain is 3; expected one such as", lambda: saltus.function(f, 3)),
    (U, "a callable needs the same number of levels", lambda: saltus.function(f, saltus.categorical(2, [2, 3]))),
    (D, "the target returned float", lambda: sample(lambda x: 1.0, domain=saltus.binary(2))),
    (D, "the gradient has shape", lambda: sample(lambda x: (x.sum(1), x[:, :1]), domain=saltus.binary(2))),
    # states
    (D, "states: row 0 has 2 at coordinate 1; expected 0 or 1", lambda: bits.logp([0, 2, 0])),
    (D, "states: row 1 has 0 at coordinate 0; expected -1 or 1", lambda: spins.logp([[1, 1], [0, 1]])),
    (D, "states have shape (4,); expected (rows, 3)", lambda: bits.logp([0, 1, 0, 1])),
    (D, "states are of type <U1; expected numbers", lambda: bits.logp(["a", "b", "c"])),
    (D, "states: row 0 has 2 at coordinate 1; expected 0 or 1", lambda: classes.logp([2, 2])),
    (D, "init: row 0 has 7.0 at coordinate 0", lambda: sample(bits, init=[7.0, 0, 0])),
    (U, "init has 3 states for 4 chains", lambda: sample(bits, init=np.zeros((3, 3)))),
    (U, "init is \"zero\"; expected dispersed, random, zeros or ones", lambda: sample(bits, init="zero")),
    # samplers
    (U, "step_size", lambda: sample(bits, sampler=saltus.DMALA(step_size=-1))),
    (U, "has no parameter 'stepsize'", lambda: sample(bits, sampler=Odd())),
    (U, "dmla", lambda: sample(bits, sampler="dmla")),
    (U, "3 is no sampler", lambda: sample(bits, sampler=3)),
    (U, "sampler block_gibbs needs hidden units", lambda: sample(bits, sampler="block_gibbs")),
    (U, "sampler gwg needs a gradient, which", lambda: sample(NO_GRADIENT, sampler="gwg")),
    (U, "sampler gibbs needs finitely many levels", lambda: sample(saltus.poisson([1.0]), sampler="gibbs")),
    # options
    (U, "chains is 0; expected a whole number from 1 on", lambda: sample(bits, chains=0)),
    (U, "draws is 1.5; expected a whole number", lambda: sample(bits, draws=1.5)),
    (U, "draws is True", lambda: sample(bits, draws=True)),
    (U, "warmup is -1; expected a whole number from 0 on", lambda: sample(bits, warmup=-1)),
    (U, "thin is 0", lambda: sample(bits, thin=0)),
    (U, "seed is -1; expected a whole number from 0 to 2^64 - 1", lambda: sample(bits, seed=-1)),
    (U, "seed is 'a'", lambda: sample(bits, seed="a")),
    (U, "threads is 5000", lambda: sample(bits, threads=5000)),
    (U, "record is \"draw\"; expected draws or moments", lambda: sample(bits, record="draw")),
    (U, "betas belongs to temper", lambda: sample(bits, betas=[0, 1])),
    (U, "temper is 1", lambda: sample(bits, temper=1)),
    (U, "observables need", lambda: sample(bits, observe=["mean(x)"], record="moments")),
    (U, "dims has 2 names for the shape (3,)", lambda: sample(bits, dims=["a", "b"])),
    (U, "an option is no number, text or list", lambda: sample(bits, tile=object())),
    # results, files
    (U, "a summary of 'medians'; expected means or levels", lambda: RESULT.summary("medians")),
    (U, "draws are written as FILE.npz or FILE.nc", lambda: RESULT.save("draws.txt")),
    (F, "cannot read", lambda: saltus.load("/no/such/file.npz")),
    (F, "cannot write", lambda: RESULT.save("/no/such/folder/draws.npz")),
    (F, "cannot read the checkpoint", lambda: saltus.resume("/no/such/file.checkpoint")),
    # services
    (U, "method is \"best\"; expected ais, tempering or both", lambda: saltus.logz(bits, method="best")),
    (U, "chains is 1; expected a whole number from 2", lambda: saltus.logz(bits, chains=1)),
    (D, "data: row 0 has 3 at coordinate 2; expected 0 or 1", lambda: saltus.logz(bits, data=[[0, 1, 3]])),
    (U, "budget is 0.0; expected a number from 0.001", lambda: saltus.compare(bits, budget=0.0)),
    (U, "schedule is \"slow\"", lambda: saltus.anneal(bits, schedule="slow")),
    (U, "pairs is 1; expected a whole number from 2", lambda: saltus.certify(bits, pairs=1)),
    (U, "dula", lambda: saltus.certify(bits, "dula")),
    (U, "there is no exact answer", lambda: saltus.exact(saltus.rbm(np.ones((3, 60))))),
    (U, "sum=9", lambda: sample(bits, constrain="sum=9")),
    (D, "X[0, 0] is 0.5; expected 0 or 1", lambda: RBM(2).fit([[0.5, 1]])),
]


class Refusals(Test):
    @classmethod
    def setUpClass(cls):
        global RESULT
        RESULT = saltus.sample(bits, draws=20, seed=1)

    def test_all(self):
        self.assertGreater(len(TABLE), 60)
        for kind, sentence, call in TABLE:
            with self.subTest(sentence):
                start = time.process_time()
                with self.assertRaises(saltus.Error) as caught:
                    call()
                text = str(caught.exception)
                self.assertIs(type(caught.exception), kind, text)
                self.assertIn(sentence.lower(), text.lower())
                self.assertNotIn("\n", text)
                self.assertNotRegex(text, r"std::|saltus::|nlohmann|json\.exception|<class|--\w")
                self.assertLess(time.process_time() - start, 1)
                self.assertTrue(re.search(r"[a-z]", text))


if __name__ == "__main__":
    main()
