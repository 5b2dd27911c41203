"""Mistakes of the user: exit 2, one message with its location, nothing written, no hanging processes."""

import os
import re
import subprocess
import unittest

from program import (
    KEPLER,
    MPI_SETTINGS,
    OSCILLATOR,
    PATIENCE,
    PROGRAM,
    FolderTest,
    ask,
    changed,
    end,
    start,
    toml,
    write_recipe,
)

# Two particles, a line between them, a claim: a recipe in which every section can have mistakes.
BASE = """title = "Two particles"

[system]
kind = "dual-oscillator"
m0 = 1.0
k0 = 2.0
M0 = 3.0
K0 = 4.0
q0 = [0.5, 0.0]
v0 = [0.0, 0.1]

[[environments]]
name = "between"
kind = "spring-inerter-line"
attach = [0, 1]
sites = 50
k = 16.0
b = 0.1

[time]
step = 0.01
end = 0.5

[[integrators]]
method = "gamma"
gamma = 0.0
on = "closed"
name = "closed"

[[integrators]]
method = "rk4"
on = "open"
name = "damped"

[output]
every = 5

[[claims]]
name = "amplitude"
quantity = "closed.q.max"
bounds = [0.0, 1.0]
"""

# Text of the recipe, its replacement, the text at the location that the message must give,
# and a pattern of the message.
MISTAKES = {
    "misspelt key": ("every = 5", "evry = 5", "evry", r"unknown key `evry` in \[output\]; did you mean `every`\?"),
    "end of its own where runs are compared": (
        '[output]\nevery = 5\n',
        'end = 0.25\n[study]\nkind = "reduction"\n',
        "end = 0.25",
        r"a study of the kind `reduction` needs one end time",
    ),
    "a name that the study's results have a use for": (
        'name = "damped"\n\n[output]\nevery = 5\n',
        'name = "end"\n[study]\nkind = "convergence"\nstep_sizes = [0.05, 0.025]\n',
        'name = "end"',
        r"the results of a study of the kind `convergence` contain another group of this name; choose another one",
    ),
    "snapshots of what is left out": (
        "every = 5",
        "every = 5\nparticles_only = true\nsnapshots = 5",
        "snapshots = 5",
        r"snapshots need the sites that `particles_only` drops",
    ),
    "a study of what is left out": (
        "[output]\nevery = 5\n",
        '[study]\nkind = "energy"\nblocks = 3\n[output]\nparticles_only = true\n',
        "particles_only = true",
        r"a study of the kind `energy` needs the complete environments",
    ),
    "key missing": ("k0 = 2.0\n", "", "[system]", r"`k0`"),
    "unknown key": ("end = 0.5", "end = 0.5\ncolour = 1", "colour", r"unknown key `colour` in \[time\]"),
    "unknown section": ("[output]", "[outputs]", "outputs]", r"unknown key `outputs`.*did you mean `output`\?"),
    "key twice": ("k0 = 2.0", "k0 = 2.0\nk0 = 3.0", None, r"cannot redefine existing .*'k0'"),
    "no TOML": ("[time]", "[time", None, r"not valid TOML"),
    "unknown system": ('"dual-', '"dual', "kind = ", r"did you mean \"dual-oscillator\"\?"),
    "unknown line": ('"spring-inerter-line"', '"spring-inert-line"', 'kind = "spring', r"\"spring-inerter-line\"\?"),
    "unknown integrator": ('"rk4"', '"rk5"', 'method = "rk5', r"did you mean \"rk4\"\?"),
    "unknown choice": ('on = "open"', 'on = "opened"', 'on = "opened', r"did you mean \"open\"\?"),
    "text for a number": ("m0 = 1.0", 'm0 = "one"', "m0 = ", r"must be a number, not a text"),
    "fraction for an integer": ("sites = 50", "sites = 50.5", "sites", r"must be an integer"),
    "truth value for a list": ("q0 = [0.5, 0.0]", "q0 = true", "q0", r"must be a list"),
    "number for a text": ('name = "damped"', "name = 3", "name = 3", r"must be a text"),
    "table for a list of tables": ("[[claims]]", "[claims]", "claims]", r"claims"),
    "q0 of the wrong size": ("q0 = [0.5, 0.0]", "q0 = [0.5]", "q0", r"`q0` has the wrong size.* 2 number"),
    "v0 of the wrong size": ("v0 = [0.0, 0.1]", "v0 = [0.0, 0.1, 0.2]", "v0", r"`v0` has the wrong size"),
    "a list per particle": ("q0 = [0.5, 0.0]", "q0 = [[0.5, 0.0], [1.0, 0.0]]", "q0", r"`q0` has the wrong size"),
    "bounds of the wrong size": ("bounds = [0.0, 1.0]", "bounds = [0.0]", "bounds", r"must be two"),
    "bounds the wrong way": ("bounds = [0.0, 1.0]", "bounds = [1.0, 0.0]", "bounds", r"lower number first"),
    "negative mass": ("m0 = 1.0", "m0 = -1.0", "m0 = ", r"m0 = -1\.0: must be positive"),
    "mass of zero": ("M0 = 3.0", "M0 = 0.0", "M0 = ", r"M0 = 0\.0: must be positive"),
    "negative inertance": ("b = 0.1", "b = -0.1", "b = -", r"b = -0\.1: must be positive"),
    "no sites": ("sites = 50", "sites = 0", "sites", r"must be positive"),
    "nan": ("k0 = 2.0", "k0 = nan", "k0", r"must be finite"),
    "inf": ("v0 = [0.0, 0.1]", "v0 = [0.0, -inf]", "-inf", r"must be finite"),
    "step of nan": ("step = 0.01", "step = nan", "step", r"must be finite"),
    "step of zero": ("step = 0.01", "step = 0.0", "step", r"must be positive"),
    "end and steps": ("end = 0.5", "end = 0.5\nsteps = 4", "steps", r"one of `end`, `steps`"),
    "neither end nor steps": ("end = 0.5\n", "", "[time]", r"`end`, `steps`"),
    "same name twice": ('name = "damped"', 'name = "closed"', 'name = "closed"\n\n[output]', r"must be unique"),
    "name of the program": ('name = "damped"', 'name = "claims"', 'name = "claims', r"reserved for the program"),
    "name of an environment with a slash": ('"between"', '"be/tween"', 'name = "be/tween"', r"must not contain `/`"),
    "name of an environment with a line end": (
        '"between"',
        r'"be\ntween"',
        'name = "be',
        r'name = "be\\ntween": a name must not contain',
    ),
    "name of an environment with a zero": (
        '"between"',
        r'"be\u0000tween"',
        'name = "be',
        r"must not contain the character of code 0",
    ),
    "name of an environment that is a folder": ('"between"', '".."', 'name = ".."', r"nor be `\.`"),
    "name of an integrator with a slash": ('"damped"', '"dam/ped"', 'name = "dam', r"must consist of letters"),
    "name of an integrator with a line end": ('"damped"', r'"damped\n"', 'name = "dam', r"must consist of letters"),
    "name of an integrator with a zero": ('"damped"', r'"damped\u0000"', 'name = "dam', r"character of code 0"),
    "claim with a slash": ('"amplitude"', '"amp/litude"', 'name = "amp', r"must not contain `/`"),
    "claim with a line end": ('"amplitude"', r'"amp\rlitude"', 'name = "amp', r"must not contain `/`, line ends"),
    "claim with a zero": ('"amplitude"', r'"amp\u0000"', 'name = "amp', r"character of code 0"),
    "no such particle": ("attach = [0, 1]", "attach = [0, 2]", "attach", r"names particle 2, but the system has 2"),
    "no such particle from the end": (
        "attach = [0, 1]",
        "attach = [0, -3]",
        "attach",
        r"names particle -3, but the system has 2",
    ),
    "line to itself from the end": ("attach = [0, 1]", "attach = [1, -1]", "attach", r"two different particles"),
    "line to itself": ("attach = [0, 1]", "attach = [1, 1]", "attach", r"two different particles"),
    "line described twice": ("b = 0.1", "b = 0.1\ndamping = 2.0", "damping", r"damping of a lumped line"),
    "line in two ways": ("k = 16.0", "k = 16.0\nlength = 3.0", "length", r"described in two ways"),
    "line half described": ("b = 0.1\n", "", 'kind = "spring', r"`b` is missing"),
    "unstable step": ("step = 0.01", "step = 0.1", "step", r"step = 0\.1 is beyond the stability limit 0\.079"),
    "more sites than memory": ("sites = 50", "sites = 10000000000000", "sites", r"GiB.*\d+ sites would fit"),
    "claim on an unknown label": (
        "closed.q.max",
        "closd.q.max",
        "quantity",
        r"`closd\.q\.max` starts with no integrator or study name",
    ),
    "claim that is no quantity": ("closed.q.max", "closed.q[0.max", "quantity", r"is not a quantity"),
    "figure of an unknown label": (
        "[output]",
        '[[figure.panels]]\nseries = [{ of = "closd.q[0]" }]\n\n[output]',
        'of = "closd',
        r"`closd\.q\[0\]` starts with no integrator or study name",
    ),
    "claim on what is not recorded": (
        "closed.q.max",
        "closed.energy_totl.max",
        "quantity",
        r"`closed\.energy_totl\.max`: `energy_totl` is not recorded; did you mean `energy_total`\?",
    ),
    "figure of what is not recorded": (
        "[output]",
        '[[figure.panels]]\nseries = [{ of = "{}.qq[0]", cases = ["damped"] }]\n\n[output]',
        'of = "{}.qq',
        r"`damped\.qq\[0\]`: `qq` is not recorded; did you mean `q`\?",
    ),
    "figure of a particle too many": (
        "[output]",
        '[[figure.panels]]\nseries = [{ of = "closed.p[0]", x = "closed.q[2]" }]\n\n[output]',
        'x = "closed',
        r"`closed\.q\[2\]`: index 2 of `q` is out of range: dimension `particle` has 2",
    ),
    "figure of no quantity": (
        "[output]",
        '[[figure.panels]]\nseries = [{ of = "{}.q[0", cases = ["closed"] }]\n\n[output]',
        'of = "{}.q',
        r"`closed\.q\[0` is not a quantity",
    ),
    "figure that subtracts an unknown label": (
        "[output]",
        '[[figure.panels]]\nseries = [{ of = "closed.q[0]", minus = "opne.q[0]" }]\n\n[output]',
        'minus = "opne',
        r"`opne\.q\[0\]` starts with no integrator",
    ),
    "environment of no name": (
        'on = "closed"',
        'on = "closed"\nenvironments = ["betwen"]',
        "environments = ",
        r"did you mean \"between\"\?",
    ),
    "study without its parts": (
        "[output]",
        '[study]\nkind = "wave"\nthreshold = 0.1\n\n[output]',
        'kind = "wave"',
        r"needs `snapshots`",
    ),
    "steps beyond counting": ("step = 0.01", "step = 1e-300", "step", r"at most 1e15 are possible"),
}

