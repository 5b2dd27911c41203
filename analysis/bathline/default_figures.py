"""Default figures: for each study a table `figure` with the keys of a recipe, for results whose recipe has none."""

import numpy as np

from bathline import axis_limits, default_styles, style
from bathline.envelopes import estimate_end_periods, find_dense_curves
from bathline.result_file import AnalysisError, UnreadableError, integrator_of

MAX_PARTICLES = 4
MAX_SECTIONS = 4
MAX_MODES = 5
MIN_CHAIN = 16  # particles of a chain that is drawn over space and time
MIN_PROFILE = 3  # particles of an ensemble whose temperatures are drawn as a profile
MAX_TITLE_LABELS = 4  # labels whose numbers are in the title of a panel
MAX_MARKED_VALUES = 16
MAX_DETAILED = 4  # panels of a position that are followed by panels of its first and last periods
DETAIL_PERIODS = 8

_ERRORS = {"q": "position", "p": "momentum", "energy": "energy"}
_TERMS = {
    "energy_particles": "particles",
    "energy_environment": "environments",
    "energy_interaction": "interaction",
    "energy_dissipated": "dissipated",
    "energy_work": "work of the drive",
    "energy_total": "sum",
}


def default_figure(result):
    """Default figure of the study of a result.

    Parameters
    ----------
    result : RunResult
        An open result, complete or not.

    Returns
    -------
    dict
        A table `figure` with the keys of a recipe.

    Raises
    ------
    AnalysisError
        If the file contains neither paths nor results of its study.
    """
    study = (result.recipe.get("study") or {}).get("kind", "trajectory")
    # A stopped run may lack what its study computes at the end; then its paths are drawn.
    figure = _STUDIES.get(study, _trajectory)(result) or _trajectory(result)
    if not figure:
        raise AnalysisError(f"{result.path}: contains neither a path nor results of its study to draw")
    return figure


def error_panels(result, against, kinds=_ERRORS, labels=None):
    """Panels of the errors in the group `convergence`.

    Parameters
    ----------
    result : RunResult
        An open result.
    against : {"step", "work"}
        Variable of the horizontal axis.
    kinds : iterable of {"q", "p", "energy"}
        Errors to draw, one panel each.
    labels : list of str, optional
        Labels of integrators, by default all in the group.

    Returns
    -------
    list of dict
        Tables `figure.panels`; empty if the file contains no errors.
    """
    labels = [
        label
        for label in labels or result.groups("convergence")
        if against == "step" or result.has(f"convergence.{label}.{against}")
    ]
    panels = [_panel_of_labels(result, "convergence", labels, f"error_{kind}", _ERRORS[kind]) for kind in kinds]
    # The key `x` is "step" or "work"; the kind `convergence` finds that variable for each series.
    return [{**panel, "x": against} for panel in panels if panel]


def _convergence(result):
    """For each error panels over step and work; closed and open runs are separated if their styles coincide."""
    labels = result.groups("convergence")
    parts = {"": labels}
    if any(default_styles.styles_by_label(result, labels).values()):
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
    labels = _labels_with_paths(result)
    modes = _mode_panel(result, labels)
    if not modes and _is_long_chain(result, labels):
        return _chain_wave(result, labels)
    panels = [modes] if modes else _path_panels(result, labels)
    panels += _observable_panels(result, labels) + _section_panels(result, labels) + _ledger_panels(result, labels)
    return _figure(*panels)


def _is_long_chain(result, labels):
    """Whether the particles form a chain with one axis, which is drawn over space and time."""
    system = result.recipe.get("system") or {}
    particles, axes = max((result.shape(f"{label}.q")[1:] for label in labels), default=(0, 0))
    return particles >= MIN_CHAIN and axes == 1 and system.get("pairs") in ("neighbours", "ring")


