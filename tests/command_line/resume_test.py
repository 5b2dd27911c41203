"""Runs that are stopped, killed or reach a time limit, and are resumed with the bits of an uninterrupted run."""

import os
import shutil
import signal
import struct
import subprocess
import time
import unittest
from pathlib import Path

import h5py

from program import (
    KEPLER,
    MPI_SETTINGS,
    OSCILLATOR,
    PATIENCE,
    FolderTest,
    ask,
    changed,
    checkpoints_of,
    command_of,
    end,
    run,
    signalled,
    start,
    step_of,
    toml,
    variables,
    write_recipe,
)

LINE = {"name": "line", "kind": "spring-mass-line", "sites": 300, "M": 0.02, "lambda": 8.0, "far_end": "matched"}
BATH = {"name": "bath", "kind": "heat-bath", "oscillators": 500, "damping": 0.3, "omega_max": 9.0, "kT": 0.1}

CLOSED = '[{method = "gamma", gamma = 0.0, on = "closed", name = "closed"}]'

# The runs to be interrupted, with a step number or by a signal from outside.
LONG = changed(
    OSCILLATOR,
    environments=[OSCILLATOR["environments"][0] | {"sites": 20000}],
    time={"steps": 1000},
    output={"every": 50, "snapshots": 500, "site_stride": 100},
)
ENDLESS = changed(LONG, time={"steps": 10**9}, output={"every": 1000, "snapshots": 10**9})

# Batch systems may send their signal at any time.
SIGNAL_AT_THE_END = """
#include <mpi.h>
#include <signal.h>
int MPI_Finalize(void) { raise(SIGUSR1); return PMPI_Finalize(); }
"""
SIGNAL_AT_CLOSING = """
#include <hdf5.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
herr_t H5Fclose(hid_t file) {
  herr_t (*real)(hid_t) = (herr_t (*)(hid_t))dlsym(RTLD_NEXT, "H5Fclose");
  static int calls = 0;
  char name[4096] = "";
  H5Fget_name(file, name, sizeof name);
  // Texts come from files in memory, which have other names.
  if (strstr(name, ".h5") != NULL && calls++ == 0) raise(atoi(getenv("SIGNAL_AT_CLOSING")));
  return real(file);
}
"""
SIGNAL_AT_READING = """
#include <signal.h>
#include <stdio.h>
#include <string.h>
FILE *fopen64(const char *path, const char *mode) {
  FILE *(*real)(const char *, const char *) = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen64");
  if (strstr(path, "second.txt") != NULL) raise(SIGUSR1);
  return real(path, mode);
}
"""


EVERY_SIGNAL_TWICE = """
#include <signal.h>
int raise(int number) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "raise");
  real(number);
  return real(number);
}
"""
KILL_AT_THE_SECOND_CHECKPOINT = """
#include <signal.h>
#include <string.h>
int rename(const char* from, const char* to) {
  int (*real)(const char*, const char*) = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  static int checkpoints = 0;
  if (strstr(to, ".checkpoint.") && ++checkpoints == 2) raise(SIGKILL);
  return real(from, to);
}
"""


def listen():
    """A shell that starts the tests in the background makes them ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def mixed(value):
    """The program's mixing of bits for the checksum."""
    mask = 2**64 - 1
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
    return value ^ (value >> 31)


def checksum_line(content):
    """The line that ends a checkpoint of this content."""
    mask = 2**64 - 1
    total = 0
    for index in range(0, len(content), 1 << 20):
        block = content[index : index + (1 << 20)]
        value = (0x9E3779B97F4A7C15 ^ len(block)) & mask
        for (word,) in struct.iter_unpack("<Q", block + bytes(-len(block) % 8)):
            value = ((((value << 27) | (value >> 37)) & mask) ^ word) * 0xFF51AFD7ED558CCD & mask
        total = (total + mixed((mixed(value) + (index >> 20)) & mask)) & mask
    return b"bathline checkpoint of %020d bytes with checksum %016x\n" % (len(content), total)


def parts_of(checkpoint):
    """The bytes of the state, which are an HDF5 file, and those of the copy of the result."""
    content = checkpoint.read_bytes()
    begin, end = content.rindex(b"\x89HDF\r\n"), content.rindex(b"bathline checkpoint of ")
    return content[:begin], content[begin:end]


def change_checkpoint(checkpoint, change, copy=None):
    """Changes the state, and the copy of the result if that is given, and updates the checksum."""
    state, old_copy = parts_of(checkpoint)
    checkpoint.write_bytes(state)
    with h5py.File(checkpoint, "r+") as file:
        change(file)
        if copy is not None:
            file["bytes_of_result"][0] = len(copy)
    content = checkpoint.read_bytes() + (old_copy if copy is None else copy)
    checkpoint.write_bytes(content + checksum_line(content))


