"""Systems given as formulas: comparison with an independent integration, and messages for invalid ones."""

import unittest

import h5py
import numpy as np
from scipy.interpolate import CubicSpline

from oracles import exact_path
from program import OSCILLATOR, FolderTest, ask, changed

HENON_HEILES = {
    "title": "Henon and Heiles, typed",
    "system": {
        "kind": "formula",
        "coordinates": ["x", "y"],
        "masses": [1.0, 1.0],
        "V": "0.5*(x^2 + y^2) + lam*(x^2*y - y^3/3)",
        "q0": [0.1, -0.15],
        "v0": [0.45, 0.1],
    },
    "system.parameters": {"lam": 1.0},
    "system.observables.L": {"formula": "x*y_dot - y*x_dot", "units": "m^2/s"},
    "time": {"step": 0.05, "steps": 400},
    "integrators": [{"method": "exact", "on": "closed"}, {"method": "gauss", "stages": 3, "on": "closed"}],
}


def henon_heiles(_, state):
    x, y, vx, vy = state
    return [vx, vy, -x - 2 * x * y, -y - x * x + y * y]


# A driven particle on a line: q'' = -q - q^3 + f + force of the line, f of velocity and time.
DRIVEN = {
    "title": "Driven and typed",
    "system": {
        "kind": "formula",
        "coordinates": ["x"],
        "masses": [1.0],
        "V": "x^2/2 + x^4/4",
        "force": ["F*cos(1.3*t) - c*x_dot*x^2"],
        "q0": [0.7],
        "v0": [0.2],
    },
    "system.parameters": {"F": 0.5, "c": 0.2},
    "system.observables.f": {"formula": "F*cos(1.3*t) - c*x_dot*x^2", "units": "N"},
    "environments": [{"kind": "spring-mass-line", "sites": 4, "M": 0.5, "lambda": 2.0}],
    "time": {"step": 0.02, "steps": 500},
    "integrators": [{"method": "exact", "on": "closed"}, {"method": "gauss", "stages": 3, "on": "closed"}],
}


def driven(t, state):
    w, p = np.concatenate([state[:5], [0.0]]), state[5:10]
    mass = np.array([1.0, 0.5, 0.5, 0.5, 0.5])
    x, v = 0.7 + w[0], p / mass
    f = 0.5 * np.cos(1.3 * t) - 0.2 * v[0] * x**2
    tension = 2.0 * np.diff(w)
    force = tension.copy()
    force[1:] -= tension[:-1]
    force[0] += -x - x**3 + f
    return np.concatenate([v, force, [f * v[0]]])


