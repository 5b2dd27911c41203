#!/usr/bin/python3
"""Fits a model to the scaling measurements of cluster/scaling, and writes both as a table and a figure.

    analysis/scaling.py FOLDER

Reads FOLDER/<kind>.<ranks>.<sites per rank>.<repeat>.json, writes FOLDER/scaling.csv, scaling.png and scaling.pdf.
The model of the time of a step with n sites on each of R ranks is

    t = a (n + 2 d [R > 1]) + b + c log2 R

where a is the time per site, d = 64 the width of the halo that both sides of a cut compute, b the cost of a step
independent of the length of the line, and c the waiting time per doubling of the ranks. a, b and c >= 0 minimise the sum of
squared relative errors over all measurements.
"""

import argparse
import csv
import json
import pathlib
import sys

import numpy as np
from scipy.optimize import nnls

from bathline import style
from bathline.figure import save

HALO = 64


def read(folder):
    """Read the measurements.

    Parameters
    ----------
    folder : pathlib.Path
        Folder with the files of cluster/scaling.

    Returns
    -------
    dict
        Shortest time of a step in seconds by (ranks, sites per rank).

    Raises
    ------
    SystemExit
        If there are no measurements or a file is not one.
    """
    times = {}
    for path in sorted(folder.glob("*.*.*.*.json")):
        _, ranks, sites, _, _ = path.name.split(".")
        ranks, sites = int(ranks), int(sites)
        try:
            rate = json.loads(path.read_text())["benchmarks"][0]["items_per_second"]
        except (ValueError, KeyError, IndexError):
            sys.exit(f"scaling: {path} is not a measurement of the benchmark program")
        time = ranks * sites / rate
        times[ranks, sites] = min(time, times.get((ranks, sites), np.inf))
    if not times:
        sys.exit(f"scaling: no measurements in {folder}; run cluster/scaling first")
    return times


class Model:
    """The model of the time of a step, fitted to measurements; calling it with ranks and sites gives seconds.

    Parameters
    ----------
    times : dict
        Times in seconds by (ranks, sites per rank).

    Attributes
    ----------
    site, step, wait : float
        Coefficients a, b and c in seconds.
    misfit : float
        Largest relative error.
    """

    def __init__(self, times):
        keys = list(times)
        measured = np.array([times[key] for key in keys])
        terms = np.array([self._terms(*key) for key in keys])
        # Division by the measured times minimises relative errors.
        scale = np.abs(terms / measured[:, None]).max(axis=0)
        scale[scale == 0] = 1.0
        solution, _ = nnls(terms / measured[:, None] / scale, np.ones(len(keys)))
        self.site, self.step, self.wait = solution / scale
        self.misfit = float(np.abs(self(*np.array(keys).T) / measured - 1).max())

    @staticmethod
    def _terms(ranks, sites):
        ranks, sites = np.broadcast_arrays(ranks, np.asarray(sites, float))
        cut = np.where(ranks > 1, 2.0 * HALO, 0.0)
        return np.stack([sites + cut, np.ones(ranks.shape), np.log2(ranks)], axis=-1)

    def __call__(self, ranks, sites):
        return self._terms(ranks, sites) @ [self.site, self.step, self.wait]


