"""Every kind of noise: the same bits on one, two and three ranks, in ensembles, and after a checkpoint."""

import unittest

import h5py
import numpy as np

from program import FolderTest, ask, changed, checkpoints_of, toml, variables

MODES = {"kind": "memory", "stiffness": [2.5, 0.4], "rate": [5.0, 0.3], "frequency": [0.0, 1.1], "kT": 0.3}
CLOSED = {"on": "closed"}
NOISY = {
    "title": "All kinds of noise",
    "system": {
        "kind": "formula",
        "coordinates": ["x", "y"],
        "masses": [1.0, 1.4],
        "V": "x^2/2 + y^2 + (x - y)^4/4",
        "start": "thermal",
        "q0": [0.1, 0.0],
    },
    "environments": [
        MODES | {"name": "memory"},
        MODES | {"name": "quantum", "attach": 1, "quantum": True, "hbar": 1.0},
        MODES | {"name": "second", "attach": 1},
        {"name": "endless", "kind": "spring-mass-line", "sites": "infinite", "M": 0.3, "lambda": 2.0, "kT": 0.3},
        {"name": "line", "kind": "spring-mass-line", "sites": 300, "M": 0.3, "lambda": 2.0, "kT": 0.3},
        {"name": "bath", "kind": "heat-bath", "oscillators": 90, "damping": 0.4, "omega_max": 6.0, "kT": 0.3},
        {"name": "white", "kind": "damper", "damping": 0.4, "kT": 0.3},
        {"name": "other", "kind": "damper", "attach": 1, "damping": 0.7, "kT": 0.3},
    ],
    "time": {"step": 0.1, "steps": 120},
    "integrators": [
        {"method": "baoab", "on": "open", "environments": ["memory"], "name": "baoab"},
        {"method": "gjf", "on": "open", "environments": ["memory"], "name": "gjf"},
        {"method": "gjf", "on": "open", "environments": ["memory", "second"], "name": "two"},
        {"method": "gauss", "on": "open", "environments": ["memory"], "name": "gauss"},
        {"method": "gamma", "gamma": 0.5, "environments": ["memory", "quantum"], "name": "quantum"} | CLOSED,
        {"method": "stoermer-verlet", "environments": ["memory"], "name": "modes"} | CLOSED,
        {"method": "stoermer-verlet", "environments": ["endless", "memory"], "name": "endless"} | CLOSED,
        {"method": "time-centred", "environments": ["endless", "quantum"], "name": "both"} | CLOSED,
        {"method": "gamma", "gamma": 0.3, "environments": ["endless"], "name": "stage"} | CLOSED,
        {"method": "gauss", "stages": 3, "environments": ["endless", "memory"], "name": "stages"} | CLOSED,
        {"method": "stoermer-verlet", "environments": ["line", "bath"], "name": "sites"} | CLOSED,
        {"method": "baoab", "environments": ["white", "other", "memory"], "name": "white"} | CLOSED,
        {"method": "gjf", "environments": ["line", "white", "endless"], "name": "white-line"} | CLOSED,
        {"method": "gauss", "stages": 2, "environments": ["other", "endless", "second"], "name": "outside"} | CLOSED,
    ],
    "output": {"every": 4},
    "seed": 3,
}


STUDY = """
[study]
kind = "ensemble"
realisations = 21
burn_in = 2.0
max_lag = 2.0
saved_paths = 2
blocks = 2
quantities = [
  { name = "x", of = "x", bins = [-2.0, 2.0, 10] },
  { name = "y", of = "y", bins = [-2.0, 2.0, 10] },
  { name = "gained", of = "gain", when = "end", bins = [-3.0, 3.0, 6] },
]
joint_histograms = [{ name = "xy", of = ["x", "y"] }]
first_passages = [{ name = "up", of = "x - y", direction = "up" }]
"""