class ResumeTest(FolderTest):
    """Common functions of the tests of this file."""

    def fresh(self, recipe, name="run"):
        """A folder with the recipe; path of the recipe and of the result to be."""
        folder = self.new_folder()
        return write_recipe(folder / f"{name}.toml", recipe), folder / f"{name}.h5"

    def finished(self, recipe, name="run"):
        """The paths of a recipe and of the result of its run."""
        path, result = self.fresh(recipe, name)
        self.must(["run", path, "-o", result])
        return path, result

    def started(self, recipe, ranks=None):
        """The process of a run whose result file exists, and the path of the result."""
        path, result = self.fresh(recipe)
        process = start(["run", path, "-o", result, "--progress", "none"], ranks, preexec_fn=listen)
        self.addCleanup(end, process) if process.poll() is None else None
        # Records are flushed every few seconds, so that only the existence of the file shows that the run has begun.
        self.wait_for(result.exists, process, "result file")
        return process, result

    def wait_for(self, condition, process, what):
        for _ in range(60000):
            if condition():
                return
            if process.poll() is not None:
                self.fail(f"ended before {what}: {process.communicate()}")
            time.sleep(0.01)
        end(process)
        self.fail(f"no {what} came")


class StudiesTest(ResumeTest):
    """Studies restore their state from the checkpoint."""

    def check_study(self, recipe, group):
        recipe = changed(recipe, output={"checkpoint_every": 37, "keep_checkpoints": 100})
        path, result = self.finished(recipe)
        self.assertTrue([name for name in variables(result) if name.startswith(group)])
        every = checkpoints_of(result)
        for checkpoint in (every[0], every[-1]):
            self.assertIn("PASS", self.assert_resumes(result, checkpoint, 2).out)

    claims = [{"name": "start", "quantity": "closed.q.first", "expect": 1.0, "tolerance": 0.0}]

    def test_reduction(self):
        self.check_study(changed(OSCILLATOR, study={"kind": "reduction"}, claims=self.claims), "reduction")

    def test_energy(self):
        self.check_study(changed(OSCILLATOR, study={"kind": "energy", "blocks": 6}, claims=self.claims), "energy")

    def test_wave(self):
        wave = changed(
            OSCILLATOR,
            time={"steps": 130},
            integrators=OSCILLATOR["integrators"][:1],
            study={"kind": "wave", "threshold": 1e-3},
            output={"snapshots": 5},
            claims=self.claims,
        )
        self.check_study(wave, "wave")

    def test_energy_transfer(self):
        self.check_study(changed(OSCILLATOR, study={"kind": "energy-transfer"}, claims=self.claims), "energy-transfer")

    def test_an_ensemble_between_batches(self):
        methods = [{"method": "gamma", "gamma": gamma, "on": "closed", "name": f"g{gamma}"} for gamma in (0, 1)]
        warm = changed(
            OSCILLATOR,
            environments=[BATH | {"oscillators": 50}],
            time={"steps": 30},
            integrators=methods,
            study={"kind": "ensemble", "realisations": 37},
            output={"every": 3, "checkpoint_every": 250, "keep_checkpoints": 100},
        )
        path, result = self.finished(warm)
        every = checkpoints_of(result)
        self.assertGreater(len(every), 1)
        for checkpoint in (every[0], every[-1]):
            for ranks in (1, 3):
                self.assert_resumes(result, checkpoint, ranks)

    def test_transport_between_blocks(self):
        chain = {
            "name": "chain",
            "kind": "nonlinear-line",
            "attach": [0, 1],
            "sites": 301,
            "M": 1.0,
            "potential.kind": "fput",
            "potential.k": 1.0,
            "potential.alpha": 0.3,
            "potential.beta": 0.5,
        }
        baths = [
            {"name": f"bath-{i}", "kind": "damper", "attach": i, "damping": 1.0, "kT": kt} for i, kt in enumerate((2, 1))
        ]
        recipe = {
            "title": "A chain",
            "system": {"kind": "linear", "M": [1.0, 1.0], "K": [1.0, 1.0], "q0": 0.0},
            "environments": [chain, *baths],
            "time": {"step": 0.1, "steps": 66},
            "integrators": [{"method": "baoab", "on": "closed", "name": "run"}],
            "study": {"kind": "transport", "realisations": 3, "blocks": 16},
            "output": {"every": 4, "checkpoint_every": 20, "keep_checkpoints": 100},
        }
        path, result = self.finished(recipe)
        every = checkpoints_of(result)
        for checkpoint, ranks in ((every[0], 1), (every[0], 2), (every[1], 5), (every[2], 3)):
            self.assert_resumes(result, checkpoint, ranks)
        _, other = self.fresh(recipe, "other")
        self.must(["run", path, "-o", other], ranks=4)
        self.assert_same_bits(other, result)

    def test_an_ensemble_in_no_time(self):
        warm = changed(
            OSCILLATOR,
            environments=[BATH | {"oscillators": 50}],
            time={"steps": 30},
            integrators=OSCILLATOR["integrators"][:1],
            study={"kind": "ensemble", "realisations": 33},
        )
        path, result = self.fresh(warm)
        outcome = ask(["run", path, "-o", result, "--progress", "none", "--wall-time", "1e-6"])
        times = 0
        while outcome.code == 85 and times < 10:
            times += 1
            outcome = ask(["resume", result, "--progress", "none", "--wall-time", "1e-6"])
        self.assert_code(outcome, 0)
        self.assertGreater(times, 1)
        _, whole = self.fresh(warm, "whole")
        self.must(["run", path, "-o", whole])
        self.assert_same_bits(result, whole)

    def test_a_search_of_controls(self):
        swung = {
            "title": "pendulum",
            "system": {"kind": "formula", "coordinates": ["q"], "masses": [1.0], "V": "-cos(q)", "q0": [0.0]},
            "controls": [{"name": "u", "on": "q", "pieces": 10, "initial": "0.5"}],
            "time": {"step": 0.25, "end": 5.0},
            "integrators": [
                {"name": "first", "method": "gauss", "on": "open"},
                {"name": "second", "method": "gamma", "gamma": 0.5, "on": "open"},
            ],
            "study": {
                "kind": "optimal-control",
                "running_cost": "u^2/2",
                "starts": 2,
                "step_sizes": [0.25, 0.125],
                "reference": "first",
            },
            "study.end": {"q": 3.0, "q_dot": 0.0},
            "output": {"checkpoint_every": 4000, "keep_checkpoints": 1000},
        }
        path, result = self.finished(swung)
        every = checkpoints_of(result)
        # In the searches of both integrators and in those of other steps.
        for checkpoint, ranks in ((every[0], 1), (every[len(every) // 2], 2), (every[-1], 3)):
            self.assert_resumes(result, checkpoint, ranks)

    def test_integrals_of_observables(self):
        # The drag on a planet moves its Laplace vector, which is integrated over the records.
        planet = changed(KEPLER, output={"every": 7, "checkpoint_every": 45, "keep_checkpoints": 2}, time={"steps": 95})
        planet["system"]["alpha"] = 0.01
        path, result = self.finished(planet)
        self.assert_resumes(result, checkpoints_of(result)[0])

    def test_sections(self):
        for section in ({"of": "sin(9*x)", "direction": "both"}, {"period": 0.31}):
            study = {"kind": "energy", "blocks": 6}
            recipe = changed(OSCILLATOR, output={"every": 7}, study=study, claims=self.claims)
            self.check_study(changed(recipe, **{"output.poincare_section": section}), "closed/poincare_q")

    def check_pieces(self, recipe):
        """Checkpoints between tasks; the run is stopped at each of them."""
        # Trajectories, which can be stopped at every record, hardly matter here.
        recipe = changed(recipe, output={"every": 60})
        saving = changed(recipe, output={"checkpoint_every": 40, "keep_checkpoints": 100})
        path, result = self.finished(saving)
        every = [one for one in checkpoints_of(result) if self.holds_pieces(one)]
        self.assertTrue(every)
        for checkpoint, ranks in ((every[0], 3), (every[-1], 1)):
            self.assert_resumes(result, checkpoint, ranks)
        path, again = self.fresh(recipe)
        outcome = ask(["run", path, "-o", again, "--progress", "none", "--wall-time", "1e-6"])
        times = 0
        while outcome.code == 85 and times < 100:
            times += self.holds_pieces(checkpoints_of(again)[-1])
            outcome = ask(["resume", again, "--progress", "none", "--wall-time", "1e-6"])
        self.assert_code(outcome, 0)
        self.assertGreater(times, 0)
        self.assert_same_bits(again, result)

    @staticmethod
    def holds_pieces(checkpoint):
        with h5py.File(checkpoint) as file:
            return "pieces" in file and file["pieces/count"][0] > 0

    convergence = changed(
        OSCILLATOR,
        integrators=[
            {"method": "gamma", "gamma": 0, "on": "open", "name": "first"},
            {"method": "stoermer-verlet", "on": "open", "name": "second"},
        ],
        study={"kind": "convergence", "step_sizes": [0.1, 0.05, 0.15], "starts": 2, "spread_q": 0.2},
    )

    def test_convergence_between_step_sizes(self):
        # Two starts on the way to 3 s with every step.
        self.check_pieces(self.convergence)

    def test_convergence_beside_trajectories(self):
        self.check_pieces(changed(self.convergence, study={"trajectories": True}))

    def test_memory_between_clamped_runs(self):
        held = changed(
            OSCILLATOR,
            environments=[LINE, BATH | {"oscillators": 50}],
            integrators=OSCILLATOR["integrators"][:1],
            study={"kind": "memory-kernel"},
        )
        self.check_pieces(held)

    def test_memory_in_a_reduction(self):
        self.check_pieces(changed(OSCILLATOR, study={"kind": "reduction", "memory": True}))


class StoppedTest(ResumeTest):
    """Requests to stop: exit code 85, a checkpoint, and after resuming the bits of an uninterrupted run."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        recipe = write_recipe(cls.folder / "long.toml", LONG)
        outcome = run(["run", recipe, "-o", cls.folder / "long.h5", "--progress", "none"])
        if outcome.code != 0:
            raise AssertionError(outcome.text)

    def stop(self, number, ranks=None, rank=0):
        """Runs the recipe, of which a rank receives a signal in the middle, and returns the outcome."""
        path, result = self.fresh(LONG)
        outcome = run(["run", path, "-o", result, "--progress", "none"], ranks, env=signalled(number, 750, rank))
        return outcome.code, outcome.text, result

    def check_stopped(self, code, text, result, reason):
        self.assertEqual(code, 85, text)
        self.assertEqual(text.count(f"by {reason}"), 1, text)
        (checkpoint,) = checkpoints_of(result)
        self.assertIn(f"bathline resume {checkpoint}", text)
        with h5py.File(result) as file:
            self.assertEqual(file.attrs["status"], "partial")
        return checkpoint

    def test_the_exact_flow_far_from_a_record(self):
        hours = {
            "title": "t",
            "system": {"kind": "formula", "coordinates": ["x"], "masses": [1.0], "V": "x^4", "q0": [1.0]},
            "time": {"step": 200.0, "steps": 1000000},
            "output": {"every": 1000000},
            "integrators": [{"method": "exact", "on": "open", "name": "open"}],
            "study": {"kind": "trajectory"},
        }
        process, result = self.started(hours)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        self.check_stopped(process.returncode, out + err, result, "SIGTERM")

    def test_a_user_signal(self):
        checkpoint = self.check_stopped(*(stopped := self.stop(signal.SIGUSR1)), "SIGUSR1")
        self.must(["resume", checkpoint], ranks=2)
        self.assert_same_bits(stopped[2], self.folder / "long.h5")
        with h5py.File(stopped[2]) as file:
            self.assertEqual(file.attrs["status"], "complete")
            self.assertIn("on 2 ranks", file.attrs["resumed"])

    def test_other_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            checkpoint = self.check_stopped(*(stopped := self.stop(number)), number.name)
            self.must(["resume", checkpoint])
            self.assert_same_bits(stopped[2], self.folder / "long.h5")
        for number in (signal.SIGUSR2, signal.SIGHUP, signal.SIGXCPU):
            with self.subTest(number.name):
                self.check_stopped(*self.stop(number), number.name)

    def test_a_hangup_that_is_ignored(self):
        path, result = self.fresh(LONG)
        arguments = ["run", path, "-o", result, "--progress", "none"]
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
        self.assert_code(run(arguments, env=signalled(signal.SIGHUP, 750), **ignore), 0)

    def test_the_end_of_its_input(self):
        for ranks in (None, 2):
            with self.subTest(ranks=ranks):
                path, result = self.fresh(ENDLESS)
                words = ["run", path, "-o", result, "--progress", "none", "--stop-at-end-of-input"]
                process = subprocess.Popen(
                    command_of(words, ranks),
                    env=MPI_SETTINGS | os.environ,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.wait_for(result.exists, process, "result file")
                process.stdin.write("ignored\n")
                process.stdin.flush()
                time.sleep(0.2)
                self.assertIsNone(process.poll())
                out, err = process.communicate(timeout=PATIENCE)  # closes its input
                self.check_stopped(process.returncode, out + err, result, "SIGTERM")

    def test_a_duplicate_interrupt(self):
        # As from a launcher that sends it to the process and to its group.
        path, result = self.fresh(LONG)
        env = self.shim(EVERY_SIGNAL_TWICE) | signalled(signal.SIGINT, 750)
        outcome = run(["run", path, "-o", result, "--progress", "none"], env=env)
        self.check_stopped(outcome.code, outcome.text, result, "SIGINT")

    def test_a_second_interrupt_ends_at_once(self):
        # It can stop with a checkpoint only between step sizes, and the smallest takes minutes on any machine.
        study = {"kind": "convergence", "step_sizes": [1e-11, 0.05]}
        slow = changed(OSCILLATOR, integrators=OSCILLATOR["integrators"][1:], study=study)
        for wait in (0.2, 0.8, 3.2, 12.8):
            process, _ = self.started(slow)
            time.sleep(wait)
            process.send_signal(signal.SIGINT)
            time.sleep(0.4)  # sooner the second would count as the same
            if process.poll() is None:
                break
            self.assertEqual(process.returncode, 85, "it may come before the first step size")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_a_signal_in_the_first_moments(self):
        # The next command always succeeds: either there is no file yet, or it can be resumed.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
            for wait in (0.0, 0.05, None):
                with self.subTest(signal=number, wait=wait):
                    path, result = self.fresh(ENDLESS)
                    process = start(["run", path, "-o", result, "--progress", "none"], preexec_fn=listen)
                    if wait is None:
                        while not result.exists() and process.poll() is None:
                            pass
                    else:
                        time.sleep(wait)
                    process.send_signal(number)
                    out, err = process.communicate(timeout=PATIENCE)
                    if process.returncode == -number:
                        self.assertEqual([left.name for left in result.parent.iterdir()], ["run.toml"])
                    else:
                        self.check_stopped(process.returncode, out + err, result, number.name)

    def test_a_signal_to_mpirun(self):
        process, result = self.started(ENDLESS, ranks=2)
        process.send_signal(signal.SIGUSR1)
        out, err = process.communicate(timeout=PATIENCE)
        self.check_stopped(process.returncode, out + err, result, "SIGUSR1")

    def test_a_signal_to_one_rank_stops_all_at_the_same_step(self):
        checkpoint = self.check_stopped(*(stopped := self.stop(signal.SIGUSR1, ranks=3, rank=1)), "SIGUSR1")
        self.must(["resume", checkpoint])
        self.assert_same_bits(stopped[2], self.folder / "long.h5")

    def test_a_signal_in_the_last_moments(self):
        # The result is complete: a job script must not take the run for a killed one and compute it again.
        path, result = self.fresh(OSCILLATOR)
        for ranks in (None, 2):
            arguments = ["run", path, "-o", result, "--overwrite", "--progress", "none"]
            self.assert_code(run(arguments, ranks, env=self.shim(SIGNAL_AT_THE_END)), 0)

    def test_a_signal_between_the_elements_of_a_sweep(self):
        shim = self.shim(SIGNAL_AT_CLOSING)
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                path, _ = self.fresh(toml(OSCILLATOR) + "\n[sweep]\nsystem.k = [1.0, 2.0, 3.0]\n")
                env = shim | {"SIGNAL_AT_CLOSING": str(int(number))}
                outcome = run(["run", path, "--progress", "none"], 2, env=env, cwd=path.parent)
                self.assert_code(outcome, 85)
                self.assert_said_once(outcome, "cannot write a checkpoint; the run will stop")
                listed = run(["sweep", path], cwd=path.parent).out
                self.assertEqual([listed.count(word) for word in ("finished", "to do")], [1, 2], listed)

    def test_a_signal_while_an_element_of_a_sweep_is_prepared(self):
        shim = self.shim(SIGNAL_AT_READING)
        bath = {"name": "bath", "kind": "heat-bath", "spectrum": "table", "file": "first.txt"}
        recipe = toml(changed(OSCILLATOR, environments=[bath]))
        for ranks in (None, 2, 3):
            with self.subTest(ranks=ranks):
                path, _ = self.fresh(recipe + '\n[sweep]\nenvironments.0.file = ["first.txt", "second.txt", "third.txt"]\n')
                for name in ("first", "second", "third"):
                    (path.parent / f"{name}.txt").write_text("1.0 0.1\n2.0 0.1\n")
                outcome = run(["run", path, "--progress", "none"], ranks, env=shim, cwd=path.parent)
                self.assert_code(outcome, 85)
                self.assert_said_once(outcome, "by SIGUSR1")
                listed = run(["sweep", path], cwd=path.parent).out
                self.assertEqual([listed.count(word) for word in ("finished", "interrupted", "to do")], [1, 1, 1], listed)
                self.assert_code(run(["run", path, "--progress", "none"], ranks, cwd=path.parent), 0)

    def test_a_signal_after_the_last_step(self):
        # The file is closed whole, and the run is a finished one.
        shim = self.shim(SIGNAL_AT_CLOSING)
        for number in (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGINT):
            with self.subTest(number.name):
                path, result = self.fresh(OSCILLATOR)
                env = shim | {"SIGNAL_AT_CLOSING": str(int(number))}
                self.assert_code(run(["run", path, "-o", result, "--progress", "none"], env=env), 0)
                self.must(["verify", result])

    def test_a_limit_of_time_again_and_again(self):
        # Too short for more than the first steps of each run, which has a number of them that no clock changes.
        recipe = changed(LONG, output={"every": 2000})
        _, whole = self.finished(recipe, "whole")
        path, result = self.fresh(recipe)
        outcome = ask(["run", path, "-o", result, "--progress", "none", "--wall-time", "1e-6"])
        steps = []
        while outcome.code == 85 and len(steps) < 100:
            self.assert_said_once(outcome, "the wall-time limit")
            self.assertLessEqual(len(checkpoints_of(result)), 2)
            steps.append(step_of(checkpoints_of(result)[-1]))
            ranks = 2 if len(steps) == 2 else None
            outcome = run(["resume", result, "--progress", "none"], ranks, env={"BATHLINE_WALL_TIME": "1e-6"})
        self.assert_code(outcome, 0)
        self.assertGreater(len(steps), 2)
        self.assertEqual(steps, sorted(set(steps)))
        self.assert_same_bits(result, whole)

    def test_implicit_steps_stopped_anywhere(self):
        # By tiles or by the exact reduced system: the bits do not depend on where the clock lets the run be stopped.
        line = LINE | {"sites": 20000, "far_end": "fixed", "kT": 0.1}
        for step in (0.02, 1.0):
            with self.subTest(step=step):
                recipe = changed(
                    LONG, environments=[line], time={"step": step, "steps": 900}, output={"every": 300, "snapshots": 900}
                )
                recipe["integrators"] = [{"method": "gamma", "gamma": 0.5, "name": "closed", "on": "closed"}]
                path, whole = self.finished(recipe, "whole")
                path, result = self.fresh(recipe)
                outcome = run(["run", path, "-o", result, "--progress", "none"], env=signalled(signal.SIGUSR1, 310))
                self.assert_code(outcome, 85)
                self.must(["resume", result])
                self.assert_same_bits(result, whole)


class KilledTest(ResumeTest):
    """kill -9 at any moment: the run is resumed from the last intact checkpoint."""

    recipe = changed(LONG, output={"checkpoint_every": 300})

    def test_in_mid_step(self):
        path, whole = self.finished(self.recipe, "whole")
        for ranks, rank in ((None, 0), (2, 1)):
            path, result = self.fresh(self.recipe)
            env = signalled(signal.SIGKILL, 800, rank)
            outcome = run(["run", path, "-o", result, "--progress", "none"], ranks, env=env)
            self.assertNotIn(outcome.code, (0, 85), outcome.text)
            # The oldest checkpoint that is kept: the result has later records.
            oldest = checkpoints_of(result)[0]
            with h5py.File(result) as file:
                self.assertEqual(file.attrs["status"], "partial")
            self.must(["resume", oldest])
            self.assert_same_bits(result, whole)

    def test_in_mid_checkpoint(self):
        path, whole = self.finished(self.recipe, "whole")
        path, result = self.fresh(self.recipe)
        outcome = run(["run", path, "-o", result, "--progress", "none"], env=self.shim(KILL_AT_THE_SECOND_CHECKPOINT))
        self.assertEqual(outcome.code, -signal.SIGKILL, outcome.text)
        unfinished = [one for one in result.parent.iterdir() if one.suffix == ".unfinished"]
        self.assertEqual((len(checkpoints_of(result)), len(unfinished)), (1, 1))
        self.must(["resume", result])
        self.assert_same_bits(result, whole)
        self.assertFalse(unfinished[0].exists())


class RefusedTest(ResumeTest):
    """Runs that cannot be resumed are refused with one message, and nothing is changed."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        output = {"checkpoint_every": 25, "keep_checkpoints": 2}
        cls.recipe = write_recipe(cls.folder / "run.toml", changed(OSCILLATOR, output=output))
        cls.result = cls.folder / "run.h5"
        outcome = run(["run", cls.recipe, "-o", cls.result, "--progress", "none"])
        if outcome.code != 0:
            raise AssertionError(outcome.text)

    def copies(self):
        return self.copy_of(self.result, checkpoints_of(self.result)[-1])

    def check_refused(self, arguments, message, result, ranks=(None, 2)):
        before = Path(result).read_bytes() if Path(result).exists() else None
        for count in ranks:
            outcome = self.must(["resume", *arguments], code=2, ranks=count)
            self.assertRegex(outcome.err, message)
            self.assertEqual(outcome.err.count("error: "), 1, outcome.err)
        if before is not None:
            self.assertEqual(Path(result).read_bytes(), before)

    def test_none_are_kept_of_a_complete_run_that_does_not_ask_for_them(self):
        folder = self.new_folder()
        recipe = write_recipe(folder / "run.toml", changed(OSCILLATOR, output={"checkpoint_every": 25}))
        result = folder / "run.h5"
        self.must(["run", recipe, "-o", result])
        self.assertEqual(checkpoints_of(result), [])
        # Nor of a run that was stopped and resumed to its end.
        again = folder / "again.h5"
        self.must(["run", recipe, "-o", again, "--wall-time", "1e-6"], code=85)
        self.assertEqual(len(checkpoints_of(again)), 1)
        self.must(["resume", again], ranks=2)
        self.assertEqual(checkpoints_of(again), [])

    def test_the_last_two_are_kept(self):
        # Of the second integrator, after the 60 steps of the first.
        steps = [step_of(path) for path in checkpoints_of(self.result)]
        self.assertEqual(len(steps), 2)
        self.assertGreater(min(steps), 60)

    def test_truncated(self):
        result, copy = self.copies()
        content = copy.read_bytes()
        for length in (0, 40, len(content) // 2, len(content) - 1):
            copy.write_bytes(content[:length])
            self.check_refused([copy], "is not a complete checkpoint", result, ranks=(None,))
        self.check_refused([copy], "is not a complete checkpoint", result)

    def test_damaged(self):
        result, copy = self.copies()
        content = bytearray(copy.read_bytes())
        for offset in (0, 600, len(content) // 2, len(content) - 200):
            changed_content = bytearray(content)
            changed_content[offset] ^= 4
            copy.write_bytes(changed_content)
            self.check_refused([copy], "is damaged: its checksum does not match", result, ranks=(None,))
        self.check_refused([copy], "is damaged", result)

    def test_the_last_intact_one_is_used(self):
        folder = self.new_folder()
        for path in [self.result, *checkpoints_of(self.result)]:
            shutil.copy(path, folder)
        newest = checkpoints_of(folder / "run.h5")[-1]
        content = bytearray(newest.read_bytes())
        content[len(content) // 3] ^= 1
        newest.write_bytes(content)
        with h5py.File(folder / "run.h5", "r+") as file:
            file.attrs["status"] = "partial"
        outcome = self.must(["resume", folder / "run.h5"], ranks=2)
        self.assert_said_once(outcome, "trying an earlier checkpoint")
        self.assert_same_bits(folder / "run.h5", self.result)

    def test_foreign_files(self):
        result, copy = self.copies()
        self.check_refused([self.new_folder() / "absent.h5"], "absent.h5: No such file", result)
        self.check_refused([self.recipe], "is not a complete checkpoint", result)
        self.check_refused([self.folder], "not a regular file", result)
        copy.unlink()
        with h5py.File(result, "r+") as file:
            file.attrs["status"] = "partial"
        self.check_refused([result], "no checkpoint beside it", result)

    def test_another_recipe(self):
        result, copy = self.copies()
        self.check_refused(
            [copy, "--recipe", self.recipe, "--set", "time.step=0.04"],
            r"different recipe than .*\n.*only there: `step = 0.05`\n  only here: `step = 0.04`",
            result,
        )
        self.must(["resume", copy, "--recipe", self.recipe])

    def test_a_result_of_another_recipe(self):
        result, copy = self.copies()
        settings = ["--set", "system.k=2", "--set", "output.checkpoint_every=1000"]
        self.must(["run", self.recipe, "-o", result, "--overwrite", *settings])
        # Overwriting has removed the checkpoint, which belonged to the old result.
        self.assertFalse(copy.exists())
        _, copy = self.copies()
        shutil.copy(result, copy.parent)
        self.check_refused([copy], r"of a different recipe.*(\n.*)*only there: `k = 2.0`(\n.*)*only here: `k = 1.0`", copy.parent / "run.h5")

    def test_another_build(self):
        result, copy = self.copies()
        change_checkpoint(copy, lambda file: file.attrs.create("git_commit", "f" * 40))
        self.check_refused([copy], r"another build.*--any-build.*\n.*git_commit is f{40} there", result)
        self.must(["resume", copy, "--any-build"])
        self.assert_same_bits(result, self.result)

    def test_whatever_is_left_of_the_result(self):
        """A checkpoint is complete in itself: the file that a run has left is replaced, or it may be missing."""
        content = Path(self.result).read_bytes()
        _, stopped = self.fresh(self.recipe.read_text())
        self.must(["run", self.recipe, "-o", stopped, "--wall-time", "1e-6"], code=85)
        changed_record = bytearray(content)
        with h5py.File(self.result) as file:
            changed_record[file["closed/q"].id.get_chunk_info(0).byte_offset] ^= 1
        left = {
            "nothing": None,
            "an empty file": b"",
            # A kill in the middle of a flush: HDF5's metadata are incomplete.
            "zeros": bytes(8) + content[8:],
            "torn": content[:96] + bytes(4000) + content[4096:],
            "truncated": content[: len(content) // 2],
            "fewer records": stopped.read_bytes(),
            "more records": content,
            "a changed record": bytes(changed_record),
        }
        for ranks in (None, 2):
            copies = {name: self.copies() for name in left}
            for name, (result, _) in copies.items():
                Path(result).unlink()
                if left[name] is not None:
                    Path(result).write_bytes(left[name])
            commands = [["resume", copy, "--progress", "none"] for _, copy in copies.values()]
            outcomes = [ask(command, ranks) for command in commands]
            for (name, (result, copy)), outcome in zip(copies.items(), outcomes):
                with self.subTest(name, ranks=ranks):
                    self.assert_code(outcome, 0)
                    self.assert_same_bits(result, self.result)
                    self.assertEqual(sorted(one.name for one in copy.parent.iterdir()), sorted([copy.name, "run.h5"]))

    def test_a_complete_result(self):
        result, copy = self.copies()
        for remains in (True, False):
            before = Path(result).read_bytes()
            for arguments in ([], ["--recipe", self.recipe]):
                outcome = self.must(["resume", result, *arguments], ranks=2)
                self.assert_said_once(outcome, "run.h5: already complete")
            self.assertEqual(Path(result).read_bytes(), before)
            if remains:
                copy.unlink()
        self.check_refused([result, "--recipe", self.recipe, "--set", "system.k=2"], "belongs to a different recipe than", result)
        wrong = [{"name": "wrong", "quantity": "closed.q.max", "bounds": [5.0, 6.0]}]
        recipe, result = self.fresh(changed(OSCILLATOR, claims=wrong))
        self.must(["run", recipe, "-o", result], code=1)
        self.assert_said_once(self.must(["resume", result], code=1), "already complete")

    def test_a_key_that_was_removed(self):
        recipe, result = self.fresh(changed(OSCILLATOR, output={"checkpoint_every": 25}))
        unset = ["--unset", "output.checkpoint_every"]
        self.must(["run", recipe, "-o", result, *unset, "--wall-time", "1e-6"], code=85)
        self.check_refused([result, "--recipe", recipe], "only here: `checkpoint_every = 25`", result, ranks=(None,))
        self.must(["resume", result, "--recipe", recipe, *unset])

    def test_settings_without_a_recipe(self):
        result, copy = self.copies()
        self.check_refused([copy, "--set", "time.step=1"], "need --recipe", result)

    def test_starting_again_among_old_checkpoints(self):
        result, copy = self.copies()
        Path(result).unlink()
        outcome = self.must(["run", self.recipe, "-o", result], code=2)
        self.assert_said_once(outcome, "start again with --overwrite")
        self.must(["run", self.recipe, "-o", result, "--overwrite"])
        self.assert_same_bits(result, self.result)


class InputFileTest(ResumeTest):
    def test_a_missing_table(self):
        bath = {"name": "bath", "kind": "heat-bath", "spectrum": "table", "file": "../tables/bath.txt"}
        recipe = changed(OSCILLATOR, environments=[bath], output={"checkpoint_every": 20, "keep_checkpoints": 2})
        recipe["integrators"] = OSCILLATOR["integrators"][:1]
        folder = self.new_folder()
        (folder / "tables").mkdir()
        (folder / "recipes").mkdir()
        (folder / "tables" / "bath.txt").write_text("".join(f"{0.3 * j} 0.02\n" for j in range(1, 30)))
        path = write_recipe(folder / "recipes" / "run.toml", recipe)
        result = folder / "run.h5"
        self.must(["run", path, "-o", result])
        copied, copy = self.copy_of(result, checkpoints_of(result)[0])
        shutil.rmtree(folder / "tables")
        path.unlink()
        self.must(["resume", copy], ranks=2)
        self.assert_same_bits(copied, result)


if __name__ == "__main__":
    unittest.main()