def _chain_wave(result, labels):
    """Energies of the particles of a chain, where they are recorded, else displacements, of the first label."""
    title = labels[0] if len(labels) > 1 else ""
    if result.has_variable(f"{labels[0]}.particle_energy"):
        series = {"of": f"{labels[0]}.particle_energy", "name": "energy of a particle"}
        return {"kind": "wave", "panels": [{"title": title, "xlabel": "particle", "series": [series]}]}
    path = f"{labels[0]}.q"
    q = axis_limits.mask_undrawable(result.array(path)[0])[..., 0]
    # Positions along a chain at rest differ by the spacings, displacements do not.
    are_positions = np.all(np.diff(q[0]) > 0) and np.ptp(q[0]) > np.nanmax(np.abs(q - q[0]), initial=0.0)
    series = {"of": path, "name": "displacement from the start" if are_positions else "displacement"}
    if are_positions:
        series["minus"] = f"{path}.first"
    return {"kind": "wave", "panels": [{"title": title, "xlabel": "particle", "series": [series]}]}


def _reduction(result):
    labels = _labels_with_paths(result)
    differences = _difference_panels(result)
    if not differences:
        return None
    return _figure(*_path_panels(result, labels), *differences, *_ledger_panels(result, labels))


def _energy(result):
    labels = result.groups("energy")
    keys = {"minus": "initial", "yscale": "log", "ylabel": "deviation from the start"}
    means = _panel_of_labels(result, "energy", labels, "block_mean", "means over blocks", **keys)
    return _figure(*_section_panels(result, labels), _deviation_panel(result, labels), means) if means else None


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
        component = "[0]" if variable == "random_force" else ""
        # An environment that starts cold exerts no random force.
        if not any(np.any(np.nan_to_num(_values(result, f"{group}.{variable}{component}"))) for group in groups):
            continue
        measured = [
            {
                "of": f"{group}.{variable}{component}",
                "name": name,
                "color": default_styles.nth_colour(index),
                "style": "solid",
            }
            for index, (group, name) in enumerate(groups.items())
        ]
        formulas = [
            {
                "of": f"{group}.{variable}_formula{component}",
                "color": default_styles.nth_colour(index),
                **default_styles.FORMULA,
            }
            for index, group in enumerate(groups)
            if result.has(f"{group}.{variable}_formula{component}")
        ]
        panels.append({"title": title, "ylabel": ylabel, "series": measured + formulas})
    return _figure(*panels) if groups else None


def _ensemble(result):
    """Means with standard errors, densities of the recipe's quantities, and survival of its first passages."""
    labels, panels = result.groups("ensemble"), [*_profile_panels(result, result.groups("ensemble"))]
    # Equipartition and the stationary autocorrelation hold from the start only for a thermal start.
    study = result.recipe.get("study") or {}
    is_thermal = (result.recipe.get("system") or {}).get("start", "given") != "given"
    for variable, title, ylabel, theory in (
        ("mean_q[0][0]", "mean position", "position", None),
        ("kinetic_energy[0]", "mean kinetic energy", "energy", "kinetic_expected"),
        (
            "velocity_autocorrelation[0]",
            "velocity autocorrelation",
            "correlation",
            "velocity_autocorrelation_theory[0]",
        ),
    ):
        error = variable.replace("[", "_error[", 1)
        holds_everywhere = is_thermal or (theory or "").startswith("velocity") and (study.get("burn_in") or 0.0) > 0.0
        panel = _panel_of_labels(result, "ensemble", labels, variable, title, error=error, ylabel=ylabel)
        if not panel:
            continue
        if theory and holds_everywhere and result.has(f"ensemble.{labels[0]}.{theory}"):
            line = {"of": f"ensemble.{labels[0]}.{theory}", "name": "theory", **default_styles.THEORY}
            panel["series"].append(line)
        panels.append(panel)
    panels += _density_panels(result, labels) + _survival_panels(result, labels)
    panels = [panel for panel in panels if panel]
    if len(labels) == 1:
        for panel in panels:
            panel["series"][0]["name"] = f"{labels[0]}, with its standard error"
    return _figure(*panels)


