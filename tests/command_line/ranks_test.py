"""The number of ranks: explicit runs give the same bits on any number, implicit ones agree to round-off."""

import re
import unittest

import h5py
import numpy as np

from program import FolderTest, ask, changed, run, variables, write_recipe

RANKS = (1, 2, 3, 5)

EXPLICIT = {
    "gamma-0": {"method": "gamma", "gamma": 0.0},
    "gamma-1": {"method": "gamma", "gamma": 1.0},
    "verlet": {"method": "stoermer-verlet"},
    "verlet-drift": {"method": "stoermer-verlet", "order_of_substeps": "drift-kick-drift"},
    "explicit-euler": {"method": "explicit-euler"},
    "rk4": {"method": "rk4"},
}
IMPLICIT = {
    "midpoint": {"method": "gamma", "gamma": 0.5},
    "gamma-third": {"method": "gamma", "gamma": 0.3},
    "implicit-euler": {"method": "implicit-euler"},
}

# A controlled pendulum, bounds, and one condition at the end.
PUSHED = {
    "title": "A push",
    "system": {"kind": "formula", "coordinates": ["q"], "masses": [1.0], "V": "-cos(q)", "q0": [0.1]},
    "controls": [{"name": "u", "on": "q", "pieces": 4, "bounds": [-0.6, 0.6]}],
    "time": {"step": 0.1, "steps": 20},
    "integrators": [{"name": "pushed", "method": "stoermer-verlet", "on": "open"}],
    "study": {"kind": "optimal-control", "running_cost": "u^2/2", "residual": 1e-6},
}

# h omega_max = 0.8 on the lumped lines: every integrator is stable, and nothing is a round number.
STEP = 0.02
STEPS = 40
EVERY = 10


def mass_line(sites, far_end, attach=0):
    """A spring-mass line named by its length and its end."""
    name = f"{sites}-{far_end}" + (f"-on-{attach}" if attach else "")
    return {
        "name": name,
        "kind": "spring-mass-line",
        "attach": attach,
        "sites": sites,
        "M": 0.02,
        "lambda": 8.0,
        "far_end": far_end,
    }


def inerter_line(sites):
    """A spring-inerter line named by its length."""
    return {
        "name": f"inerter-{sites}",
        "kind": "spring-inerter-line",
        "attach": [0, 1],
        "sites": sites,
        "k": 8.0,
        "b": 0.02,
    }


def grid_line(sites, far_end):
    """A line on the characteristic grid, where explicit methods are at the stability limit."""
    return {
        "name": f"grid-{sites}",
        "kind": "spring-mass-line",
        "sites": sites,
        "grid": "characteristic",
        "damping": 0.4,
        "far_end": far_end,
    }


def closed(methods, choices):
    """Every method with every choice of environments."""
    return [
        options | {"on": "closed", "name": "_".join([label, *names]), "environments": names}
        for label, options in methods.items()
        for names in choices
    ]


def names(environments):
    """Each environment alone as one choice."""
    return [[environment["name"]] for environment in environments]


