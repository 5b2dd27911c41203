"""Panels of default figures: tables with the keys of `figure.panels`."""

import numpy as np

from bathline import axis_limits, default_styles
from bathline.envelopes import estimate_end_periods, find_dense_curves
from bathline.exceptions import AnalysisError, UnreadableError

MAX_PARTICLES = 4
MAX_SECTIONS = 4
MAX_MODES = 5
MAX_DETAILED = 4  # panels of a position that are followed by panels of its first and last periods
DETAIL_PERIODS = 8

_TERMS = {
    "energy_particles": "particles",
    "energy_environment": "environments",
    "energy_interaction": "interaction",
    "energy_dissipated": "dissipated",
    "energy_work": "work of the drive",
    "energy_total": "sum",
}


def path_panels(result, labels):
    """Positions over time, and orbits in the plane or, for one degree of freedom, the phase plane."""
    particles, axes = max((result.shape(f"{label}.q")[1:] for label in labels), default=(0, 0))
    shown = range(min(particles, MAX_PARTICLES))
    coordinates = result.recipe.get("system", {}).get("coordinates", [])
    times, planes = [], []
    for particle in shown:
        name = coordinates[particle] if particle < len(coordinates) else f"particle {particle}" if particles > 1 else ""
        rest = f" of {particles}" if particles > MAX_PARTICLES and particle == shown[-1] else ""
        for axis in range(axes):
            parts = [name + rest, f"axis {axis}" if axes > 1 else ""]
            title = ", ".join(filter(None, parts)) or "position"
            times.append(panel_of_labels(result, "", labels, f"q[{particle}][{axis}]", title, within="ylim"))
        if axes == 2:
            names = {"xlabel": "position, axis 0", "ylabel": "position, axis 1"}
            title = f"orbit {name}".strip()
            planes.append(_plane_panel(result, labels, f"q[{particle}][1]", f"q[{particle}][0]", title, **names))
    if particles == axes == 1:
        planes.append(_plane_panel(result, labels, "p[0]", "q[0]", "phase plane"))
    if particles == len(coordinates) == 2:
        names = dict(zip(("xlabel", "ylabel"), coordinates))
        planes.append(_plane_panel(result, labels, "q[1]", "q[0]", "orbit", **names))
    times = [panel for panel in times if panel]
    details = [_detail_panels(result, panel) for panel in times]
    if not any(details):
        return times + planes
    last = next(ends[-1]["xlim"] for ends in details if ends)
    for plane in filter(None, planes):
        plane |= {"between": last, "title": f"{plane['title']}, last periods"}
    if len(times) <= MAX_DETAILED:
        # Panels with details fill a row each and come first.
        rows = [part for panel, ends in zip(times, details) if ends for part in (panel, *ends)]
        times = rows + [panel for panel, ends in zip(times, details) if not ends]
    return times + planes


def _detail_panels(result, panel):
    """Two panels with the first and the last periods of a panel that contains a band; none for other panels."""
    dense = next((series for series in panel["series"] if series.get("band")), None)
    if dense is None:
        return []
    time = result.read(dense["of"]).scale.values
    first, last = estimate_end_periods(time, drawable_values(result, dense["of"]))
    begin, end = float(time[0]), float(time[-1])
    all_series = [{key: value for key, value in series.items() if key != "band"} for series in panel["series"]]
    return [
        panel | {"title": f"{panel['title']}, {which} periods", "series": all_series, "xlim": limits}
        for which, limits in (
            ("first", [begin, min(begin + DETAIL_PERIODS * first, end)]),
            ("last", [max(end - DETAIL_PERIODS * last, begin), end]),
        )
    ]


def observable_panels(result, labels):
    """The action of contact systems, and the recipe's observables."""
    action = panel_of_labels(result, "", labels, "z", "action", within="ylim")
    names = result.recipe.get("system", {}).get("observables", {})
    # The file describes observables by their formulas, which are too long for an axis.
    return [action, *(panel_of_labels(result, "", labels, name, name, within="ylim", ylabel=name) for name in names)]


def mode_panel(result, labels):
    """Energies of the first modes of a chain, for the first label that has them."""
    label = next((label for label in labels if result.has_variable(f"{label}.mode_energy")), None)
    if label is None:
        return None
    _, dataset = result.array(f"{label}.mode_energy")
    series = [
        {
            "of": f"{label}.mode_energy[{index}]",
            "name": f"mode {mode:.0f}",
            "color": default_styles.nth_colour(index),
            "style": "solid",
        }
        for index, mode in enumerate(result.scale_of(dataset, 1).values[:MAX_MODES])
    ]
    title = "energies of the modes" + (f", {label}" if len(labels) > 1 else "")
    return {"title": title, "ylabel": "energy", "series": series}


def section_panels(result, labels):
    """Poincare sections, a panel for each label: momentum over position of the first coordinate that varies."""
    panels, coordinates = [], result.recipe.get("system", {}).get("coordinates", [])
    for label in labels[:MAX_SECTIONS]:
        points, particles, axes = result.shape(f"{label}.poincare_q") or (0, 0, 0)
        if points == 0:
            continue
        q = result.array(f"{label}.poincare_q")[0].reshape(points, -1)
        spread = np.ptp(q, axis=0)
        particle, axis = divmod(int(np.argmax(spread > 1e-9 * spread.max())), axes)
        of, where = f"{label}.poincare_p[{particle}][{axis}]", f"{label}.poincare_q[{particle}][{axis}]"
        name = coordinates[particle] if particle < len(coordinates) else ""
        labelled = {"xlabel": f"position {name}".strip(), "ylabel": f"momentum {name}".strip()}
        series = [{"of": of, "x": where, **default_styles.styles_by_label(result, labels)[label], "style": "dots"}]
        surface = result.read(where).long_name.replace("position at", f"{label}:" if len(labels) > 1 else "section")
        panels.append({"title": surface, "series": series} | labelled)
    return panels


