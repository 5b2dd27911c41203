"""Default names in legends and default labels of axes in figures of kind `lines`."""

import tempfile
import unittest
from pathlib import Path

import h5py
from matplotlib.text import Text

import synthetic
from bathline.figure import draw
from bathline.result_file import RunResult

METHODS = '[[integrators]]\nmethod = "rk4"\nname = "closed"\n[[integrators]]\nmethod = "gauss"\nstages = 2\nname = "open"\n'
LONG_NAME = "sum of the terms (kept, or nearly), constant for the exact motion, as is seen"


class LabelsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "result.h5"

    def drawn(self, *panels, change=lambda file: None):
        """The axes of these panels, given as TOML, for a file with two methods that `change` modifies."""
        tables = "".join(f"[[figure.panels]]\n{panel}\n" for panel in panels)
        synthetic.trajectory(self.path, f'{METHODS}[figure]\nkind = "lines"\n{tables}')
        with h5py.File(self.path, "r+") as file:
            change(file)
        with RunResult(self.path) as result:
            figure = draw(result)
        figure.canvas.draw()
        return figure.axes

    def entries(self, axes):
        """The names in the legend of a panel, or of the figure, with their lines."""
        legend = axes.get_legend() or axes.figure.legends[0]
        return {text.get_text(): line for text, line in zip(legend.get_texts(), legend.get_lines())}

    # --- names in the legend ---

    def test_default_names_distinguish_the_series(self):
        for series, names in (
            ('{of = "closed.q[0][0]"}, {of = "open.q[0][0]"}', ["closed", "open"]),
            ('{of = "closed.q[0][0]"}, {of = "closed.q[0][1]", color = 3}', ["q[0][0]", "q[0][1]"]),
            ('{of = "closed.q[0][0]"}, {of = "open.energy_total"}', ["closed.q[0][0]", "open.energy_total"]),
            ('{of = "closed.q[0][0]", minus = "open.q[0][0]"}, {of = "open.limit", scale = -1.0}',
             ["closed.q[0][0] − open.q[0][0]", "−open.limit"]),
            ('{of = "closed.limit"}, {of = "closed.energy_total.max", scale = 0.5, color = 3}',
             ["limit", "0.5 energy_total.max"]),
            ('{of = "open.q[0][0]", name = "mine"}, {of = [1.0, 2.0], x = [0.0, 9.0]}', ["mine", "given values"]),
        ):
            (axes,) = self.drawn(f"series = [{series}]")
            self.assertEqual(list(self.entries(axes)), names, series)

    def test_a_style_named_in_another_panel_needs_no_name(self):
        named = 'series = [{of = "closed.q[0][0]", name = "Runge"}, {of = "open.q[0][0]", name = "Gauss"}]'
        silent = 'series = [{of = "closed.q[0][1]"}, {of = "open.q[0][1]"}]'
        upper, lower = self.drawn(named, silent)
        self.assertIsNone(lower.get_legend())
        # A style shared by two curves of a panel identifies neither.
        twice = named.replace("open", "closed")
        upper, lower = self.drawn(twice, silent)
        self.assertEqual(list(self.entries(lower)), ["closed", "open"])

    def test_series_without_positive_values_are_marked_in_the_legend(self):
        series = '{of = "closed.energy_total", name = "one"}, {of = "closed.energy_total", scale = -1.0, name = "other"}'
        number = '{of = "open.limit", scale = -2.0}'
        (axes,) = self.drawn(f'yscale = "log"\nseries = [{series}, {number}]')
        entries = self.entries(axes)
        self.assertEqual(list(entries), ["one", "other (not positive)", "−2 open.limit (not positive)"])
        self.assertEqual([line.get_linestyle() for line in entries.values()][1:], ["None", "None"])
        self.assertEqual(len(axes.lines), 1)

    # --- axes ---

    def test_an_axis_is_labelled_by_all_of_its_quantities(self):
        for series, label in (
            ('{of = "closed.q[0][0]"}, {of = "open.q[0][0]"}', "position (m)"),
            ('{of = "closed.q[0][0]"}, {of = "closed.limit"}', "position, limit (m)"),
            ('{of = "closed.q[0][0]"}, {of = "closed.energy_total"}', "position (m), total energy (kg m$^{2}$/s$^{2}$)"),
            ('{of = "closed.q[0][0]"}, {of = "closed.limit"}, {of = "closed.single[0]"}', "values (m)"),
            ('{of = "closed.q[0][0]", minus = "open.q[0][0]"}', "difference in position (m)"),
            ('{of = "closed.q[0][0]", minus = "open.limit"}', "difference (m)"),
        ):
            (axes,) = self.drawn(f"series = [{series}]")
            self.assertEqual(axes.get_ylabel().replace("\n", " "), label)
        (axes,) = self.drawn('yscale = "log"\nseries = [{of = "closed.q[0][0]", minus = "open.q[0][0]"}]')
        self.assertEqual(axes.get_ylabel(), "|difference in position| (m)")

    def test_long_labels_fit_beside_their_panel(self):
        def describe(file):
            for name in ("closed/q", "closed/energy_total"):
                file[name].attrs["long_name"] = LONG_NAME

        plane = 'series = [{of = "closed.energy_total", x = "q[0][0]"}]'
        for axes in self.drawn(plane, plane.replace("q[0][0]", "q[1][0]"), change=describe):
            for label in axes.xaxis.label, axes.yaxis.label:
                self.assertRegex(label.get_text().replace("\n", " "), r"^sum of the terms \(kept, or nearly\)")
                box, whole = label.get_window_extent(), axes.figure.bbox
                self.assertTrue(whole.x0 <= box.x0 and box.x1 <= whole.x1, label)
            room, panel = axes.yaxis.label.get_window_extent(), axes.get_window_extent()
            self.assertLess(room.height, 1.15 * panel.height)

    def test_long_titles_are_wrapped_without_breaking_formulas(self):
        title = 'title = "a title that is by far too long for a panel of half a page and has $x + y - z$ at its end"'
        # Names too long for the axes put the legend above the title.
        panels = [
            f'{title}\nseries = [{{of = "closed.q[0][0]", name = "{number} of names too long to stand in a panel"}}]'
            for number in ("first", "second", "third", "fourth")
        ]
        axes, *_ = self.drawn(*panels)
        lines = axes.get_title(loc="left").splitlines()
        self.assertGreater(len(lines), 1)
        self.assertEqual(sum("$x + y - z$" in line for line in lines), 1)
        (title,) = (text for text in axes.findobj(Text) if text.get_text() == "\n".join(lines))
        self.assertLess(title.get_window_extent().width, axes.figure.bbox.width / 2)
        self.assertGreaterEqual(axes.get_legend().get_texts()[0].get_window_extent().y0, title.get_window_extent().y1)

    # --- dots ---

    def test_few_dots_are_large(self):
        sizes = []
        for rows in (5, 100, 201):
            def shorten(file, rows=rows):
                keep = file["closed/energy_total"][:rows]
                del file["closed/energy_total"]
                file["closed/energy_total"] = keep

            (axes,) = self.drawn('series = [{of = "closed.energy_total", style = "dots"}]', change=shorten)
            sizes.append(axes.lines[0].get_markersize())
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertGreaterEqual(sizes[0], 3.0)
        self.assertLess(sizes[-1], 2.0)


if __name__ == "__main__":
    unittest.main()
