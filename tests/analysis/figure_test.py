"""The contents of figures of each kind, read from the objects of matplotlib."""

import io
import struct
import tempfile
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import h5py
import numpy as np
from colorspacious import cspace_convert
from matplotlib.path import Path as MplPath

import synthetic
import figure as command
from bathline import figure, figure_kinds, style
from bathline.result_file import RunResult

LINES = """
[figure]
kind = "lines"
[[figure.panels]]
ylabel = "$q$"
series = [{of = "closed.q[0][0]", name = "closed line", style = "dashdot", color = 0},
          {of = "open.q[0][0]", name = "reduced", style = "solid", color = "vermillion", scale = -2.0}]
marks = [{at = 7.9, name = "echo"}]
[[figure.panels]]
title = "energy"
ylim = [0.0, 2.0]
series = [{of = "closed.energy_total", name = "energy"}, {of = "closed.limit", name = "limit"}]
"""

ORBIT = """
[figure]
kind = "lines"
[[figure.panels]]
xlabel = "$x_1$"
series = [{of = "open.q[0][1]", x = "open.q[0][0]"}, {of = "closed.q[0][1]", x = "q[0][0]"}]
"""


ERRORS = """
[figure]
kind = "lines"
[[figure.panels]]
series = [{of = "closed.q[0][0]", error = "closed.energy_total"},
          {of = "open.q[0][0]", error = "closed.energy_total", style = "points", scale = 2.0}]
"""


# A valid recipe with two panels by cases, of which the second cannot be typeset.
CASES = """title = "Cases"
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
q0 = [1.0]
[time]
step = 0.1
steps = 1
[[integrators]]
method = "stoermer-verlet"
on = "closed"
[[figure.panels]]
for_each = { symbol = ["$q$", "$\\\\frac{$"] }
ylabel = "{symbol}"
series = [{ of = "stoermer-verlet.q[0]" }]
"""


class FigureTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "result.h5"

    def draw(self):
        with RunResult(self.path) as result:
            return figure.draw(result)

    def draw_lines(self, recipe, **options):
        synthetic.trajectory(self.path, recipe, **options)
        return self.draw()

    def errors_of(self, recipe):
        synthetic.trajectory(self.path, recipe)
        messages = io.StringIO()
        with redirect_stderr(messages):
            code = command.main([str(self.path), "-o", str(self.path.with_name("x"))])
        self.assertEqual(code, 2)
        self.assertFalse(self.path.with_name("x.png").exists())
        return messages.getvalue()

    @staticmethod
    def legends(drawn):
        return [*drawn.legends, *(axes.get_legend() for axes in drawn.axes if axes.get_legend())]

    # --- lines ---

    def test_lines_show_their_series(self):
        drawn = self.draw_lines(LINES)
        upper, lower = drawn.axes
        closed, reduced, mark = upper.lines
        time = np.linspace(0, 10, 201)
        np.testing.assert_allclose(closed.get_xydata(), np.stack([time, np.cos(time)], -1))
        np.testing.assert_allclose(reduced.get_ydata(), -2 * np.cos(time + 0.3))
        self.assertEqual(closed.get_color(), style.PALETTE["blue"])
        self.assertEqual(reduced.get_color(), style.PALETTE["vermillion"])
        self.assertNotEqual(closed.get_linestyle(), reduced.get_linestyle())
        self.assertEqual(set(mark.get_xdata()), {7.9})
        self.assertEqual([text.get_text() for text in upper.texts], ["echo"])
        self.assertEqual(upper.get_xlim(), (0.0, 10.0))
        # A dashed line stays visible where it coincides with a solid one.
        self.assertGreater(closed.get_zorder(), reduced.get_zorder())
        # A single number is a horizontal line.
        self.assertEqual(list(lower.lines[1].get_ydata()), [0.5, 0.5])
        self.assertEqual(lower.get_ylim(), (0.0, 2.0))

    def test_series_of_several_cases_and_of_given_numbers(self):
        series = (
            '{of = "{}.limit", error = "{}.limit", cases = ["open", "open"], x = [0.1, 5.0], style = "points"}, '
            '{of = [1.0, 2.0, 4.0], x = [0.1, 1.0, 5.0], name = "theory"}'
        )
        recipe = f'[figure]\nkind = "lines"\n[[figure.panels]]\nxlabel = "a"\nylabel = "b"\nseries = [{series}]\n'
        (axes,) = self.draw_lines(recipe).axes
        bars = axes.containers[0].lines[2][0].get_segments()
        np.testing.assert_allclose(bars, [[[x, 0.0], [x, 1.0]] for x in (0.1, 5.0)])
        self.assertTrue(any(line.get_xydata().tolist() == [[0.1, 0.5], [5.0, 0.5]] for line in axes.lines))
        np.testing.assert_allclose(axes.lines[-1].get_xydata(), [[0.1, 1.0], [1.0, 2.0], [5.0, 4.0]])
        wrong = recipe.replace("[0.1, 1.0, 5.0]", "[0.1, 1.0]")
        self.assertIn("'x' has 2 values, 'of' has 3: they cannot be drawn", self.errors_of(wrong))
        wrong = recipe.replace(", x = [0.1, 1.0, 5.0]", "")
        self.assertIn("numbers in `of` need as many in `x`", self.errors_of(wrong))
        wrong = recipe.replace('of = "{}.limit"', 'of = "{}.energy_total"')
        self.assertIn("must be a single number in each case", self.errors_of(wrong))

    def test_lines_are_labelled_with_units(self):
        upper, lower = self.draw_lines(LINES).axes
        # The units of the file do not apply to a scaled series.
        self.assertEqual(upper.get_ylabel(), "$q$")
        self.assertEqual(self.draw_lines(LINES.replace(", scale = -2.0", "")).axes[0].get_ylabel(), "$q$ (m)")
        self.assertEqual(lower.get_xlabel(), "time (s)")
        self.assertEqual(upper.get_title(loc="left"), "(a)")
        self.assertEqual(lower.get_title(loc="left"), "(b) energy")
        # A shared time axis has one label.
        self.assertEqual(upper.get_xlabel(), "")
        energy = self.draw_lines(ORBIT.replace('series', 'series = [{of = "open.energy_total"}] #')).axes[0]
        self.assertEqual(energy.get_ylabel(), "total energy (kg m$^{2}$/s$^{2}$)")

    def test_all_dots_are_drawn_and_aspect_equal_applies(self):
        recipe = ORBIT.replace('series', 'aspect = "equal"\nseries = [{of = "open.energy_total", style = "dots"}] #')
        for steps, is_image in ((1900, False), (13000, True)):
            axes = self.draw_lines(recipe, steps=steps).axes[0]
            (dots,) = axes.lines
            self.assertEqual(len(dots.get_xdata()), steps + 1)
            self.assertEqual((dots.get_marker(), dots.get_linestyle()), (".", "None"))
            self.assertEqual(bool(dots.get_rasterized()), is_image)
            self.assertEqual(axes.get_aspect(), 1.0)
        recipe = recipe.replace('aspect = "equal"', "")
        self.assertEqual(self.draw_lines(recipe).axes[0].get_aspect(), "auto")

    def test_orbits_have_equal_scales(self):
        (axes,) = self.draw_lines(ORBIT).axes
        self.assertEqual(axes.get_aspect(), 1.0)
        self.assertEqual((axes.get_xlabel(), axes.get_ylabel()), ("$x_1$ (m)", "position (m)"))
        time = np.linspace(0, 10, 201)
        # A path relative to the group of the series.
        np.testing.assert_allclose(axes.lines[1].get_xdata(), np.cos(time))
        np.testing.assert_allclose(axes.lines[0].get_xdata(), np.cos(time + 0.3))

    def test_elongated_orbits_have_unequal_scales_and_margins(self):
        synthetic.trajectory(self.path, ORBIT)
        with h5py.File(self.path, "r+") as file:
            for label in ("open", "closed"):
                file[f"{label}/q"][:, 0, 1] *= 0.1
        drawn = self.draw().axes[0]
        self.assertEqual(drawn.get_aspect(), "auto")
        low, high = drawn.get_xlim()
        self.assertTrue(low < -1.01 and high > 1.01, (low, high))

    def test_long_lines_are_downsampled_and_keep_their_extremes(self):
        line = (
            self.draw_lines(
                ORBIT.replace('x = "open.q[0][0]"', "scale = 1.0").replace('x = "q[0][0]"', "scale = 1.0"),
                steps=100000,
            )
            .axes[0]
            .lines[0]
        )
        self.assertLess(len(line.get_xdata()), 13000)
        whole = np.sin(np.linspace(0, 10, 100001) + 0.3)
        self.assertEqual((line.get_ydata().min(), line.get_ydata().max()), (whole.min(), whole.max()))

    def test_points_are_drawn_without_a_line(self):
        line = self.draw_lines(LINES.replace("dashdot", "points")).axes[0].lines[0]
        self.assertEqual((line.get_linestyle(), line.get_marker()), ("None", "o"))
        self.assertEqual(line.get_markerfacecolor(), "white")
        x, y = line.get_data()
        self.assertTrue(20 <= len(x) <= 36, len(x))
        np.testing.assert_allclose(y, np.cos(x))
        # The points have about equal distances in the figure, not in time.
        distances = np.hypot(np.diff(x) / 10, np.diff(y) / 2)
        self.assertLess(distances.max(), 1.8 * distances.min())

    def test_scale_may_be_one_factor_for_each_value(self):
        of = 'of = "closed.q[0][0]"'
        factors = np.exp(np.linspace(0, 1, 201))
        recipe = LINES.replace(of, f'{of}, error = "closed.energy_total", scale = {factors.tolist()}')
        axes = self.draw_lines(recipe).axes[0]
        time = np.linspace(0, 10, 201)
        np.testing.assert_allclose(axes.lines[0].get_ydata(), np.cos(time) * factors)
        with RunResult(self.path) as result:
            upper = np.cos(time) * factors + result.read("closed.energy_total").values * factors
        vertices = axes.collections[0].get_paths()[0].vertices
        self.assertAlmostEqual(vertices[:, 1].max(), upper.max())
        wrong = LINES.replace(of, f"{of}, scale = [1.0, 2.0]")
        self.assertIn("give one factor or as many", self.errors_of(wrong))

    def test_a_series_may_be_a_difference(self):
        recipe = LINES.replace('of = "closed.q[0][0]"', 'of = "closed.q[0][0]", minus = "open.q[0][0]"')
        line = self.draw_lines(recipe).axes[0].lines[0]
        time = np.linspace(0, 10, 201)
        np.testing.assert_allclose(line.get_ydata(), np.cos(time) - np.cos(time + 0.3))
        number = recipe.replace('minus = "open.q[0][0]"', 'minus = "open.limit"')
        np.testing.assert_allclose(self.draw_lines(number).axes[0].lines[0].get_ydata(), np.cos(time) - 0.5)
        wrong = recipe.replace('of = "closed.q[0][0]"', 'of = "closed.limit"')
        self.assertIn("cannot be subtracted", self.errors_of(wrong))

    def test_standard_errors_are_bands_and_bars(self):
        (axes,) = self.draw_lines(ERRORS).axes
        with RunResult(self.path) as result:
            error = result.read("closed.energy_total").values
        time = np.linspace(0, 10, 201)
        band, bars = axes.collections
        points = {tuple(point) for point in np.round(band.get_paths()[0].vertices, 9)}
        for x, y, half in zip(time, np.cos(time), error):
            self.assertIn((round(x, 9), round(y - half, 9)), points)
            self.assertIn((round(x, 9), round(y + half, 9)), points)
        for low, high in bars.get_segments():
            index = int(np.argmin(abs(time - low[0])))
            self.assertAlmostEqual(high[1] - low[1], 4.0 * error[index])
            self.assertAlmostEqual(0.5 * (low[1] + high[1]), 2.0 * np.cos(time[index] + 0.3))
        wrong = ERRORS.replace('error = "closed.energy_total"', 'error = "closed.limit"', 1)
        self.assertIn("the error needs as many values", self.errors_of(wrong))

    def test_columns_of_panels_share_their_time_axes(self):
        panel = '[[figure.panels]]\nseries = [{of = "open.energy_total"}]\n'
        drawn = self.draw_lines('[figure]\nkind = "lines"\ncolumns = 2\n' + 3 * panel)
        labels = [axes.get_xlabel() for axes in drawn.axes if axes.get_visible()]
        self.assertEqual(labels, ["", "time (s)", "time (s)"])

    def test_non_positive_values_are_gaps_on_a_logarithmic_axis(self):
        (axes,) = self.draw_lines(
            '[figure]\nkind = "lines"\n[[figure.panels]]\nyscale = "log"\n'
            'series = [{of = "closed.q[0][0]"}]\n'
        ).axes
        y = axes.lines[0].get_ydata()
        self.assertEqual(axes.get_yscale(), "log")
        self.assertTrue(np.isnan(y).any())
        self.assertGreater(np.nanmin(y), 0.0)

    def test_legends_cover_no_data(self):
        crowded = LINES.replace("ylim = [0.0, 2.0]\n", "").replace("closed.energy_total", "open.q[1][1]")
        for recipe in (LINES, crowded, crowded.replace("closed.q[0][0]", "closed.q[1][1]")):
            with self.subTest(recipe=recipe):
                drawn = self.draw_lines(recipe)
                drawn.canvas.draw()
                legends = [(axes, axes.get_legend()) for axes in drawn.axes if axes.get_legend()]
                self.assertEqual(len(legends), 2)
                for axes, legend in legends:
                    box = legend.get_window_extent()
                    for line in axes.lines[:2]:
                        points = line.get_transform().transform(np.column_stack(line.get_data()))
                        between = np.linspace(points[:-1], points[1:], 50).reshape(-1, 2)
                        self.assertEqual(box.count_contains(between), 0)
                    self.assertTrue(0 <= box.x0 and box.x1 <= drawn.bbox.width + 1 and box.y1 <= drawn.bbox.height + 1)

    def test_panels_with_the_same_entries_share_a_legend(self):
        panel = LINES[LINES.index("[[figure.panels]]") : LINES.index("marks")]
        drawn = self.draw_lines('[figure]\nkind = "lines"\n' + panel + panel)
        self.assertEqual(sum(axes.get_legend() is not None for axes in drawn.axes) + len(drawn.legends), 1)

    def test_a_shared_legend_has_every_name_once(self):
        second = '[[figure.panels]]\nseries = [{of = "open.q[0][0]", name = "reduced"}, {of = "open.limit"}]\n'
        drawn = self.draw_lines(LINES.replace('kind = "lines"', 'kind = "lines"\nlegend = "shared"') + second)
        (box,) = self.legends(drawn)
        names = [text.get_text() for text in box.get_texts()]
        self.assertEqual(names, ["closed line", "reduced", "energy", "limit"])

    def test_tick_labels_are_plain_and_minor_ones_appear_on_short_axes_only(self):
        for top, numbers in (5.0, True), (100.0, False):
            recipe = LINES.replace("ylim = [0.0, 2.0]", f'yscale = "log"\nylim = [1.0, {top}]')
            drawn = self.draw_lines(recipe)
            drawn.canvas.draw()
            axes = drawn.axes[1]
            self.assertEqual([text.get_text() for text in axes.get_xticklabels()], ["0", "2", "4", "6", "8", "10"])
            self.assertGreater(len(axes.yaxis.get_minorticklocs()), 0)
            self.assertEqual(bool(axes.get_yticklabels(minor=True)), numbers)
            self.assertEqual(any(text.get_text() for text in axes.get_yticklabels(minor=True)), numbers)

    def test_large_tick_labels_of_short_logarithmic_axes_are_powers_of_ten(self):
        axes = style.new_figure(3.0, 3.0).subplots()
        axes.set_xscale("log")
        for low, numbers in (
            (9e5, ["$10^{6}$", r"$2 \times 10^{6}$", r"$5 \times 10^{6}$"]),
            (9e-3, ["0.01", "0.02", "0.05"]),
        ):
            axes.set_xlim(low, 8 * low)
            style.label_short_decades(axes.xaxis)
            shown = [text.get_text() for text in axes.get_xticklabels() if low < text.get_position()[0] < 8 * low]
            self.assertEqual(shown, numbers)

    # --- the other kinds ---

    def test_wave_is_centred_at_zero_and_shows_front_and_echo(self):
        synthetic.wave(self.path)
        drawn = self.draw()
        axes, surface, bar = sorted(drawn.axes, key=lambda axes: axes.get_label() == "<colorbar>")
        mesh = axes.collections[0]
        self.assertEqual(mesh.get_clim(), (-3.0, 3.0))
        self.assertEqual(mesh.get_array().size, 40 * 60)
        np.testing.assert_allclose(axes.get_xlim(), (0.5, 40.5))
        expected, measured = axes.lines
        np.testing.assert_allclose(expected.get_xydata(), [[0, 0], [40, 20], [0, 40]])
        np.testing.assert_allclose(measured.get_xdata(), np.minimum(2 * measured.get_ydata(), 40))
        # The front stays at the far end for the rest of the run, but has only one ring there.
        self.assertEqual(np.sum(measured.get_xdata() == 40), 1)
        self.assertEqual(
            (axes.get_xlabel(), axes.get_ylabel(), bar.get_ylabel()), ("site", "time (s)", "displacement (m)")
        )
        # The surface has the same labels.
        self.assertTrue(surface.collections[0].get_rasterized())
        self.assertEqual(
            (surface.get_xlabel(), surface.get_ylabel(), surface.get_title()),
            ("site", "time (s)", "(b) displacement (m)"),
        )
        texts = [text.get_text() for text in drawn.legends[0].get_texts()]
        self.assertEqual(texts, ["theory: front 2.00 sites/s, echo at 40.00 s", "this run: front 2.02 sites/s"])

    def test_wave_without_front_and_with_many_cells(self):
        synthetic.wave(self.path, sites=3000, snapshots=50, front=False)
        drawn = self.draw()
        self.assertEqual(drawn.axes[0].collections[0].get_array().size, 1200 * 50)
        self.assertEqual((len(drawn.axes[0].lines), len(drawn.legends)), (0, 0))

    def test_fronts_are_those_of_the_line_and_the_integrator_that_the_study_examined(self):
        synthetic.wave(self.path)
        for named, lines in (("closed", 2), ("other", 0)):
            with h5py.File(self.path, "r+") as file:
                file["wave"].attrs["integrator"] = named
            drawn = self.draw()
            self.assertEqual((len(drawn.axes[0].lines), len(drawn.legends)), (lines, lines // 2))
        tables = "".join(f'[[environments]]\nkind = "spring-mass-line"\nname = "{name}"\n' for name in ("z", "a"))
        for shown, lines in (("z", 2), ("a", 0)):
            of = f"closed.displacement_{shown}"
            synthetic.wave(self.path, f'{tables}[figure]\nkind = "wave"\n[[figure.panels]]\nseries = [{{ of = "{of}" }}]\n')
            with h5py.File(self.path, "r+") as file:
                file.copy("closed/displacement", "closed/displacement_a")
                file.move("closed/displacement", "closed/displacement_z")
            self.assertEqual(len(self.draw().axes[0].lines), lines)

    def test_a_front_that_was_not_found_has_no_entry_in_the_legend(self):
        synthetic.wave(self.path)
        with h5py.File(self.path, "r+") as file:
            file["wave/front_site"][...] = 0.0
        texts = [text.get_text() for text in self.draw().legends[0].get_texts()]
        self.assertEqual(texts, ["theory: front 2.00 sites/s, echo at 40.00 s"])

    def test_numbers_beside_a_surface_are_not_cut(self):
        for factor in (1.0, 1e-3, 123.456):
            synthetic.wave(self.path)
            with h5py.File(self.path, "r+") as file:
                file["closed/displacement"][...] *= factor
            drawn = self.draw()
            drawn.canvas.draw()
            (surface,) = (axes for axes in drawn.axes if axes.name == "3d")
            box = surface.get_tightbbox(drawn.canvas.get_renderer())
            self.assertLessEqual(box.x1, drawn.bbox.width)

    def test_the_surface_of_a_wave_hides_facets_behind_it(self):
        # Facets at height 1 are nearest to the viewer, so that nothing hides them: the latest times, and the first sites.
        for shape, selection in ((60, 40), np.s_[-30:, :]), ((4, 40), np.s_[:, :20]):
            synthetic.wave(self.path, snapshots=shape[0], sites=shape[1], front=False)
            with h5py.File(self.path, "r+") as file:
                heights = np.full(shape, -1.0)
                heights[selection] = 1.0
                file["closed/displacement"][...] = heights
            drawn = self.draw()
            drawn.canvas.draw()
            (surface,) = (axes for axes in drawn.axes if axes.name == "3d")
            (sheet,) = surface.collections
            corners = surface.transData.transform(sheet.get_coordinates().reshape(-1, 2)).reshape(*shape, 2)
            facets = sheet.get_array().reshape(shape[0] - 1, shape[1] - 1)
            rows, columns = (np.unique(axis) for axis in np.nonzero(facets == 1.0))
            # Every fourth pixel in both directions suffices.
            picture = np.asarray(drawn.canvas.buffer_rgba())[::-1, :, :3]
            y, x = np.indices(picture.shape[:2])[:, ::4, ::4]
            picture = picture[::4, ::4]
            pixels = np.column_stack([x.ravel(), y.ravel()]) + 0.5
            lifted = np.zeros(len(pixels), dtype=bool)
            for column in columns:
                left, right = corners[[rows[0], rows[-1] + 1], column], corners[[rows[-1] + 1, rows[0]], column + 1]
                lifted |= MplPath([*left, *right]).contains_points(pixels)
            seen = np.all(picture == np.round(255 * np.array(style.diverging_map()(1.0)[:3])), axis=-1).ravel()
            seen &= pixels[:, 0] > surface.get_window_extent().x0
            self.assertGreater(lifted.sum(), 1000)
            self.assertLess(np.sum(seen != lifted), 0.05 * lifted.sum())

    def test_convergence_shows_orders_and_hollow_points(self):
        synthetic.convergence(self.path)
        drawn = self.draw()
        self.assertEqual([axes.get_title(loc="left") for axes in drawn.axes], ["(a) position", "(b) energy"])
        axes = drawn.axes[0]
        self.assertEqual((axes.get_xscale(), axes.get_yscale()), ("log", "log"))
        self.assertEqual(sorted(text.get_text() for text in axes.texts), ["order 2.00", "order 4.00"])
        hollow = [line for line in axes.lines if line.get_markerfacecolor() == "white"]
        self.assertEqual([len(line.get_xdata()) for line in hollow], [2, 0])
        (names,) = [[text.get_text() for text in box.get_texts()] for box in self.legends(drawn)]
        self.assertEqual(names, ["gamma 0.5", "verlet", "hollow: not fitted (round-off)"])
        filled = [line for line in axes.lines if line.get_marker() != "None" and line not in hollow]
        self.assertEqual([len(line.get_xdata()) for line in filled], [4, 6])
        right = axes.get_window_extent().x1
        for text in axes.texts:
            self.assertLess(text.get_window_extent().x1, right + 1)

    def test_convergence_shows_the_error_of_the_reference_where_it_matters(self):
        for reference, label in ((1e-11, True), (1e-16, False)):
            synthetic.convergence(self.path)
            with h5py.File(self.path, "r+") as file:
                file["convergence/verlet/reference_error_q"] = np.full(6, reference)
            drawn = self.draw()
            bands = list(drawn.axes[0].collections)
            self.assertEqual(len(bands), int(label))
            if label:
                heights = bands[0].get_paths()[0].vertices[:, 1]
                np.testing.assert_allclose([heights.min(), heights.max()], [drawn.axes[0].get_ylim()[0], 1e-10])
            names = {text.get_text() for box in self.legends(drawn) for text in box.get_texts()}
            self.assertEqual("error of the reference, times ten" in names, label)

    def test_errors_over_work_are_joined_without_a_fit(self):
        synthetic.convergence(self.path, "[figure]\nkind = 'work'\n")
        axes = self.draw().axes[0]
        self.assertEqual((axes.get_xlabel(), [text.get_text() for text in axes.texts]), ("work", []))
        lines = [line for line in axes.lines if line.get_linestyle() == "-"]
        for line, order, stages in zip(lines, (4, 2), (3, 1), strict=True):
            work, error = line.get_data()
            np.testing.assert_allclose(work, stages * 2.0 ** np.arange(2, 8))
            np.testing.assert_allclose(error[:4], 0.1 * (stages / work[:4]) ** order)

    def test_norms_show_expected_values_as_rings(self):
        synthetic.norms(self.path)
        (axes,) = self.draw().axes
        self.assertEqual(axes.get_xscale(), "log")
        self.assertEqual([text.get_text() for text in axes.texts], ["223.67", "135.85", "2.8816"])
        *dots, rings = axes.lines
        self.assertEqual(rings.get_markerfacecolor(), "none")
        self.assertEqual(sorted(rings.get_xdata()), [2.882, 135.9])
        names = [label.get_text() for label in axes.get_yticklabels()]
        self.assertEqual(names, ["explicit", "implicit", "variational"])
        self.assertEqual([float(dot.get_xdata()[0]) for dot in dots], [223.67, 135.85, 2.8816])

    def test_every_kind_has_a_test(self):
        self.assertEqual(figure_kinds.names(), ["convergence", "lines", "norms", "wave", "work"])

    # --- files and errors ---

    def test_files_have_the_size_asked_for_and_no_date(self):
        recipe = LINES.replace('kind = "lines"', 'kind = "lines"\nwidth = 5.0\nheight = 2.5')
        synthetic.trajectory(self.path, recipe)
        stem = self.path.with_name("fig.04")
        contents = []
        for _ in range(2):
            self.assertEqual(command.main([str(self.path), "-o", str(stem)]), 0)
            contents.append([stem.with_name("fig.04" + kind).read_bytes() for kind in (".png", ".pdf")])
        self.assertEqual(contents[0], contents[1])
        png, pdf = contents[0]
        width, height = struct.unpack(">II", png[16:24])
        # A legend above the panels may increase the height.
        self.assertEqual(width, 1000)
        self.assertTrue(500 <= height <= 600, height)
        self.assertTrue(pdf.startswith(b"%PDF"))

    def test_error_messages_say_what_is_right(self):
        self.assertIn(
            "unknown figure.kind 'pie'; the kinds are: convergence, lines, norms, wave, work",
            self.errors_of('[figure]\nkind = "pie"\n'),
        )
        self.assertIn(
            "unknown line style 'wavy'; the styles are: solid", self.errors_of(LINES.replace("dashdot", "wavy"))
        )
        self.assertIn("unknown colour 'rust'; the colours are: blue", self.errors_of(LINES.replace("vermillion", "rust")))
        self.assertIn("has no key `of`", self.errors_of(LINES.replace("of = \"closed.limit\", ", "")))
        self.assertIn("each with series", self.errors_of('[figure]\nkind = "lines"\n[[figure.panels]]\ntitle = "x"\n'))
        self.assertIn(
            "no variable 'closed.velocity'",
            self.errors_of(LINES.replace("closed.energy_total", "closed.velocity")),
        )
        wave = '[[integrators]]\nmethod = "rk4"\nname = "closed"\n[figure]\nkind = "wave"\n'
        self.assertIn("no 'displacement' in closed; `snapshots = 10` in `[output]`", self.errors_of(wave))
        self.assertIn("contains no errors to draw", self.errors_of('[figure]\nkind = "convergence"\n'))
        self.assertIn("contains no errors with their work", self.errors_of('[figure]\nkind = "work"\n'))
        self.assertIn("contains no numbers to draw", self.errors_of('[figure]\nkind = "norms"\n'))

    def test_texts_that_cannot_be_typeset_are_found_by_check(self):
        recipes = [self.path.with_name(name) for name in ("bad.toml", "good.toml", "worse.toml")]
        good = LINES.replace('kind = "lines"', "kind = \"lines\"\ncaption = 'is HTML: $\\\\frac{$'")
        bad = good.replace('"$q$"', "'$\\\\frac{$'")
        for recipe, text in zip(recipes, (bad, good, "no = TOML = 1")):
            recipe.parent.mkdir(parents=True, exist_ok=True)
            recipe.write_text(text)
        output = io.StringIO()
        with redirect_stderr(output):
            self.assertEqual(command.main(["--check", *map(str, recipes)]), 2)
        first, second = output.getvalue().splitlines()
        self.assertRegex(first, r"bad.toml: figure.panels\[0\].ylabel = .* cannot be typeset: ")
        self.assertIn("worse.toml: cannot be read", second)
        self.assertEqual(command.main(["--check", str(recipes[1])]), 0)
        # The values of cases count, not their names.
        cases = self.path.with_name("cases.toml")
        cases.write_text(CASES)
        output = io.StringIO()
        with redirect_stderr(output):
            self.assertEqual(command.main(["--check", str(cases)]), 2)
        self.assertRegex(output.getvalue(), r"cases.toml: figure.panels\[1\].ylabel = .* cannot be typeset: ")
        # A result of such a recipe gives the same message without a traceback.
        self.assertIn("ylabel", self.errors_of(recipes[0].read_text()))


class StyleTest(unittest.TestCase):
    def test_the_diverging_map_has_even_lightness(self):
        lightness = np.array(
            cspace_convert(style.diverging_map()(np.linspace(0, 1, 257))[:, :3], "sRGB1", "CIELab")[:, 0]
        )
        np.testing.assert_allclose(lightness, lightness[::-1], atol=1.0)
        slopes = np.diff(lightness[:129])
        self.assertGreater(slopes.min(), 0.6 * slopes.mean())
        self.assertGreater(lightness[128], 95)

    def test_line_styles_differ_without_colour(self):
        self.assertEqual(len(set(style.LINE_STYLES.values())), len(style.LINE_STYLES))

    def test_units(self):
        self.assertEqual(style.with_units("$q(t)$", "m"), "$q(t)$ (m)")
        self.assertEqual(style.with_units("energy (mJ)", "J"), "energy (mJ)")
        self.assertEqual(style.with_units("ratio", "1"), "ratio")


if __name__ == "__main__":
    unittest.main()
