"""Displacement of a line over site and time, as a map and as a surface: `figure.kind = "wave"`.

Draws the first variable `displacement... (snapshot_time, site)` of the first integrator that has one, or the variable
named by `figure.panels[0].series[0].of`, which may be `closed.q`, `closed.p` or `closed.particle_energy` of a chain of
particles; minus = "closed.q.first" subtracts the first row, as of positions that are not displacements. Colours are
centred at zero, or begin there if no value is negative, and are equal in both panels. As far as the file contains them,
thin lines on the map show the theoretical front, which moves out at `wave.front_speed_theory` and returns as an echo at
`wave.echo_time_theory`, and rings show the front of the run (`wave.front_site`).
"""

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from mpl_toolkits.mplot3d.proj3d import proj_transform

from bathline import legend, style
from bathline.axis_limits import mask_undrawable
from bathline.exceptions import AnalysisError
from bathline.integrators import integrator_of
from bathline.values import as_python

MAX_CELLS = 1200  # along each axis of the map: more than the figure has pixels
MAX_FACETS = 600  # along each axis of the surface
MAX_RINGS = 24
ZOOMS = (0.95, 0.9, 0.85, 0.8, 0.75, 0.7)  # of the surface


def draw(result, spec):
    """Draw the figure.

    Parameters
    ----------
    result : RunResult
        An open result.
    spec : dict
        The recipe's table `figure`.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    AnalysisError
        If the file contains no displacement of a line.
    """
    panel = (spec.get("panels") or [{}])[0]
    path = _find_displacement(result, panel)
    values, dataset = result.array(path)
    values = mask_undrawable(values)
    while values.ndim > 2:
        values = values[..., 0]
    series = (panel.get("series") or [{}])[0]
    if series.get("minus"):
        if series["minus"] != f"{path}.first":
            raise AnalysisError(f"{result.path}: `minus` of a figure of kind 'wave' can only be '{path}.first'")
        values = values - values[:1]
    if values.ndim != 2 or 0 in values.shape:
        raise AnalysisError(f"{result.path}: '{path}' is not a table over times and sites")
    time, site = result.scale_of(dataset, 0), result.scale_of(dataset, 1)
    scale = series.get("scale") or 1.0

    cells = _coarsen(_coarsen(values * scale, 0), 1)
    largest = np.nanmax(np.abs(cells), initial=0.0) or 1.0
    is_positive = not np.nanmin(cells, initial=0.0) < 0
    norm = Normalize(0.0 if is_positive else -largest, largest)
    colors = {"cmap": style.diverging_map(is_positive), "norm": norm, "rasterized": True}
    labels = [
        style.with_units(panel.get("xlabel") or _scale_name(site), site.units),
        style.with_units(panel.get("ylabel") or "time", time.units),
        style.with_units(
            series.get("name")
            or ("displacement" if ".displacement" in path else str(as_python(dataset.attrs.get("long_name", path)))),
            str(as_python(dataset.attrs.get("units", ""))) if scale == 1.0 else "",
        ),
    ]

    figure = style.new_figure(spec.get("width") or style.PAGE_WIDTH, spec.get("height") or 2.9)
    axes = figure.add_subplot(1, 2, 1)
    mesh = axes.pcolormesh(
        _coarsen(site.values, 0), _coarsen(time.values, 0), cells, shading="nearest", **colors
    )
    limits = axes.get_xlim(), axes.get_ylim()
    handles = _draw_fronts(axes, result, path, site.values)
    axes.set_xlim(panel.get("xlim") or limits[0])
    axes.set_ylim(panel.get("ylim") or limits[1])
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    axes.set_title(f"(a) {panel.get('title') or ''}".strip())
    axes.tick_params(color="0.2")
    bar = figure.colorbar(mesh, ax=axes, pad=0.02, aspect=28)
    bar.outline.set_linewidth(0.6)
    bar.set_label(labels[2])
    surface_axes = figure.add_subplot(1, 2, 2, projection="3d")
    _draw_surface(surface_axes, site.values, time.values, values * scale, colors, labels)
    if handles:
        legend.on_top(figure, handles)
    return figure


class _ProjectedMesh(QuadMesh):
    """A mesh whose corners are projected already, so that three-dimensional axes need not project it."""

    def do_3d_projection(self):
        return 0.0


def _draw_surface(axes, site, time, values, colors, labels):
    """Draw the displacement as a surface over site and time, seen from the end of the run.

    matplotlib's own surface sorts its facets and creates an object for each whenever it is drawn, which takes seconds.
    Here the rows of the file, and in each row the sites from the far end, are already ordered from back to front.
    """
    axes.view_init(elev=38, azim=122)
    rows, columns = (np.unique(np.linspace(0, size - 1, min(size, MAX_FACETS)).astype(int)) for size in values.shape)
    sites, times = np.meshgrid(site[columns[::-1]], time[rows])
    heights = values[np.ix_(rows, columns[::-1])]
    axes.auto_scale_xyz(sites, times, heights)
    # The label of the vertical axis would extend beyond the figure.
    axes.set_title(f"(b) {labels[2]}")
    axes.set_xlabel(labels[0])
    axes.set_ylabel(labels[1])
    _fit_into_figure(axes)
    x, y, _ = proj_transform(sites.ravel(), times.ravel(), heights.ravel(), axes.get_proj())
    corners = np.column_stack([x, y]).reshape(*heights.shape, 2)
    mesh = _ProjectedMesh(corners, array=heights[:-1, 1:], edgecolors="none", antialiased=False, **colors)
    axes.add_collection(mesh, autolim=False)


