"""Integrators of a recipe by the paths of their quantities."""


def integrator_of(recipe, path):
    """Find the table of `[[integrators]]` whose label occurs in the path of a quantity.

    Parameters
    ----------
    recipe : dict
        The recipe.
    path : str or list of float
        Path of a quantity, or numbers given in its place.

    Returns
    -------
    dict or None
        None if the quantity belongs to no integrator.
    """
    if not isinstance(path, str):
        return None
    tables = {table.get("name") or table.get("method"): table for table in recipe.get("integrators", [])}
    parts = path.split("[")[0].replace("/", ".").split(".")
    return next((tables[part] for part in parts if part in tables), None)
