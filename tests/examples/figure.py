"""A figure of one's own: the phase portrait of a particle, momentum against position, a curve for each integrator.

In the tree this is `analysis/bathline/figure_kinds/phase.py`; a recipe asks for it by `[figure] kind = "phase"`, and the name stands
in the list of kinds in `src/recipe/recipe_schema.cpp`, so that a misspelt one is found before the run.
"""

from bathline import style


def draw(result, spec):
    """The figure of an open result, by the recipe's table `figure`."""
    figure = style.new_figure(spec.get("width", style.COLUMN_WIDTH), spec.get("height", style.COLUMN_WIDTH))
    axes = figure.subplots()
    for label in result.labels:
        q, p = (result.quantity(f"{label}.{name}[0]") for name in ("q", "p"))
        axes.plot(q.values, p.values, label=label)
    axes.set_xlabel(f"position ({q.units})")
    axes.set_ylabel(f"momentum ({p.units})")
    axes.legend()
    return figure
