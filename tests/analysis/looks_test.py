"""One method has one look in all pictures: the table of `style.py`, and the recipes that are drawn by it."""

import os
import subprocess
import tomllib
import unittest
from itertools import combinations

import matplotlib
import numpy as np

import synthetic
from bathline import style
from bathline.result_file import integrator_of

PROGRAM = os.environ.get("BATHLINE", str(synthetic.SOURCE / "build" / "bathline"))

# As far apart as blue and sky of the palette, in CIELAB, where two is just seen side by side.
DISTINCT = 25.0


def distance(one, other):
    return np.linalg.norm(
        np.subtract(*(style.lab_of_rgb(matplotlib.colors.to_rgb(color)) for color in (one, other)))
    )


def names_of_integrators():
    """As `bathline list integrators` has them: names with a summary behind."""
    text = subprocess.run(
        [PROGRAM, "list", "integrators"], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    return [line.split()[0] for line in text.splitlines() if line[:1].strip()]


def drawn(look):
    """What is seen of a look in every style, marks left out."""
    return look.color, look.dashes


class TableTest(unittest.TestCase):
    def test_every_integrator_has_a_look(self):
        names = names_of_integrators()
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIsNotNone(style.style_of_method({"method": name}), name)

    def test_no_two_methods_look_alike(self):
        looks = {}
        for name, keys, look in style.METHODS:
            looks.setdefault((look.color, look.dashes), []).append((name, keys))
            looks.setdefault((look.color, look.marker), []).append((name, keys))
        midpoint = [("gamma", {"gamma": 0.5}), ("time-centred", {}), ("gauss", {"stages": 1})]
        for look, methods in looks.items():
            if methods != midpoint:
                self.assertEqual(len(methods), 1, f"{look}: {methods}")

    def test_options_choose(self):
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

    def test_a_series_has_the_look_of_its_method_unless_it_says_otherwise(self):
        recipe = {"integrators": [{"method": "rk4"}, {"method": "gauss", "stages": 2, "name": "gauss-2"}]}
        look = style.style_of_series(recipe, {"of": "convergence.gauss-2.error_q", "style": "marked"}, 5)
        self.assertEqual((look.color, look.marker), (style.PALETTE["brown"], "H"))
        self.assertEqual(style.style_of_series(recipe, {"of": "rk4.q[0][1]"}, 3).color, style.PALETTE["wine"])
        own = style.style_of_series(recipe, {"of": "rk4.q[0]", "color": 2, "style": "dotted"}, 0)
        self.assertEqual((own.color, own.dashes), (style.PALETTE["green"], "dotted"))
        # What is no method's has the colours and dashes of its place.
        self.assertEqual(style.style_of_series(recipe, {"of": "wave.front_site"}, 1).color, style.PALETTE["vermillion"])


def kind_of(series):
    """What a reader sees of it: points, a theory's curve, or another curve."""
    if series.get("style") == "points":
        return "points"
    return "theory" if isinstance(series["of"], list) else "curve"


class RecipesTest(unittest.TestCase):
    """All recipes that come with the program."""

    @staticmethod
    def panels():
        """For every panel that has series, words that say which it is, its recipe and its series."""
        for path in sorted(synthetic.SOURCE.glob("experiments/*/*.toml")):
            recipe = tomllib.loads(path.read_text())
            for place, panel in enumerate(recipe.get("figure", {}).get("panels", [])):
                if panel.get("series"):
                    yield f"{path.parent.name}/{path.stem}, panel {place}", recipe, panel["series"]

    def test_colours_of_a_panel_are_distinct(self):
        for where, recipe, series in self.panels():
            looks = [style.style_of_series(recipe, one, place) for place, one in enumerate(series)]
            methods = [style.style_of_method(integrator_of(recipe, one["of"]) or {}) for one in series]
            curves = zip(looks, methods, map(kind_of, series))
            for (one, method, kind), (other, others, other_kind) in combinations(curves, 2):
                # Points may have the colour of the theory, typed as numbers, that they are held against.
                if {kind, other_kind} == {"points", "theory"}:
                    continue
                # Two quantities of one method keep its colour, and are told apart by their dashes.
                if method is None or method != others or one.dashes == other.dashes:
                    self.assertGreater(distance(one.color, other.color), DISTINCT, where)

    def test_only_what_is_no_one_methods_has_colours_of_its_own(self):
        for where, recipe, series in self.panels():
            methods = [style.style_of_method(integrator_of(recipe, one["of"]) or {}) for one in series]
            own = [{"color", "style"} & set(one) - ({"style"} if one.get("style") in ("points", "marked", "dots") else set())
                   for one in series]
            for one, method, chosen in zip(series, methods, own):
                # The dashes of a method tell it from others, and are in the way of a curve that stands alone.
                if chosen and (len(series) > 1 or chosen != {"style"}):
                    self.assertTrue(method is None or methods.count(method) > 1, f"{where}: {one['of']}")

    def test_every_curve_has_a_name_in_its_figure(self):
        for where, recipe, series in self.panels():
            if len(series) == 1:
                continue
            named = [
                drawn(style.style_of_series(recipe, one, place))
                for panel in recipe["figure"]["panels"]
                for place, one in enumerate(panel["series"])
                if one.get("name")
            ]
            for place, one in enumerate(series):
                self.assertIn(
                    drawn(style.style_of_series(recipe, one, place)), named, f"{where}: {one['of']}"
                )

    def test_captions_speak_of_lettered_panels_by_their_letters(self):
        for where, recipe, _ in self.panels():
            caption = recipe["figure"]["caption"]
            if len(recipe["figure"]["panels"]) > 1:
                self.assertIn("(a)", caption, where)
                self.assertNotRegex(caption, r"(?i)\b(above|below|(top|bottom) (left|right)|left|right|upper|lower)\b", where)

    def test_labels_have_one_spelling_and_units(self):
        for where, recipe, _ in self.panels():
            for panel in recipe["figure"]["panels"]:
                for label in (panel.get("xlabel", ""), panel.get("ylabel", "")):
                    self.assertFalse(label[:1].isupper(), f"{where}: {label}")
                    self.assertNotIn(label, ("time", "lag", "energy"), where)


if __name__ == "__main__":
    unittest.main()
