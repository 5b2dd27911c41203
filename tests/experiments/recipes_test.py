"""The recipes that come along: valid, documented, run and drawn, true to their claims."""

import os
import sys
import tomllib
import unittest
from pathlib import Path

import h5py
import matplotlib
import matplotlib.pyplot

matplotlib.use("Agg")

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / "command_line"), str(SOURCE / "analysis")]

import figure  # noqa: E402
from program import FolderTest, run  # noqa: E402

EXPERIMENTS = SOURCE / "experiments"
RECIPES = sorted(EXPERIMENTS.glob("*/*.toml"))

# Recipes that experiments/reproduce runs only when they are named: too large for a whole run here.
LARGE = {
    line.split("#")[0].strip()
    for line in (EXPERIMENTS / "not-by-default").read_text().splitlines()
    if line.split("#")[0].strip()
}


def name_of(recipe):
    """The name by which experiments/reproduce and `bathline list recipes` know a recipe."""
    return recipe.relative_to(EXPERIMENTS).with_suffix("").as_posix()


def allowance(claim):
    """How far from what is claimed a number may lie: half the width of what is allowed, all of it from zero on."""
    if "expect" in claim:
        return max(claim.get("tolerance", 0.0), claim.get("relative_tolerance", 0.0) * abs(claim["expect"]))
    lower, upper = claim["bounds"]
    return upper if lower == 0.0 else (upper - lower) / 2


def settings_of_small_run(document):
    """What makes a run of a large recipe small without making it another one."""
    sites = [environment.get("sites") for environment in document["environments"]]
    large = [place for place, count in enumerate(sites) if isinstance(count, int) and count > 10**6]
    return [word for place in large for word in ("--set", f"environment.{place}.sites={10**6}")]


class RecipesTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.documents = {}
        for recipe in RECIPES:
            with recipe.open("rb") as file:
                cls.documents[recipe] = tomllib.load(file)

    def for_each(self, examine):
        """Calls `examine` with every recipe and its contents; one that fails does not hide the others."""
        self.assertGreaterEqual(len(RECIPES), 9)
        for recipe, document in self.documents.items():
            with self.subTest(name_of(recipe)):
                examine(recipe, document)

    def test_check_finds_nothing_wrong(self):
        def examine(recipe, document):
            outcome = run(["check", recipe])
            self.assert_code(outcome, 0)
            self.assertIn(document["title"], outcome.out)
            self.assertNotIn("error", outcome.err)

        self.for_each(examine)

    def test_they_are_listed_with_their_titles(self):
        outcome = run(["list", "recipes"], env={"BATHLINE_EXPERIMENTS": str(EXPERIMENTS)})
        lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
        expected = [f"{name_of(recipe)} {document['title']}" for recipe, document in self.documents.items()]
        self.assertEqual(lines, expected)

    def test_they_say_what_is_the_papers_and_claim_something(self):
        def examine(_, document):
            self.assertTrue(document["paper"]["key"])
            self.assertTrue(document["paper"]["figure"])
            self.assertRegex(document["paper"]["note"].lower(), r"\bours\b|\bpaper's\b")
            self.assertTrue(document["figure"]["caption"].strip())
            self.assertTrue(document["claims"])
            for claim in document["claims"]:
                self.assertTrue(claim["source"].strip(), claim["name"])
                # What the numbers do not bear out is explained.
                self.assertTrue(claim.get("supported", True) or claim.get("note", "").strip(), claim["name"])

        self.for_each(examine)

    def test_what_claims_allow_is_derived(self):
        """As experiments/guide/claims.md says: at most ten uncertainties, or a note on what the bound is instead."""

        def examine(_, document):
            for claim in document["claims"]:
                derived = "uncertainty" in claim and allowance(claim) <= 10.0 * claim["uncertainty"] * (1 + 1e-9)
                self.assertTrue(derived or claim.get("note", "").strip(), claim["name"])

        self.for_each(examine)

    def test_whole_runs_keep_all_claims_and_have_a_figure(self):
        """On one process, as experiments/reproduce runs them, and the first of every kind of study on two."""
        studies = set()

        def examine(recipe, document):
            if name_of(recipe) in LARGE:
                return
            study = document.get("study", {}).get("kind", "trajectory")
            ranks = None if study in studies else 2
            studies.add(study)
            result = self.folder / "whole.h5"
            outcome = run(["run", recipe, "-o", result, "--overwrite", "--progress", "none"], ranks=ranks)
            self.assert_code(outcome, 0)
            with h5py.File(result) as file:
                self.assertEqual(file["claims/passed"][()].tolist(), [1] * len(document["claims"]))
            self.assert_figure(result, self.folder / "whole")

        self.for_each(examine)

    def test_a_small_run_of_a_large_one_and_its_figure(self):
        def examine(recipe, document):
            if name_of(recipe) not in LARGE:
                return
            result = self.folder / "small.h5"
            settings = settings_of_small_run(document)
            outcome = run(["run", recipe, "-o", result, "--overwrite", "--progress", "none", *settings])
            # The claims are about the whole run.
            self.assertIn(outcome.code, (0, 1), outcome.text)
            with h5py.File(result) as file:
                self.assertEqual(file.attrs["status"], "complete")
                self.assertEqual(len(file["claims/id"]), len(document["claims"]))
            self.assert_figure(result, self.folder / "small")

        self.for_each(examine)

    def assert_figure(self, result, stem):
        """analysis/figure.py draws it, and there is something in it."""
        # Within this process: starting Python and its libraries for each would take longer than most of the runs.
        self.assertEqual(figure.main([str(result), "-o", str(stem)]), 0)
        matplotlib.pyplot.close("all")
        picture = stem.with_suffix(".png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 5000)
        self.assertTrue(stem.with_suffix(".pdf").read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main()
