"""`bathline plot`: finding and starting the plotting script, and messages if something is missing."""

import unittest

from program import OSCILLATOR, SOURCE, FolderTest, run, write_recipe


class PlotTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.result = cls.folder / "-own result.h5"
        outcome = run(["run", write_recipe(cls.folder / "own.toml", OSCILLATOR), f"--output={cls.result}"])
        assert outcome.code == 0, outcome.text

    def assert_pictures(self, stem):
        self.assertTrue(stem.with_name(stem.name + ".png").read_bytes().startswith(b"\x89PNG"))
        self.assertTrue(stem.with_name(stem.name + ".pdf").read_bytes().startswith(b"%PDF"))

    def test_pictures_are_written_beside_the_result(self):
        outcome = run(["plot", self.result])
        self.assert_code(outcome, 0)
        self.assert_pictures(self.folder / "-own result")

    def test_pictures_are_written_to_the_given_path_once(self):
        outcome = run(["plot", self.result, "-o", self.folder / "new" / "fig.1"], ranks=2)
        self.assert_code(outcome, 0)
        self.assert_pictures(self.folder / "new" / "fig.1")

    def test_the_script_reports_invalid_results(self):
        for ranks in (None, 2):
            outcome = run(["plot", self.folder / "none.h5"], ranks)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, "none.h5: no such file")

    def test_a_missing_interpreter(self):
        outcome = run(["plot", self.result], env={"BATHLINE_PYTHON": "/no/python"})
        self.assert_code(outcome, 2)
        self.assertIn("cannot start the Python interpreter /no/python: No such file", outcome.err)
        self.assertIn("set BATHLINE_PYTHON to one with h5py", outcome.err)

    def test_a_missing_module(self):
        folder = self.folder / "modules"
        folder.mkdir()
        (folder / "h5py.py").write_text('raise ModuleNotFoundError("No module named h5py", name="h5py")\n')
        outcome = run(["plot", self.result], env={"PYTHONPATH": str(folder)})
        self.assert_code(outcome, 2)
        self.assertRegex(outcome.err, r"figure: \S+ has no module h5py; .*pip install h5py.*conda.*python3-h5py.*BATHLINE_PYTHON")
        self.assertNotIn("Traceback", outcome.err)

    def test_a_missing_folder(self):
        outcome = run(["plot", self.result], env={"BATHLINE_ANALYSIS": str(self.folder / "nowhere")})
        self.assert_code(outcome, 2)
        self.assertIn("nowhere/figure.py does not exist; set BATHLINE_ANALYSIS to the folder", outcome.err)

    def test_the_folder_is_found_from_anywhere(self):
        link = self.folder / "elsewhere"
        link.symlink_to(SOURCE / "analysis")
        outcome = run(["plot", self.result.name], cwd=self.folder, env={"BATHLINE_ANALYSIS": str(link)})
        self.assertNotEqual(outcome.code, 0)  # a name that begins with a dash is an option
        outcome = run(["plot", f"./{self.result.name}"], cwd=self.folder)
        self.assert_code(outcome, 0)


if __name__ == "__main__":
    unittest.main()