def _profile_panels(result, labels):
    """Mean kinetic temperatures over the particles, and means of profiles that were recorded, with standard errors."""
    particles, axes = max((result.shape(f"ensemble.{label}.damping") or (0, 0) for label in labels), default=(0, 0))
    if particles < MIN_PROFILE:
        return []
    panels = []
    for variable, title, xlabel, ylabel, scale in (
        ("kinetic_mean", "temperature profile", "particle", "kT (J)", 2.0 / axes),
        ("bond_current_mean", "energy current", "pair", "current", 1.0),
        ("particle_energy_mean", "energies of the particles", "particle", "energy", 1.0),
        ("mode_energy_mean", "energies of the modes", "mode", "energy", 1.0),
    ):
        keys = {"error": f"{variable}_error", "xlabel": xlabel, "ylabel": ylabel}
        panel = _panel_of_labels(result, "ensemble", labels, variable, title, **keys)
        for series in panel["series"] if panel else []:
            series |= {"scale": scale} if scale != 1.0 else {}
            series |= {"style": "points"} if particles <= MAX_MARKED_VALUES else {}
        panels += [panel] if panel else []
    return panels


def _density_panels(result, labels):
    """Histograms of all quantities with bins, with the expected densities."""
    panels = []
    for name in _names_in_study(result, "quantities"):
        variable = f"{name}_density"
        keys = {"error": f"{variable}_error", "xlabel": name, "ylabel": "probability density"}
        panel = _panel_of_labels(result, "ensemble", labels, variable, f"distribution of {name}", **keys)
        if panel and result.has(f"ensemble.{labels[0]}.{variable}_expected"):
            expected = {"of": f"ensemble.{labels[0]}.{variable}_expected", "name": "theory", **default_styles.THEORY}
            panel["series"].append(expected)
        panels.append(panel)
    return panels


def _survival_panels(result, labels):
    """Fractions of the realisations without a first passage so far; mean times and final fractions are in the title."""
    panels = []
    for name in _names_in_study(result, "first_passages"):
        keys = {"error": f"{name}_survival_error", "ylabel": "fraction of the realisations"}
        lines = [f"survival until the first {name}"]
        for label in labels[:MAX_TITLE_LABELS]:
            passage = f"ensemble.{label}.{name}"
            fraction, mean, error = (
                float(_values(result, f"{passage}_{part}")) for part in ("fraction", "mean", "mean_error")
            )
            # The mean counts the time that realisations without a passage have waited; it is undrawable without passages.
            times = f"mean {mean:.3g} ± {error:.2g} s" if np.isfinite(mean) else "no mean time"
            lines.append((f"{label}: " if len(labels) > 1 else "") + f"{times}, {fraction:.0%} passed")
        title = "\n".join(lines)
        panels.append(_panel_of_labels(result, "ensemble", labels, f"{name}_survival", title, **keys))
    return panels


def _names_in_study(result, key):
    return [table.get("name", "") for table in (result.recipe.get("study") or {}).get(key, [])]


def _covariance(result):
    """Temperatures of the coordinates, and the mean power of noise minus friction of each."""
    labels = result.groups("covariance")
    panels = []
    for variable, title, ylabel in (
        ("temperature", "temperatures", "temperature"),
        ("heat", "noise minus friction", r"$kT\,C/m - \langle v\,C\,v\rangle$"),
    ):
        panel = _panel_of_labels(result, "covariance", labels, variable, title, xlabel="coordinate", ylabel=ylabel)
        if panel:
            marked = result.shape(f"covariance.{labels[0]}.{variable}")[0] <= MAX_MARKED_VALUES
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


def _path_panels(result, labels):
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
            times.append(_panel_of_labels(result, "", labels, f"q[{particle}][{axis}]", title, within="ylim"))
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
    first, last = estimate_end_periods(time, _values(result, dense["of"]))
    begin, end = float(time[0]), float(time[-1])
    all_series = [{key: value for key, value in series.items() if key != "band"} for series in panel["series"]]
    return [
        panel | {"title": f"{panel['title']}, {which} periods", "series": all_series, "xlim": limits}
        for which, limits in (
            ("first", [begin, min(begin + DETAIL_PERIODS * first, end)]),
            ("last", [max(end - DETAIL_PERIODS * last, begin), end]),
        )
    ]


