"""Styles of methods in `style.py`, and the figures of all recipes that use them."""

import sys
import unittest
from itertools import combinations

import matplotlib
from colorspacious import deltaE

import synthetic
from bathline import style
from bathline.integrators import integrator_of

sys.path.insert(0, str(synthetic.SOURCE / "tests" / "command_line"))

from program import ask, resolved  # noqa: E402

# Distance of blue and sky of the palette in CIELAB; a distance of two is just noticeable side by side.
DISTINCT = 25.0


def distance(first, second):
    return deltaE(*(matplotlib.colors.to_rgb(color) for color in (first, second)), "sRGB1", "CIELab")


def names_of_integrators():
    """Names of all integrators, from the output of `bathline list integrators`."""
    text = ask(["list", "integrators"]).out
    return [line.split()[0] for line in text.splitlines() if line[:1].strip()]


def drawn(curve_style):
    """The properties of a style that all forms of a curve show."""
    return curve_style.color, curve_style.dashes


class TableTest(unittest.TestCase):
    def test_every_integrator_has_a_style(self):
        names = names_of_integrators()
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIsNotNone(style.style_of_method({"method": name}), name)

    def test_no_two_methods_have_the_same_style(self):
        styles = {}
        for name, keys, curve_style in style.METHODS:
            styles.setdefault((curve_style.color, curve_style.dashes), []).append((name, keys))
            styles.setdefault((curve_style.color, curve_style.marker), []).append((name, keys))
        midpoint = [("gamma", {"gamma": 0.5}), ("time-centred", {}), ("gauss", {"stages": 1})]
        for curve_style, methods in styles.items():
            if methods != midpoint:
                self.assertEqual(len(methods), 1, f"{curve_style}: {methods}")

    def test_options_select_the_style(self):
        for table, color in (
            ({"method": "gamma", "gamma": 0, "on": "closed"}, "blue"),
            ({"method": "gamma", "gamma": 0.0, "on": "open"}, "vermillion"),
            ({"method": "gamma", "gamma": 0.5, "on": "closed"}, "green"),
            ({"method": "gamma", "gamma": 0.3, "on": "open"}, "grey"),
            ({"method": "lobatto", "stages": 3}, "purple"),
            ({"method": "lobatto", "stages": 4}, "indigo"),
        ):
            self.assertEqual(style.style_of_method(table).color, color, table)
        self.assertIsNone(style.style_of_method({"method": "unknown"}))

    def test_a_series_has_the_style_of_its_method_unless_it_sets_its_own(self):
        recipe = {"integrators": [{"method": "rk4"}, {"method": "gauss", "stages": 2, "name": "gauss-2"}]}
        curve_style = style.style_of_series(recipe, {"of": "convergence.gauss-2.error_q", "style": "marked"}, 5)
        self.assertEqual((curve_style.color, curve_style.marker), (style.PALETTE["brown"], "H"))
        self.assertEqual(style.style_of_series(recipe, {"of": "rk4.q[0][1]"}, 3).color, style.PALETTE["wine"])
        own = style.style_of_series(recipe, {"of": "rk4.q[0]", "color": 2, "style": "dotted"}, 0)
        self.assertEqual((own.color, own.dashes), (style.PALETTE["green"], "dotted"))
        # A series without a method has the colour and dashes of its index.
        self.assertEqual(style.style_of_series(recipe, {"of": "wave.front_site"}, 1).color, style.PALETTE["vermillion"])


def kind_of(series):
    """The form of a series: points, the curve of a theory, or another curve."""
    if series.get("style") == "points":
        return "points"
    return "theory" if isinstance(series["of"], list) else "curve"


class RecipesTest(unittest.TestCase):
    """The figures of all recipes that are shipped with the program."""

    @classmethod
    def setUpClass(cls):
        # For every panel with series its description, its recipe and its series.
        cls.panels = []
        for path in sorted(synthetic.SOURCE.glob("experiments/*/*.toml")):
            recipe = resolved(path)
            for index, panel in enumerate(recipe.get("figure", {}).get("panels", [])):
                if panel.get("series"):
                    cls.panels.append((f"{path.parent.name}/{path.stem}, panel {index}", recipe, panel["series"]))

    def test_colours_of_a_panel_are_distinct(self):
        for where, recipe, series in self.panels:
            styles = [style.style_of_series(recipe, entry, index) for index, entry in enumerate(series)]
            methods = [style.style_of_method(integrator_of(recipe, entry["of"]) or {}) for entry in series]
            curves = zip(styles, methods, map(kind_of, series))
            for (first, method, kind), (second, second_method, second_kind) in combinations(curves, 2):
                # Points may have the colour of the theory, given as numbers, with which they are compared.
                if {kind, second_kind} == {"points", "theory"}:
                    continue
                # Two quantities of one method have its colour and differ in their dashes.
                if method is None or method != second_method or first.dashes == second.dashes:
                    self.assertGreater(distance(first.color, second.color), DISTINCT, where)

    def test_only_series_without_a_unique_method_set_their_own_style(self):
        for where, recipe, series in self.panels:
            methods = [style.style_of_method(integrator_of(recipe, entry["of"]) or {}) for entry in series]
            forms = ("points", "marked", "dots")
            own = [{"color", "style"} & set(entry) - ({"style"} if entry.get("style") in forms else set()) for entry in series]
            for entry, method, own_keys in zip(series, methods, own):
                # A curve that stands alone may be solid instead of having the dashes of its method.
                if own_keys and (len(series) > 1 or own_keys != {"style"}):
                    self.assertTrue(method is None or methods.count(method) > 1, f"{where}: {entry['of']}")

    def test_every_curve_has_a_name_in_its_figure(self):
        for where, recipe, series in self.panels:
            if len(series) == 1:
                continue
            named = [
                drawn(style.style_of_series(recipe, entry, index))
                for panel in recipe["figure"]["panels"]
                for index, entry in enumerate(panel["series"])
                if entry.get("name")
            ]
            for index, entry in enumerate(series):
                self.assertIn(drawn(style.style_of_series(recipe, entry, index)), named, f"{where}: {entry['of']}")

    def test_captions_refer_to_panels_by_their_letters(self):
        for where, recipe, _ in self.panels:
            caption = recipe["figure"]["caption"]
            if len(recipe["figure"]["panels"]) > 1:
                self.assertIn("(a)", caption, where)
                self.assertNotRegex(caption, r"(?i)\b(above|below|(top|bottom) (left|right)|left|right|upper|lower)\b", where)

    def test_labels_are_lower_case_and_not_generic(self):
        for where, recipe, _ in self.panels:
            for panel in recipe["figure"]["panels"]:
                for label in (panel.get("xlabel", ""), panel.get("ylabel", "")):
                    self.assertFalse(label[:1].isupper(), f"{where}: {label}")
                    self.assertNotIn(label, ("time", "lag", "energy"), where)


if __name__ == "__main__":
    unittest.main()
