"""All recipes in experiments/: valid, documented, run with passing claims, and drawn."""

import os
import sys
import unittest
from pathlib import Path

import h5py
import matplotlib
import matplotlib.pyplot

matplotlib.use("Agg")

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / "command_line"), str(SOURCE / "analysis")]

from bathline.figure import draw, save  # noqa: E402
from bathline.result_file import RunResult  # noqa: E402
from program import FolderTest, ask, resolved  # noqa: E402

EXPERIMENTS = SOURCE / "experiments"
RECIPES = sorted(EXPERIMENTS.glob("*/*.toml"))

# Recipes that experiments/reproduce runs only when they are named, because they are large.
LARGE = {
    line.split("#")[0].strip()
    for line in (EXPERIMENTS / "not-by-default").read_text().splitlines()
    if line.split("#")[0].strip()
}


def name_of(recipe):
    """The name of a recipe in experiments/reproduce and `bathline list recipes`."""
    return recipe.relative_to(EXPERIMENTS).with_suffix("").as_posix()


def allowance(claim):
    """The tolerance of a claim: half the width of its interval, or all of it if it begins at zero."""
    if "expect" in claim:
        return max(claim.get("tolerance", 0.0), claim.get("relative_tolerance", 0.0) * abs(claim["expect"]))
    lower, upper = claim["bounds"]
    return upper if lower == 0.0 else (upper - lower) / 2


def settings_of_small_run(document):
    """Settings that reduce the number of sites, or else the time, of a large recipe."""
    sites = [environment.get("sites") for environment in document["environments"]]
    large = [index for index, count in enumerate(sites) if isinstance(count, int) and count > 10**6]
    settings = [f"environments.{index}.sites={10**6}" for index in large]
    if not settings:
        end = 4 * document["study"].get("blocks", 1) * document["output"]["every"] * document["time"]["step"]
        settings = [f"integrators.{index}.end={end}" for index in range(len(document["integrators"]))]
    return [word for setting in settings for word in ("--set", setting)]


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
            outcome = ask(["check", recipe])
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

    def test_full_runs_pass_all_claims_and_are_drawn(self):
        """On one process, as in experiments/reproduce, and the first recipe of each kind of study on two."""
        studies = set()

        def examine(recipe, document):
            if name_of(recipe) in LARGE:
                return
            study = document.get("study", {}).get("kind", "trajectory")
            ranks = None if study in studies else 2
            studies.add(study)
            result = self.folder / "full.h5"
            # The longest run, ours/double_pendulum_long, takes 15 seconds on an idle machine, much longer than other tests.
            outcome = ask(
                ["run", recipe, "-o", result, "--overwrite", "--progress", "none"], ranks=ranks, patience=300.0
            )
            self.assert_code(outcome, 0)
            with h5py.File(result) as file:
                self.assertEqual(file["claims/passed"][()].tolist(), [1] * len(document["claims"]))
            self.assert_figure(result, self.folder / "full")

        self.for_each(examine)

    def test_reduced_runs_of_large_recipes_are_drawn(self):
        def examine(recipe, document):
            if name_of(recipe) not in LARGE:
                return
            result = self.folder / "small.h5"
            settings = settings_of_small_run(document)
            outcome = ask(["run", recipe, "-o", result, "--overwrite", "--progress", "none", *settings])
            # The claims refer to the full run and may fail.
            self.assertIn(outcome.code, (0, 1), outcome.text)
            with h5py.File(result) as file:
                self.assertEqual(file.attrs["status"], "complete")
                self.assertEqual(len(file["claims/name"]), len(document["claims"]))
            self.assert_figure(result, self.folder / "small")

        self.for_each(examine)

    def assert_figure(self, result, stem):
        """Draw the figure of a result and check that the files are not empty."""
        # In this process, because starting Python, or drawing the first figure, takes longer than most of the runs.
        with RunResult(result) as opened:
            save(draw(opened), stem)
        matplotlib.pyplot.close("all")
        picture = stem.with_suffix(".png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 5000)
        self.assertTrue(stem.with_suffix(".pdf").read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main()
