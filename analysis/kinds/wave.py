"""Displacement of a line as a picture over site and time: `figure.kind = "wave"`.

Draws `displacement (snapshot_time, site)` of the first integrator that has it, or of the group or variable named by
`figure.panels[0].series[0].of`. Colours are centred at zero. Thin lines show the front that runs out with
`wave.front_speed` and is back as an echo at `wave.echo_time`, small rings where the run itself had its front
(`wave.front_site`), as far as the file has them.
"""

import numpy as np
from matplotlib.lines import Line2D

import legend
import style
from result import AnalysisError

MOST_CELLS = 1200  # along each axis: more than the picture has pixels
RINGS = 24


def draw(result, spec):
    """The figure of one line."""
    panel = (spec.get("panels") or [{}])[0]
    path = _find_displacement(result, panel)
    values, dataset = result.array(path)
    while values.ndim > 2:
        values = values[..., 0]
    if values.ndim != 2 or 0 in values.shape:
        raise AnalysisError(f"{result.path}: '{path}' has no rows over sites and time to draw")
    time, site = result.scale_of(dataset, 0), result.scale_of(dataset, 1)
    scale = (panel.get("series") or [{}])[0].get("scale") or 1.0

    figure = style.new_figure(spec.get("width") or style.COLUMN_WIDTH, spec.get("height") or 2.9)
    axes = figure.subplots()
    picture = _coarser(_coarser(values * scale, 0), 1)
    largest = np.nanmax(np.abs(picture), initial=0.0) or 1.0
    mesh = axes.pcolormesh(_coarser(site.values, 0), _coarser(time.values, 0), picture, shading="nearest",
                           cmap=style.diverging_map(), vmin=-largest, vmax=largest, rasterized=True)
    limits = axes.get_xlim(), axes.get_ylim()
    handles = _draw_fronts(axes, result, path, site.values)
    axes.set_xlim(panel.get("xlim") or limits[0])
    axes.set_ylim(panel.get("ylim") or limits[1])

    axes.set_xlabel(style.with_units(panel.get("xlabel") or style.capital(site.long_name or "site"), site.units))
    axes.set_ylabel(style.with_units(panel.get("ylabel") or style.capital(time.long_name or "time"), time.units))
    axes.set_title(panel.get("title") or "")
    axes.tick_params(color="0.2")
    bar = figure.colorbar(mesh, ax=axes, pad=0.02, aspect=28)
    bar.outline.set_linewidth(0.6)
    units = _attribute(dataset, "units") if scale == 1.0 else ""
    bar.set_label(style.with_units(style.capital(_attribute(dataset, "long_name") or "displacement"), units))
    if handles:
        legend.on_top(figure, handles)
    return figure


def _find_displacement(result, panel):
    named = (panel.get("series") or [{}])[0].get("of")
    if named:
        return named if result.has_variable(named) else f"{named}.displacement"
    for group in [*result.labels, *result.file]:
        if result.has_variable(f"{group}.displacement"):
            return f"{group}.displacement"
    raise AnalysisError(f"{result.path}: no group has a variable 'displacement'; does the recipe ask for snapshots?")


def _attribute(dataset, name):
    value = dataset.attrs.get(name, "")
    return value.decode() if isinstance(value, bytes) else str(value)


def _coarser(values, axis):
    """Means over neighbours along an axis, so that at most MOST_CELLS entries remain."""
    size = values.shape[axis]
    if size <= MOST_CELLS:
        return values
    starts = np.arange(MOST_CELLS) * size // MOST_CELLS
    shape = [1] * values.ndim
    shape[axis] = MOST_CELLS
    return np.add.reduceat(values, starts, axis=axis) / np.diff(np.append(starts, size)).reshape(shape)


def _draw_fronts(axes, result, path, sites):
    """Draws what the file says of the front; returns the handles of the legend."""
    group = path.rpartition(".")[0]
    prefix = next((name for name in (f"wave.{group}", "wave") if result.has(f"{name}.front_speed")
                   or result.has(f"{name}.front_site")), None)
    if prefix is None:
        return []
    handles = []
    head = sites[0] - (sites[1] - sites[0] if len(sites) > 1 else 1.0)
    if result.has(f"{prefix}.front_speed"):
        speed = result.quantity(f"{prefix}.front_speed")
        turn = (sites[-1] - head) / float(speed.values)
        times, places = [0.0, turn], [head, sites[-1]]
        name = f"front, {float(speed.values):.2f} {speed.units or 'sites/s'}"
        if result.has(f"{prefix}.echo_time"):
            echo = result.quantity(f"{prefix}.echo_time")
            times.append(float(echo.values))
            places.append(head)
            name += f"; echo at {float(echo.values):.1f} {echo.units}"
        handles += axes.plot(places, times, color="black", linewidth=0.6, linestyle=(0, (5, 3)), label=name)
    if result.has(f"{prefix}.front_site"):
        front = result.quantity(f"{prefix}.front_site")
        found = np.flatnonzero(np.isfinite(front.values) & (front.values > head))
        chosen = found[np.unique(np.linspace(0, len(found) - 1, RINGS).astype(int))] if len(found) else found
        look = {"linestyle": "none", "marker": "o", "markersize": 3, "markerfacecolor": "none",
                "markeredgecolor": "black", "markeredgewidth": 0.6, "label": front.long_name or "front in this run"}
        axes.plot(front.values[chosen], front.scale.values[chosen], **look)
        handles.append(Line2D([], [], **look))
    return handles