class Noise(FolderTest):
    def test_a_run_has_the_same_bits_on_any_ranks_and_after_checkpoints(self):
        # A resumed run continues with all later integrators, so that each run has only a few.
        output = {"checkpoint_every": 50, "keep_checkpoints": 99}
        recipes = [changed(NOISY, integrators=NOISY["integrators"][part::4], output=output) for part in range(4)]
        wholes = self.results(recipes, "whole")
        for ranks in (2, 3):
            for whole, other in zip(wholes, self.results(recipes, f"ranks{ranks}", ranks)):
                self.assert_same_bits(whole, other)
        # One checkpoint within each integrator, resumed alternately on one and on two ranks.
        checkpoints = [(whole, checkpoint) for whole in wholes for checkpoint in checkpoints_of(whole)[::2]]
        self.assertGreaterEqual(len(checkpoints), len(NOISY["integrators"]))
        for first, ranks in enumerate((None, 2)):
            self.assert_all_resume(checkpoints[first::2], ranks)
        others = self.results([changed(recipe, seed=4) for recipe in recipes], "other")
        for recipe, whole, other in zip(recipes, map(variables, wholes), map(variables, others)):
            for label in (case["name"] for case in recipe["integrators"]):
                self.assertFalse(np.array_equal(whole[f"{label}/q"], other[f"{label}/q"]), label)

    def test_an_ensemble_has_the_same_bits_on_any_ranks(self):
        recipe = toml(NOISY) + STUDY
        one, _ = self.result(recipe, "one")
        for ranks in (2, 3):
            self.assert_same_bits(one, self.result(recipe, f"ensemble{ranks}", ranks)[0])
        found = variables(one)
        for label in (case["name"] for case in NOISY["integrators"]):
            for name, shape in {
                "x_autocorrelation": (6,),
                "x_autocorrelation_error": (6,),
                "x_density_error": (10,),
                "xy_density": (10, 10),
                "up_time": (21,),
                "gained_of_realisation": (21,),
                "gained_density": (6,),
                "path_q": (2, 31, 2, 1),
            }.items():
                self.assertEqual(found[f"ensemble/{label}/{name}"].shape, shape, name)
            # Realisations differ.
            paths = found[f"ensemble/{label}/path_q"]
            self.assertFalse(np.array_equal(paths[0], paths[1]), label)


class Names(FolderTest):
    """Names that the results of an ensemble cannot have are refused before the run."""

    ensemble = {
        "title": "Names",
        "system": {
            "kind": "formula",
            "coordinates": ["x"],
            "masses": [1.0],
            "V": "x^2/2",
            "q0": [0.0],
            "damping": [1.0],
            "kT": 1.0,
        },
        "time": {"step": 0.1, "end": 4.0},
        "integrators": [
            {"method": "baoab", "on": "open"},
            {"method": "baoab", "on": "open", "name": "fine", "step": 0.05},
        ],
        "study": {"kind": "ensemble", "realisations": 8, "max_lag": 1.0, "saved_paths": 1},
        "study.quantities": [
            {"name": "zza", "of": "x", "bins": [-3.0, 3.0, 5], "expected": "exp(-value^2/2)"},
            {"name": "zzb", "of": "x_dot", "bins": [-3.0, 3.0, 5], "when": "end"},
            {"name": "zzc", "of": "x_dot", "bins": [-3.0, 3.0, 5]},
        ],
        "study.joint_histograms": [{"name": "zzd", "of": ["zza", "zzc"]}],
        "study.first_passages": [{"name": "zze", "of": "x", "at": 0.5}],
        "study.slopes": [{"name": "zzf", "of": "zza", "cases": ["baoab", "fine"]}],
    }

    def refused(self, **sections):
        path = self.folder / "names.toml"
        path.write_text(toml(changed(self.ensemble, **sections)))
        outcome = ask(["check", path])
        self.assert_code(outcome, 2)
        self.assertNotIn("internal error", outcome.text)
        return outcome.err

    def test_every_name_of_the_results(self):
        path, _ = self.result(self.ensemble, "names")
        with h5py.File(path) as file:
            common = [name for name, node in file["ensemble"].items() if isinstance(node, h5py.Dataset)]
            names = list(file["ensemble/baoab"])
        own = {name[3:] for name in names if name.startswith("zz")}
        refused = set()
        for name in names:
            for ending in own:
                if not name.startswith("zz") and name.endswith(ending) and len(name) > len(ending):
                    refused.add(name[: -len(ending)])
        self.assertTrue({"velocity", "kinetic"} <= refused)
        for name in sorted(refused):
            quantities = [*self.ensemble["study.quantities"], {"name": name, "of": "x"}]
            self.assertIn("already", self.refused(**{"study.quantities": quantities}), name)
        for name in common:
            integrators = [*self.ensemble["integrators"], {"method": "baoab", "on": "open", "name": name}]
            self.assertIn("already", self.refused(integrators=integrators), name)

    def test_what_is_named_twice(self):
        slopes = self.ensemble["study.slopes"] * 2
        self.assertIn("another slope", self.refused(**{"study.slopes": slopes}))
        joint = [{"name": "zzd", "of": ["zza", "zza"]}]
        self.assertIn("two different", self.refused(**{"study.joint_histograms": joint}))


if __name__ == "__main__":
    unittest.main()