# Mistakes of one phase in one recipe, and some of later phases, which are not looked for.
PHASES = {
    "keys and values": (
        [
            "misspelt key",
            "fraction for an integer",
            "negative mass",
            "negative inertance",
            "step of nan",
            "unknown integrator",
        ],
        ["v0 of the wrong size", "no such particle", "bounds the wrong way"],
    ),
    "rules between keys": (
        ["bounds the wrong way", "same name twice", "name of an environment with a slash"],
        ["q0 of the wrong size", "unstable step"],
    ),
    "the system": (
        ["q0 of the wrong size", "v0 of the wrong size"],
        ["no such particle", "claim on an unknown label"],
    ),
    "environments and runs": (
        ["no such particle", "line in two ways", "steps beyond counting"],
        ["claim on an unknown label"],
    ),
    "whether the runs are possible": (["unstable step"], ["claim on an unknown label"]),
    "what is measured": (["claim on an unknown label", "figure that subtracts an unknown label"], []),
}


OPEN = """title = "One oscillator"
[system]
kind = "{kind}"
{system}
[time]
step = 0.1
end = 1.0
{rest}
"""


def combination(system, rest, kind="single-oscillator"):
    return OPEN.format(kind=kind, system=system, rest=rest)


PARTICLE = "m = 1.0\nk = 1.0\nq0 = [1.0]\nv0 = [0.0]"
CONTACT = 'potential = "harmonic"\ngamma = -0.2\nq0 = [1.0]\nv0 = [0.0]\nz0 = 0.0'
CONTROL = '[[controls]]\nname = "u"\non = "x"\ndegree = 0\npieces = 2\n'
TWO = 'coordinates = ["x", "y"]\nmasses = [1.0, 1.0]\nV = "x^2 + y^2 + x*y/3"\nq0 = [1.0, 0.0]\nv0 = [0.0, 0.0]\n'
QUANTUM = '[[environments]]\nname = "m"\nkind = "memory"\nattach = 0\nspectral_density = "w/(1 + w^2)"\nhorizon = 10.0\ntolerance = 1e-3\nkT = 1.0\nquantum = true\nhbar = 1.0\n'
DAMPERS = "".join(
    f'[[environments]]\nname = "d{i}"\nkind = "damper"\nattach = {i}\ndamping = 0.1\nkT = {i + 1.0}\n' for i in range(2)
)


