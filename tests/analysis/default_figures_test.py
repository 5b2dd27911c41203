"""Default figures, one for each study, of results computed by the program and of synthetic ones."""

import tempfile
import unittest
from pathlib import Path

import numpy as np

import synthetic
import bathline
from bathline import style
from bathline.default_figures import default_figure
from bathline.figure import draw
from bathline.envelopes import estimate_end_periods, envelope
from bathline.result_file import RunResult

OSCILLATOR = """
[system]
kind = "single-oscillator"
m = 1.0
k = 4.0
q0 = [0.5]
[[environments]]
name = "line"
kind = "spring-mass-line"
attach = 0
sites = 12
M = 0.1
lambda = 10.0
[time]
step = 0.02
end = 4.0
[[integrators]]
method = "stoermer-verlet"
name = "closed"
on = "closed"
"""
REDUCED = '[[integrators]]\nmethod = "stoermer-verlet"\nname = "open"\non = "open"\n'
PLANET = """
[system]
kind = "kepler"
M = 1.0
mu = 1000.0
q0 = [[5.0, 0.0]]
v0 = [[0.0, 17.0]]
[[environments]]
kind = "heat-bath"
oscillators = 8
damping = 0.05
omega_max = 30.0
[time]
step = 0.01
end = 2.0
[[integrators]]
method = "rk4"
on = "open"
[[integrators]]
method = "exact"
on = "open"
[study]
kind = "trajectory"
"""

HENON_HEILES = """
[system]
kind = "formula"
coordinates = ["x", "y"]
masses = [1.0, 1.0]
V = "0.5*(x^2 + y^2) + x^2*y - y^3/3"
q0 = [0.0, -0.25]
v0 = [0.42, 0.0]
[time]
step = 0.1
end = 400.0
[[integrators]]
method = "stoermer-verlet"
name = "verlet"
on = "closed"
[[integrators]]
method = "rk4"
on = "closed"
[output]
every = 5
poincare_section = { of = "x" }
"""
CHAIN = """
[system]
kind = "pair-potential"
particles = 8
masses = 1.0
potential = { kind = "fput", k = 1.0, alpha = 0.25 }
pairs = "neighbours"
ends = "fixed"
q0 = "sin(pi*(i + 1)/(n + 1))"
mode_energies = true
[time]
step = 0.1
end = 50.0
[[integrators]]
method = "stoermer-verlet"
name = "verlet"
on = "closed"
"""


def study(kind, *options):
    return f'[study]\nkind = "{kind}"\n' + "\n".join(options)