def write_table(times, model, path):
    """Write all measurements with their efficiencies and the model as CSV.

    Parameters
    ----------
    times : dict
        Times in seconds by (ranks, sites per rank).
    model : Model
        The fitted model.
    path : pathlib.Path
        The table.
    """
    smallest = min(ranks for ranks, _ in times)
    with open(path, "w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(
            ["ranks", "sites_per_rank", "seconds_per_step", "site_steps_per_second", "weak_efficiency"]
            + ["strong_efficiency", "model_seconds_per_step"]
        )
        for (ranks, sites), time in sorted(times.items()):
            weak = times.get((smallest, sites), np.nan) / time
            whole = times.get((smallest, sites * ranks // smallest), np.nan)
            strong = whole * smallest / (time * ranks)
            table.writerow(
                [ranks, sites, f"{time:.6e}", f"{ranks * sites / time:.4e}", f"{weak:.4f}", f"{strong:.4f}"]
                + [f"{float(model(ranks, sites)):.6e}"]
            )


@style.context()
def draw(times, model, stem):
    """Draw the time of a step over sites, and weak and strong efficiency over ranks.

    Parameters
    ----------
    times : dict
        Times in seconds by (ranks, sites per rank).
    model : Model
        The fitted model.
    stem : pathlib.Path
        Path of the figures without extension.
    """
    counts = sorted({ranks for ranks, _ in times})
    sizes = sorted({sites for _, sites in times})
    figure = style.new_figure(style.PAGE_WIDTH, 3.0)
    left, right = figure.subplots(1, 2)
    for index, ranks in enumerate(counts):
        color = style.color(index)
        sizes_of_ranks = np.array([sites for count, sites in sorted(times) if count == ranks])
        label = f"{ranks} rank" + ("s" if ranks > 1 else "")
        measured = [times[ranks, sites] for sites in sizes_of_ranks]
        marker = style.MARKERS[index % 8]
        left.loglog(sizes_of_ranks, measured, marker, color=color, markerfacecolor="white", label=label)
        left.loglog(sizes_of_ranks, model(ranks, sizes_of_ranks), color=color, linewidth=0.8)
    left.set_xlabel("sites per rank")
    left.set_ylabel("time of a step (s)")
    left.set_title("(a) points: measured; lines: model")
    left.legend(loc="upper left")

    max_ranks = max(counts)
    all_ranks = 2.0 ** np.arange(np.log2(counts[0]), np.log2(max_ranks) + 10.01, 0.25)
    largest = sizes[-1]
    for index, (name, per_rank) in enumerate(
        [("weak", lambda ranks: np.full(np.shape(ranks), float(largest))), ("strong", lambda ranks: largest / ranks)]
    ):
        color = style.color(index)
        reference = model(counts[0], per_rank(np.array(counts[0])))
        relative_ranks = 1.0 if name == "weak" else counts[0] / all_ranks
        efficiency = reference * relative_ranks / model(all_ranks, per_rank(all_ranks))
        measured = all_ranks <= max_ranks * 1.001
        right.semilogx(all_ranks[measured], efficiency[measured], color=color, linewidth=0.9, base=2)
        dashed = {"color": color, "linewidth": 0.9, "linestyle": (0, (3, 2))}
        right.semilogx(all_ranks[~measured], efficiency[~measured], base=2, **dashed)
        points = []
        for ranks in counts:
            sites = largest if name == "weak" else largest * counts[0] // ranks
            if (ranks, sites) not in times:
                continue
            time = times[counts[0], largest] * (1.0 if name == "weak" else counts[0] / ranks)
            points.append((ranks, time / times[ranks, sites]))
        right.plot(*np.array(points).T, style.MARKERS[index], color=color, markerfacecolor="white", label=name)
    right.axvspan(max_ranks, all_ranks[-1], color="0.93", zorder=0, linewidth=0)
    right.annotate(
        "extrapolated by the model", (np.sqrt(max_ranks * all_ranks[-1]), 0.03), ha="center", fontsize=7, color="0.35"
    )
    right.set_ylim(0.0, 1.15)
    right.set_xlim(counts[0] / 1.2, all_ranks[-1])
    right.set_xticks([2**k for k in range(int(np.log2(counts[0])), int(np.log2(all_ranks[-1])) + 1, 2)])
    right.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    right.set_xlabel("ranks")
    right.set_ylabel("efficiency")
    right.set_title(f"(b) {largest / 1e6:g} million sites per rank, or in total")
    right.legend(loc="lower left", bbox_to_anchor=(0.0, 0.08))
    save(figure, stem)


def main():
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    times = read(folder)
    model = Model(times)
    write_table(times, model, folder / "scaling.csv")
    draw(times, model, folder / "scaling")
    print(f"a step takes {model.site * 1e9:.4g} ns per site, {model.step * 1e6:.3g} us independent of the length, and")
    print(f"{model.wait * 1e6:.3g} us per doubling of the ranks; the largest error of the model is {100 * model.misfit:.0f} %")
    print(f"{folder / 'scaling.csv'}, {folder / 'scaling.png'}")


if __name__ == "__main__":
    main()