def runs(method, study="", on="open", options=""):
    kind = f'[study]\nkind = "{study}"\n' if study else ""
    return f'[[integrators]]\nmethod = "{method}"\non = "{on}"\nname = "a"\n{options}{kind}'


# Parts that are valid alone and impossible together: recipe, beginning of the place, words of the message.
COMBINATIONS = {
    "controls under commutativity": (
        combination(PARTICLE + "\ndamping = 0.2", CONTROL + runs("gamma", "commutativity", options="gamma = 0.5\n")),
        "name = \"u\"",
        "controls: .*no external forces",
    ),
    "implied force under commutativity": (
        combination(
            "epsilon = 0.1\nrho = 1.0\nlambda = 0.2\nq0 = [1.0, 0.0]\nv0 = [0.0, 0.0]",
            runs("gamma", "commutativity", options="gamma = 0.5\n"),
            "coupled-van-der-pol",
        ),
        "kind = \"coupled",
        "no external forces",
    ),
    **{
        f"contact under {study}": (
            combination(CONTACT, runs(method, study), "contact"),
            f'kind = "{study}"',
            "damping that is part of the Lagrangian",
        )
        for study, method in {
            "substituting-system": "time-centred",
            "commutativity": "gamma",
            "energy-transfer": "gauss",
        }.items()
    },
    "work rules of a contact system": (
        combination(CONTACT, runs("gauss") + "[output]\nwork_rules = true\n", "contact"),
        "work_rules",
        "which a Lagrangian with z does not have",
    ),
    "exact, damping that is not diagonal, two temperatures": (
        combination(TWO + "kT = [1.0, 2.0]\ndamping = [[0.2, 0.1], [0.1, 0.2]]", runs("exact"), "formula"),
        "kT = ",
        "a: ",
    ),
    "exact, quantum memory": (combination(PARTICLE, QUANTUM + runs("exact")), 'on = "open"', "a: .*quantum"),
    "exact, one damping, two temperatures of environments": (
        combination(TWO + "damping = [[0.2, 0.0], [0.0, 0.2]]", DAMPERS + runs("exact"), "formula"),
        'on = "open"',
        "a: .*different temperatures",
    ),
    **{
        f"uniform field under {study}": (
            combination(
                'coordinates = ["x"]\nmasses = [1.0]\nV = "x^2/2 + x"\nq0 = [1.0]\nv0 = [0.0]\ndamping = [[0.2]]\nkT = 1.0',
                runs("gauss" if study == "covariance" else "time-centred", study, options="" if study == "covariance" else "noise = false\n"),
                "formula",
            ),
            f'kind = "{study}"',
            "without other terms",
        )
        for study in ("energy-transfer", "substituting-system", "covariance")
    },
    "controls under energy-transfer": (
        combination(PARTICLE + "\ndamping = 0.2", CONTROL + runs("gauss", "energy-transfer")),
        "name = \"u\"",
        "no external forces",
    ),
}


def location_of(text, beginning):
    """Line and column of a text inside a text, from 1."""
    before = text[: text.index(beginning)]
    return f"{before.count(chr(10)) + 1}:{len(before) - (before.rfind(chr(10)) + 1) + 1}"


class MistakeTest(FolderTest):
    """A folder in which nothing may remain but the recipe."""

    def setUp(self):
        self.folder = self.new_folder()
        self.recipe = self.folder / "recipe.toml"

    def assert_refused(self, outcome, *messages):
        """Exit 2, each message once, nothing on standard output, nothing written."""
        self.assert_code(outcome, 2)
        for message in messages:
            self.assertEqual(len(re.findall(message, outcome.err)), 1, f"{message}\n{outcome.text}")
        self.assertEqual(outcome.out, "")
        left = {path.name for path in self.folder.iterdir()} - {self.recipe.name}
        self.assertEqual(left, set())

    def assert_refused_there(self, text, beginning, message, ranks=None):
        """One mistake, one line, with the location of the text that begins so."""
        outcome = self.run_recipe(text, ranks=ranks)
        location = r"\d+:\d+" if beginning is None else location_of(text, beginning)
        self.assert_refused(outcome, rf"{re.escape(str(self.recipe))}:{location}: .*{message}")
        self.assertEqual(outcome.err.count("\n"), 1, outcome.err)

    def run_recipe(self, recipe, *arguments, ranks=None):
        """Runs a recipe into a file of this folder."""
        path = write_recipe(self.recipe, recipe)
        output = ["-o", self.folder / "out.h5", "--progress", "none"]
        return ask(["run", path, *output, *arguments], ranks, cwd=self.folder)


