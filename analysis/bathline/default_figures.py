"""The figure of a result whose recipe draws none: a table `figure`, as a recipe would hold it, that its study calls for."""

import numpy as np

from bathline import default_styles, axis_limits, style
from bathline.envelopes import dense, estimate_end_periods
from bathline.result_file import AnalysisError, UnreadableError, integrator_of

MOST_PARTICLES = 4
MOST_SECTIONS = 4
MOST_MODES = 5
MOST_MARKED = 16
MOST_IN_DETAIL = 4  # panels of a position that have its first and last periods beside them
PERIODS_IN_DETAIL = 8

_ERRORS = {"q": "position", "p": "momentum", "energy": "energy"}
_TERMS = {
    "energy_particles": "particles",
    "energy_environment": "environments",
    "energy_interaction": "interaction",
    "energy_dissipated": "dissipated",
    "energy_work": "work of the drive",
    "energy_total": "sum",
}


def figure_of(result):
    """The table `figure` for an open result; AnalysisError where the file has nothing to draw."""
    study = (result.recipe.get("study") or {}).get("kind", "trajectory")
    # A run that was stopped may lack what its study computes at the end: then its paths are drawn.
    figure = _STUDIES.get(study, _trajectory)(result) or _trajectory(result)
    if not figure:
        raise AnalysisError(f"{result.path}: has neither a path nor results of its study to draw")
    return figure


def error_panels(result, against, kinds=_ERRORS, labels=None):
    """One panel for each kind of error in the group `convergence`, over `step` or `work`; empty where there is none."""
    labels = [
        label
        for label in labels or result.groups("convergence")
        if against == "step" or result.has(f"convergence.{label}.{against}")
    ]
    panels = [_of_labels(result, "convergence", labels, f"error_{kind}", _ERRORS[kind]) for kind in kinds]
    # The kind of figure chooses among steps and work itself, for each error its own.
    return [{**panel, "x": against} for panel in panels if panel]


def _convergence(result):
    """A row of panels for an error, over steps and over work; closed and open runs apart where they would look alike."""
    labels = result.groups("convergence")
    parts = {"": labels}
    if any(default_styles.of_labels(result, labels).values()):
        closed = [label for label in labels if (integrator_of(result.recipe, label) or {}).get("on") == "closed"]
        parts = {", closed": closed, ", open": [label for label in labels if label not in closed]}
    panels = [
        panel | {"title": panel["title"] + part}
        for kind in ("q", "energy")
        for part, members in parts.items()
        if members
        for against in ("step", "work")
        for panel in error_panels(result, against, [kind], members)
    ]
    return _figure(*panels, kind="convergence")


def _trajectory(result):
    labels = _recorded(result)
    modes = _modes(result, labels)
    panels = [modes] if modes else _paths(result, labels)
    return _figure(*panels, *_observables(result, labels), *_sections(result, labels), *_ledger(result, labels))


def _reduction(result):
    labels = _recorded(result)
    differences = _differences(result)
    return _figure(*_paths(result, labels), *differences, *_ledger(result, labels)) if differences else None


def _energy(result):
    labels = result.groups("energy")
    keys = {"minus": "initial", "yscale": "log", "ylabel": "distance from the start"}
    means = _of_labels(result, "energy", labels, "block_mean", "means over blocks", **keys)
    return _figure(*_sections(result, labels), _deviation(result, labels), means) if means else None


def _memory(result):
    labels = result.groups("memory-kernel")
    groups = {
        f"memory-kernel.{label}.{environment}": f"{environment}, {label}" if len(labels) > 1 else environment
        for label in labels
        for environment in result.groups(f"memory-kernel/{label}")
    }
    panels = []
    for variable, title, ylabel in (
        ("kernel", "memory kernel", "kernel"),
        ("kernel_integral", "integral of the kernel", "integral"),
        ("random_force", "random force", "force"),
    ):
        index = "[0]" if variable == "random_force" else ""
        # An environment that starts cold exerts none.
        if not any(np.any(np.nan_to_num(_values(result, f"{group}.{variable}{index}"))) for group in groups):
            continue
        measured = [
            {"of": f"{group}.{variable}{index}", "name": name, "color": default_styles.colour(place), "style": "solid"}
            for place, (group, name) in enumerate(groups.items())
        ]
        formulas = [
            {"of": f"{group}.{variable}_formula{index}", "color": default_styles.colour(place), **default_styles.FORMULA}
            for place, group in enumerate(groups)
            if result.has(f"{group}.{variable}_formula{index}")
        ]
        panels.append({"title": title, "ylabel": ylabel, "series": measured + formulas})
    return _figure(*panels) if groups else None


