"""Runs that are killed, interrupted or out of time continue to the draws of a run that never stopped."""

import os
import random
import signal
import subprocess
import time

import saltus_cli
from saltus_cli import CliTest, read_npz, strict_json, with_defaults

# What depends on the clock or the machine rather than on the draws. The evaluations have a test of their
# own, so that the others tell of the draws alone.
NOT_OF_THE_DRAWS = {"seconds", "steps_per_second", "peak_memory_bytes", "evaluations"}


def drawn(j):
    return {k: v for k, v in j.items() if k not in NOT_OF_THE_DRAWS}


class ResumeTest(CliTest):
    def size(self, arguments, option, seconds, most):
        """The value of --draws or --warmup with which the run takes about so many seconds here."""
        other = {"--draws": "--warmup", "--warmup": "--draws"}[option]
        count = 2000
        while True:
            begin = time.monotonic()
            self.summary(*with_defaults({other: 1}, arguments), option, count)
            spent = time.monotonic() - begin
            if spent > seconds / 8 or count >= most:
                break
            count *= 4
        return min(most, int(count * seconds / spent))

    def reference(self, *arguments):
        """JSON, arrays and seconds of the run that never stops."""
        begin = time.monotonic()
        j = self.summary(*arguments, "--out", "whole.npz")
        return j, read_npz(self.path("whole.npz")), time.monotonic() - begin

    def check_arrays(self, whole, name="parts.npz"):
        parts = read_npz(self.path(name))
        self.assertEqual(set(parts), set(whole))
        for array in whole:
            self.assertTrue(parts[array] == whole[array], f"{array} differs from the run that never stopped")

    def kill_after(self, seconds, *arguments):
        """Starts saltus and kills it; true when it had not ended before."""
        process = self.begin(*arguments)
        try:
            process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self.assertIn(process.returncode, (0, -signal.SIGKILL))
        return process.returncode != 0

    def kill_and_resume(self, arguments, seconds, seed, kills=3):
        """A run that is killed again and again, then left in peace; its JSON. `seconds`: how long the
        uninterrupted run takes."""
        rng = random.Random(seed)
        for _ in range(5):
            killed, command = self.kill_often(arguments, seconds, rng, kills)
            if killed >= 2:
                return strict_json(self.good(*command).out)
            seconds /= 2  # a busy machine, less busy now: it ended before it was killed twice
            self.remove_outputs()
        self.fail("the run was too short to be killed twice")

    def kill_often(self, arguments, seconds, rng, kills):
        """How often it was killed, and the command that goes on."""
        killed = 0
        command = ["sample", *arguments, "--checkpoint", "c", "--checkpoint-every", 0, "--json"]
        for _ in range(kills):
            hit = self.kill_after(seconds * rng.uniform(0.05, 0.35), *command)
            killed += hit
            if os.path.exists(self.path("parts.npz")):  # it takes its name when it is complete
                read_npz(self.path("parts.npz"))
            if not hit:
                break
            if os.path.exists(self.path("c")):  # else it was killed before it began
                command = ["sample", "--resume", "c", "--checkpoint-every", 0, "--json"]
        return killed, command

    def remove_outputs(self):
        for name in "c", "c.draws", "parts.npz":
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))


class Killed(ResumeTest):
    def check_killed(self, arguments, option, seed, seconds=0.8, most=500_000):
        other = ["--warmup", 200] if option == "--draws" else ["--draws", 500]
        run = [*arguments, *other, option, self.size(arguments, option, seconds, most)]
        j, whole, spent = self.reference(*run)
        resumed = self.kill_and_resume([*run, "--out", "parts.npz"], spent, seed)
        self.check_arrays(whole)
        self.assertEqual(drawn(resumed), drawn(j))

    def test_while_drawing(self):
        self.check_killed(["--chains", 2], "--draws", seed=1)

    def test_in_warm_up_while_tuning(self):
        self.check_killed(["--chains", 2], "--warmup", seed=2, most=10 ** 8)

    def test_dula(self):
        self.check_killed(["ising", "--sampler", "dula", "--set", "step_size=0.3", "--chains", 3], "--draws", seed=3)

    def test_thinned(self):
        self.check_killed(["--thin", 7, "--chains", 3, "--tile", 2, "--threads", 2], "--draws", seed=4)

    def test_windowed(self):
        self.check_killed(["poisson", "--set", "window=2", "--chains", 2], "--draws", seed=5)

    def test_moments(self):
        arguments = ["--record", "moments", "--chains", 2]
        run = [*arguments, "--warmup", 200, "--draws", self.size(arguments, "--draws", 1.0, 10 ** 8)]
        begin = time.monotonic()
        j = self.summary(*run)
        resumed = self.kill_and_resume(run, time.monotonic() - begin, seed=6)
        self.assertEqual(drawn(resumed), drawn(j))