class RecipeMistakesTest(MistakeTest):
    def test_the_recipe_without_mistakes_runs(self):
        self.assert_code(self.run_recipe(BASE), 0)
        self.assertTrue((self.folder / "out.h5").exists())

    def test_each_mistake_alone(self):
        for name, (right, wrong, where, message) in MISTAKES.items():
            with self.subTest(name):
                self.assertEqual(BASE.count(right), 1 if right in BASE else 0, "this test needs one place")
                self.assertIn(right, BASE)
                self.assert_refused_there(BASE.replace(right, wrong), where, message)

    def test_parts_that_are_impossible_together(self):
        for name, (text, place, words) in COMBINATIONS.items():
            with self.subTest(name):
                self.recipe.write_text(text)
                outcome = ask(["check", self.recipe])
                self.assertEqual(outcome.code, 2, outcome.err)
                self.assertRegex(outcome.err, f"recipe.toml:{location_of(text, place)}: .*{words}")

    def test_a_study_without_its_number_fails(self):
        """Within two steps no front has moved, so that its speed is unknown."""
        line = '[[environments]]\nname = "line"\nkind = "spring-mass-line"\nattach = 0\nsites = 50\nM = 0.3\nlambda = 0.5\n'
        method = runs("stoermer-verlet", "wave", on="closed") + "threshold = 0.1\n[output]\nsnapshots = 1\n"
        self.recipe.write_text(combination(PARTICLE, line + method).replace("end = 1.0", "end = 0.2"))
        outcome = ask(["run", self.recipe, "-o", self.folder / "wave.h5", "--progress", "none"])
        self.assertEqual(outcome.code, 3, outcome.err)
        self.assertRegex(outcome.err, "NaN: wave/front_speed")

    def test_the_mistakes_of_a_phase_are_reported_together_in_the_order_of_the_file(self):
        for phase, (names, later) in PHASES.items():
            text = BASE
            for name in names + later:
                text = text.replace(*MISTAKES[name][:2])
            for ranks in (None, 3):
                with self.subTest(phase, ranks=ranks):
                    outcome = self.run_recipe(text, ranks=ranks)
                    self.assert_refused(outcome, *(MISTAKES[name][3] for name in names))
                    lines = [int(line) for line in re.findall(r"recipe\.toml:(\d+):\d+: ", outcome.err)]
                    self.assertEqual(lines, sorted(lines))
                    self.assertEqual(outcome.err.count("\n"), len(names), outcome.err)

    def test_parts_that_do_not_fit_together_on_several_ranks(self):
        inerter = OSCILLATOR["environments"][0] | {"kind": "spring-inerter-line", "attach": [0, 1]}
        none = changed(OSCILLATOR, environments=None)
        recipe = changed(OSCILLATOR, environments=[inerter])
        self.assert_refused_there(toml(recipe), 'kind = "spring', r"two particles.*use a spring-mass-line", 3)
        for on in "open", "closed":
            isolated = changed(none, integrators=[{"method": "rk4", "on": on}])
            self.assert_code(self.run_recipe(isolated, "--overwrite"), 0)
        damped = changed(none, system={"damping": 0.1}, integrators=[{"method": "rk4", "on": "open"}])
        self.assert_code(self.run_recipe(damped, "--overwrite"), 0)

    def test_an_unstable_step_on_several_ranks(self):
        right, wrong, where, message = MISTAKES["unstable step"]
        text = BASE.replace(right, wrong)
        outcome = self.run_recipe(text, ranks=3)
        self.assert_refused(outcome, rf"recipe\.toml:{location_of(text, where)}: closed: {message}.*of gamma")

    def test_the_run_diverges_beyond_the_stability_limit(self):
        line = {"kind": "spring-mass-line", "sites": 40, "M": 0.02, "lambda": 8.0}
        recipe = changed(OSCILLATOR, environments=[line], time={"steps": 4000})
        recipe["integrators"] = [OSCILLATOR["integrators"][0] | {"allow_unstable": True}]
        recipe["output"] = {"every": 100}
        refusal = self.run_recipe(recipe, "--set", "integrators.0.allow_unstable=false", "--set", "time.step=0.3")
        self.assert_refused(refusal, r"step = 0\.3 is beyond the stability limit 0\.05")
        limit = float(re.search(r"limit ([\d.]+)", refusal.err)[1])
        for factor, code in ((0.999, 0), (1.02, 3)):
            outcome = self.run_recipe(recipe, "--overwrite", "--set", f"time.step={limit * factor}")
            self.assert_code(outcome, code)

    def test_the_characteristic_grid_is_at_the_limit_and_allowed(self):
        for gamma in (0.0, 1.0):
            closed = OSCILLATOR["integrators"][0] | {"gamma": gamma}
            outcome = self.run_recipe(changed(OSCILLATOR, integrators=[closed], system={"m": 1e6}), "--overwrite")
            self.assert_code(outcome, 0)
            self.assertNotIn("stability", outcome.err)

    def test_more_sites_than_memory_are_refused_before_allocation(self):
        outcome = self.run_recipe(OSCILLATOR, "--set", "environments.0.sites=10000000000000", ranks=3)
        self.assert_refused(
            outcome, r"10000000000000 sites need [\d.]+ GiB.* has [\d.]+ GiB.*about \d+ sites would fit"
        )
        # `check` accepts half of the number that would fit, and refuses ten times as much.
        fitting = int(re.search(r"about (\d+) sites", outcome.err)[1])
        recipe = changed(OSCILLATOR, integrators=OSCILLATOR["integrators"][:1])
        write_recipe(self.recipe, recipe)
        for factor, code in ((0.5, 0), (10, 2)):
            sites = f"environments.0.sites={int(factor * fitting)}"
            self.assert_code(ask(["check", self.recipe, "--set", sites]), code)


