"""`bathline import`: baths of other programs against matrix exponentials, closed forms and published numbers."""

import math
import tomllib
import unittest

import h5py
import numpy as np
from program import OSCILLATOR, FolderTest, ask, changed, write_recipe
from scipy.integrate import quad
from scipy.linalg import expm

# The 5 x 5 matrix of the example of gle4md.
ARROW = np.diag([3.077010981, 2.548405286, 1.73118342, 0.9243109136, 0.2728914538])
ARROW[0, 1:] = 2.451344375, -0.004620728182, 0.0497626139, 0.3364690971
ARROW[1:, 0] = 2.451344449, -0.004598788959, -0.04976420041, 0.3364691112


def jordan(b, angle):
    """A critically damped block and a damped one, both turned."""
    a = np.zeros((5, 5))
    a[0, 1:] = -1.2, -1.2, -0.7, -0.7
    a[1:, 0] = 1.2, 1.2, 0.7, 0.7
    a[1:3, 1:3] = [[2 * b, -b], [b, 0.0]]
    a[3:, 3:] = [[1.4, -2.6], [2.6, 0.0]]
    turn = np.eye(5)
    turn[2, 2] = turn[4, 4] = math.cos(angle)
    turn[2, 4], turn[4, 2] = math.sin(angle), -math.sin(angle)
    return turn @ a @ turn.T


def rows(matrix, between=" "):
    return "\n".join(between.join(repr(float(x)) for x in row) for row in np.atleast_2d(matrix)) + "\n"


def velocities(drift, times, stiffness=1.0):
    """The velocity autocorrelation of an oscillator with the drift matrix of (p, s), which is its answer to a kick."""
    n = len(drift)
    a = np.zeros((n + 1, n + 1))
    a[0, 1], a[1, 0], a[1:, 1:] = 1.0, -stiffness, -drift
    return np.array([expm(a * t)[1, 1] for t in times])


def kernel_of(memory, t):
    """Of a `memory` that is given by terms."""
    cosine = np.array(memory.get("cosine", memory.get("stiffness")))
    sine, w = (np.array(memory.get(key, np.zeros(len(cosine)))) for key in ("sine", "frequency"))
    return float(np.sum(np.exp(-np.array(memory["rate"]) * t) * (cosine * np.cos(w * t) + sine * np.sin(w * t))))


