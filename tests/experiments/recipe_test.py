"""The recipe that BATHLINE_RECIPE names, such as limebeer2020/fig06, runs, keeps its claims and is drawn."""

import os
import sys
import tomllib
import unittest
from pathlib import Path

import h5py

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path[:0] = [str(SOURCE / "tests" / "command_line"), str(SOURCE / "analysis")]

from program import FolderTest, resolved, run  # noqa: E402

EXPERIMENTS = SOURCE / "experiments"
NAME = os.environ.get("BATHLINE_RECIPE", "limebeer2020/fig06")
# Recipes that experiments/reproduce runs only when they are named, because they are large.
LARGE = {line.split("#")[0].strip() for line in (EXPERIMENTS / "not-by-default").read_text().splitlines()}


def name_of(recipe):
    """The name of a recipe in experiments/reproduce and `bathline list recipes`."""
    return recipe.relative_to(EXPERIMENTS).with_suffix("").as_posix()


def ranks_of(name):
    """Two for the first recipe of each kind of study, three where PETSc solves, else one, as in experiments/reproduce."""
    if "SNES" in (EXPERIMENTS / f"{name}.toml").read_text():
        return 3
    first = {}
    for recipe in sorted(EXPERIMENTS.glob("*/*.toml")):
        first.setdefault(tomllib.loads(recipe.read_text()).get("study", {}).get("kind"), name_of(recipe))
    return 2 if name in first.values() else None


def settings_of_small_run(document):
    """Settings that reduce the number of sites, or else the time, of a large recipe."""
    sites = [environment.get("sites") for environment in document["environments"]]
    large = [index for index, count in enumerate(sites) if isinstance(count, int) and count > 10**6]
    settings = [f"environments.{index}.sites={10**6}" for index in large]
    if not settings:
        end = 4 * document["study"].get("blocks", 1) * document["output"]["every"] * document["time"]["step"]
        settings = [f"integrators.{index}.end={end}" for index in range(len(document["integrators"]))]
    return [word for setting in settings for word in ("--set", setting)]


class RecipeTest(FolderTest):
    def test_the_run_keeps_its_claims_and_is_drawn(self):
        recipe, result = EXPERIMENTS / f"{NAME}.toml", self.folder / "result.h5"
        document = resolved(recipe)
        settings = settings_of_small_run(document) if NAME in LARGE else []
        words = ["run", recipe, "-o", result, "--progress", "none", *settings]
        outcome = run(words, ranks_of(NAME), patience=900.0)
        # The claims of a large one refer to the full run and may fail.
        self.assertIn(outcome.code, (0, 1) if settings else (0,), outcome.text)
        with h5py.File(result) as file:
            self.assertEqual(file.attrs["status"], "complete")
            self.assertEqual(len(file["claims/passed"]), len(document["claims"]))
        # Imported late, because a run that fails need not wait for it.
        from bathline.figure import draw, save
        from bathline.result_file import RunResult

        with RunResult(result) as opened:
            save(draw(opened), self.folder / "figure")
        picture = (self.folder / "figure.png").read_bytes()
        self.assertTrue(picture.startswith(b"\x89PNG"))
        self.assertGreater(len(picture), 5000)
        self.assertTrue((self.folder / "figure.pdf").read_bytes().startswith(b"%PDF"))


if __name__ == "__main__":
    unittest.main()