class FormulaTest(FolderTest):
    def test_henon_heiles_agrees_with_an_independent_integration(self):
        self.assert_code(self.run_recipe(HENON_HEILES), 0)
        # Gauss 3 at this step: its error, measured against itself at half the step, is 2e-10.
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-8)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                time, q, p, L = (group[name][...] for name in ("time", "q", "p", "L"))
                self.assertEqual(group["L"].attrs["units"], "m^2/s")
                energy = group["energy_total"][...]
            start = HENON_HEILES["system"]["q0"] + HENON_HEILES["system"]["v0"]
            x, y, vx, vy = exact_path(henon_heiles, time, start)
            self.assertLess(np.abs(q[:, :, 0] - np.stack([x, y], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(p[:, :, 0] - np.stack([vx, vy], axis=1)).max(), tolerance, label)
            self.assertLess(np.abs(L - (x * vy - y * vx)).max(), tolerance, label)
            self.assertLess(np.abs(energy - energy[0]).max(), tolerance, label)

    def test_a_driven_particle_on_a_line_agrees_with_an_independent_integration(self):
        self.assert_code(self.run_recipe(DRIVEN), 0)
        for label, tolerance in (("exact", 1e-9), ("gauss", 1e-8)):
            with h5py.File(self.folder / "result.h5") as file:
                group = file[label]
                time, q, p, f, work, energy = (
                    group[name][...] for name in ("time", "q", "p", "f", "energy_work", "energy_total")
                )
            start = [0.0] * 5 + [0.2] + [0.0] * 5
            state = exact_path(driven, time, start)
            self.assertLess(np.abs(q[:, 0, 0] - 0.7 - state[0]).max(), tolerance, label)
            self.assertLess(np.abs(p[:, 0, 0] - state[5]).max(), tolerance, label)
            self.assertLess(np.abs(work - state[10]).max(), tolerance, label)
            self.assertLess(np.abs(f - 0.5 * np.cos(1.3 * time) + 0.2 * p[:, 0, 0] * q[:, 0, 0] ** 2).max(), 1e-14)
            self.assertLess(np.abs(energy - energy[0]).max(), tolerance, label)

    def test_the_same_bits_on_three_ranks(self):
        explicit = [{"method": name, "on": "closed"} for name in ("stoermer-verlet", "rk4")]
        for recipe in HENON_HEILES, changed(DRIVEN, integrators=explicit):
            self.assert_code(self.run_recipe(recipe), 0)
            (self.folder / "result.h5").rename(self.folder / "one.h5")
            self.assert_code(self.run_recipe(recipe, ranks=3), 0)
            self.assert_same_bits(self.folder / "one.h5", self.folder / "result.h5")

    def test_a_bad_formula_gives_one_clear_line(self):
        for ranks in None, 3:
            outcome = self.run_recipe(changed(HENON_HEILES, system={"V": "x^2 + sni(y)"}), command="check", ranks=ranks)
            self.assert_code(outcome, 2)
            self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
            self.assertIn("recipe.toml:7:12: V: unknown function `sni`; did you mean `sin`?", outcome.err)

    def test_a_formula_that_becomes_undefined_is_a_numerical_failure(self):
        recipe = changed(HENON_HEILES, system={"V": "y^2 + sqrt(0.2 - x)"})
        for integrator in ({"method": "stoermer-verlet"}, {"method": "exact"}, {"method": "gauss", "stages": 2}):
            outcome = self.run_recipe(changed(recipe, integrators=[integrator | {"on": "closed"}]))
            self.assert_code(outcome, 3)
            self.assertRegex(outcome.err, r"step \d+ failed: .*\(V = y\^2 \+ sqrt\(0\.2 - x\)\)")
            self.assertNotIn("nan", outcome.err)

    def test_studies_without_external_forces_refuse_them(self):
        for study in {"kind": "commutativity"}, {"kind": "energy-transfer"}, {"kind": "substituting-system"}:
            message = f"force: a study of the kind `{study['kind']}` supports no external forces"
            self.assert_mistake(changed(DRIVEN, study=study), message)

    def test_tables_are_splines_and_travel_with_the_result(self):
        table = np.column_stack([np.linspace(0.0, 3.0, 13) ** 1.5, np.sin(np.arange(13.0)), np.cos(np.arange(13.0))])
        (self.folder / "data").mkdir()
        np.savetxt(self.folder / "data/force.dat", table[:, :2], header="t (s), f (N)")
        np.savetxt(self.folder / "three.dat", table)
        bound = changed(HENON_HEILES, **{"system.parameters": {"lam": 0.05}})
        recipe = changed(
            bound,
            system={"drive": ["table('data/force.dat', t)", "2*table('data/force.dat', t/2, 'linear')"]},
            time={"step": 0.01, "steps": 500},
            output={"checkpoint_every": 100, "keep_checkpoints": 5},
        )
        recipe["system.observables"] = {"cubic": "table('data/force.dat', t)", "lines": "table('data/force.dat', t/2, 'linear')"}
        del recipe["system.observables.L"]
        self.assert_code(self.run_recipe(recipe), 0)
        one, inside = self.folder / "one.h5", self.folder / "inside.toml"
        (self.folder / "result.h5").rename(one)
        with h5py.File(one) as file:
            self.assertIn("input_file:data/force.dat", file.attrs)
            time, cubic, lines = (file["gauss"][name][...] for name in ("time", "cubic", "lines"))
        self.assertLess(np.abs(cubic - CubicSpline(table[:, 0], table[:, 1])(time)).max(), 1e-13)
        self.assertLess(np.abs(lines - np.interp(time / 2.0, table[:, 0], table[:, 1])).max(), 1e-13)
        self.assert_code(self.run_recipe(recipe, ranks=2), 0)
        self.assert_same_bits(one, self.folder / "result.h5")
        (self.folder / "data/force.dat").unlink()
        self.assert_code(ask(["verify", one]), 0)
        # The same columns from `drive_file`.
        (self.folder / "data/force.dat").write_text("\n".join(f"{t!r} {f!r}" for t, f in table[:, :2].tolist()))
        by_file, by_formula = (changed(bound, time={"step": 0.01, "steps": 500}) for _ in range(2))
        by_file["system"] |= {"drive_file": "three.dat"}
        np.savetxt(self.folder / "second.dat", table[:, ::2])
        np.savetxt(self.folder / "first.dat", table[:, :2])
        by_formula["system"] |= {"drive": ["table('first.dat', t)", "table('second.dat', t)"]}
        self.assert_code(self.run_recipe(by_file), 0)
        (self.folder / "result.h5").rename(one)
        self.assert_code(self.run_recipe(by_formula), 0)
        with h5py.File(one) as first, h5py.File(self.folder / "result.h5") as second:
            for label in ("exact", "gauss"):
                np.testing.assert_array_equal(first[label]["q"][...], second[label]["q"][...])

    def test_wrong_tables_give_one_clear_line(self):
        (self.folder / "force.dat").write_text("0 1\n1 2\n2 x\n")
        (self.folder / "short.dat").write_text("0 1\n1 2\n2 0\n")
        for keys, message in (
            ({"drive": ["table('force.dat', t)", "0"]}, r"drive\[0\]: force.dat: line 3: .*`x` is not a finite number"),
            ({"drive": ["table('none.dat', t)", "0"]}, r"none.dat: cannot be read; relative paths start at the recipe's"),
            ({"drive": ["0", "table(t)"]}, r"expected a file's name in quotes"),
            ({"drive": ["0", "table('short.dat', t, 'cubic')"]}, r'the last argument of `table` is "linear" or left out'),
            ({"drive": ["0", "table('short.dat', t)"]}, r"no value at the end of the run, t = 20: table\(\"short.dat\", 20\), .* from 0 to 2"),
            ({"force": ["table('short.dat', t)*x", "0"]}, r"\d+:\d+: force\[0\]: .* the end of the run, t = 20: table\(\"short.dat\", 20\)"),
            ({"drive": ["0", "1 + table('short.dat', t/2)"]}, r"table\(\"short.dat\", 10\)"),
            ({"drive_file": "short.dat"}, r"line 1: must be 3 numbers, a time \(s\) and 2 forces \(N\), but there are 2"),
            ({"drive": ["0", "0"], "drive_file": "short.dat"}, r"`drive_file` takes the place of `drive`"),
        ):
            outcome = self.run_recipe(changed(HENON_HEILES, system=keys), command="check", ranks=2)
            self.assert_code(outcome, 2)
            self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
            self.assertRegex(outcome.err, "recipe.toml:.*" + message)

    def test_a_motion_that_leaves_a_table_says_where(self):
        # x = t^2/2 leaves [-1, 1], with an interval more at both ends, at the time 1.7.
        (self.folder / "slope.dat").write_text("".join(f"{x / 4} {-x / 4}\n" for x in range(-4, 5)))
        recipe = changed(
            HENON_HEILES,
            system={"coordinates": ["x"], "masses": [1.0], "V": "table('slope.dat', x)", "q0": [0.0], "v0": [0.0]},
            time={"step": 0.01, "steps": 400},
        )
        del recipe["system.parameters"], recipe["system.observables.L"]
        for method, ranks in (("leapfrog", None), ("gauss", 2), ("exact", None), ("baoab", 2)):
            with self.subTest(method):
                case = {"integrators": [{"method": method, "on": "open", "name": "run"}]}
                if method == "baoab":
                    case |= {"study": {"kind": "ensemble", "realisations": 4}, "system": {"damping": [1e-9], "kT": 1e-9}}
                outcome = self.run_recipe(changed(recipe, **case), ranks=ranks)
                self.assert_code(outcome, 3)
                self.assertRegex(outcome.err, r'table\("slope.dat", 1\.[23]\d*\), a table from -1 to 1')
                self.assertRegex(outcome.err, r"before t = \d")

    def test_tables_of_couplings_reach_the_end(self):
        (self.folder / "short.dat").write_text("0 1\n1 2\n2 1\n")
        line = {key: value for key, value in DRIVEN["environments"][0].items() if key != "attach"}
        for couple, code in (("x*table('short.dat', t)", 2), ("x*table('short.dat', t/20)", 0), ("x*(1 + 0.1*table('short.dat', x))", 0)):
            recipe = changed(DRIVEN, environments=[line | {"couple": couple}], time={"step": 0.01, "steps": 1000})
            outcome = self.run_recipe(changed(recipe, integrators=[{"method": "gauss", "on": "closed"}]), command="check")
            self.assert_code(outcome, code)
            if code:
                self.assert_said_once(outcome, 'couple: has no value at the end of the run, t = 10: table("short.dat", 10)')

    def test_attach_is_a_number_or_a_list(self):
        kinds = [
            {"kind": "damper", "damping": 0.2},
            {"kind": "memory", "stiffness": [0.5], "rate": [0.7]},
            {"kind": "heat-bath", "oscillators": 9, "damping": 0.3, "omega_max": 5.0},
            {"kind": "spring-mass-line", "sites": 9, "M": 0.1, "lambda": 1.0},
            {"kind": "nonlinear-line", "sites": 9, "M": 0.1, "far_end": "free", "potential.kind": "harmonic", "potential.k": 1.0},
        ]
        leapfrog = [{"method": "leapfrog", "on": "closed", "name": "closed"}]
        for kind in kinds:
            with self.subTest(kind["kind"]):
                recipe = lambda attach, kind=kind: changed(OSCILLATOR, environments=[kind | {"attach": attach}], integrators=leapfrog)  # noqa: E731
                ends = []
                for attach in (0, [0], -1, [-1]):
                    self.assert_code(self.run_recipe(recipe(attach)), 0)
                    ends.append((self.folder / "result.h5").rename(self.folder / f"attached-{len(ends)}.h5"))
                for other in ends[1:]:
                    self.assert_same_bits(ends[0], other)
                for attach in ([], [0, 0, 0], [0.5], 0.5, 1, [1]):
                    self.assert_mistake(recipe(attach), "attach")
                if kind["kind"] != "nonlinear-line":
                    self.assert_mistake(recipe([0, 0]), "`attach` names 2 particles, .* one")

    def test_open_runs_say_that_they_leave_out_the_start_of_a_line(self):
        line = DRIVEN["environments"][0] | {"w0": "exp(-i)", "v0": "0.1"}
        integrators = [{"method": "gauss", "on": on, "name": on} for on in ("closed", "open")]
        outcome = self.run_recipe(changed(DRIVEN, environments=[line], integrators=integrators), command="check")
        self.assert_code(outcome, 0)
        for key in ("w0", "v0"):
            self.assert_said_once(outcome, f"open: `{key}` of")
        self.assertNotIn("closed: `", outcome.err)

    def test_a_line_with_a_pulse_is_a_chain_of_particles(self):
        n, mass, spring = 400, "(1 + 0.3*sin({i}))", "(2 + 0.5*cos({i}))"
        displacement, velocity = "exp(-(({i} - 90)/6)^2)", "0.2*exp(-(({i} - 100)/9)^2)*{i}/%d" % n
        line = {
            "title": "A line with a pulse",
            "system": {"kind": "single-oscillator", "m": 1.5, "k": 1.0, "q0": [0.0], "v0": [0.3]},
            "environments": [
                {
                    "kind": "spring-mass-line",
                    "sites": n,
                    "M": mass.format(i="i"),
                    "lambda": spring.format(i="i"),
                    "far_end": "free",
                    "w0": displacement.format(i="i"),
                    "v0": velocity.format(i="i").replace(f"/{n}", "/n"),
                }
            ],
            "time": {"step": 0.1, "steps": 2000},
            "integrators": [{"method": name, "on": "closed"} for name in ("stoermer-verlet", "gauss")],
            "output": {"checkpoint_every": 500, "keep_checkpoints": 5},
        }
        # Particle i + 1 is site i, and the spring before the site joins it to particle i.
        site = "(i - 1)"
        chain = changed(line, environments=[], output={"checkpoint_every": 2000})
        chain["system.potential"] = {"kind": "formula", "V": f"{spring.format(i='i')}*r^2/2"}
        chain["system.external"] = {"kind": "formula", "V": "where(i < 1, 0.5, 0)*r^2"}
        chain["system"] = {
            "kind": "pair-potential",
            "particles": n + 1,
            "masses": f"where(i < 1, 1.5, {mass.format(i=site)})",
            "pairs": "neighbours",
            "q0": f"where(i < 1, 0, {displacement.format(i=site)})",
            "v0": f"where(i < 1, 0.3, {velocity.format(i=site)})",
        }
        chain["integrators"] = line["integrators"][:1]
        one = self.folder / "one.h5"
        self.assert_code(self.run_recipe(chain), 0)
        with h5py.File(self.folder / "result.h5") as file:
            expected = file["stoermer-verlet/q"][:, 0, 0]
        self.assert_code(self.run_recipe(line), 0)
        (self.folder / "result.h5").rename(one)
        with h5py.File(one) as file:
            # Round-off of 2000 steps.
            self.assertLess(np.abs(file["stoermer-verlet/q"][:, 0, 0] - expected).max(), 1e-11)
            self.assertGreater(np.abs(expected[-500:]).max(), 0.01)
            total = file["gauss/energy_total"][...]
            self.assertLess(np.abs(total / total[0] - 1.0).max(), 1e-11)
        self.assert_code(ask(["verify", one]), 0)
        # The elimination of implicit methods depends on the ranks by round-off.
        explicit = changed(line, integrators=line["integrators"][:1])
        self.assert_code(self.run_recipe(explicit), 0)
        (self.folder / "result.h5").rename(one)
        self.assert_code(self.run_recipe(explicit, ranks=3), 0)
        self.assert_same_bits(one, self.folder / "result.h5")

    def test_wrong_starts_of_lines_give_one_clear_line(self):
        for keys, message in (
            ({"sites": "infinite", "w0": "i"}, "`w0` needs sites, but a semi-infinite line has none"),
            ({"w0": ["i", "0"]}, r"`w0` has 2 formula\(s\), but a site moves along 1 axes"),
            ({"v0": "1/i"}, "v0: the formula has no finite value at the start"),
            ({"v0": "x"}, "v0: unknown name `x`"),
            ({"M": "i"}, "M: for i = 0 the formula is 0: must be positive"),
            ({"M": "1 + i", "grid": "characteristic"}, "`grid` has no meaning beside formulas, which describe the sites"),
            ({"M": "1 + i", "sites": "infinite"}, "a semi-infinite line is uniform: its sites have no formulas"),
        ):
            environment = DRIVEN["environments"][0] | keys
            recipe = changed(DRIVEN, environments=[environment], integrators=DRIVEN["integrators"][1:])
            outcome = self.run_recipe(recipe, command="check")
            self.assert_code(outcome, 2)
            self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
            self.assertRegex(outcome.err, message)

    def test_describe_shows_all_entries_named_formula(self):
        text = ask(["describe", "formula"]).out
        for title in "formula (language)", "formula (system)", "formula (potential)":
            self.assertEqual(text.count(title), 1, text)


if __name__ == "__main__":
    unittest.main()