def _ensemble(result):
    """Means with their errors, then what the recipe measures: densities of its quantities, survival of its passages."""
    labels, panels = result.groups("ensemble"), []
    for variable, title, ylabel, theory in (
        ("mean_q[0][0]", "mean position", "position", None),
        ("kinetic_energy[0]", "mean kinetic energy", "energy", "kinetic_expected"),
        ("velocity_autocorrelation[0]", "velocity autocorrelation", "correlation", "velocity_autocorrelation_theory[0]"),
    ):
        error = variable.replace("[", "_error[", 1)
        panel = _of_labels(result, "ensemble", labels, variable, title, error=error, ylabel=ylabel)
        if not panel:
            continue
        if theory and result.has(f"ensemble.{labels[0]}.{theory}"):
            line = {"of": f"ensemble.{labels[0]}.{theory}", "name": "theory", **default_styles.THEORY}
            panel["series"].append(line)
        panels.append(panel)
    panels = [panel for panel in (*panels, *_densities(result, labels), *_survivals(result, labels)) if panel]
    if len(labels) == 1:
        for panel in panels:
            panel["series"][0]["name"] = f"{labels[0]}, with its standard error"
    return _figure(*panels)


def _densities(result, labels):
    """The histogram of every quantity that has bins, over it, beside what is expected."""
    panels = []
    for name in _names_in_study(result, "quantities"):
        variable = f"{name}_density"
        keys = {"error": f"{variable}_error", "xlabel": name, "ylabel": "probability density"}
        panel = _of_labels(result, "ensemble", labels, variable, f"distribution of {name}", **keys)
        if panel and result.has(f"ensemble.{labels[0]}.{variable}_expected"):
            expected = {"of": f"ensemble.{labels[0]}.{variable}_expected", "name": "theory", **default_styles.THEORY}
            panel["series"].append(expected)
        panels.append(panel)
    return panels


def _survivals(result, labels):
    """The part of the realisations that a passage has not happened to so far."""
    panels = []
    for name in _names_in_study(result, "first_passages"):
        keys = {"error": f"{name}_survival_error", "ylabel": "part of the realisations"}
        panels.append(_of_labels(result, "ensemble", labels, f"{name}_survival", f"before the first {name}", **keys))
    return panels


def _names_in_study(result, key):
    return [table.get("name", "") for table in (result.recipe.get("study") or {}).get(key, [])]


def _covariance(result):
    """Temperatures along the coordinates, and what noise gives to each less what friction takes."""
    labels = result.groups("covariance")
    panels = []
    for variable, title, ylabel in (
        ("temperature", "temperatures", "temperature"),
        ("heat", "noise less friction", r"$kT\,C/m - \langle v\,C\,v\rangle$"),
    ):
        panel = _of_labels(result, "covariance", labels, variable, title, xlabel="coordinate", ylabel=ylabel)
        if panel:
            marked = result.shape(f"covariance.{labels[0]}.{variable}")[0] <= MOST_MARKED
            for series in panel["series"]:
                if series["of"] == f"covariance.langevin.{variable}":
                    series |= default_styles.THEORY
                elif marked:
                    series["style"] = "marked"
            panels.append(panel)
    return _figure(*panels)


def _wave(result):
    snapshots = any(name.startswith("displacement") for label in result.labels for name in result.variables(label))
    return {"kind": "wave"} if snapshots else None


_STUDIES = {
    "convergence": _convergence,
    "covariance": _covariance,
    "energy": _energy,
    "ensemble": _ensemble,
    "memory-kernel": _memory,
    "reduction": _reduction,
    "wave": _wave,
}


# --- panels -----------------------------------------------------------------------------------------------------------


def _paths(result, labels):
    """Positions over time, and the plane in which the motion is seen: orbit, or momentum over position."""
    particles, axes = max((result.shape(f"{label}.q")[1:] for label in labels), default=(0, 0))
    shown, coordinates = range(min(particles, MOST_PARTICLES)), result.recipe.get("system", {}).get("coordinates", [])
    times, planes = [], []
    for particle in shown:
        name = coordinates[particle] if particle < len(coordinates) else f"particle {particle}" if particles > 1 else ""
        rest = f" of {particles}" if particles > MOST_PARTICLES and particle == shown[-1] else ""
        for axis in range(axes):
            parts = [name + rest, f"axis {axis}" if axes > 1 else ""]
            title = ", ".join(filter(None, parts)) or "position"
            times.append(_of_labels(result, "", labels, f"q[{particle}][{axis}]", title, within="ylim"))
        if axes == 2:
            names = {"xlabel": "position, axis 0", "ylabel": "position, axis 1"}
            title = f"orbit {name}".strip()
            planes.append(_plane(result, labels, f"q[{particle}][1]", f"q[{particle}][0]", title, **names))
    if particles == axes == 1:
        planes.append(_plane(result, labels, "p[0]", "q[0]", "phase plane"))
    if particles == len(coordinates) == 2:
        names = dict(zip(("xlabel", "ylabel"), coordinates))
        planes.append(_plane(result, labels, "q[1]", "q[0]", "orbit", **names))
    times = [panel for panel in times if panel]
    details = [_in_detail(result, panel) for panel in times]
    if not any(details):
        return times + planes
    last = next(ends[-1]["xlim"] for ends in details if ends)
    for plane in filter(None, planes):
        plane |= {"between": last, "title": f"{plane['title']}, last periods"}
    if len(times) <= MOST_IN_DETAIL:
        # A row each, before what needs none.
        rows = [part for panel, ends in zip(times, details) if ends for part in (panel, *ends)]
        times = rows + [panel for panel, ends in zip(times, details) if not ends]
    return times + planes