class MemoryMistakesTest(MistakeTest):
    MEMORY = {"name": "m", "kind": "memory", "stiffness": [0.7, 0.2], "rate": [0.3, 0.0], "frequency": [1.7, 2.0]}
    VERLET = {"method": "stoermer-verlet", "on": "closed", "name": "one"}

    def assert_refused_at(self, beginning, message, integrator=None, ranks=None, **keys):
        """One message, with the location of the text that begins so."""
        recipe = changed(OSCILLATOR, environments=[self.MEMORY | keys], integrators=[self.VERLET | (integrator or {})])
        self.assert_refused_there(toml(recipe), beginning, message, ranks)

    def test_the_memory_without_mistakes_runs(self):
        self.assert_code(self.run_recipe(changed(OSCILLATOR, environments=[self.MEMORY], integrators=[self.VERLET])), 0)

    def test_each_mistake_alone(self):
        self.assert_refused_at("stiffness", r"there are 2, 1 and 2; give as many of each", rate=[0.3], ranks=2)
        self.assert_refused_at("stiffness", r"there are 0, 0 and 0", stiffness=[], rate=[], frequency=[])
        self.assert_refused_at("0.0", r"stiffness\[1\] = 0\.0: must be positive", stiffness=[0.7, 0.0], rate=[0.3, 0.1])
        self.assert_refused_at("-0.3", r"rate\[0\] = -0\.3: must not be negative", rate=[-0.3, 0.1])
        self.assert_refused_at("kT", r"kT = -0\.1: must not be negative", kT=-0.1)
        self.assert_refused_at("attach", r"names particle 1, but the system has 1", attach=1, ranks=2)

    def test_integrators(self):
        method = 'method = "'
        for integrator, message in (
            ({"method": "yoshida4"}, r"`yoshida4`: it has negative substeps.* cannot run backwards"),
            ({"method": "lobatto", "stages": 3}, r"`lobatto`: it has different matrices for positions and momenta"),
        ):
            self.assert_refused_at(method + integrator["method"], message, integrator, ranks=2)
        for integrator, message in (
            ({"method": "rk4"}, r"takes no noise: its numerical dissipation"),
            ({"method": "gamma", "gamma": 0.25}, r"no noise of `m` balances its memory, unless gamma is 0, 0\.5 or 1"),
            ({"method": "exact"}, r"supports white noise only"),
        ):
            self.assert_refused_at(method + integrator["method"], message, integrator, kT=0.1)
        spring = {"rate": [0.3, 0.0], "frequency": [1.7, 0.0]}
        self.assert_refused_at("on = ", r"implies no damping: in the long run it acts as a static spring", {"on": "open"}, **spring)
        fast = {"rate": [0.3, 200.0]}
        self.assert_refused_at("step", r"beyond the stability limit", {"method": "rk4"}, ranks=2, **fast)
        # A splitting computes the decay exactly, with any step.
        self.assert_code(self.run_recipe(changed(OSCILLATOR, environments=[self.MEMORY | fast], integrators=[self.VERLET])), 0)


class WarmChainMistakesTest(MistakeTest):
    CHAIN = """title = "A chain"
[system]
kind = "linear"
M = [1.0, 1.0]
K = [1.0, 1.0]
q0 = 0.0
[[environments]]
name = "chain"
kind = "nonlinear-line"
attach = [0, 1]
sites = 62
M = 1.0
potential = { kind = "fput", k = 1.0, beta = 1.0 }
kT = 1.0
[time]
step = 0.1
steps = 1000
[[integrators]]
method = "baoab"
on = "closed"
"""

    def outcome(self, *changes, command="check"):
        text = self.CHAIN
        for right, wrong in changes:
            self.assertIn(right, text)
            text = text.replace(right, wrong)
        write_recipe(self.recipe, text)
        return ask([command, self.recipe])

    def test_steps_beyond_the_limit_of_the_rarest_stretch_are_refused(self):
        # V(r) = ln(62 * 1000): r^2 = 5.716, V'' = 18.15, 2/sqrt(2 V'') = 0.3319.
        quiet, loud, beyond = (self.outcome(("0.1", step)) for step in ("0.16", "0.17", "0.34"))
        self.assert_code(quiet, 0)
        self.assertNotIn("stability limit", quiet.text)
        self.assert_code(loud, 0)
        self.assertRegex(loud.text, r"step = 0\.17 is above half of the stability limit 0\.3319 of baoab.*`chain`.*kT = 1")
        self.assert_refused(beyond, r"step = 0\.34 is beyond the stability limit 0\.3319 of baoab at the highest energy")
        # Cold, or warm by a bath alone, or implicit.
        self.assert_code(self.outcome(("0.1", "0.34"), ("kT = 1.0\n", "")), 0)
        bath = "[[environments]]\nname = 'bath'\nkind = 'damper'\nattach = 0\ndamping = 1.0\nkT = 1.0\n[time]"
        heated = self.outcome(("0.1", "0.34"), ("kT = 1.0\n", ""), ("[time]", bath))
        self.assert_refused(heated, r"beyond the stability limit 0\.3319")
        # By a hot start alone.
        start = ("q0 = 0.0", 'q0 = 0.0\nstart = "thermal-momenta"\nstart_kT = 1.0')
        hot = self.outcome(("0.1", "0.34"), ("kT = 1.0\n", ""), start)
        self.assert_refused(hot, r"beyond the stability limit 0\.3319")
        self.assert_code(self.outcome(("0.1", "0.34"), ('method = "baoab"', 'method = "gauss"')), 0)

    def test_starts_that_cannot_be_drawn_are_refused(self):
        free = ("attach = [0, 1]", 'attach = [0]\nfar_end = "free"')
        spheres = ('"fput", k = 1.0, beta = 1.0', '"hertz", k = 1.0')
        self.assert_code(self.outcome(spheres), 0)
        self.assert_refused(self.outcome(free, spheres), r"kT = 1: the springs do not hold together at this kT")
        waves = ("kT = 1.0", 'kT = 1.0\nexternal = { kind = "formula", V = "1 - cos(x)" }')
        self.assert_refused(self.outcome(waves), r"kT = 1: `external` does not hold the sites")