class Import(FolderTest):
    def imported(self, *arguments, text=None):
        """The outcome of an import, of a file with `text` where there is one, and the environments that it prints."""
        if text is not None:
            source = self.folder / "source"
            source.write_text(text)
            arguments = (source, *arguments)
        outcome = ask(["import", *arguments])
        return outcome, tomllib.loads(outcome.out).get("environments") if outcome.code == 0 else None

    def bath(self, *arguments, text=None):
        outcome, environments = self.imported(*arguments, text=text)
        self.assert_code(outcome, 0)
        return environments

    def velocity(self, environments, method=None):
        """v(t) of an oscillator, m = k = 1, that is kicked, by the reduced system."""
        recipe = changed(
            OSCILLATOR,
            system={"q0": [0.0], "v0": [1.0]},
            environments=environments,
            time={"step": 0.01, "steps": 500},
            integrators=[(method or {"method": "gauss", "stages": 4}) | {"on": "closed", "name": "run"}],
        )
        result = self.folder / "result.h5"
        self.assert_code(ask(["run", write_recipe(self.folder / "run.toml", recipe), "-o", result, "--overwrite"]), 0)
        with h5py.File(result) as file:
            return file["run/time"][:], file["run/p"][:, 0, 0]

    def test_drift_matrices_have_the_velocity_autocorrelation_of_the_matrix(self):
        mixed, plain = jordan(0.9, 0.4), jordan(3.0, 0.0)
        unit = ["--time-unit", "1"]
        i_pi = f"<x>\n<A shape='(5,5)' units='hertz*rad'>\n[{rows(mixed, ', ')}]</A></x>"
        # Two equal pairs of damped oscillations in a chain, and three equal rates: Jordan blocks.
        pairs, triple = np.zeros((5, 5)), np.eye(4)
        pairs[0, 0], pairs[0, 1], pairs[1, 0] = 0.5, -1.0, 1.0
        pairs[1:3, 1:3] = pairs[3:, 3:] = [[0.6, -1.1], [1.1, 0.6]]
        pairs[1:3, 3:], pairs[0, 3], pairs[3, 0] = 0.2 * np.eye(2), -0.8, 0.8
        triple[0], triple[1:, 0] = [2.0, -1.0, 0.3, 0.2], [1.0, 0.3, 0.2]
        triple[1, 2] = triple[2, 3] = 0.4
        cases = [
            ("lammps-gle", rows(pairs), unit, pairs),
            ("lammps-gle", rows(triple), unit, triple),
            ("gle4md", "4\n" + rows(ARROW), unit, ARROW),
            ("lammps-gle", "# a comment\n" + rows(mixed), unit, mixed),
            ("gleqpy", rows(plain), unit, plain),
            ("i-pi", i_pi, [], mixed),
            ("gleqpy", "0.7", unit, np.array([[0.7]])),
        ]
        for name, text, more, matrix in cases:
            with self.subTest(name, matrix=matrix):
                environments = self.bath("--from", name, *more, text=text)
                if "damping" in environments[0] and environments[0]["kind"] == "memory":
                    # Passive only together, which methods of order 2 alone have: the kernel is compared.
                    self.assertAlmostEqual(environments[0]["damping"], matrix[0, 0], delta=1e-12)
                    for t in (0.0, 0.4, 3.0):
                        exact = -(matrix[0, 1:] @ expm(-matrix[1:, 1:] * t) @ matrix[1:, 0])
                        self.assertAlmostEqual(kernel_of(environments[0], t), exact, delta=1e-9)
                    continue
                t, v = self.velocity(environments)
                # The exponentials may change the kernel by 1e-9 of its size, about 1 kg/s2, and so v by 1e-9 t^2/2.
                np.testing.assert_allclose(v, velocities(matrix, t), rtol=0, atol=1e-9 * max(1.0, t[-1] ** 2 / 2))

    def test_time_and_mass_scale_the_kernel(self):
        one = self.bath("--from", "lammps-gle", "--time-unit", "1", text=rows(ARROW))[0]
        scaled = self.bath("--from", "lammps-gle", "--time-unit", "0.5", "--mass", "3", text=rows(ARROW))[0]
        self.assertAlmostEqual(scaled["damping"], 6.0 * one["damping"], delta=1e-12)
        self.assertAlmostEqual(kernel_of(scaled, 0.35), 12.0 * kernel_of(one, 0.7), delta=1e-11)
        in_ps = self.bath("--from", "lammps-gle", "--time-unit", "ps", text=rows(ARROW))[0]
        self.assertAlmostEqual(in_ps["damping"] * 1e-12, one["damping"], delta=1e-12)

    def test_terms_have_the_closed_form_of_their_source(self):
        line = "fix 1 all gld 1.0 1.0 2 82885 pprony 0.5 1.0 1.0 0.01 frozen no\n"
        gld = self.bath("--from", "lammps-gld", "--time-unit", "1", text="units lj\n" + line)
        self.assertAlmostEqual(kernel_of(gld[0], 0.02), 0.5 * math.exp(-0.02) + 100.0 * math.exp(-2.0), delta=1e-12)
        drude = self.bath("--from", "qutip", "--drude", "0.3", "1.5")
        self.assertAlmostEqual(kernel_of(drude[0], 0.7), 0.6 * math.exp(-1.05), delta=1e-14)
        # HierarchicalEOM.jl has twice the density, 4 lam gamma w/(w^2 + gamma^2), of twice the sum.
        twice = self.bath("--from", "hierarchicaleom", "--drude", "0.3", "1.5")
        self.assertAlmostEqual(kernel_of(twice[0], 0.7), 0.6 * math.exp(-1.05), delta=1e-14)
        # The kernel of y'' + gamma y' + w0^2 y = 0 from (lam/w0)^2 at rest; 2.4 is its critical damping.
        for gamma in (0.3, 2.4, 2.4000001, 7.0):
            bath = self.bath("--from", "qutip", "--underdamped", "0.8", str(gamma), "1.2")
            motion = np.array([[0.0, 1.0], [-1.44, -gamma]])
            for t in (0.0, 0.5, 2.0):
                exact = 0.64 / 1.44 * expm(motion * t)[0, 0]
                self.assertAlmostEqual(kernel_of(bath[0], t), exact, delta=1e-9, msg=f"{gamma} {t}")

    def test_densities_and_their_counter_terms(self):
        a, c, pi = 0.1, 2.0, math.pi
        cases = [
            (["qutip", "--ohmic", a, c, 1.0], lambda w: a * w * math.exp(-w / c), math.inf),
            (["qutip", "--ohmic", a, c, 0.5], lambda w: a * math.sqrt(w * c) * math.exp(-w / c), math.inf),
            (["oqupy", "--power-law", a, 1.0, c], lambda w: 2 * pi * a * w * math.exp(-w / c), math.inf),
            (
                ["oqupy", "--power-law", a, 3.0, c, "--cutoff-type", "gaussian"],
                lambda w: 2 * pi * a * w**3 / c**2 * math.exp(-((w / c) ** 2)),
                math.inf,
            ),
            (["oqupy", "--power-law", a, 1.0, c, "--cutoff-type", "hard"], lambda w: 2 * pi * a * w, c),
        ]
        for arguments, density, end in cases:
            with self.subTest(arguments):
                outcome, environments = self.imported("--from", *arguments)
                self.assert_code(outcome, 0)
                names = environments[0]["parameters"] | {"exp": math.exp}
                for w in (0.3, 1.0, 1.9):
                    typed = eval(environments[0]["spectral_density"].replace("^", "**"), {}, names | {"w": w})
                    self.assertAlmostEqual(typed, density(w), delta=1e-13)
                self.assertEqual(environments[0].get("omega_max", math.inf), end)
                stiffness = 2 / pi * quad(lambda w: density(w) / w, 0.0, end, epsabs=1e-12)[0]
                stated = float(outcome.out.split("subtract ")[1].split("/2 x^2")[0])
                self.assertAlmostEqual(stated, stiffness, delta=1e-8)

    def test_chains_of_bosons_have_the_kernel_of_their_density(self):
        # J = 2 pi alpha w below 1: the recurrence of the Jacobi polynomials with the weight w on [0, 1].
        n, alpha = 60, 0.1
        k = np.arange(n)
        e = 0.5 * (1 + 1 / ((2 * k + 1) * (2 * k + 3)))
        t = np.sqrt((k[1:]) * (k[1:] + 1)) / (2 * (2 * k[1:] + 1))
        outcome, environments = self.imported("--from", "mpsdynamics", text=f"{rows(e)}{rows(t)}{math.sqrt(alpha)}\n")
        self.assertAlmostEqual(float(outcome.out.split("subtract ")[1].split("/2 x^2")[0]), 4 * alpha, delta=4 * alpha / n**2)
        for time in (0.5, 3.0, 20.0):
            exact = 4 * alpha * math.sin(time) / time
            self.assertAlmostEqual(kernel_of(environments[0], time), exact, delta=4 * alpha / n**2)

    def test_matrix_modes_are_their_eigenvectors(self):
        r, w, n = 0.7, 1.3, 3
        rng = np.random.default_rng(3)
        p, b = (x + x.T for x in rng.normal(size=(2, n, n)))
        p += np.eye(n) * (np.abs(np.linalg.eigvalsh(p)).max() + w / r * np.abs(np.linalg.eigvalsh(b)).max())
        p0 = np.diag([1.0, 0.0, 2.0])
        text = f"{r} {w}\n{rows(p)}{rows(b)}# a mode that decays alone\n0.4 0\n{rows(p0)}"
        environments = self.bath("--from", "matrix-modes", "--time-unit", "1", text=text)
        self.assertEqual(len(environments), 2 * n + 2)
        for t in (0.0, 0.6, 2.5):
            total = np.zeros((n, n))
            for environment in environments:
                vector = eval(environment["couple"], {}, {f"x{i}": np.eye(n)[i] for i in range(n)})
                total += kernel_of(environment, t) * np.outer(vector, vector)
            exact = math.exp(-r * t) * (p * math.cos(w * t) + b * math.sin(w * t)) + math.exp(-0.4 * t) * p0
            np.testing.assert_allclose(total, exact, rtol=0, atol=1e-13 * np.abs(p).max() * n)

    def test_one_ports_have_the_resistance_of_their_reflection(self):
        # 30 Ohm in parallel with 2 pF, in the three forms of reflections.
        z = lambda w: 1 / (1 / 30 + 2e-12j * w)  # noqa: E731
        for form in ("MA", "RI", "DB"):
            text = f"! a comment\n# GHz S {form} R 50\n"
            for gigahertz in range(1, 21):
                s = (z(2e9 * math.pi * gigahertz) - 50) / (z(2e9 * math.pi * gigahertz) + 50)
                size = abs(s) if form == "MA" else 20 * math.log10(abs(s))
                pair = (s.real, s.imag) if form == "RI" else (size, math.degrees(np.angle(s)))
                text += f"{gigahertz} {pair[0]!r} {pair[1]!r}\n"
            target = self.new_folder() / "port.toml"
            outcome, _ = self.imported("--from", "touchstone", "-o", target, text=text)
            self.assertIn("give --omega-max", outcome.text)
            self.bath_file(target, "--from", "touchstone", "--omega-max", "1.25e11", text=text)
            table = np.loadtxt(target.with_suffix(".txt"))
            w = table[:-1, 0]
            self.assertEqual(len(w), 19)
            np.testing.assert_allclose(table[:-1, 1], w * z(w).real, rtol=1e-9)

    def test_measured_one_ports(self):
        # A coil of 5 Ohm and 1 nH, whose |S| is 1 to three digits, and a measurement of a short.
        omega = ["--omega-max", "6e9"]
        w = 2e9 * math.pi * np.arange(0.1, 1.0, 0.01)

        def text(s, digits, form="RI"):
            pairs = np.array([s.real, s.imag] if form == "RI" else [np.abs(s), np.degrees(np.angle(s))]).T
            lines = [f"{x / 2e9 / math.pi:.4f} {a:.{digits}f} {b:.{digits}f}\n" for x, (a, b) in zip(w, pairs, strict=True)]
            return f"# GHz S {form} R 50\n" + "".join(lines)

        z = 5 + 1e-9j * w
        coil = (z - 50) / (z + 50)
        noisy = coil * np.where(np.arange(len(w)) % 7 == 0, 1.004 / np.abs(coil), 1.0)
        target = self.new_folder() / "port.toml"
        outcome, _ = self.imported("--from", "touchstone", *omega, "-o", target, text=text(noisy, 6))
        self.assertRegex(outcome.text, r"source:2: \|S\| = 1.004 is above 1: .*--clip 1.00[45]")
        outcome, _ = self.imported("--from", "touchstone", *omega, "--clip", "1.005", "-o", target, text=text(noisy, 6))
        self.assert_code(outcome, 0)
        self.assertRegex(target.read_text(), r"# .*above 1 in 13 rows, 1.004 at most.* --clip 1.005")
        table = np.loadtxt(target.with_suffix(".txt"))
        expected = np.where(np.arange(len(w)) % 7 == 0, 0.0, 5.0)
        np.testing.assert_allclose(table[:-1, 1] / table[:-1, 0], expected[: len(table) - 1], rtol=1e-3)
        short = -np.exp(0.3j * w / w[-1])
        for form, digits, more in (("RI", 4, []), ("RI", 17, []), ("MA", 3, []), ("RI", 9, ["--clip", "1.002"])):
            with self.subTest(form, digits=digits):
                s = short * (1 + 1e-3 * np.sin(w)) if more else short
                outcome, _ = self.imported("--from", "touchstone", *omega, *more, "-o", target, text=text(s, digits, form))
                self.assertIn("lossless", outcome.text)
        for keyword in ("[Version] 2.0\n# GHz S RI R 50\n", "! a comment\n  [version] 2.1\n"):
            outcome, _ = self.imported("--from", "touchstone", *omega, "-o", target, text=keyword + "1 0 0\n")
            self.assertRegex(outcome.text, r"source:[12]: .*Touchstone 2")

    def test_a_byte_order_mark_is_understood_by_every_format(self):
        one = ["--time-unit", "1"]
        formats = [
            ("gle4md", "1\n1 1\n-1 2\n", one),
            ("i-pi", "<A shape='(2,2)'>[1, 1, -1, 2]</A>", one),
            ("lammps-gle", "1 1\n-1 2\n", one),
            ("lammps-gld", "fix 1 all gld 1 1 1 82885 pprony 1 1\n", one),
            ("gleqpy", "1 1\n-1 2\n", one),
            ("gleqpy", "0 1\n1 0.4\n2 0.1\n3 0\n", one),
            ("mpsdynamics", "1 1\n0.5\n1\n", []),
            ("matrix-modes", "1 0\n1\n", one),
            ("touchstone", "# GHz S RI R 50\n1 0.5 0\n2 0.5 0\n", ["--omega-max", "13e9", "-o", self.folder / "marked.toml"]),
        ]
        for name, text, more in formats:
            with self.subTest(name):
                outcomes = [self.imported("--from", name, *more, *(["--overwrite"] if "-o" in more else []), text=mark + text)[0] for mark in ("", "\ufeff")]
                self.assert_code(outcomes[0], 0)
                self.assertEqual(outcomes[1].out, outcomes[0].out)
                self.assert_code(outcomes[1], 0)
        source = self.folder / "wide"
        source.write_text("1 1\n-1 2\n", encoding="utf-16")
        outcome, _ = self.imported(source, "--from", "lammps-gle", *one)
        self.assertIn("save it as UTF-8", outcome.text)

    def bath_file(self, target, *arguments, text):
        outcome, _ = self.imported(*arguments, "-o", target, "--overwrite", text=text)
        self.assert_code(outcome, 0)
        return tomllib.loads(target.read_text())["environments"]

    def test_tables_of_kernels_become_passive_sums(self):
        t = np.linspace(0.0, 40.0, 801)
        noise = 0.01 * np.random.default_rng(5).normal(size=len(t))
        for name, table in (("smooth", 0.8 * np.exp(-t)), ("noisy", 0.8 * np.exp(-t) + noise)):
            with self.subTest(name):
                text = rows(np.column_stack([t, table]))
                outcome, environments = self.imported("--from", "gleqpy", "--time-unit", "1", "--mass", "2", text=text)
                self.assert_code(outcome, 0)
                stated = float(outcome.out.split("absolute difference is ")[1].split(" of that")[0])
                # On a grid within which the table is interpolated; two digits are stated.
                fine = np.linspace(0.0, 40.0, 8001)
                given, exact = 2 * np.interp(fine, t, table), 1.6 * np.exp(-fine)
                fitted = np.array([kernel_of(environments[0], x) for x in fine])
                measured = np.abs(fitted - given).sum() / np.abs(given).sum()
                self.assertAlmostEqual(measured, stated, delta=0.05 * stated)
                # Straight lines differ from the exponential by h^2/12 of its integral. A fit averages over noise: its
                # error is far below the integral of that, 2 x 0.01 sqrt(2/pi) x 40 = 0.64.
                error = np.abs(fitted - exact).sum() * 0.005
                self.assertLess(error, 1.6 * (stated + 0.05**2 / 12) if name == "smooth" else 0.2 * 0.64)
                # |v| and the answer to a force are at most 1 over the 5 s of the run.
                times, v = self.velocity(environments)
                drift = np.array([[0.0, -1.6], [1.0, 1.0]])
                np.testing.assert_allclose(v, velocities(drift, times), rtol=0, atol=5 * error)

    def test_covariances_of_scaled_momenta_and_comments_are_read(self):
        # s in another unit, so that its variance is not kT, and a commented matrix before.
        text = "<!-- <A>\n[0]</A> --><A shape = '(2,2)' units=\"hertz*rad\">[1, 1, -1, 2]</A><C shape='(2,2)'>[300, 0, 0, 400]</C>"
        outcome, environments = self.imported("--from", "i-pi", text=text)
        self.assert_code(outcome, 0)
        self.assertIn("The noise of C has the temperature 300 in the unit of C", outcome.out)
        self.assertAlmostEqual(kernel_of(environments[1], 0.3), math.exp(-0.6), delta=1e-12)

    def test_lines_of_lammps_continue_after_an_ampersand(self):
        text = "fix 1 all gld 1.0 1 2 82885 pprony & # no comment\n  0.5 1.0 & \n 1.0 0.01\n"
        gld = self.bath("--from", "lammps-gld", "--time-unit", "1", text=text.replace(" # no comment", ""))
        self.assertAlmostEqual(kernel_of(gld[0], 0.02), 0.5 * math.exp(-0.02) + 100.0 * math.exp(-2.0), delta=1e-12)

    def test_existing_files_are_kept(self):
        target = self.new_folder() / "bath.toml"
        target.write_text("kept")
        outcome, _ = self.imported("--from", "qutip", "--drude", "1", "1", "-o", target)
        self.assertIn("exists already; --overwrite replaces it", outcome.text)
        self.assertEqual((outcome.code, target.read_text()), (2, "kept"))

    def test_what_is_no_bath_is_refused_with_its_line(self):
        cold = ARROW.copy()
        cold[0, 0] = 0.5
        a = "<A shape='(2,2)'>[1, 1, -1, 2]</A>\n"
        one, omega = ["--time-unit", "1"], ["--omega-max", "13", "-o", self.folder / "port.toml"]
        gld = "fix 1 all gld 1 1 2 82885 pprony"
        six = np.eye(7) + np.diag(3.0 * np.ones(6), 1)
        six[0], six[1:, 0] = [3.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0, 0.0, 0.1]
        cases = [
            ("gle4md", "3\n" + rows(ARROW), one, "source:2: 25 numbers follow, but a square matrix"),
            ("gle4md", "1\n1 2\n3 x\n", one, "source:3: `x` is not a finite number"),
            ("lammps-gle", "1 2 3", one, "source:1: 3 numbers follow"),
            ("lammps-gle", rows(ARROW), [], "give --time-unit"),
            ("lammps-gle", rows(ARROW), ["--time-unit", "fortnight"], "--time-unit fortnight is neither"),
            ("lammps-gle", rows(-ARROW), one, "is negative, which is no friction"),
            ("lammps-gle", rows(cold), one, "no bath at one temperature has this kernel"),
            ("lammps-gle", "1 1\n-1 -2", one, "do not decay"),
            ("gleqpy", rows(six), one, "too close to a matrix with one eigenvector"),
            ("lammps-gle", "1 1\n-1 1e400", one, "source:2: `1e400` is not a finite number"),
            ("lammps-gle", "1 1\n-1 nan", one, "source:2: `nan` is not a finite number"),
            ("lammps-gle", "1 1e200\n-1 1", one, "the squares of the matrix are too large"),
            ("lammps-gle", rows(ARROW), ["--time-unit", "1e-300"], "the squares of the matrix are too large"),
            ("i-pi", "\n<A shape='(4,9,9)'>[]</A>", one, "source:2: a matrix of shape (4,9,9)"),
            ("i-pi", a + "<C shape='(2,2)'>[300, 50, 50, 300]</C>", one, "source:2: no bath at one temperature has"),
            ("i-pi", a + "<C shape='(2,2)'>[-300, 0, 0, -300]</C>", one, "source:2: C is that of a negative temperature"),
            ("i-pi", a + "<C shape='(2,2)'>[300, 1, 0, 300]</C>", one, "source:2: C must be symmetric"),
            ("i-pi", a + "\n<C shape='(2,2)'>[300, 0, 0, 300]", one, "source:3: <C> must contain numbers and be closed"),
            ("i-pi", "<A shape='(2,2)'>[1, 1, 2]</A>", one, "3 numbers follow"),
            ("i-pi", "<A shape='(3,3)'>[1, 1, -1, 2]</A>", one, "the shape is (3,3), but 4 numbers follow"),
            ("i-pi", a + a, one, "source:2: a second <A> follows that of line 1"),
            ("i-pi", "<A>[1, 1, -1, 2]", one, "source:1: <A> must contain numbers and be closed by </A>"),
            ("i-pi", "<!-- " + a + "-->", one, "there is no element <A"),
            ("i-pi", a + "<!-- ", one, "source:2: a comment <!-- must be closed"),
            ("i-pi", "<A units='hertz' units='inversecm'>[1, 1, -1, 2]</A>", [], "source:1: `units` is given twice"),
            ("i-pi", "<A units='fortnight'>[1, 1, -1, 2]</A>", [], "source:1: the unit `fortnight` of A is none of"),
            ("i-pi", "<A units='hertz'>[1, 1, -1, 2]</A>", ["--time-unit", "ps"], "is not the unit that the file names"),
            ("i-pi", "<B/>", one, "there is no element <A"),
            ("lammps-gld", gld + " 0.5 1", one, "source:1: N = 2 pairs"),
            ("lammps-gld", gld + " 0.5 1 &\n 0.5 &\n", one, "source:1: `&` is not a finite number"),
            ("lammps-gld", gld + " 1 1 1 1\n\n" + gld + " 1 1 1 1", one, "source:3: a second `fix ... gld` follows"),
            ("lammps-gld", gld.replace("1 1 2", "1 3 2") + " 1 1 1 1", one, "source:1: the temperature goes from 1 to 3"),
            ("lammps-gld", gld + " 1 1 1 1", ["--time-unit", "1e-200"], "too large"),
            ("lammps-gld", "pair_style lj", one, "there is no line `fix"),
            ("gleqpy", "0 1\n1 0.5\n1 0.2\n", one, "source:3: the time 1 does not follow"),
            ("gleqpy", "1 1\n2 0.5\n3 0.2\n", one, "source:1: the table of a kernel must begin at the time 0"),
            ("gleqpy", "0 1\n1 0.5 3\n2 0.2\n", one, "source:2: must be two numbers"),
            ("matrix-modes", "1 0\n1 0\n0 1\n2 0\n1", one, "source:5: the matrices of this mode have 1 columns"),
            ("touchstone", "# Hz S RI R 50\n1 0.5 0\n1 0.5 0", omega, "source:3: frequencies must not be negative"),
            ("touchstone", "# Hz S RI R 50\n1 -1 0\n2 -1 0", omega, "this port is lossless and damps nothing"),
            ("touchstone", "# Hz S RI R 50\n1 1 0\n2 -1 0", omega, "source:2: S = 1 is an open port"),
            ("touchstone", "# Hz S RI R 50\n1 -1 0\n2 -1 0", [*omega, "--clip", "0.9"], "--clip 0.9 is below 1"),
            ("touchstone", "# Hz S RI R 50\n1 1 1\n2 -1 0", omega, "source:2: |S| = 1.41421 is above 1"),
            ("touchstone", "# Hz Z RI R 50\n1 1 1\n2 -1 0", omega, "source:1: `Z` is none of"),
            ("touchstone", "# Hz S RI R\n1 1 1", omega, "source:1: R must be followed by a positive number"),
            ("touchstone", "1 1 1 1 1", omega, "source:1: must be a frequency and two numbers, those of one port"),
            ("qutip", None, ["--drude", "1", "1", "--time-unit", "ps"], "--time-unit is not for --from qutip"),
            ("mpsdynamics", "1 1\n0.1\n1", one, "--time-unit is not for --from mpsdynamics, which has no options"),
            ("qutip", None, ["--drude", "1e300", "1e-300"], "too large or small for doubles"),
            ("matrix-modes", "1 2\n1 0\n0 1\n0 1\n1 0", one, "source:1: P r + B w has the negative eigenvalue"),
            ("matrix-modes", "1 0\n1 0.5\n0 1", one, "source:1: P and B must be symmetric"),
            ("matrix-modes", "1 2\n1", one, "source:1: n rows of P must follow"),
            ("mpsdynamics", "1 2\n0.5", [], "N energies, N - 1 hoppings"),
            ("mpsdynamics", "0.1 0.1\n0.5\n1", [], "chains of finite temperature"),
            ("qutip", "", ["--drude", "1", "1"], "typed by its numbers, without a file"),
            ("lammps-gle", rows(ARROW), [*one, "--drude", "1", "1"], "--drude is not for --from lammps-gle"),
        ]
        for name, text, more, message in cases:
            with self.subTest(name, text=text):
                outcome, _ = self.imported("--from", name, *more, text=text)
                self.assertEqual(outcome.code, 2)
                self.assertIn(message, outcome.text)
        for arguments, message in (
            (["--from", "qutip"], "give one spectrum, such as --drude 0.3 1.0"),
            (["--from", "i-pi"], "give the FILE to read"),
            (["--from", "oqupy", "--drude", "1", "1"], "--drude is not for --from oqupy, which has --power-law"),
            (["--from", "qutip", "--drude", "1", "-1"], "-1 is not positive"),
            (["absent", "--from", "gle4md"], "cannot read absent"),
        ):
            with self.subTest(arguments):
                outcome, _ = self.imported(*arguments)
                self.assertEqual(outcome.code, 2)
                self.assertIn(message, outcome.text)


if __name__ == "__main__":
    unittest.main()