def _in_detail(result, panel):
    """Of a panel that has become a band two more, its first and its last periods; nothing of any other."""
    dense = next((series for series in panel["series"] if series.get("band")), None)
    if dense is None:
        return []
    quantity = result.quantity(dense["of"])
    time, (first, last) = quantity.scale.values, estimate_end_periods(quantity.scale.values, _values(result, dense["of"]))
    begin, end = float(time[0]), float(time[-1])
    series = [{key: value for key, value in one.items() if key != "band"} for one in panel["series"]]
    return [
        panel | {"title": f"{panel['title']}, {which} periods", "series": series, "xlim": limits}
        for which, limits in (
            ("first", [begin, min(begin + PERIODS_IN_DETAIL * first, end)]),
            ("last", [max(end - PERIODS_IN_DETAIL * last, begin), end]),
        )
    ]


def _observables(result, labels):
    """What the recipe asks to be computed besides, and the action of contact systems."""
    action = _of_labels(result, "", labels, "z", "action", within="ylim")
    names = result.recipe.get("system", {}).get("observables", {})
    # What the file calls them is their formula, which no axis has the room for.
    return [action, *(_of_labels(result, "", labels, name, name, within="ylim", ylabel=name) for name in names)]


def _modes(result, labels):
    """The energies of the first modes of a chain, of the first label."""
    label = next((label for label in labels if result.has_variable(f"{label}.mode_energy")), None)
    if label is None:
        return None
    _, dataset = result.array(f"{label}.mode_energy")
    series = [
        {"of": f"{label}.mode_energy[{place}]", "name": f"mode {mode:.0f}", "color": default_styles.colour(place), "style": "solid"}
        for place, mode in enumerate(result.scale_of(dataset, 1).values[:MOST_MODES])
    ]
    title = "energies of the modes" + (f", {label}" if len(labels) > 1 else "")
    return {"title": title, "ylabel": "energy", "series": series}


def _sections(result, labels):
    """Poincare sections, a panel for each label: momentum over position of the first coordinate that moves on it."""
    panels, coordinates = [], result.recipe.get("system", {}).get("coordinates", [])
    for label in labels[:MOST_SECTIONS]:
        points, particles, axes = result.shape(f"{label}.poincare_q") or (0, 0, 0)
        if points == 0:
            continue
        q = result.array(f"{label}.poincare_q")[0].reshape(points, -1)
        spread = np.ptp(q, axis=0)
        particle, axis = divmod(int(np.argmax(spread > 1e-9 * spread.max())), axes)
        of, where = f"{label}.poincare_p[{particle}][{axis}]", f"{label}.poincare_q[{particle}][{axis}]"
        name = coordinates[particle] if particle < len(coordinates) else ""
        labelled = {"xlabel": f"position {name}".strip(), "ylabel": f"momentum {name}".strip()}
        series = [{"of": of, "x": where, **default_styles.of_labels(result, labels)[label], "style": "dots"}]
        surface = result.quantity(where).long_name.replace("position at", f"{label}:" if len(labels) > 1 else "section")
        panels.append({"title": surface, "series": series} | labelled)
    return panels


def _plane(result, labels, y, x, title, **keys):
    limits = _limits(result, [f"{label}.{x}" for label in labels], "xlim")
    return _of_labels(result, "", labels, y, title, x=x, within="ylim", **limits, **keys)


def _ledger(result, labels):
    """The particles' energy, or of a single label all terms; and how far their sum departs from its start."""
    if len(labels) == 1:
        terms, shown = [], []
        for place, (name, text) in enumerate(_TERMS.items()):
            values = _values(result, f"{labels[0]}.{name}")
            if np.any(np.nan_to_num(values)):
                terms.append({"of": f"{labels[0]}.{name}", "name": text, "color": default_styles.colour(place)})
                shown.append(values)
        _mark_bands(terms, shown)
        energies = {"title": "energy", "ylabel": "energy", "series": terms} if terms else None
    else:
        title = "energy of the particles"
        energies = _of_labels(result, "", labels, "energy_particles", title, within="ylim", ylabel="energy")
    return [energies, _deviation(result, labels)]