class HeatBathMistakesTest(MistakeTest):
    BATH = {"name": "bath", "kind": "heat-bath", "oscillators": 100, "damping": 0.2, "omega_max": 10.0, "kT": 0.5}

    def recipe_with(self, **keys):
        """The oscillator in a bath; a key that is None is left out."""
        bath = {key: value for key, value in (self.BATH | keys).items() if value is not None}
        return changed(OSCILLATOR, environments=[bath])

    def assert_refused_at(self, beginning, message, ranks=None, **keys):
        """One message, with the location of the text that begins so."""
        self.assert_refused_there(toml(self.recipe_with(**keys)), beginning, message, ranks)

    def test_the_bath_without_mistakes_runs(self):
        self.assert_code(self.run_recipe(self.recipe_with()), 0)

    def test_each_mistake_alone(self):
        self.assert_refused_at("kT", r"kT = -0\.5: must not be negative", kT=-0.5)
        self.assert_refused_at("oscillators", r"oscillators = 0: must be positive", oscillators=0)
        self.assert_refused_at("[[environments]]", r"`omega_max`", omega_max=None, ranks=3)
        self.assert_refused_at('spectrum = "drud"', r"did you mean \"drude\"\?", spectrum="drud", cutoff=1.0)
        self.assert_refused_at("oscillators", r"GiB.*\d+ oscillators would fit", oscillators=10**12, ranks=3)

    def test_tables(self):
        table = {"oscillators": None, "damping": None, "omega_max": None, "spectrum": "table"}
        # In another folder than the recipe's, which must stay empty.
        path = self.new_folder() / "bath.txt"
        for text, message in (
            ("0.5 0.1\n0.7\n", r"line 2: must be two numbers"),
            ("0.5 0.1\n0.4 0.1\n", r"line 2: frequency 0\.4 must be greater"),
            ("", r"contains no oscillator"),
            (None, r"cannot be read"),
        ):
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text)
            with self.subTest(text):
                self.assert_refused_at("file", message, ranks=3, file=str(path), **table)
        # The program must not wait for pipes or devices.
        os.mkfifo(path)
        for source in (str(path), "/dev/zero"):
            self.assert_refused_at("file", r"cannot be read", file=source, **table)
        path.unlink()
        path.write_text("0.5 0.1\n1.5 0.1\n")
        self.assert_code(self.run_recipe(self.recipe_with(file=str(path), **table)), 0)

    def test_a_table_is_read_from_the_folder_of_the_recipe(self):
        (self.folder / "bath.txt").write_text("0.5 0.1\n1.5 0.1\n")
        recipe = self.recipe_with(oscillators=None, damping=None, omega_max=None, spectrum="table", file="bath.txt")
        write_recipe(self.recipe, recipe)
        elsewhere = self.new_folder()
        for words in ([], ["--set", "environments.0.file=bath.txt"]):
            self.assert_code(ask(["check", self.recipe, *words], cwd=elsewhere), 0)
        outcome = ask(["check", self.recipe, "--set", "environments.0.file=no/bath.txt"], cwd=elsewhere)
        self.assert_code(outcome, 2)
        self.assertIn(f"this is {self.folder}/no/bath.txt", outcome.err)

    def test_warnings(self):
        slow = self.run_recipe(self.recipe_with(omega_max=0.9))
        self.assert_code(slow, 0)
        self.assert_said_once(slow, "lies below the particles' frequency 1; it cannot damp them")
        # Two oscillators 5 rad/s apart have a recurrence at 2 pi / 5 = 1.257, before the end 3.
        returning = self.run_recipe(self.recipe_with(oscillators=2), "--overwrite")
        self.assert_code(returning, 0)
        self.assert_said_once(returning, "closed: the recurrence of `bath` returns at t_r = 1.25664")


class TemperatureTest(MistakeTest):
    def warned(self, message, **sections):
        return message in ask(["check", write_recipe(self.folder / "warm.toml", changed(OSCILLATOR, **sections))]).err

    def test_one_without_effect_is_warned_of(self):
        message, warm = "`kT` in [system] has no effect", {"kT": 1.0}
        closed, damped = OSCILLATOR["integrators"][:1], OSCILLATOR["integrators"][1:]
        self.assertTrue(self.warned(message, system=warm, environments=None, integrators=damped))
        self.assertFalse(self.warned(message, system=warm, integrators=damped))
        left_out = "closed runs leave out the `kT` of [system], which is for open runs: `closed`"
        self.assertTrue(self.warned(left_out, system=warm, integrators=closed))
        self.assertFalse(self.warned(message, system=warm, integrators=closed))
        self.assertFalse(self.warned(left_out, system=warm | {"start": "thermal"}, integrators=closed))

    def test_a_thermal_line_at_and_beyond_its_stability_limit(self):
        # The step is at omega h = 2, or twice that.
        message = "is at the stability limit"
        line = {"name": "line", "kind": "spring-mass-line", "sites": 45, "M": 0.01, "lambda": 16.0, "kT": 0.1}
        closed = [OSCILLATOR["integrators"][0] | {"allow_unstable": True}]
        for step, stands in ((0.025, True), (0.05, False)):
            recipe = {"environments": [line], "time": {"step": step}, "integrators": closed}
            self.assertEqual(self.warned(message, **recipe), stands, step)