def _plane_panel(result, labels, y, x, title, **keys):
    limits = _limits(result, [f"{label}.{x}" for label in labels], "xlim")
    return panel_of_labels(result, "", labels, y, title, x=x, within="ylim", **limits, **keys)


def ledger_panels(result, labels):
    """Energy of the particles (all terms for a single label), and deviation of the sum from its start."""
    if len(labels) == 1:
        terms, shown = [], []
        for index, (name, text) in enumerate(_TERMS.items()):
            values = drawable_values(result, f"{labels[0]}.{name}")
            if np.any(np.nan_to_num(values)):
                terms.append({"of": f"{labels[0]}.{name}", "name": text, "color": default_styles.nth_colour(index)})
                shown.append(values)
        _mark_dense_series(terms, shown)
        energies = {"title": "energy", "ylabel": "energy", "series": terms} if terms else None
    else:
        title = "energy of the particles"
        energies = panel_of_labels(result, "", labels, "energy_particles", title, within="ylim", ylabel="energy")
    return [energies, deviation_panel(result, labels)]


def deviation_panel(result, labels):
    """Deviation of the sum of all energies, including dissipated energy and work, from its start."""
    title, keys = "sum of all energies", {"minus": "energy_total.first", "ylabel": "deviation from the start"}
    panel = panel_of_labels(result, "", labels, "energy_total", title, yscale="log", **keys)
    if panel and any(series.get("band") for series in panel["series"]):
        panel["ylabel"] = "largest deviation"
    return panel


def difference_panels(result):
    """Differences of closed and reduced runs, with a mark at the echo if it is the same for all."""
    labels = result.groups("reduction")
    particles = max((result.shape(f"reduction.{label}.difference")[-1:] for label in labels), default=(0,))
    echoes = {float(drawable_values(result, f"reduction.{label}.echo_time")) for label in labels}
    panels = []
    for particle in range(min((*particles, MAX_PARTICLES))):
        title = "closed against reduced" + (f", particle {particle}" if particles > (1,) else "")
        keys = {"yscale": "log", "ylabel": "largest difference"}
        panel = panel_of_labels(result, "reduction", labels, f"difference[{particle}]", title, **keys)
        if panel:
            if len(echoes) == 1 and min(echoes) < panel["xlim"][1]:
                panel["marks"] = [{"at": min(echoes), "name": "echo"}]
            panels.append(panel)
    return panels


def panel_of_labels(
    result, group, labels, variable, title, minus=None, x=None, error=None, yscale="linear", within=None, **keys
):
    """A panel with a variable of all labels that have it; None if no curve would be visible.

    `minus`, `x` and `error` are variables of the same group: subtracted, on the horizontal axis, and standard error.
    `within` is the axis ("ylim") whose limits ignore diverging paths. Further keys are those of the panel.
    """
    series, shown = [], []
    prefix = f"{group}." if group else ""
    # Styles depend on all labels, so that a label has the same style in all panels.
    styles = default_styles.styles_by_label(result, labels if group == "convergence" else [*result.labels, *labels])
    for label in labels:
        group_prefix = f"{prefix}{label}."
        values = drawable_values(result, group_prefix + variable)
        if minus:
            values = values - drawable_values(result, group_prefix + minus)
        if values.size < 2 or not np.any(np.isfinite(values) & ((values != 0) | (yscale == "linear"))):
            continue
        entry = {"of": group_prefix + variable, **styles[label]}
        entry |= {key: group_prefix + name for key, name in (("minus", minus), ("x", x), ("error", error)) if name}
        # Panels of errors may show closed or open runs only, so that even a single label is named.
        series.append(entry | ({"name": label} if len(labels) > 1 or group == "convergence" else {}))
        shown.append(values)
    if not series:
        return None
    limits = _limits(result, [entry["of"] for entry in series], within) if within else {}
    if x is None and not error:
        _mark_dense_series(series, shown, yscale == "log", *np.diff(limits.get("ylim", [])))
    if yscale == "log":
        # Zeros, such as the start, are not drawn on a logarithmic axis; the time axis still begins there.
        time = result.read(series[0]["of"]).scale.values
        limits["xlim"] = [float(time[0]), float(time[-1])]
    return {"title": title, "series": series, "yscale": yscale, **limits, **keys}


def _mark_dense_series(series, values, *panel):
    """Set `band` for the series of a panel that would appear as a solid area."""
    for entry, is_dense in zip(series, find_dense_curves(values, *panel)):
        entry |= {"band": True} if is_dense else {}


def _limits(result, paths, axis):
    """Limits of an axis for these paths except diverging ones; empty if none diverges."""
    quantities = [result.read(path) for path in paths if result.has(path)]
    curves = [(quantity.scale.values, axis_limits.mask_undrawable(quantity.values)) for quantity in quantities]
    limits = axis_limits.common_limits(curves) if curves else None
    return {axis: limits} if limits else {}


def labels_with_paths(result):
    """Labels whose path is in the file."""
    return [label for label in result.labels if (result.shape(f"{label}.q") or (0,))[0] > 1]


def drawable_values(result, path):
    """Values of a quantity with NaN for undrawable ones; a single NaN if the file does not contain it."""
    try:
        return axis_limits.mask_undrawable(result.read(path).values)
    except UnreadableError:
        raise
    except AnalysisError:
        return np.array(np.nan)
