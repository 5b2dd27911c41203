"""All recipes in experiments/ are valid, documented and have derived tolerances; recipe_test.py runs each of them."""

import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "tests" / "command_line"))

from program import FolderTest, ask, resolved  # noqa: E402
from recipe_test import EXPERIMENTS, LARGE, name_of, settings_of_small_run  # noqa: E402

RECIPES = sorted(EXPERIMENTS.glob("*/*.toml"))


def allowance(claim):
    """The tolerance of a claim: half the width of its interval, or all of it if it begins at zero."""
    if "expect" in claim:
        return max(claim.get("tolerance", 0.0), claim.get("relative_tolerance", 0.0) * abs(claim["expect"]))
    lower, upper = claim["bounds"]
    return upper if lower == 0.0 else (upper - lower) / 2


class RecipesTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.documents = {}
        for recipe in RECIPES:
            cls.documents[recipe] = resolved(recipe)

    def for_each(self, examine):
        """Call `examine` with every recipe and its contents as a subtest."""
        self.assertGreaterEqual(len(RECIPES), 9)
        for recipe, document in self.documents.items():
            with self.subTest(name_of(recipe)):
                examine(recipe, document)

    def test_check_accepts_all_recipes(self):
        def examine(recipe, document):
            # Large ones do not fit into the memory of every machine.
            settings = settings_of_small_run(document) if name_of(recipe) in LARGE else []
            outcome = ask(["check", recipe, *settings])
            self.assert_code(outcome, 0)
            self.assertIn(document["title"], outcome.out)
            # Messages about approximations state their relative errors.
            self.assertNotIn("error:", outcome.err)

        self.for_each(examine)

    def test_recipes_are_listed_with_their_titles(self):
        outcome = ask(["list", "recipes"], env={"BATHLINE_EXPERIMENTS": str(EXPERIMENTS)})
        lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
        expected = [f"{name_of(recipe)} {document['title']}" for recipe, document in self.documents.items()]
        self.assertEqual(lines, expected)

    def test_recipes_have_sources_captions_and_claims(self):
        def examine(_, document):
            self.assertTrue(document["paper"]["key"])
            self.assertTrue(document["paper"]["figure"])
            self.assertRegex(document["paper"]["note"].lower(), r"\bours\b|\bpaper's\b")
            self.assertTrue(document["figure"]["caption"].strip())
            self.assertTrue(document["claims"])
            for claim in document["claims"]:
                self.assertTrue(claim["source"].strip(), claim["name"])
                # A claim that is not supported has a note.
                self.assertTrue(claim.get("supported", True) or claim.get("note", "").strip(), claim["name"])

        self.for_each(examine)

    def test_tolerances_of_claims_are_derived(self):
        """As in experiments/guide/claims.md: a tolerance of at most ten uncertainties, or a note that explains it."""

        def examine(_, document):
            for claim in document["claims"]:
                derived = "uncertainty" in claim and allowance(claim) <= 10.0 * claim["uncertainty"] * (1 + 1e-9)
                self.assertTrue(derived or claim.get("note", "").strip(), claim["name"])

        self.for_each(examine)


if __name__ == "__main__":
    unittest.main()