class MemoryTest(MistakeTest):
    """Recipes that exceed the memory are refused on all ranks; a failed allocation ends all of them."""

    # Address space in KiB: enough for the libraries, and less than the machine has.
    LIMIT = 3 << 20

    def limited(self, recipe, *words, ranks=1):
        path = write_recipe(self.recipe, recipe)
        command = ["mpirun", "--quiet", "-n", str(ranks), "bash", "-c", f'ulimit -v {self.LIMIT}; exec "$@"', "bash"]
        process = subprocess.run(
            [*command, PROGRAM, *words, path],
            env=MPI_SETTINGS | os.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return process.returncode, process.stderr

    def test_a_limit_of_the_process_counts(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks):
                # 4 GiB a rank.
                line = dict(OSCILLATOR["environments"][0], sites=ranks << 28)
                code, text = self.limited(changed(OSCILLATOR, environments=[line]), "check", ranks=ranks)
                self.assertEqual(code, 2, text)
                self.assertIn("GiB on a rank that has", text)

    def test_what_studies_keep_for_every_record_counts(self):
        for study in ("memory-kernel", "energy", "reduction"):
            for ranks in (1, 2):
                with self.subTest(study=study, ranks=ranks):
                    recipe = changed(OSCILLATOR, time={"steps": 300000000}, study={"kind": study})
                    code, text = self.limited(recipe, "check", ranks=ranks)
                    self.assertEqual(code, 2, text)
                    self.assertRegex(text, r"recipe\.toml:\d+:\d+: .*records.* on a (rank|node) with")

    def test_an_allocation_that_fails_ends_all_ranks(self):
        many = 30000
        recipe = changed(
            OSCILLATOR,
            system=None,
            environments=None,
            integrators=[{"method": "gamma", "gamma": 0.0, "on": "open", "name": "open"}],
        )
        recipe["system"] = {"kind": "linear", "M": [1.0] * many, "K": [1.0] * many, "C": [0.1] * many}
        recipe["system"]["q0"] = [1.0] * many
        code, text = self.limited(recipe, "check", ranks=2)
        self.assertEqual(code, 2, text)
        self.assertIn("out of memory for this recipe", text)


class ManyParticlesTest(MistakeTest):
    """A recipe of a thousand particles is checked quickly; computing all eigenvalues would take minutes."""

    METHODS = (
        {"method": "gamma", "gamma": 0.0},
        {"method": "gamma", "gamma": 0.3},
        {"method": "sofroniou-spaletta10"},
        {"method": "rk4"},
        {"method": "explicit-euler", "allow_unstable": True},
        {"method": "lobatto", "stages": 3},
        {"method": "gauss", "stages": 2},
        {"method": "exact"},
    )

    def recipe_of(self, count, integrators):
        return {
            "title": "Many particles",
            "system": {
                "kind": "pair-potential",
                "masses": [1.0 + 0.5 * (a % 3) for a in range(count)],
                "q0": [1.1 * a for a in range(count)],
                "pairs": [[a, a + 1] for a in range(count - 1)],
                "potential": "morse",
                "damping": [0.1 + 0.1 * (a % 2) for a in range(count)],
            },
            "environments": [
                {"name": "line", "kind": "spring-mass-line", "sites": 300, "M": 0.2, "lambda": 20.0},
                {
                    "name": "bath",
                    "kind": "heat-bath",
                    "attach": 7,
                    "oscillators": 300,
                    "omega_max": 10.0,
                    "damping": 1.0,
                },
            ],
            "time": {"step": 0.001, "steps": 10},
            "integrators": integrators,
        }

    def test_open_and_closed(self):
        for on in ("open", "closed"):
            with self.subTest(on):
                integrators = [dict(method, on=on, name=f"m{i}") for i, method in enumerate(self.METHODS)]
                text = toml(self.recipe_of(1000, integrators)).replace(
                    '"morse"', '{ kind = "morse", depth = 1.0, width = 1.0, r0 = 1.0 }'
                )
                self.recipe.write_text(text)
                self.assert_code(ask(["check", self.recipe]), 0)


class SettingMistakesTest(MistakeTest):
    WRONG = {
        "title=": r"--set title=: title = \"\": must not be empty",
        "system.mm=2": r"--set system\.mm=2: unknown key `mm` in \[system\]; did you mean `m`\?",
        "system.m=-1": r"--set system\.m=-1: m = -1: must be positive",
        "system.m=nan": r"--set system\.m=nan: .*must be finite",
        "system.m": r"--set system\.m: has no `=`",
        "=3": r"--set =3: has an empty key",
        "sistem.m=1": r"--set sistem\.m=1: unknown key `sistem`",
        "environments.0.sites=many": r"--set environments\.0\.sites=many: .*must be an integer",
        "environments.7.sites=3": r"--set environments\.7\.sites=3: `7` is not an index",
        "environments.sites=3": r"--set environments\.sites=3: `sites` is not an index",
        "environment.sites=3": r"--set environment\.sites=3: unknown key `environment`.*: it is called `environments`",
        "time.step=3.0": r"--set time\.step=3\.0: closed: step = 3 is beyond the stability limit",
        "system.q0=[1.0,2.0]": r"--set system\.q0=\[1\.0,2\.0\]: `q0` has the wrong size",
    }

    def test_each_is_named(self):
        for setting, message in self.WRONG.items():
            with self.subTest(setting):
                self.assert_refused(self.run_recipe(OSCILLATOR, "--set", setting), f"error: {message}")

    def test_all_of_them_at_once_on_several_ranks(self):
        settings = ["system.mm=2", "system.m=-1", "environments.0.sites=many"]
        arguments = [word for setting in settings for word in ("--set", setting)]
        outcome = self.run_recipe(OSCILLATOR, *arguments, ranks=3)
        self.assert_refused(outcome, *(self.WRONG[setting] for setting in settings))

    def test_a_setting_corrects_the_recipe(self):
        outcome = self.run_recipe(changed(OSCILLATOR, system={"m": -1.0}), "--set", "system.m=1.0")
        self.assert_code(outcome, 0)


class FileMistakesTest(MistakeTest):
    def test_files_that_are_not_recipes(self):
        (self.folder / "folder.toml").mkdir()
        empty = self.new_folder() / "empty.toml"
        empty.touch()
        binary = empty.with_name("binary.toml")
        binary.write_bytes(b"\xff\xfe\x00\x01")
        for path, message in (
            (self.folder / "absent.toml", r"absent\.toml: No such file"),
            (self.folder / "folder.toml", r"folder\.toml is a directory"),
            (empty, r"empty\.toml:1:1: .*`title`"),
            (binary, r"binary\.toml:1:1: not valid TOML"),
        ):
            for ranks in (None, 3) if path.name == "absent.toml" else (None,):
                with self.subTest(path.name, ranks=ranks):
                    outcome = ask(["run", path, "-o", self.folder / "out.h5"], ranks)
                    self.assert_code(outcome, 2)
                    self.assertEqual(len(re.findall(message, outcome.err)), 1, outcome.text)
                    self.assertEqual([left.name for left in self.folder.iterdir()], ["folder.toml"])

    def test_an_existing_file_is_not_changed(self):
        old = b"of an earlier run"
        (self.folder / "out.h5").write_bytes(old)
        for ranks in (None, 3):
            outcome = self.run_recipe(OSCILLATOR, ranks=ranks)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, "out.h5 exists already; use --overwrite")
            self.assertEqual((self.folder / "out.h5").read_bytes(), old)
        # With a mistake in the recipe the old file stays, even with --overwrite.
        outcome = self.run_recipe(changed(OSCILLATOR, system={"m": -1.0}), "--overwrite", ranks=3)
        self.assert_code(outcome, 2)
        self.assertEqual((self.folder / "out.h5").read_bytes(), old)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["out.h5", "recipe.toml"])

    def test_a_path_that_cannot_be_written(self):
        (self.folder / "folder.h5").mkdir()
        write_recipe(self.recipe, OSCILLATOR)
        for target, reason, arguments in (
            (self.folder / "no" / "such" / "out.h5", "no directory", []),
            (self.folder / "folder.h5", "Is a directory", ["--overwrite"]),
            ("/proc/out.h5", "No such file", []),
            (self.recipe / "out.h5", "", []),
        ):
            with self.subTest(target):
                outcome = ask(["run", self.recipe, "-o", target, *arguments], ranks=2)
                self.assert_code(outcome, 2)
                self.assertRegex(outcome.err, rf"\Aerror: cannot write {re.escape(str(target))}: .*{reason}.*\n\Z")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["folder.h5", "recipe.toml"])

    def test_a_folder_without_write_permission(self):
        if os.geteuid() == 0:
            # Root can write to every folder, so that the program runs as nobody.
            identity = {"user": 65534, "group": 65534, "extra_groups": []}
        else:
            identity = {}
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        recipe = write_recipe(self.new_folder() / "recipe.toml", OSCILLATOR)
        recipe.parent.chmod(0o755)
        process = start(["run", recipe, "-o", self.folder / "out.h5"], env={"HOME": str(recipe.parent)}, **identity)
        self.addCleanup(end, process)
        out, err = process.communicate(timeout=PATIENCE)
        if "Permission denied" in err and "exec" in err:
            self.skipTest("the program lies where another user cannot start it")
        self.assertEqual(process.returncode, 2, out + err)
        self.assertEqual(err.count("cannot write"), 1, err)
        self.assertIn("Permission denied", err)
        self.assertEqual(list(self.folder.iterdir()), [])


    def test_line_ends_in_names_of_files(self):
        write_recipe(self.recipe, OSCILLATOR)
        odd = self.folder / "o\ndd.h5"
        for arguments in (
            ["run", odd],
            ["check", odd],
            ["run", self.recipe, "-o", odd],
            ["run", self.recipe, "--log-json", odd],
            ["resume", odd],
            ["resume", self.recipe, "-o", odd],
            ["verify", odd],
            ["verify", self.recipe, "-o", odd],
            ["claims", odd],
            ["sweep", self.recipe, "-o", odd],
        ):
            with self.subTest(arguments):
                outcome = ask(arguments, cwd=self.folder)
                self.assert_refused(outcome, r"a name must not hold line ends")
                self.assertNotIn("o\ndd", outcome.err)