def _fit_into_figure(axes):
    """Make three-dimensional axes as large as the numbers at their ticks allow, which no layout takes into account."""
    figure = axes.get_figure()
    for zoom in ZOOMS:
        axes.set_box_aspect((1.4, 1.4, 0.7), zoom=zoom)
        figure.draw_without_rendering()  # places the numbers
        if axes.get_tightbbox(figure.canvas.get_renderer()).x1 <= figure.bbox.width:
            return


def _find_displacement(result, panel):
    named = (panel.get("series") or [{}])[0].get("of")
    if named and result.has_variable(named):
        return named
    # Groups of integrators come first, in the order of the recipe.
    groups = [named] if named else result.groups("/")
    for group in groups:
        for name in result.variables(group):
            if name.startswith("displacement"):
                return f"{group}.{name}"
    raise AnalysisError(
        f"{result.path}: no 'displacement' in {named or ', '.join(result.labels)}; `snapshots = 10` in `[output]` "
        "stores it at every tenth step of a closed run with a line"
    )


def _scale_name(scale):
    """`particle` of closed.particle, `site` of closed.site_line."""
    return scale.path.rpartition(".")[2].partition("_")[0] or "site"


def _coarsen(values, axis):
    """Means over neighbours along an axis, such that at most MAX_CELLS entries remain."""
    size = values.shape[axis]
    if size <= MAX_CELLS:
        return values
    starts = np.arange(MAX_CELLS) * size // MAX_CELLS
    shape = [1] * values.ndim
    shape[axis] = MAX_CELLS
    return np.add.reduceat(values, starts, axis=axis) / np.diff(np.append(starts, size)).reshape(shape)


def _draw_fronts(axes, result, path, sites):
    """Draw the theoretical front and that of the run; return the handles of the legend."""
    label, _, variable = path.rpartition(".")
    prefix = f"wave.{label}"
    if not result.has(f"{prefix}.front_speed"):
        prefix = "wave"
    if result.group_attribute(prefix, "integrator") not in ("", label) or variable != _examined_variable(result, label):
        return []
    handles = []
    head = sites[0] - (sites[1] - sites[0] if len(sites) > 1 else 1.0)

    speed = _number(result, f"{prefix}.front_speed_theory")
    echo = _number(result, f"{prefix}.echo_time_theory")
    if speed > 0:
        times, positions = [0.0, (sites[-1] - head) / speed], [head, sites[-1]]
        if echo > 0:
            times.append(echo)
            positions.append(head)
        name = "theory: " + _front_text(speed, echo)
        handles += axes.plot(positions, times, color="black", linewidth=0.6, linestyle=(0, (5, 3)), label=name)

    if result.has(f"{prefix}.front_site"):
        front = result.read(f"{prefix}.front_site")
        # The recorded front stays at the far end once it has arrived.
        arrival = int(np.nanargmax(front.values)) if np.isfinite(front.values).any() else -1
        outward = np.flatnonzero(front.values[: arrival + 1] > head)
        chosen = (
            outward[np.unique(np.linspace(0, len(outward) - 1, MAX_RINGS).astype(int))] if len(outward) else []
        )
        options = {"linestyle": "none", "marker": "o", "markersize": 3, "markerfacecolor": "none"}
        options |= {"markeredgecolor": "black", "markeredgewidth": 0.6}
        options["label"] = f"this run: {_front_text(_number(result, f'{prefix}.front_speed'))}"
        if len(chosen):
            axes.plot(front.values[chosen], front.scale.values[chosen], clip_on=False, **options)
            handles.append(Line2D([], [], **options))
    return handles


def _examined_variable(result, label):
    """The displacement that the wave study examines: that of the first line of an integrator."""
    names = (integrator_of(result.recipe, label) or {}).get("environments")
    names = names or [table.get("name") for table in result.recipe.get("environments", [])]
    variables = result.variables(label)
    of_names = [f"displacement_{name}" for name in names if f"displacement_{name}" in variables]
    return (of_names or ["displacement"])[0]


def _number(result, path):
    """A single number of the file, or NaN."""
    return float(result.read(path).values) if result.has(path) else float("nan")


def _front_text(speed, echo=float("nan")):
    words = [f"front {speed:.2f} sites/s"] if np.isfinite(speed) else ["front"]
    return ", ".join(words + ([f"echo at {echo:.2f} s"] if np.isfinite(echo) else []))