def _observable_panels(result, labels):
    """The action of contact systems, and the recipe's observables."""
    action = _panel_of_labels(result, "", labels, "z", "action", within="ylim")
    names = result.recipe.get("system", {}).get("observables", {})
    # The file describes observables by their formulas, which are too long for an axis.
    return [action, *(_panel_of_labels(result, "", labels, name, name, within="ylim", ylabel=name) for name in names)]


def _mode_panel(result, labels):
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


def _section_panels(result, labels):
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
    return _panel_of_labels(result, "", labels, y, title, x=x, within="ylim", **limits, **keys)


def _ledger_panels(result, labels):
    """Energy of the particles (all terms for a single label), and deviation of the sum from its start."""
    if len(labels) == 1:
        terms, shown = [], []
        for index, (name, text) in enumerate(_TERMS.items()):
            values = _values(result, f"{labels[0]}.{name}")
            if np.any(np.nan_to_num(values)):
                terms.append({"of": f"{labels[0]}.{name}", "name": text, "color": default_styles.nth_colour(index)})
                shown.append(values)
        _mark_dense_series(terms, shown)
        energies = {"title": "energy", "ylabel": "energy", "series": terms} if terms else None
    else:
        title = "energy of the particles"
        energies = _panel_of_labels(result, "", labels, "energy_particles", title, within="ylim", ylabel="energy")
    return [energies, _deviation_panel(result, labels)]


def _deviation_panel(result, labels):
    """Deviation of the sum of all energies, including dissipated energy and work, from its start."""
    title, keys = "sum of all energies", {"minus": "energy_total.first", "ylabel": "deviation from the start"}
    panel = _panel_of_labels(result, "", labels, "energy_total", title, yscale="log", **keys)
    if panel and any(series.get("band") for series in panel["series"]):
        panel["ylabel"] = "largest deviation"
    return panel


def _difference_panels(result):
    """Differences of closed and reduced runs, with a mark at the echo if it is the same for all."""
    labels = result.groups("reduction")
    particles = max((result.shape(f"reduction.{label}.difference")[-1:] for label in labels), default=(0,))
    echoes = {float(_values(result, f"reduction.{label}.echo_time")) for label in labels}
    panels = []
    for particle in range(min((*particles, MAX_PARTICLES))):
        title = "closed against reduced" + (f", particle {particle}" if particles > (1,) else "")
        keys = {"yscale": "log", "ylabel": "largest difference"}
        panel = _panel_of_labels(result, "reduction", labels, f"difference[{particle}]", title, **keys)
        if panel:
            if len(echoes) == 1 and min(echoes) < panel["xlim"][1]:
                panel["marks"] = [{"at": min(echoes), "name": "echo"}]
            panels.append(panel)
    return panels


def _panel_of_labels(
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
        values = _values(result, group_prefix + variable)
        if minus:
            values = values - _values(result, group_prefix + minus)
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


def _figure(*panels, kind="lines"):
    """The table `figure` of the panels that are not None; None if there are none."""
    panels = [panel for panel in panels if panel]
    if not panels:
        return None
    # Orbits are square. Three panels fill one row, so that none stands alone in a second one.
    in_threes = len(panels) == 3 or any(panel["title"].startswith("orbit") for panel in panels)
    # A position and its first and last periods fill a row.
    in_threes = in_threes or any(panel["title"].endswith(", first periods") for panel in panels)
    columns = 3 if in_threes else min(len(panels), 2)
    width = style.COLUMN_WIDTH if columns == 1 else style.PAGE_WIDTH
    return {"kind": kind, "columns": columns, "width": width, "legend": "shared", "panels": panels}


# --- contents of the file ----------------------------------------------------------------------------------------------


def _labels_with_paths(result):
    """Labels whose path is in the file."""
    return [label for label in result.labels if (result.shape(f"{label}.q") or (0,))[0] > 1]


def _values(result, path):
    """Values of a quantity with NaN for undrawable ones; a single NaN if the file does not contain it."""
    try:
        return axis_limits.mask_undrawable(result.read(path).values)
    except UnreadableError:
        raise
    except AnalysisError:
        return np.array(np.nan)