class SolverOptionMistakesTest(MistakeTest):
    def test_unknown_and_invalid_options_of_petsc(self):
        aside = self.new_folder()
        # Most are refused by rank 0, which broadcasts the message; two of them run on several ranks to test that.
        for words, message, ranks in (
            (["-options_file", f"{aside}/options"], r"give the options themselves", 3),
            (["-options_file_yaml"], r"give the options themselves", None),
            (["-snes_max_it", "-5"], r"option `-snes_max_it -5`: it must be at least 0", 3),
            (["-snes_max_it", "2.5"], r"whole number", None),
            (["-SNES_MAX_IT", "-5"], r"must be at least 0", None),
            (["-snes_type", "shell"], r"option `-snes_type shell`: the type `shell` needs code", None),
            (["-particles_pc_type", "shell"], r"the type `shell` needs code", None),
            (["-snes_rtol"], r"option `-snes_rtol`: it needs a value", None),
            (["-snes_rtol", "-ksp_type", "cg"], r"option `-snes_rtol`: it needs a value", None),
            (["-ksp_rtol", "nan"], r"option `-ksp_rtol nan`: it must be finite", None),
            (["-fp_trap", "0"], r"option `-fp_trap 0`: it would stop numbers below 2.2e-308 from", None),
            (["-log_view", ":/no/such/folder"], r"cannot write /no/such/folder: No such file", 3),
            (["-log_view", f":{aside}"], r"Is a directory", None),
            (["-ksp_typ", "cg"], r"has no option `-ksp_typ`", None),
            (["-ksp_typ", "cg", "-sness_rtol", "1e-3"], r"`-ksp_typ`, `-sness_rtol`", 3),
            (["-pc_type", "nonsense"], r"invalid solver options: .*PC type nonsense", 3),
            (["-ksp_type", "nonsense"], r"invalid solver options: .*KSP type nonsense", None),
            (["-snes_type", "nonsense"], r"invalid solver options: .*SNES type nonsense", None),
            (["-tao_type", "nonsense"], r"invalid solver options: .*nonsense", 2),
            (["-tao_type", "bntr"], r"`-tao_type bntr`", None),
            (["-info"], r"`-info`.*PETSC_OPTIONS", None),
            (["-ksp_rtol", "small"], r"small has no numeric value", 3),
            (["stray"], r"stray", 3),
        ):
            with self.subTest(words, ranks=ranks):
                outcome = self.run_recipe(KEPLER, "--", *words, ranks=ranks)
                self.assert_refused(outcome, message)
                self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
        write_recipe(self.recipe, KEPLER)
        outcome = ask(["check", self.recipe], ranks=2, env={"PETSC_OPTIONS": "-snes_max_it -5"})
        self.assert_refused(outcome, r"option `-snes_max_it -5`: it must be at least 0")


class WarningTest(MistakeTest):
    def test_an_echo_before_the_end(self):
        # 45 sites on the characteristic grid: t_r = 2 * 45 * 0.05 = 4.5.
        for steps, warned in ((90, False), (91, True)):
            for ranks in (None, 3) if warned else (None,):
                outcome = self.run_recipe(OSCILLATOR, "--overwrite", "--set", f"time.steps={steps}", ranks=ranks)
                self.assert_code(outcome, 0)
                matches = re.findall(
                    r"warning: closed: the echo of `line` returns at t_r = 4\.5, before the end 4\.55",
                    outcome.err,
                )
                self.assertEqual(len(matches), warned, outcome.err)
                self.assertEqual(outcome.err.count("warning"), warned, outcome.err)

    def test_explicit_euler_on_a_closed_system(self):
        recipe = changed(OSCILLATOR, integrators=[{"method": "explicit-euler", "on": "closed", "name": "euler"}])
        outcome = self.run_recipe(recipe, ranks=3)
        self.assert_code(outcome, 0)
        self.assert_said_once(outcome, "warning: euler: explicit-euler is unstable with every step size for this system")

    def test_an_end_between_two_steps(self):
        outcome = self.run_recipe(OSCILLATOR, "--set", "time.end=0.33")
        self.assert_code(outcome, 0)
        self.assertRegex(outcome.err, r"warning: closed: step 0\.05 does not divide the end 0\.33; .*ends at 0\.3")


class WatchdogTest(FolderTest):
    def test_a_run_that_does_not_end_is_a_failure(self):
        recipe = write_recipe(self.folder / "long.toml", changed(OSCILLATOR, time={"steps": 10**12}))
        with self.assertRaisesRegex(AssertionError, "hangs"):
            ask(["run", recipe, "-o", self.folder / "out.h5", "--set", "output.every=1000000"], ranks=2, patience=3)


if __name__ == "__main__":
    unittest.main()