class DefaultTest(unittest.TestCase):
    def drawn(self, recipe, **settings):
        """The panels of the default figure of a recipe by their titles, and the open result."""
        result = bathline.run("title = 'x'\n" + recipe, progress=False, overrides=settings)
        self.addCleanup(result.close)
        shown = [axes for axes in result.plot().axes if axes.get_visible()]
        return {axes.get_title(loc="left").partition(") ")[2]: axes for axes in shown}, result

    def lines(self, axes):
        """The data of the curves in a panel, without vertical marks."""
        return [line.get_xydata() for line in axes.lines if len(line.get_xydata()) > 2]

    def legend(self, result):
        """The names in the legend of the figure."""
        return [text.get_text() for text in result.plot().legends[0].texts]

    def test_trajectory_shows_positions_phase_plane_and_ledger(self):
        panels, result = self.drawn(OSCILLATOR + study("trajectory"))
        self.assertEqual(list(panels), ["position", "phase plane", "energy", "sum of all energies"])
        path = result["closed"]
        q, p = path.q[:, 0, 0], path.p[:, 0, 0]
        np.testing.assert_allclose(self.lines(panels["position"])[0], np.stack([path.time, q], -1))
        np.testing.assert_allclose(self.lines(panels["phase plane"])[0], np.stack([q, p], -1))
        # A closed run dissipates nothing, and nothing drives it.
        terms = [path[f"energy_{name}"] for name in ("particles", "environment", "interaction", "total")]
        np.testing.assert_allclose([line[:, 1] for line in self.lines(panels["energy"])], terms)
        drift = self.lines(panels["sum of all energies"])[0][1:, 1]
        np.testing.assert_allclose(drift, abs(path.energy_total - path.energy_total[0])[1:])
        self.assertEqual(panels["sum of all energies"].get_yscale(), "log")

    def test_motion_on_two_axes_has_an_orbit(self):
        panels, result = self.drawn(PLANET)
        names = ["axis 0", "axis 1", "orbit", "energy of the particles", "sum of all energies"]
        self.assertEqual(list(panels), names)
        self.assertEqual(panels["orbit"].get_aspect(), 1.0)
        np.testing.assert_allclose(self.lines(panels["orbit"])[0], result["rk4"].q[:, 0])
        colours = [line.get_color() for line in panels["orbit"].lines]
        self.assertEqual(colours, [style.PALETTE["wine"], style.PALETTE["black"]])

    def test_convergence_is_drawn_over_steps_and_work(self):
        panels, result = self.drawn(PLANET.replace('"trajectory"', '"convergence"\nstep_sizes = [0.01, 0.005, 0.0025]'))
        figure = result.plot()
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        self.assertEqual(titles, ["(a) position", "(b) position", "(c) energy", "(d) energy"])
        labels = [axes.get_xlabel() for axes in figure.axes]
        self.assertEqual(labels, ["time step (s)", "components of forces evaluated"] * 2)
        error = result.quantity("convergence.rk4.error_q")
        for axes, x in zip(figure.axes, ("step", "work")):
            marks = next(line for line in axes.lines if line.get_marker() == "X")
            np.testing.assert_allclose(marks.get_xydata(), np.stack([result.quantity(f"convergence.rk4.{x}"), error], -1))

    def test_closed_and_open_runs_of_one_style_have_separate_panels(self):
        panels, result = self.drawn(OSCILLATOR + REDUCED + study("convergence", "step_sizes = [0.02, 0.01, 0.005]"))
        names = [f"{error}, {on}" for error in ("position", "energy") for on in ("closed", "open")]
        self.assertEqual(list(panels), names)
        self.assertEqual(self.legend(result), ["closed", "open"])

    def test_reduction_shows_the_difference_and_the_echo(self):
        panels, result = self.drawn(OSCILLATOR + REDUCED + study("reduction"))
        axes = panels["closed against reduced"]
        expected = result.quantity("reduction.closed.difference[0]")
        np.testing.assert_allclose(self.lines(axes)[0][1:, 1], expected[1:])
        self.assertEqual([text.get_text() for text in axes.texts], ["echo"])
        marks = [line.get_xdata()[0] for line in axes.lines if len(line.get_xdata()) == 2]
        self.assertEqual(marks, [result.quantity("reduction.closed.echo_time")])
        # Both runs have the same method but distinct colours.
        self.assertEqual(len({line.get_color() for line in panels["position"].lines}), 2)

    def test_a_label_has_the_same_style_in_all_panels(self):
        other = REDUCED.replace('"open"\n', '"again"\nenvironments = ["line"]\n', 1).replace('on = "open"', 'on = "closed"')
        panels, _ = self.drawn(OSCILLATOR + REDUCED + other + study("reduction"))

        def looks(title):
            return [(line.get_color(), line.get_linestyle()) for line in panels[title].lines if len(line.get_xdata()) > 2]

        first, reduced, second = looks("position")
        self.assertEqual(len({first, reduced, second}), 3)
        self.assertEqual(looks("closed against reduced"), [first, second])

    def test_energy_shows_deviations_and_block_means(self):
        panels, result = self.drawn(OSCILLATOR + study("energy", "blocks = 10"))
        self.assertEqual(list(panels), ["sum of all energies", "means over blocks"])
        means = result.quantity("energy.closed.block_mean") - result.quantity("energy.closed.initial")
        np.testing.assert_allclose(self.lines(panels["means over blocks"])[0][:, 1], abs(means))

    def test_memory_kernel_shows_the_kernel_and_its_formula(self):
        warm = OSCILLATOR.replace("lambda = 10.0", "lambda = 10.0\nkT = 1.0")
        panels, _ = self.drawn(warm + study("memory-kernel"))
        self.assertEqual(list(panels), ["memory kernel", "integral of the kernel", "random force"])
        # An environment that starts cold exerts no random force.
        panels, result = self.drawn(OSCILLATOR + study("memory-kernel"))
        self.assertEqual(list(panels), ["memory kernel", "integral of the kernel"])
        measured, formula = panels["memory kernel"].lines
        np.testing.assert_allclose(measured.get_ydata(), result.quantity("memory-kernel.closed.line.kernel"))
        self.assertEqual((formula.get_linestyle(), formula.get_color()), ("None", measured.get_color()))
        expected = np.interp(formula.get_xdata(), measured.get_xdata(), result.quantity("memory-kernel.closed.line.kernel_formula"))
        np.testing.assert_allclose(formula.get_ydata(), expected)

    def test_ensemble_shows_means_with_standard_errors(self):
        cold = OSCILLATOR.replace("lambda = 10.0", "lambda = 10.0\nkT = 1.0")
        panels, _ = self.drawn(cold + study("ensemble", "realisations = 8"))
        # Equipartition does not hold while the particle warms up.
        self.assertEqual(len(panels["mean kinetic energy"].lines), 1)
        warm = cold.replace("[[environments]]", 'start = "thermal"\n[[environments]]')
        panels, _ = self.drawn(warm + study("ensemble", "realisations = 8"))
        self.assertEqual(list(panels), ["mean position", "mean kinetic energy"])
        panels, result = self.drawn(warm + study("ensemble", "realisations = 8", "max_lag = 1.0"))
        self.assertEqual(list(panels), ["mean position", "mean kinetic energy", "velocity autocorrelation"])
        mean, theory = panels["mean kinetic energy"].lines
        np.testing.assert_allclose(mean.get_ydata(), result.quantity("ensemble.closed.kinetic_energy"))
        self.assertEqual(set(theory.get_ydata()), {result.quantity("ensemble.closed.kinetic_expected")})
        self.assertEqual(len(panels["mean kinetic energy"].collections), 1)

    def test_transport_shows_profiles_and_conductivities(self):
        ends = 4
        recipe = f'[system]\nkind = "linear"\nM = {[1.0] * ends}\nK = {[1.0] * ends}\nq0 = 0.0\n'
        for first, name, sites in ((0, "short", 3), (2, "long", 9)):
            recipe += f'[[environments]]\nname = "{name}"\nkind = "nonlinear-line"\nattach = [{first}, {first + 1}]\n'
            recipe += f'sites = {sites}\nM = 1.0\npotential = {{ kind = "harmonic", k = 1.0 }}\n'
        for end in range(ends):
            recipe += f'[[environments]]\nname = "bath-{end}"\nkind = "damper"\nattach = {end}\ndamping = 1.0\n'
            recipe += f"kT = {2.0 - end % 2}\n"
        recipe += '[time]\nstep = 0.2\nend = 1e3\n[[integrators]]\nmethod = "baoab"\non = "closed"\n'
        panels, result = self.drawn(recipe + study("transport", 'series = [{name = "all", chains = ["short", "long"]}]'))
        self.assertEqual(list(panels), ["temperature profile", "heat current", "conductivity"])
        self.assertEqual(len(self.lines(panels["temperature profile"])), 2)
        kappa = result.quantity("transport.baoab.all.kappa")
        np.testing.assert_allclose(panels["conductivity"].lines[-1].get_xydata(), np.stack([[5.0, 11.0], kappa], -1))

    def test_ensemble_shows_distributions_and_survival(self):
        warm = 'start = "thermal"\nkT = 0.5\ndamping = 1.0\n[[environments]]'
        recipe = (OSCILLATOR + REDUCED).replace("[[environments]]", warm)
        recipe = recipe.replace('"stoermer-verlet"\nname = "closed"\non = "closed"', '"gjf"\non = "open"')
        options = (
            "realisations = 40",
            'quantities = [{name = "x", of = "x", bins = [-1.0, 1.0, 10], expected = "exp(-4*value^2)"}]',
            'first_passages = [{name = "fall", of = "x"}]',
        )
        panels, result = self.drawn(recipe + study("ensemble", *options))
        self.assertEqual(list(panels)[-2], "distribution of x")
        *_, (title, panel) = panels.items()
        lines = title.splitlines()
        self.assertEqual(lines[0], "survival until the first fall")
        for label, line in zip(("gjf", "open"), lines[1:], strict=True):
            mean, error, fraction = (
                result.quantity(f"ensemble.{label}.fall_{part}") for part in ("mean", "mean_error", "fraction")
            )
            self.assertEqual(line, f"{label}: mean {mean:.3g} ± {error:.2g} s, {fraction:.0%} passed")
        _, second, expected = self.lines(panels["distribution of x"])
        density = result.quantity("ensemble.open.x_density")
        np.testing.assert_allclose(second, np.stack([np.linspace(-0.9, 0.9, 10), density], -1))
        np.testing.assert_allclose(expected[:, 1], result.quantity("ensemble.open.x_density_expected"))
        survival = [line[:, 1] for line in self.lines(panel)]
        np.testing.assert_allclose(survival[1], result.quantity("ensemble.open.fall_survival"))
        alone, result = self.drawn(recipe.replace(REDUCED, "") + study("ensemble", *options))
        self.assertIn("distribution of x", alone)
        self.assertEqual(self.legend(result), ["gjf, with its standard error", "theory"])
        # A single record is not drawn as a curve.
        panels, _ = self.drawn(recipe + study("ensemble", "burn_in = 3.99", "max_lag = 0.0", *options))
        self.assertNotIn("velocity autocorrelation", panels)

    def test_a_long_chain_is_a_map_over_particles_and_time(self):
        long = CHAIN.replace("particles = 8", "particles = 24").replace("mode_energies = true", "")
        lattice = long.replace('"sin(pi*(i + 1)/(n + 1))"', '"i + 0.1*sin(i)"').replace('ends = "fixed"', 'ends = "free"')
        shifted = lattice.replace('kind = "fput", k = 1.0, alpha = 0.25', 'kind = "formula", V = "(r - 1)^2/2"')
        for recipe, is_difference in ((long, False), (shifted, True)):
            _, result = self.drawn(recipe)
            axes = result.plot().axes[0]
            self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("particle", "time (s)"))
            q = result["verlet"].q.values[..., 0]
            drawn = axes.collections[0].get_array().reshape(q.shape)
            np.testing.assert_allclose(drawn, q - q[0] if is_difference else q)
        panels, _ = self.drawn(CHAIN.replace("mode_energies = true", ""))
        self.assertIn("particle 0", panels)
        momenta = '[figure]\nkind = "wave"\n[[figure.panels]]\nseries = [{ of = "verlet.p" }]\n'
        _, result = self.drawn(long + momenta)
        drawn = result.plot().axes
        self.assertTrue(any("momentum (kg m/s)" in axes.get_title() for axes in drawn))
        self.assertEqual(drawn[0].get_xlabel(), "particle")
        _, result = self.drawn(long.replace("[time]", "particle_energies = true\nbond_currents = true\n[time]"))
        energies = result["verlet"].particle_energy
        self.assertEqual((energies.dims, result["verlet"].bond_current.dims[1]), (("time", "particle"), "bond"))
        np.testing.assert_allclose(energies.sum("particle"), result["verlet"].energy_particles, rtol=1e-12)
        (mesh,) = result.plot().axes[0].collections
        np.testing.assert_allclose(mesh.get_array().reshape(energies.shape), energies.values)
        self.assertEqual((mesh.norm.vmin, mesh.norm.vmax), (0.0, energies.values.max()))

    def test_ensembles_of_several_particles_show_their_temperatures(self):
        warm = CHAIN.replace('"stoermer-verlet"', '"gjf"').replace('on = "closed"', 'on = "open"')
        warm = warm.replace('"fput", k = 1.0, alpha = 0.25', '"harmonic", k = 1.0')
        warm = warm.replace("mode_energies = true", f'damping = {[0.5] * 8}\nkT = {[2.0, 1.5] * 4}\nstart = "thermal-momenta"')
        warm = warm.replace("[time]", "bond_currents = true\n[time]")
        panels, result = self.drawn(warm + study("ensemble", "realisations = 8", "burn_in = 10.0"))
        current = panels["energy current"]
        np.testing.assert_allclose(current.lines[0].get_ydata(), result.quantity("ensemble.verlet.bond_current_mean"))
        self.assertEqual((current.get_xlabel(), current.get_ylabel()), ("pair", "current (W)"))
        profile = panels["temperature profile"]
        np.testing.assert_allclose(profile.lines[0].get_ydata(), 2.0 * result.quantity("ensemble.verlet.kinetic_mean"))
        (bars,) = profile.collections
        lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
        np.testing.assert_allclose(lengths, 4.0 * result.quantity("ensemble.verlet.kinetic_mean_error"))
        # The marks of the first and the last particle are not cut, and the frame does not hide their bars.
        self.assertFalse(profile.lines[0].get_clip_on())
        self.assertEqual((profile.get_xlim(), current.get_xlim()), ((-0.5, 7.5), (-0.5, 6.5)))

    def test_covariance_shows_temperatures_and_noise_minus_friction(self):
        chain = (
            '[system]\nkind = "linear"\nM = [[1.0, 0.0], [0.0, 1.0]]\nK = [[2.0, -1.0], [-1.0, 2.0]]\n'
            "C = [[0.5, 0.0], [0.0, 0.5]]\nkT = [2.0, 1.0]\nq0 = [0.0, 0.0]\n[time]\nstep = 0.1\nend = 1.0\n"
            '[[integrators]]\nmethod = "gamma"\ngamma = 0.5\non = "open"\nname = "midpoint"\n'
        )
        panels, result = self.drawn(chain + study("covariance"))
        self.assertEqual(list(panels), ["temperatures", "noise minus friction"])
        for title, variable in (("temperatures", "temperature"), ("noise minus friction", "heat")):
            lines = [line.get_ydata() for line in panels[title].lines]
            expected = [result.quantity(f"covariance.{label}.{variable}") for label in ("midpoint", "langevin")]
            np.testing.assert_allclose(lines, expected)
            # Tick labels of the two coordinates are integers.
            self.assertTrue(all(text.get_text() in ("−1", "0", "1", "2") for text in panels[title].get_xticklabels()))
            # The sum of the heat vanishes in the stationary state.
            self.assertAlmostEqual(abs(sum(lines[0])) * (variable == "heat"), 0.0)

    def test_poincare_sections_are_dots_of_the_varying_coordinate(self):
        panels, result = self.drawn(HENON_HEILES)
        titles = ["verlet: x = 0, upwards", "rk4: x = 0, upwards"]
        self.assertEqual([title for title in panels if "x = 0" in title], titles)
        (dots,) = panels[titles[1]].lines
        points = np.stack([result.quantity(f"rk4.poincare_{name}[1]") for name in "qp"], -1)
        self.assertGreater(len(points), 50)
        np.testing.assert_allclose(dots.get_xydata(), points)
        self.assertEqual((dots.get_linestyle(), dots.get_marker()), ("None", "."))
        self.assertEqual(panels[titles[1]].get_xlabel(), "position y (m)")
        panels, _ = self.drawn(HENON_HEILES + "[study]\nkind = 'energy'\nblocks = 5\n")
        self.assertEqual(list(panels), [*titles, "sum of all energies", "means over blocks"])

    def test_a_chain_shows_its_mode_energies(self):
        panels, result = self.drawn(CHAIN)
        self.assertEqual(list(panels), ["energies of the modes", "energy", "sum of all energies"])
        expected = [result.quantity(f"verlet.mode_energy[{index}]") for index in range(5)]
        np.testing.assert_allclose([line.get_ydata() for line in panels["energies of the modes"].lines], expected)
        self.assertEqual(self.legend(result)[:5], [f"mode {k}" for k in range(1, 6)])

    def test_wave_is_a_map(self):
        recipe = OSCILLATOR + study("wave", "threshold = 1e-6\n[output]\nsnapshots = 5")
        _, result = self.drawn(recipe)
        self.assertEqual(result.plot().axes[0].collections[0].get_array().size, 12 * 41)

    def test_keys_of_the_recipes_figure_are_kept(self):
        _, result = self.drawn(OSCILLATOR + study("trajectory") + "\n[figure]\nheight = 9.0\n")
        self.assertGreaterEqual(result.plot().get_size_inches()[1], 9.0)


