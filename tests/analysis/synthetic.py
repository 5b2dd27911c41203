"""Small synthetic result files with the layout of real ones, for the tests of the analysis."""

import os
import sys
from pathlib import Path

import h5py
import numpy as np

SOURCE = Path(os.environ.get("BATHLINE_SOURCE", Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(SOURCE / "analysis"))

ATTRIBUTES = {
    "title": "A small result",
    "status": "complete",
    "bathline_version": "0.2.0",
    "git_commit": "0123456789abcdef",
    "git_dirty": 0,
    "mpi_ranks": 2,
    "compiler": "GNU 12.2.0",
    "compiler_flags": "Release -O3",
    "petsc_version": "3.18.5",
    "hdf5_version": "1.10.8",
    "seed": 1,
    "started": "2026-01-02T03:04:05Z",
    "wall_time_s": 1.5,
}
CLAIMS = (
    ("energy", "closed.energy_total.max", "ours", "conserved <exactly>", 1.0, 1.0, 1.0, 1.0, np.nan, 1, 1),
    ("agrees", "reduction.closed.max", "limebeer2020, Fig. 4", "", 2.77, np.nan, -np.inf, 3.0, np.nan, 1, 1),
    (
        "identical",
        "reduction.closed.max",
        "limebeer2020, Theorem III.1",
        "only on the grid",
        2.77,
        0.0,
        0.0,
        1e-3,
        1e-4,
        1,
        0,
    ),
    ("echo", "wave.echo_time", "limebeer2020, Fig. 5", "", 70.0, 79.0, 77.4, 80.6, 0.25, 0, 1),
)
CLAIM_COLUMNS = (
    "name",
    "quantity",
    "source",
    "note",
    "measured",
    "expected",
    "lower",
    "upper",
    "uncertainty",
    "passed",
    "supported",
)


class ResultWriter:
    """Writer of a result file, to be used in a `with` statement."""

    def __init__(self, path, recipe, **attributes):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        self.file = h5py.File(path, "w")
        self.file.attrs.update({**ATTRIBUTES, "recipe": recipe, "recipe_resolved": recipe, **attributes})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def scale(self, path, values, units="1", long_name=""):
        """Write a dimension scale, 'group/name'."""
        dataset = self._create(path, values, units, long_name)
        dataset.make_scale(path.rpartition("/")[2])

    def variable(self, path, values, dimensions=(), units="1", long_name=""):
        """Write a variable over scales of its group or of the parent group."""
        dataset = self._create(path, values, units, long_name)
        for axis, name in enumerate(dimensions):
            group = dataset.parent if name in dataset.parent else dataset.parent.parent
            dataset.dims[axis].attach_scale(group[name])

    def claims(self, *rows):
        """Write claims with values in the order of CLAIM_COLUMNS."""
        group = self.file.create_group("claims")
        for column, name in enumerate(CLAIM_COLUMNS):
            kind = h5py.string_dtype() if column < 4 else float if column < 9 else "i8"
            group.create_dataset(name, data=[row[column] for row in rows], dtype=kind)

    def _create(self, path, values, units, long_name):
        dataset = self.file.create_dataset(path, data=np.asarray(values, dtype=float))
        dataset.attrs["units"] = units
        dataset.attrs["long_name"] = long_name or path.rpartition("/")[2]
        return dataset


def trajectory(path, recipe, steps=200, claims=CLAIMS, **attributes):
    """Two particles on two axes in the groups closed and open, with energies and a single number."""
    time = np.linspace(0.0, 10.0, steps + 1)
    with ResultWriter(path, recipe, **attributes) as writer:
        for label, phase in (("closed", 0.0), ("open", 0.3)):
            writer.scale(f"{label}/time", time, "s", "time")
            writer.scale(f"{label}/particle", [0, 1])
            writer.scale(f"{label}/axis", [0, 1])
            angle = time + phase
            q = np.stack([np.stack([np.cos(angle), np.sin(angle)], -1), np.stack([3 + angle, -angle], -1)], 1)
            writer.variable(f"{label}/q", q, ("time", "particle", "axis"), "m", "position")
            writer.variable(f"{label}/energy_total", 1 + 0 * time, ("time",), "kg m2/s2", "total energy")
            writer.variable(f"{label}/single", q[:, :1, :1], ("time", "particle"), "m", "one position")
            writer.variable(f"{label}/limit", 0.5, (), "m", "limit")
        writer.claims(*claims)


def wave(path, recipe="[figure]\nkind = 'wave'\n", sites=40, snapshots=60, front=True):
    """A step that moves along a line at two sites per second."""
    time, site = np.linspace(0.0, 30.0, snapshots), np.arange(1.0, sites + 1)
    displacement = np.where(site[None, :] < 2.0 * time[:, None], -3.0, 0.0)
    displacement[-1, 0] = 1.0
    with ResultWriter(path, recipe) as writer:
        writer.scale("closed/snapshot_time", time, "s", "time")
        writer.scale("closed/site", site, "1", "site")
        writer.variable("closed/displacement", displacement, ("snapshot_time", "site"), "m", "displacement")
        if front:
            writer.scale("wave/snapshot_time", time, "s", "time")
            writer.variable(
                "wave/front_site",
                np.minimum(2 * time, sites),
                ("snapshot_time",),
                "1",
                "farthest displaced site",
            )
            writer.variable("wave/front_speed", 2.02, (), "sites/s", "measured speed of the front")
            writer.variable("wave/echo_time", 40.1, (), "s", "measured time of the echo")
            writer.variable("wave/front_speed_theory", 2.0, (), "sites/s", "sqrt(lambda/M)")
            writer.variable("wave/echo_time_theory", 40.0, (), "s", "2 sites sqrt(M/lambda)")


def convergence(path, recipe="[figure]\nkind = 'convergence'\n"):
    """Two methods of orders 2 and 4, the second with two points at round-off and three times the work of the first."""
    step = 2.0 ** -np.arange(2, 8)
    with ResultWriter(path, recipe) as writer:
        writer.scale("convergence/step", step, "s", "step")
        for label, order, stages in (("verlet", 2, 1), ("gamma 0.5", 4, 3)):
            writer.variable(f"convergence/{label}/work", stages / step, ("step",))
            for kind in ("q", "energy"):
                error, used = 0.1 * step**order, np.ones(len(step))
                if order == 4:
                    error[-2:], used[-2:] = 3e-13, 0
                writer.variable(f"convergence/{label}/error_{kind}", error, ("step",), "m", f"error of {kind}")
                writer.variable(f"convergence/{label}/used_{kind}", used, ("step",))
                writer.variable(f"convergence/{label}/order_{kind}", float(order))
                if order == 4:
                    writer.file[f"convergence/{label}/order_{kind}"].attrs["not_fitted"] = "round-off"


def norms(path, recipe="[paper]\nkey = 'limebeer2020'\n[figure]\nkind = 'norms'\n"):
    """Four norms, two of which have claims."""
    values = {"variational": 2.8816, "implicit": 135.85, "explicit": 223.67, "theory": 2e-11}
    with ResultWriter(path, recipe) as writer:
        for label, value in values.items():
            writer.variable(f"energy-transfer/{label}/norm_difference", value, (), "1", "norm of the difference")
        writer.claims(
            *(
                (
                    "norm-" + label,
                    f"energy-transfer.{label}.norm_difference",
                    "limebeer2020",
                    "",
                    values[label],
                    printed,
                    printed - 0.05,
                    printed + 0.05,
                    0.05,
                    1,
                    1,
                )
                for label, printed in (("variational", 2.882), ("implicit", 135.9))
            )
        )
