"""The notebooks contain no outputs, and their cells run with the described results."""

import os
import unittest
from pathlib import Path
from unittest import mock

import nbformat
from nbclient import NotebookClient

import synthetic

NOTEBOOKS = sorted((synthetic.SOURCE / "experiments" / "notebooks").glob("*.ipynb"))
PROGRAM = os.environ.get("BATHLINE", str(synthetic.SOURCE / "build" / "bathline"))


def executed(path):
    """Run a notebook in a new kernel with its folder as working directory; return it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"BATHLINE": PROGRAM}
    with mock.patch.dict(os.environ, environment, clear=True):
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}).execute()
    return notebook


def outputs(cell, kind):
    """The outputs of a cell of this media type."""
    return [output.data[kind] for output in cell.outputs if kind in output.get("data", {})]


class NotebooksTest(unittest.TestCase):
    def cells(self, name):
        """The executed code cells with the last line of each, and the warnings of the program."""
        path = next(path for path in NOTEBOOKS if path.stem == name)
        cells = [cell for cell in executed(path).cells if cell.cell_type == "code"]
        stderr = "".join(output.text for cell in cells for output in cell.outputs if output.output_type == "stream")
        warnings = [line for line in stderr.splitlines() if line.startswith("warning")]
        return [(cell.source.splitlines()[-1], cell) for cell in cells], warnings

    def test_they_are_stored_without_outputs(self):
        self.assertEqual([path.stem for path in NOTEBOOKS], ["comparing_methods", "first_recipe"])
        for path in NOTEBOOKS:
            notebook = nbformat.read(path, as_version=4)
            nbformat.validate(notebook)
            for cell in notebook.cells:
                self.assertFalse(cell.get("outputs"), path)
                self.assertIsNone(cell.get("execution_count"), path)
            self.assertLess(Path(path).stat().st_size, 10000)

    def test_the_first_recipe(self):
        cells, warnings = self.cells("first_recipe")
        self.assertEqual(["the echo of" in warning for warning in warnings], [True])
        pictures = [len(outputs(cell, "image/png")) for line, cell in cells if "plot()" in line]
        self.assertEqual(pictures, [1, 1, 1])
        claims = [outputs(cell, "text/plain")[0] for line, cell in cells if ".claims" in line]
        self.assertEqual(["True" in text for text in claims], [True, False])

    def test_comparing_methods(self):
        cells, warnings = self.cells("comparing_methods")
        self.assertEqual({"implicit-euler: energy_total drifts" in warning for warning in warnings}, {True})
        pictures = [len(outputs(cell, "image/png")) for line, cell in cells if ".plot(" in line]
        self.assertEqual(pictures, [1, 1, 1])
        (orders,) = [eval(outputs(cell, "text/plain")[0]) for line, cell in cells if "order_q" in line]
        expected = {"implicit-euler": 1, "stoermer-verlet": 2, "midpoint": 2, "rk4": 4, "gauss-2": 4}
        for label, order in expected.items():
            self.assertAlmostEqual(orders[label], order, delta=0.35)
        (table,) = [outputs(cell, "text/html")[0] for line, cell in cells if "tabulate" in line]
        self.assertIn("rk4.energy_particles.last", table)


if __name__ == "__main__":
    unittest.main()