class Interrupted(ResumeTest):
    # Thinned, so that nearly all the time goes into steps and the signal comes while they are made.
    RUN = ["--chains", 2, "--set", "step_size=0.4", "--warmup", 100, "--thin", 20]

    def interrupt(self, *arguments, wait=0.3, number=signal.SIGINT):
        """Starts saltus, sends it a signal once it is at work; returns status, stdout, stderr."""
        for _ in range(6):
            process = self.begin(*arguments)
            time.sleep(wait)
            if process.poll() is not None:  # it ended before
                wait /= 2
            else:
                process.send_signal(number)
                out, err = process.communicate(timeout=saltus_cli.TIMEOUT)
                if process.returncode != -number:  # else it had not begun, on a busy machine
                    return process.returncode, out.decode(), err.decode()
                wait *= 2
            self.remove_outputs()
        self.fail("the run could not be met at work")

    def test_with_a_checkpoint(self):
        run = [*self.RUN, "--draws", self.size(self.RUN, "--draws", 1.2, 10 ** 6)]
        j, whole, _ = self.reference(*run)
        status, out, err = self.interrupt("sample", *run, "--checkpoint", "c", "--out", "parts.npz", "--json")
        self.assertEqual(status, 130, err)
        stopped = strict_json(out)
        self.assertIs(stopped["complete"], False)
        self.assertLess(stopped["draws"], j["draws"])
        self.assertIn("saltus sample --resume c", err)
        self.assertEqual(drawn(strict_json(self.good("sample", "--resume", "c", "--json").out)), drawn(j))
        self.check_arrays(whole)

    def test_without_a_checkpoint(self):
        run = [*self.RUN, "--draws", self.size(self.RUN, "--draws", 1.2, 10 ** 6)]
        j, whole, _ = self.reference(*run)
        status, out, err = self.interrupt("sample", *run, "--out", "parts.npz", "--json")
        self.assertEqual(status, 130, err)
        strict_json(out)
        saved = self.unasked_checkpoint()
        self.assertIn(f"saltus sample --resume {saved}", err)
        self.assertEqual(drawn(strict_json(self.good("sample", "--resume", saved, "--json").out)), drawn(j))
        self.check_arrays(whole)

    def test_twice_without_a_checkpoint_keeps_both(self):
        run = ["sample", *self.RUN, "--draws", 10 ** 9, "--record", "moments", "--json"]
        self.interrupt(*run)
        saved = self.unasked_checkpoint()
        first = self.read(saved)
        _, _, err = self.interrupt(*run)
        self.assertEqual(self.read(saved), first, "the second interruption overwrote the first run")
        self.assertEqual(len([n for n in self.files() if n.endswith(".checkpoint")]), 2, self.files())
        self.assertIn("--resume", err)

    def test_in_warm_up(self):
        run = ["--chains", 2, "--draws", 100, "--warmup", self.size(["--chains", 2], "--warmup", 3, 10 ** 8)]
        j, whole, _ = self.reference(*run)
        status, out, err = self.interrupt("sample", *run, "--checkpoint", "c", "--out", "parts.npz", "--json")
        self.assertEqual(status, 130, err)
        self.assertEqual(strict_json(out)["draws"], 0)
        self.assertEqual(drawn(strict_json(self.good("sample", "--resume", "c", "--json").out)), drawn(j))
        self.check_arrays(whole)

    def test_for_people(self):
        # Without --json the summary of what there is, and how to continue.
        status, out, err = self.interrupt("sample", "bernoulli", *self.RUN, "--draws", 10 ** 9, "--record", "moments")
        self.assertEqual(status, 130, err)
        self.assertIn("not complete", out)
        self.assertIn(f"saltus sample --resume {self.unasked_checkpoint()}", err)

    def test_the_command_it_tells_works_for_any_name(self):
        _, _, err = self.interrupt("sample", *self.RUN, "--draws", 10 ** 9, "--record", "moments", "--json",
                                   "--checkpoint", "my run's checkpoint")
        told = [line.strip() for line in err.splitlines() if line.strip().startswith("saltus sample --resume")]
        self.assertEqual(len(told), 1, err)
        done = subprocess.run(["sh", "-c", told[0].replace("saltus", '"$SALTUS"', 1) + " --time 0.01 --json"], cwd=self.folder,
                              env={**os.environ, "SALTUS": saltus_cli.program}, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{told[0]}\n{done.stderr.decode()}")


class OutOfTime(ResumeTest):
    RUN = ["--chains", 2, "--set", "step_size=0.4", "--warmup", 100]

    def test_stops_and_continues(self):
        run = [*self.RUN, "--thin", 4, "--draws", 100_000]
        j, whole, _ = self.reference(*run)
        done = self.good("sample", *run, "--time", 0.05, "--checkpoint", "c", "--out", "parts.npz", "--json")
        stopped = strict_json(done.out)
        self.assertIs(stopped["complete"], False)
        self.assertTrue(0 < stopped["draws"] < j["draws"], stopped["draws"])
        self.assertIn("--resume c", done.err)
        # What there is so far is the beginning of the whole.
        first = read_npz(self.path("parts.npz"))["x"]
        self.assertEqual(first.shape, (2, stopped["draws"], 25))
        for chain in 0, 1:
            part = first.rows(chain, chain + 1)
            self.assertEqual(part, whole["x"].rows(chain, chain + 1)[:len(part)])
        self.assertEqual(drawn(strict_json(self.good("sample", "--resume", "c", "--json").out)), drawn(j))
        self.check_arrays(whole)

    def test_each_piece_goes_on_where_the_last_one_ended(self):
        # One that began anew would get no further.
        self.good("sample", *self.RUN, "--draws", 10 ** 9, "--record", "moments", "--time", 0.1, "--checkpoint", "c", "--json")
        made = [strict_json(self.good("sample", "--resume", "c", "--time", 0.1, "--json").out)["draws"] for _ in range(6)]
        self.assertEqual(made, sorted(set(made)), "the counts do not rise")

    def test_without_a_checkpoint(self):
        done = self.good("sample", *self.RUN, "--draws", 10 ** 9, "--record", "moments", "--time", 0.1, "--json")
        self.assertIs(strict_json(done.out)["complete"], False)
        self.assertIn("--checkpoint", done.err)
        self.assertEqual(self.files(), [])

    def test_enough_time_changes_nothing(self):
        run = [*self.RUN, "--draws", 1000]
        self.assertEqual(drawn(self.summary(*run)), drawn(self.summary(*run, "--time", 60)))

    def test_every_round_can_be_the_last(self):
        # Many short pieces, most of them in warm-up, with the tuning in between.
        run = ["--chains", 2, "--warmup", 40, "--draws", 3000]
        j, whole, _ = self.reference(*run)
        self.good("sample", *run, "--checkpoint", "c", "--out", "parts.npz", "--time", 1e-9, "--json")
        for _ in range(60):
            part = strict_json(self.good("sample", "--resume", "c", "--time", 1e-9, "--json").out)
        if not part["complete"]:
            part = strict_json(self.good("sample", "--resume", "c", "--json").out)
        self.assertEqual(drawn(part), drawn(j))
        self.check_arrays(whole)

    def test_evaluations_count_the_draws_alone(self):
        # Statistics cover the steps after warm-up, also when the run stopped within it.
        for run in [["--warmup", 40], ["--warmup", 40, "--set", "step_size=0.4"], ["--warmup", 0]]:
            with self.subTest(" ".join(map(str, run))):
                self.remove_outputs()
                self.good("sample", *run, "--draws", 50, "--checkpoint", "c", "--time", 1e-9, "--json")
                j = strict_json(self.good("sample", "--resume", "c", "--json").out)
                self.assertEqual(j["evaluations"], {"logp": 1, "gradient": 1})


class Continued(ResumeTest):
    RUN = ["--chains", 2, "--set", "step_size=0.4", "--warmup", 100, "--draws", 3000, "--seed", 5]

    def test_complete_run_gives_its_result_again(self):
        first = self.summary(*self.RUN, "--checkpoint", "c", "--out", "parts.npz")
        whole = read_npz(self.path("parts.npz"))
        for _ in range(2):
            os.remove(self.path("parts.npz"))
            self.assertEqual(drawn(strict_json(self.good("sample", "--resume", "c", "--json").out)), drawn(first))
            self.check_arrays(whole)

    def test_out_may_be_named_when_resuming(self):
        _, whole, _ = self.reference(*self.RUN)
        self.summary(*self.RUN, "--checkpoint", "c")
        self.good("sample", "--resume", "c", "--out", "parts.npz", "--json")
        self.check_arrays(whole)

    def test_another_checkpoint_leaves_the_first_alone(self):
        j, whole, _ = self.reference(*self.RUN)
        self.summary(*self.RUN, "--checkpoint", "c", "--out", "parts.npz", "--time", 1e-9)
        before = {n: self.read(n) for n in self.files() if n in ("c", "c.draws")}
        self.good("sample", "--resume", "c", "--checkpoint", "d", "--json")
        self.check_arrays(whole)
        for name, content in before.items():
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), content, name)
        self.assertEqual(drawn(strict_json(self.good("sample", "--resume", "c", "--json").out)), drawn(j))

    def test_more_draws(self):
        longer = [5000 if a == 3000 else a for a in self.RUN]
        _, whole, _ = self.reference(*longer)
        self.summary(*self.RUN, "--checkpoint", "c", "--out", "parts.npz")
        self.good("sample", "--resume", "c", "--draws", 5000, "--json")
        self.check_arrays(whole)

    def test_what_is_repeated_may_agree(self):
        j = self.summary(*self.RUN, "--checkpoint", "c")
        again = strict_json(self.good("sample", "--resume", "c", *self.RUN, "--sampler", "dmala", "--thin", 1, "--json").out)
        self.assertEqual(drawn(again), drawn(j))

    def test_same_model_may_be_named_again(self):
        self.summary("bernoulli", *self.RUN, "--checkpoint", "c")
        self.good("sample", "bernoulli", "--resume", "c", "--json")

    def check_conflict(self, *options, status=64):
        before = {n: open(self.path(n), "rb").read() for n in self.files()}
        done = self.saltus("sample", "--resume", "c", *options, "--json")
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "")
        self.assertEqual(done.err.count("\n"), 1, str(done))
        self.assertEqual({n: open(self.path(n), "rb").read() for n in self.files()}, before, "files changed")

    def test_conflicting_options(self):
        self.summary(*self.RUN, "--checkpoint", "c", "--time", 1e-9)
        for options in (["--seed", 6], ["--sampler", "dula"], ["--set", "step_size=0.5"], ["--set", "distance=value"],
                        ["--chains", 3], ["--warmup", 99], ["--thin", 2], ["--tile", 1], ["--record", "moments"],
                        ["--out", "x.txt"]):
            with self.subTest(" ".join(map(str, options))):
                self.check_conflict(*options)

    def test_conflicting_model(self):
        self.summary("bernoulli", *self.RUN, "--checkpoint", "c", "--time", 1e-9)
        for model in "ising", "potts":
            with self.subTest(model):
                self.check_conflict(model)

    def test_starting_states_have_no_place_in_a_continued_run(self):
        self.write("start.txt", "0 0 0 0 0 0\n" * 2)
        self.summary("bernoulli", *self.RUN, "--checkpoint", "c", "--time", 1e-9)
        self.check_conflict("--init", "start.txt")

    def test_fewer_draws_than_were_made(self):
        self.summary(*self.RUN, "--checkpoint", "c")
        self.check_conflict("--draws", 100)

    def test_more_draws_of_moments(self):
        self.summary(*self.RUN, "--record", "moments", "--checkpoint", "c")
        self.check_conflict("--draws", 9000)