def _deviation(result, labels):
    """How far the sum of all energies, what was dissipated among them, departs from its start."""
    title, keys = "sum of all energies", {"minus": "energy_total.first", "ylabel": "distance from the start"}
    panel = _of_labels(result, "", labels, "energy_total", title, yscale="log", **keys)
    if panel and any(series.get("band") for series in panel["series"]):
        panel["ylabel"] = "largest distance"
    return panel


def _differences(result):
    """The distance of closed runs from reduced ones, with the echo where it is the same for all."""
    labels = result.groups("reduction")
    particles = max((result.shape(f"reduction.{label}.difference")[-1:] for label in labels), default=(0,))
    echoes = {float(_values(result, f"reduction.{label}.echo_time")) for label in labels}
    panels = []
    for particle in range(min((*particles, MOST_PARTICLES))):
        title = "closed against reduced" + (f", particle {particle}" if particles > (1,) else "")
        keys = {"yscale": "log", "ylabel": "largest difference"}
        panel = _of_labels(result, "reduction", labels, f"difference[{particle}]", title, **keys)
        if panel:
            if len(echoes) == 1 and min(echoes) < panel["xlim"][1]:
                panel["marks"] = [{"at": min(echoes), "name": "echo"}]
            panels.append(panel)
    return panels


def _of_labels(
    result, group, labels, variable, title, minus=None, x=None, error=None, yscale="linear", within=None, **keys
):
    """A panel with a variable of every label that has it, and these keys; None where nothing could be seen.

    minus, x, error  variables beside it: subtracted, along the horizontal axis, standard error
    within           the axis ("ylim") that leaves out those that run away
    """
    series, shown = [], []
    prefix = f"{group}." if group else ""
    # A label looks alike in all panels, whichever others these show; those of errors are drawn with marks, closed runs
    # and open ones apart.
    look_of = default_styles.of_labels(result, labels if group == "convergence" else [*result.labels, *labels])
    for label in labels:
        beside = f"{prefix}{label}."
        values = _values(result, beside + variable)
        if minus:
            values = values - _values(result, beside + minus)
        if values.size < 2 or not np.any(np.isfinite(values) & ((values != 0) | (yscale == "linear"))):
            continue
        entry = {"of": beside + variable, **look_of[label]}
        entry |= {key: beside + name for key, name in (("minus", minus), ("x", x), ("error", error)) if name}
        # Closed and open runs have panels of their own where these are of errors.
        series.append(entry | ({"name": label} if len(labels) > 1 or group == "convergence" else {}))
        shown.append(values)
    if not series:
        return None
    limits = _limits(result, [entry["of"] for entry in series], within) if within else {}
    if x is None and not error:
        _mark_bands(series, shown, yscale == "log", *np.diff(limits.get("ylim", [])))
    if yscale == "log":
        # A logarithmic axis leaves out zeros, and so the start; beside other panels it begins with it all the same.
        time = result.quantity(series[0]["of"]).scale.values
        limits["xlim"] = [float(time[0]), float(time[-1])]
    return {"title": title, "series": series, "yscale": yscale, **limits, **keys}


def _mark_bands(series, values, *panel):
    """Has those of a panel's series, with these values, that would be a solid area drawn as bands."""
    for entry, is_dense in zip(series, dense(values, *panel)):
        entry |= {"band": True} if is_dense else {}


def _limits(result, paths, axis):
    """The ends of an axis that shows all of these but those that run away; empty where none does."""
    quantities = [result.quantity(path) for path in paths if result.has(path)]
    limits = quantities and axis_limits.limits([(one.scale.values, axis_limits.drawable(one.values)) for one in quantities])
    return {axis: limits} if limits else {}


def _figure(*panels, kind="lines"):
    """The table `figure` of these panels, those that are None left out; None without any."""
    panels = [panel for panel in panels if panel]
    if not panels:
        return None
    # Orbits are as high as they are wide. Three panels stand in one row, where none of them is left alone in a second.
    in_threes = len(panels) == 3 or any(panel["title"].startswith("orbit") for panel in panels)
    # A position stands beside its first and last periods.
    in_threes = in_threes or any(panel["title"].endswith(", first periods") for panel in panels)
    columns = 3 if in_threes else min(len(panels), 2)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    return {"kind": kind, "columns": columns, "width": width, "legend": "shared", "panels": panels}


# --- what the file has ------------------------------------------------------------------------------------------------


def _recorded(result):
    """The labels whose path is in the file."""
    return [label for label in result.labels if (result.shape(f"{label}.q") or (0,))[0] > 1]


def _values(result, path):
    """The values of a quantity that can be drawn; not a number where the file has none."""
    try:
        return axis_limits.drawable(result.quantity(path).values)
    except UnreadableError:
        raise
    except AnalysisError:
        return np.array(np.nan)
