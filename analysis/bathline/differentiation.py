"""Costs of recipes with their exact gradients, from a process that stays alive between evaluations."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from bathline.exceptions import FAILURES, BathlineError, UsageError
from bathline.runner import Recipe, _message_of, _options, _recipe_and_text
from bathline.server import Server

_NAN = float("nan")


class Problem:
    """The cost of a recipe's first integrator as a function of its controls, start, masses and parameters.

    Each evaluation is a run and a run backwards in a process that lives as long as the object, without any file:
    `scipy.optimize.minimize(problem.cost, problem.start, jac=problem.gradient)`. Use it in a `with` statement, or call
    `close`.

    Parameters
    ----------
    recipe : path-like, str or dict
        As for `bathline.run`; its study is replaced where `of` is given.
    of : str or dict, optional
        The cost: the formula `final_cost`, or a dict with `final_cost` and `running_cost`; by default those of the
        recipe.
    by : str or sequence of str, optional
        What it is a function of: names of controls and parameters, "q0", "v0", "mass"; by default that of the study.
    overrides : dict, optional
        As for `bathline.run`.

    Raises
    ------
    UsageError
        If the program refuses the recipe, such as a method without costates.
    """

    def __init__(
        self,
        recipe: Recipe,
        of: str | Mapping | None = None,
        by: str | Sequence[str] | None = None,
        overrides: Mapping | None = None,
    ):
        settings = dict(overrides or {})
        if of is not None:
            settings["study"] = {"kind": "gradient", **({"final_cost": of} if isinstance(of, str) else dict(of))}
        if by is not None:
            settings["study.by"] = [by] if isinstance(by, str) else list(by)
        name, text = _recipe_and_text(recipe)
        self._server = Server()
        try:
            reply = self._execute(["open-problem", name, *_options(settings)], text)
        except BaseException:
            self.close()
            raise
        self._parts = {part["name"]: np.array(part["values"], dtype=float) for part in json.loads(reply)}
        self._at, self._cost, self._gradient = None, _NAN, None

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """dict : The values of the recipe by name, in the order of the unknowns."""
        return {name: values.copy() for name, values in self._parts.items()}

    @property
    def start(self) -> np.ndarray:
        """ndarray : The same as one array, the unknowns of `cost` and `gradient`."""
        return np.concatenate([*self._parts.values(), np.empty(0)])

    def split(self, unknowns: Sequence[float]) -> dict[str, np.ndarray]:
        """Unknowns, or a gradient, by name.

        Parameters
        ----------
        unknowns : array of the size of `start`
            One number for each unknown.

        Returns
        -------
        dict
            An array for each name.
        """
        ends = np.cumsum([values.size for values in self._parts.values()])
        return dict(zip(self._parts, np.split(np.array(unknowns, dtype=float), ends[:-1]), strict=True))

    def cost(self, unknowns: Sequence[float]) -> float:
        """Evaluate the cost.

        Parameters
        ----------
        unknowns : array of the size of `start`
            One number for each unknown.

        Returns
        -------
        float
            The cost.

        Raises
        ------
        NumericalFailure
            If the run fails.
        """
        self._evaluate(unknowns)
        return self._cost

    def gradient(self, unknowns: Sequence[float]) -> np.ndarray:
        """Evaluate the gradient, exact to round-off; after `cost` at the same place without a further run.

        Parameters
        ----------
        unknowns : array of the size of `start`
            One number for each unknown.

        Returns
        -------
        ndarray
            The derivative of the cost by each unknown.

        Raises
        ------
        NumericalFailure
            If the run fails.
        """
        self._evaluate(unknowns)
        return self._gradient.copy()

    def close(self) -> None:
        """End the process."""
        self._server.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _evaluate(self, unknowns):
        numbers = np.array(unknowns, dtype=float).ravel()  # a copy: callers change their arrays in place
        if self._at is not None and np.array_equal(numbers, self._at):
            return
        reply = json.loads(self._execute(["evaluate", *map(repr, numbers.tolist())]))
        self._cost = _NAN if reply["cost"][0] is None else reply["cost"][0]
        self._gradient = np.array(reply["gradient"], dtype=float)
        self._at = numbers

    def _execute(self, arguments, text=None):
        reply = self._server.execute(arguments, text)
        if reply["code"] == 0:
            return reply["output"]
        raise FAILURES.get(reply["code"], BathlineError)(_message_of(reply), reply["code"])


def gradient(
    recipe: Recipe,
    of: str | Mapping | None = None,
    by: str | Sequence[str] | None = None,
    overrides: Mapping | None = None,
) -> dict[str, np.ndarray]:
    """The exact gradient of the cost of a recipe's first integrator.

    Parameters
    ----------
    recipe, of, by, overrides
        As for `Problem`.

    Returns
    -------
    dict
        An array of derivatives for each name in `by`; `Problem` has the cost as well and evaluates it elsewhere.

    Raises
    ------
    UsageError
        If the program refuses the recipe.
    NumericalFailure
        If the run fails.
    """
    with Problem(recipe, of, by, overrides) as problem:
        if not problem.parts:
            raise UsageError("the cost is a function of nothing: name a control, a parameter, q0, v0 or mass in `by`", 2)
        return problem.split(problem.gradient(problem.start))