class Damaged(ResumeTest):
    RUN = ["--chains", 2, "--set", "step_size=0.4", "--warmup", 100, "--draws", 2000, "--seed", 5]

    def setUp(self):
        super().setUp()
        self.summary(*self.RUN, "--checkpoint", "c", "--out", "parts.npz")
        with open(self.path("c"), "rb") as file:
            self.content = file.read()
        with open(self.path("c.draws"), "rb") as file:
            self.draws = file.read()
        os.remove(self.path("parts.npz"))

    def check_refused(self, status, name="c"):
        done = self.saltus("sample", "--resume", name, "--json")
        self.assertEqual(done.status, status, str(done))
        self.assertEqual(done.out, "")
        self.assertEqual(done.err.count("\n"), 1, str(done))
        self.assertIn(name, done.err)
        self.assertNotIn("parts.npz", self.files())

    def test_flipped_bytes(self):
        rng = random.Random(7)
        places = [0, 7, 8, 15, 16, len(self.content) - 1, *rng.sample(range(len(self.content)), 30)]
        for place in places:
            with self.subTest(place):
                damaged = bytearray(self.content)
                damaged[place] ^= 1 << rng.randrange(8)
                self.write("c", bytes(damaged))
                self.check_refused(65)

    def test_cut_off(self):
        for length in 0, 1, 7, 8, 11, 12, 20, len(self.content) // 2, len(self.content) - 1:
            with self.subTest(length):
                self.write("c", self.content[:length])
                self.check_refused(65)

    def test_too_long(self):
        self.write("c", self.content + b"x")
        self.check_refused(65)

    def test_another_kind_of_file(self):
        self.write("text", "This is a text.\n" * 100)
        self.check_refused(65, "text")
        self.write("m.json", {"model": "bernoulli", "logits": [0]})
        self.check_refused(65, "m.json")

    def test_missing(self):
        self.check_refused(66, "nowhere")
        os.mkdir(self.path("folder"))
        self.check_refused(66, "folder")

    def test_draws_are_missing(self):
        os.remove(self.path("c.draws"))
        done = self.saltus("sample", "--resume", "c", "--json")
        self.assertIn(done.status, (65, 66), str(done))
        self.assertEqual(done.out, "")
        self.assertIn("c", done.err)
        self.assertEqual(self.files(), ["c"], "a refusal wrote something")

    def test_draws_are_cut_off(self):
        for length in 0, 5, len(self.draws) // 2, len(self.draws) - 1:
            with self.subTest(length):
                self.write("c.draws", self.draws[:length])
                self.check_refused(65)

    def test_draws_of_another_run(self):
        self.summary(*self.RUN[:-1], 6, "--checkpoint", "other")
        os.replace(self.path("other.draws"), self.path("c.draws"))
        self.check_refused(65)

    def test_flipped_byte_in_the_draws(self):
        # Draws that nobody made must not come out as draws; 0xff is no level of the model.
        for place in len(self.draws) // 3, len(self.draws) // 2:
            with self.subTest(place):
                damaged = bytearray(self.draws)
                damaged[place] ^= 0xff
                self.write("c.draws", bytes(damaged))
                self.check_refused(65)