class SyntheticTest(unittest.TestCase):
    """Default figures of synthetic results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result.h5"

    def write(self, positions):
        """Write a result with these positions (time, particle, axis) by label, all of the same method."""
        tables = "".join(f'[[integrators]]\nmethod = "rk4"\nname = "{label}"\n' for label in positions)
        with synthetic.ResultWriter(self.path, tables + study("trajectory")) as writer:
            for label, values in positions.items():
                writer.scale(f"{label}/time", np.arange(len(values)), "s", "time")
                for name, size in zip(("particle", "axis"), values.shape[1:]):
                    writer.scale(f"{label}/{name}", np.arange(size))
                writer.variable(f"{label}/q", values, ("time", "particle", "axis"), "m", "position")
                writer.variable(f"{label}/energy_particles", values[:, 0, 0] ** 2, ("time",), "J", "energy")

    def panels(self):
        with RunResult(self.path) as result:
            return {panel["title"]: panel for panel in default_figure(result)["panels"]}

    def test_diverging_paths_do_not_determine_the_limits(self):
        path = np.sin(np.arange(50.0)).reshape(-1, 1, 1)
        self.write({"bounded": path, "smaller": 0.9 * path, "diverging": path * 1e9})
        low, high = self.panels()["position"]["ylim"]
        self.assertTrue(-1.2 < low < -0.9 and 0.9 < high < 1.2, (low, high))
        self.write({"bounded": path, "larger": 9 * path})
        self.assertNotIn("ylim", self.panels()["position"])

    def oscillation(self, periods, samples=8000):
        """A decaying oscillation with this number of periods over the times 0 to `samples` - 1."""
        phase = np.linspace(0.0, 1.0, samples)
        return (np.exp(-phase) * np.cos(2 * np.pi * periods * phase)).reshape(-1, 1, 1)

    def test_dense_oscillations_are_a_band_with_panels_of_their_first_and_last_periods(self):
        for periods, dense in ((20, False), (50, False), (200, True), (1000, True)):
            with self.subTest(periods):
                path = self.oscillation(periods)
                self.write({"one": path, "bounded": np.linspace(0.0, 1.0, len(path)).reshape(-1, 1, 1)})
                panels = self.panels()
                details = [title for title in panels if title.endswith("periods")]
                self.assertEqual(details, ["position, first periods", "position, last periods"] if dense else [])
                bands = [series["of"] for series in panels["position"]["series"] if series.get("band")]
                self.assertEqual(bands, ["one.q[0][0]"] if dense else [])
                for title in details:
                    low, high = panels[title]["xlim"]
                    self.assertAlmostEqual((high - low) / len(path) * periods, 8.0, delta=1.0)
                    self.assertFalse(any(series.get("band") for series in panels[title]["series"]))
                    self.assertEqual(low == 0.0, "first" in title)
                    self.assertEqual(high == len(path) - 1, "last" in title)

    def test_several_curves_become_bands_with_fewer_periods(self):
        for curves, periods, dense in ((3, 64, True), (1, 64, False), (2, 45, False), (9, 13, False)):
            with self.subTest(curves=curves, periods=periods):
                # About six samples per period, as with a coarse step.
                paths = {f"label{k}": self.oscillation(periods, 6 * periods + 7 * k) for k in range(curves)}
                self.write(paths)
                all_series = self.panels()["position"]["series"]
                self.assertEqual([series.get("band", False) for series in all_series], [dense] * curves)

    def test_the_edges_of_an_envelope_do_not_oscillate(self):
        low, high = envelope(np.arange(400.0), np.sin(np.arange(400.0)))[1:]
        self.assertGreater(high.min(), 0.85)
        self.assertLess(low.max(), -0.85)

    def test_a_position_with_its_first_and_last_periods_fills_a_row(self):
        phase = np.linspace(0.0, 1.0, 8000)
        self.write({"one": np.stack([phase, np.sin(2 * np.pi * 500 * phase)], -1)[:, :, None]})
        titles = [f"particle 1{end}" for end in ("", ", first periods", ", last periods")]
        self.assertEqual(list(self.panels())[:4], [*titles, "particle 0"])

    def test_periods_are_estimated_from_few_samples(self):
        time = 0.5 * np.arange(401.0)
        for period in estimate_end_periods(time, np.cos(2 * time)):
            self.assertAlmostEqual(period, np.pi, delta=0.2)

    def test_a_band_is_the_envelope_of_the_path(self):
        path = self.oscillation(500)
        self.write({"one": path})
        with RunResult(self.path) as result:
            axes = draw(result).axes[0]
        high, low = (line.get_xydata() for line in axes.lines)
        self.assertEqual((high[:, 1].max(), low[:, 1].min()), (path.max(), path.min()))
        np.testing.assert_allclose(high[:, 1], np.exp(-high[:, 0] / len(path)), rtol=0.02)
        np.testing.assert_allclose(low[:, 1], -np.exp(-low[:, 0] / len(path)), rtol=0.02)
        self.assertEqual((high[0, 0], high[-1, 0]), (0, len(path) - 1))
        self.assertEqual(len(axes.collections), 1)

    def test_round_off_noise_is_no_band(self):
        line = np.clip(np.linspace(0.0, 2.5, 8000), 0.0, 1.0) + 1e-6 * np.random.default_rng(1).normal(size=8000)
        self.write({"one": line.reshape(-1, 1, 1)})
        self.assertNotIn("band", self.panels()["position"]["series"][0])

    def test_orbits_of_many_periods_show_the_last_ones(self):
        phase = 2 * np.pi * np.linspace(0.0, 400.0, 16000)
        radius = np.exp(-np.linspace(0.0, 1.0, 16000))
        self.write({"one": np.stack([radius * np.cos(phase), radius * np.sin(phase)], -1).reshape(-1, 1, 2)})
        with RunResult(self.path) as result:
            axes = {axes.get_title(loc="left")[4:]: axes for axes in draw(result).axes}
        (orbit,) = axes["orbit, last periods"].lines
        self.assertLess(np.linalg.norm(orbit.get_xydata(), axis=1).max(), 1.03 * radius[-1])

    def test_only_the_first_of_many_particles_are_shown(self):
        self.write({"one": np.random.default_rng(1).normal(size=(9, 30, 1)), "two": np.ones((9, 30, 1))})
        titles = list(self.panels())
        self.assertEqual(titles[:4], ["particle 0", "particle 1", "particle 2", "particle 3 of 30"])
        self.assertNotIn("particle 4", titles)

    def test_labels_of_one_method_have_distinct_colours(self):
        self.write({name: np.full((9, 1, 1), index + 1.0) for index, name in enumerate("abcdefgh")})
        with RunResult(self.path) as result:
            lines = draw(result).axes[0].lines
        self.assertEqual(lines[0].get_color(), style.PALETTE["wine"])
        self.assertEqual(len({line.get_color() for line in lines}), 8)

    def test_non_finite_values_are_omitted(self):
        values = np.array([1.0, np.nan, np.inf, 2.0]).reshape(-1, 1, 1)
        self.write({"failed": values, "good": np.ones((4, 1, 1))})
        with RunResult(self.path) as result:
            draw(result).canvas.draw()

    def test_an_empty_file_is_an_error(self):
        with synthetic.ResultWriter(self.path, study("trajectory")):
            pass
        with RunResult(self.path) as result, self.assertRaisesRegex(bathline.AnalysisError, "neither a path nor results"):
            draw(result)


if __name__ == "__main__":
    unittest.main()