def shared(methods, choices):
    """Every method with all environments, alternately alone or with two others, to save the time of further runs."""
    cases = []
    for turn, (label, options) in enumerate(methods.items()):
        alone = choices[turn % len(choices) :: len(methods)]
        others = [choice for choice in choices if choice not in alone]
        count = -(-len(others) // 3)
        cases += closed({label: options}, alone + [sum(others[first::count], []) for first in range(count)])
    return cases


def recipe_of(title, system, environments, integrators, output=("snapshots", "site_stride")):
    """A short run with everything recorded."""
    intervals = {"snapshots": 20, "site_stride": 3}
    return {
        "title": title,
        "system": system,
        "environments": environments,
        "time": {"step": STEP, "steps": STEPS},
        "integrators": integrators,
        # Twelve points, between steps.
        "output": {"every": EVERY} | {key: intervals[key] for key in output},
        "output.poincare_section": {"period": 0.063},
    }


OSCILLATOR = {"kind": "single-oscillator", "m": 1.3, "k": 2.1, "q0": [1.0], "v0": [-0.7]}
TWO = {"kind": "dual-oscillator", "m0": 1.3, "k0": 2.1, "M0": 0.9, "K0": 1.7, "q0": [1.0, -0.2], "v0": [0.1, 0.3]}
PLANET = {"kind": "kepler", "M": 1.1, "mu": 9.7, "q0": [[2.0, 0.3]], "v0": [[-0.2, 1.9]]}

# Every length, every far end on a short and on a long line.
MASS_LINES = [
    mass_line(1, "fixed"),
    mass_line(1, "free"),
    mass_line(1, "matched"),
    mass_line(7, "fixed"),
    mass_line(7, "free"),
    mass_line(45, "matched"),
    mass_line(130, "free"),
    mass_line(4100, "fixed"),
    mass_line(4100, "matched"),
    mass_line(9000, "free"),
    grid_line(130, "fixed"),
]
INERTER_LINES = [inerter_line(sites) for sites in (1, 7, 45, 130, 4100, 9000)]
PLANAR_LINES = [mass_line(7, "free"), mass_line(130, "fixed"), mass_line(4100, "matched")]

# Lines of both kinds on the same particles.
LINES_TOGETHER = [mass_line(45, "free", 0), mass_line(4100, "matched", 1), mass_line(7, "fixed", 1), inerter_line(130)]


class RanksTest(FolderTest):
    """Runs on each number of ranks, made once."""

    @classmethod
    def run_on_all(cls, recipes):
        """The result files of named recipes on all numbers of ranks, by one process for each number."""
        paths = {name: write_recipe(cls.folder / f"{name}.toml", recipe) for name, recipe in recipes.items()}
        results = {name: [] for name in recipes}
        for ranks in RANKS:
            files = {name: cls.folder / f"{name}-{ranks}.h5" for name in recipes}
            runs = [["run", paths[name], "-o", file, "--progress", "none"] for name, file in files.items()]
            # One rank needs no launcher, which would double the time.
            for (name, file), outcome in zip(files.items(), [ask(one, ranks if ranks > 1 else None) for one in runs]):
                if outcome.code != 0:
                    raise AssertionError(f"{name} on {ranks} ranks: exit code {outcome.code}: {outcome.text}")
                results[name].append(file)
        return results

    def assert_something_happened(self, data):
        """Everything moved and was recorded, so that there is something to compare."""
        seen = 0
        for name, values in data.items():
            if name.endswith("/q"):
                self.assertEqual(values.shape[0], STEPS // EVERY + 1, name)
                self.assertGreater(np.abs(np.diff(values, axis=0)).max(), 1e-3, name)
                seen += 1
            if name.endswith("/poincare_q"):
                self.assertEqual(values.shape[0], 12, name)
            if "/displacement" in name:
                self.assertEqual(values.shape[0], STEPS // 20 + 1, name)
                self.assertGreater(np.abs(values[-1]).max(), 1e-3, name)
        self.assertGreater(seen, 0)

    def assert_independent(self, integrators, results):
        """Explicit and implicit integrators on every number of ranks."""
        data = {}
        for ranks, result in zip(RANKS, results):
            with h5py.File(result) as file:
                self.assertEqual(file.attrs["mpi_ranks"], ranks)
            data[ranks] = variables(result)
        self.assert_something_happened(data[1])
        labels = {case["name"] for case in integrators if case["name"].split("_")[0] in EXPLICIT}
        for ranks in RANKS[1:]:
            self.assertEqual(sorted(data[1]), sorted(data[ranks]))
            for path, values in data[1].items():
                other = data[ranks][path]
                label, variable = path.split("/")
                where = f"{path} on {ranks} ranks"
                self.assertEqual(values.shape, other.shape, where)
                if label in labels or values.dtype.kind in "SU":
                    self.assertEqual(values.tobytes(), other.tobytes(), where)
                    continue
                # Energies are compared with the whole energy.
                whole = data[1][f"{label}/energy_total"] if variable.startswith("energy") else values
                self.assertLessEqual(np.abs(other - values).max(), 1e-11 * np.abs(whole).max(), where)


def independence(system, environments, choices, output=("snapshots", "site_stride")):
    """Explicit and implicit integrators with every choice of environments."""
    # Every third line is enough for the implicit ones where there are many.
    implicit = closed(IMPLICIT, choices[:: 3 if len(choices) > 4 else 1])
    return recipe_of("Ranks", system, environments, shared(EXPLICIT, choices) + implicit, output)


class IndependenceTest(RanksTest):
    RECIPES = {
        "spring-mass lines of all lengths and ends": independence(OSCILLATOR, MASS_LINES, names(MASS_LINES)),
        "spring-inerter lines of all lengths": independence(TWO, INERTER_LINES, names(INERTER_LINES)),
        "lines in the plane": independence(PLANET, PLANAR_LINES, names(PLANAR_LINES)),
        "several lines on a particle": independence(TWO, LINES_TOGETHER, [sum(names(LINES_TOGETHER), [])], output=()),
        "several lines on a planet": independence(PLANET, PLANAR_LINES, [sum(names(PLANAR_LINES), [])], output=()),
    }

    def test_every_recipe(self):
        for name, results in self.run_on_all(self.RECIPES).items():
            with self.subTest(name):
                self.assert_independent(self.RECIPES[name]["integrators"], results)


class GradientTest(RanksTest):
    """Gradients are those of one rank: costates see the environments that runs see."""

    def test_gradients_by_everything(self):
        system = {
            "kind": "formula",
            "coordinates": ["x", "y"],
            "masses": [1.3, 0.9],
            "V": "k*x^2/2 + 0.3*x^4 + y^2 - 0.4*x*y",
            "q0": [0.7, -0.2],
            "v0": [0.1, 0.3],
        }
        lines = [mass_line(4100, "fixed"), mass_line(130, "free"), inerter_line(45)]
        memory = {"kind": "memory", "name": "memory", "attach": 1, "stiffness": [0.5], "rate": [0.7]}
        integrators = closed({key: EXPLICIT[key] for key in ("gamma-0", "verlet")}, names(lines))
        integrators += closed({"midpoint": IMPLICIT["midpoint"]}, [[line["name"], "memory"] for line in lines])
        recipe = recipe_of("gradient", system, [*lines, memory], integrators, output=())
        del recipe["output.poincare_section"]
        recipe["system.parameters"] = {"k": 1.2}
        recipe["controls"] = [{"name": "u", "on": "x", "pieces": 8, "initial": "0.3*cos(t)"}]
        recipe["study"] = {
            "kind": "gradient",
            "final_cost": "x^2 + y_dot^2",
            "running_cost": "u^2/2 + x^4 + k*y^2",
            "by": ["u", "q0", "v0", "k", "130-free.lambda"],
        }
        recipe["integrators"] = [each for each in integrators if "130-free" in each["name"]]
        others = changed(recipe, integrators=[each for each in integrators if "130-free" not in each["name"]])
        others["study"]["by"].remove("130-free.lambda")
        for results in self.run_on_all({"by-line": recipe, "others": others}).values():
            data = [variables(result) for result in results]
            for name, values in data[0].items():
                for other in data[1:]:
                    where = f"{name} {values} {other[name]}"
                    if "midpoint" in name and values.dtype.kind == "f":
                        self.assertLessEqual(np.abs(other[name] - values).max(), 1e-11 * np.abs(values).max(), where)
                    else:
                        self.assertEqual(values.tobytes(), other[name].tobytes(), where)


class ColdLineTest(RanksTest):
    """Ahead of the wave front of a line that starts at rest there are subnormal numbers."""

    def test_subnormal_numbers_are_zero_on_all_ranks(self):
        line = mass_line(600, "fixed")
        # The wave front decays by about (h omega / 2)^2 per site, down to 1e-308 within the line.
        recipe = recipe_of("cold", OSCILLATOR, [line], closed(EXPLICIT | IMPLICIT, names([line])))
        recipe["time"]["steps"] = 300
        recipe["output"]["site_stride"] = 1
        results = self.run_on_all({"cold": recipe})["cold"]
        smallest = np.finfo(float).tiny
        explicit = {integrator["name"] for integrator in closed(EXPLICIT, names([line]))}
        seen = set()
        first = variables(results[0])
        for result in results:
            for path, values in variables(result).items():
                label, variable = path.split("/", 1)
                if "displacement" not in variable and "momentum" not in variable:
                    continue
                if label in explicit:
                    self.assertEqual(values.tobytes(), first[path].tobytes(), path)
                sizes = np.abs(values[np.isfinite(values)])
                self.assertFalse(np.any((sizes > 0) & (sizes < smallest)), path)
                if np.any((sizes > 0) & (sizes < 1e-250)):
                    seen.add(label)
        # Otherwise the run would not have had subnormal numbers.
        self.assertGreater(len(seen), 0)


class SolverOptionsTest(FolderTest):
    """PETSc's own options reach the solvers of the implicit steps, on any number of ranks."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        methods = {"midpoint": IMPLICIT["midpoint"], "lobatto": {"method": "lobatto", "stages": 3}}
        recipe = recipe_of("Planet", PLANET, PLANAR_LINES, closed(methods, names(PLANAR_LINES)))
        cls.recipe = write_recipe(cls.folder / "recipe.toml", recipe)
        cls.direct = cls.folder / "direct.h5"
        cls.outcome = run(["run", cls.recipe, "-o", cls.direct, "--progress", "none"])

    def run_with(self, *words, ranks):
        """A run with PETSc's options, and its result."""
        result = self.folder / "with.h5"
        arguments = ["run", self.recipe, "-o", result, "--overwrite", "--progress", "none", "--", *words]
        outcome = run(arguments, ranks)
        self.assert_code(outcome, 0)
        return outcome, result

    def test_iterative_solvers_agree_with_the_direct_one(self):
        self.assert_code(self.outcome, 0)
        direct = variables(self.direct)
        for ranks, words in (
            (None, "-ksp_type bcgs -pc_type jacobi"),
            (3, "-ksp_type bcgs -pc_type jacobi"),
            (2, "-ksp_type gmres -pc_type none"),
        ):
            _, result = self.run_with(*words.split(), ranks=ranks)
            iterative = variables(result)
            changed_bits = set()
            for name, values in direct.items():
                if values.dtype.kind in "SU":
                    continue
                scale = max(1.0, np.abs(values).max())
                self.assertLessEqual(np.abs(iterative[name] - values).max(), 1e-10 * scale, (name, words))
                if iterative[name].tobytes() != values.tobytes():
                    changed_bits |= {method for method in ("midpoint", "lobatto") if method in name}
            # Otherwise the options would have had no effect.
            self.assertEqual(changed_bits, {"midpoint", "lobatto"}, words)

    def test_log_view(self):
        outcome, _ = self.run_with("-log_view", ranks=2)
        self.assert_said_once(outcome, "PETSc Performance Summary")
        self.assertRegex(outcome.out, r"(?m)^LineEliminate +\d+ ")

    def test_snes_monitor(self):
        outcome, _ = self.run_with("-snes_monitor", ranks=3)
        # Each of the steps of each of the six runs, by one rank.
        self.assertEqual(len(re.findall(r"(?m)^ +0 SNES Function norm", outcome.out)), 6 * STEPS)

    def test_ksp_converged_reason(self):
        outcome, _ = self.run_with("-ksp_type", "bcgs", "-pc_type", "jacobi", "-ksp_converged_reason", ranks=2)
        self.assertIn("Linear solve converged due to CONVERGED_RTOL", outcome.out)

    def test_a_log_does_not_follow_the_next_commands(self):
        """Commands of one process have options of their own, though PETSc starts once."""
        arguments = ["run", self.recipe, "-o", self.folder / "log.h5", "--overwrite", "--progress", "none"]
        for words, times in (["-log_view"], 1), ([], 0), (["-snes_monitor", "-log_view"], 1), (["-ksp_type", "bcgs"], 0):
            outcome = ask([*arguments, "--", *words])
            self.assert_code(outcome, 0)
            self.assertEqual(outcome.out.count("PETSc Performance Summary"), times, words)
            self.assertEqual("SNES Function norm" in outcome.out, "-snes_monitor" in words)


class SearchOptionsTest(FolderTest):
    """PETSc's methods of minimisation, one after the other in one process."""

    def test_every_method_finds_the_same_optimum_or_is_refused(self):
        control = write_recipe(self.folder / "control.toml", PUSHED)
        control.write_text(control.read_text() + "\n[study.end]\nq = 0.5\n")
        costs = {}
        for method in ("blmvm", "bncg", "bqnls", "bqnkls", "bqnktr", "bqnktl"):
            for ranks in None, 2:
                result = self.folder / "control.h5"
                words = ["run", control, "-o", result, "--overwrite", "--progress", "none", "--", "-tao_type", method]
                outcome = ask(words, ranks)
                self.assert_code(outcome, 0)
                with h5py.File(result) as file:
                    group = file["optimal-control/pushed"]
                    self.assertEqual(group["converged"][()], 1.0, method)
                    costs[method, ranks] = group["cost"][()], group["evaluations"][()]
        for cost, _ in costs.values():
            self.assertAlmostEqual(cost, costs["blmvm", None][0], delta=1e-9)
        # Otherwise the option would have had no effect.
        self.assertGreater(len({evaluations for _, evaluations in costs.values()}), 2)
        for method in ("lmvm", "bnls", "bntr", "bntl", "nls", "tron", "nm", "almm", "brgn", "owlqn"):
            outcome = ask(["check", control, "--", "-tao_type", method], 2 if method == "lmvm" else None)
            self.assert_code(outcome, 2)
            self.assertRegex(outcome.err, f"`-tao_type {method}`.*bqnls")


class FailureTest(FolderTest):
    """A motion that becomes infinite is known to one rank, and ends the run on all of them."""

    ENSEMBLE = """
        title = "Particles that run away"
        [system]
        kind = "formula"
        coordinates = ["x"]
        masses = [1.0]
        V = "-x^4"
        q0 = [1.0]
        [[environments]]
        name = "line"
        kind = "spring-mass-line"
        sites = 60
        lambda = 1.0
        M = 1.0
        kT = 0.1
        [time]
        step = 0.1
        steps = 300
        [[integrators]]
        method = "stoermer-verlet"
        name = "a"
        on = "closed"
        [study]
        kind = "ensemble"
        realisations = 9
        ranks_per_realisation = 2
        """
    TRANSPORT = """
        title = "A chain that runs away"
        [system]
        kind = "pair-potential"
        particles = 2
        masses = 1.0
        q0 = 0.0
        externals = [{ kind = "formula", V = "-2*x^2" }, { kind = "harmonic", k = 1.0 }]
        [[environments]]
        name = "chain"
        kind = "nonlinear-line"
        attach = [0, 1]
        sites = 200
        M = 1.0
        potential = { kind = "harmonic", k = 1.0 }
        [[environments]]
        name = "hot"
        kind = "damper"
        attach = 0
        damping = 1.0
        kT = 1.0
        [[environments]]
        name = "cold"
        kind = "damper"
        attach = 1
        damping = 1.0
        kT = 1.0
        [time]
        step = 0.1
        steps = 40000
        [[integrators]]
        method = "baoab"
        name = "a"
        on = "closed"
        allow_unstable = true
        [output]
        every = 10
        [study]
        kind = "transport"
        blocks = 16
        """

    def assert_failure(self, recipe, message):
        path = write_recipe(self.folder / "recipe.toml", recipe)
        for ranks in (None, 2, 3):
            with self.subTest(ranks=ranks):
                words = ["run", path, "-o", self.folder / "result.h5", "--overwrite", "--progress", "none"]
                outcome = run(words, ranks, patience=60)
                self.assert_code(outcome, 3)
                self.assert_said_once(outcome, message)

    def test_an_ensemble_of_teams(self):
        for quantity in ("", 'quantities = [{ name = "heat", of = "heat", when = "end" }]\n'):
            self.assert_failure(self.ENSEMBLE + quantity, ": the state is not finite")

    def test_a_chain_under_transport(self):
        self.assert_failure(self.TRANSPORT, "no longer finite")


if __name__ == "__main__":
    unittest.main()