class Extended(CliTest):
    """A run that keeps a part of its coordinates goes on with that part, however often it is extended."""

    def test_extended_twice(self):
        run = ["sample", "ising-100x100", "--chains", 1, "--warmup", 0, "--set", "step_size=0.1", "--time", "1e-9", "--json"]
        self.good(*run, "--draws", 100_000, "--checkpoint", "c")
        for draws in (200_000, 400_000, 50_000):
            self.good("sample", "--resume", "c", "--draws", draws, "--time", "1e-9", "--json")
        self.good("sample", "--resume", "c", "--time", "1e-9", "--json")


class Refused(CliTest):
    def test_a_start_that_is_refused_leaves_an_earlier_run_alone(self):
        self.good("sample", "bernoulli", "--draws", 50, "--checkpoint", "c", "--json")
        self.write("inf.json", '{"model": "quadratic", "levels": 2, "A": [[0, 1, 1e308], [1, 0, 1e308]], "b": [1e308, 1e308]}')
        with open(self.path("c.draws"), "rb") as file:
            before = file.read()
        self.write("ones", "1 1\n" * 4)
        refused = self.saltus("sample", "inf.json", "--draws", 5, "--init", "ones", "--checkpoint", "c", "--overwrite")
        self.assertEqual(refused.status, 65, refused)
        with open(self.path("c.draws"), "rb") as file:
            self.assertEqual(file.read(), before)
        self.good("sample", "--resume", "c", "--json")


if __name__ == "__main__":
    saltus_cli.main()
