"""Machine-readable output: a log of JSON lines, and the stages of PETSc's report."""

import json
import unittest

from program import OSCILLATOR, FolderTest, changed, run, write_recipe


class LogTest(FolderTest):
    def test_json_lines_beside_the_messages(self):
        recipe = write_recipe(self.folder / 'a "quoted" name.toml', changed(OSCILLATOR, time={"steps": 20000}))
        log = self.folder / "log.jsonl"
        words = ["run", recipe, "-o", self.folder / "a.h5", "--progress", "none", "--log-json", log]
        for code in (0, 2):  # the second time the result exists
            outcome = run(words, ranks=2)
            self.assert_code(outcome, code)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            self.assertEqual(sorted(line), ["level", "message", "time"])
        levels = ["info", "info", "info", "error", "info"]
        self.assertEqual([line["level"] for line in lines if line["level"] != "warning"], levels)
        self.assertIn('a "quoted" name.toml', lines[0]["message"])
        self.assertTrue([line for line in lines if "echo" in line["message"]])
        ends = [line["message"] for line in lines if "ended" in line["message"]]
        self.assertEqual(ends, ["bathline ended with exit code 0", "bathline ended with exit code 2"])
        # Standard error has only warnings and errors.
        self.assertNotIn("exit code", outcome.err)
        self.assertIn("exists already", outcome.err)

    def test_a_missing_recipe_is_in_the_log(self):
        log = self.folder / "absent.jsonl"
        self.assert_code(run(["run", self.folder / "absent.toml", "--log-json", log]), 2)
        messages = [json.loads(line)["message"] for line in log.read_text().splitlines()]
        self.assertEqual(len(messages), 3)
        self.assertIn("absent.toml", messages[1])
        self.assertEqual(messages[2], "bathline ended with exit code 2")

    def test_other_files_are_not_changed(self):
        recipe = write_recipe(self.folder / "d.toml", OSCILLATOR)
        before = recipe.read_text()
        outcome = run(["run", recipe, "-o", self.folder / "d.h5", "--log-json", recipe])
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "is not a log of JSON lines")
        self.assertEqual(recipe.read_text(), before)

    def test_a_log_that_cannot_be_written(self):
        recipe = write_recipe(self.folder / "b.toml", OSCILLATOR)
        outcome = run(["run", recipe, "-o", self.folder / "b.h5", "--log-json", self.folder / "none" / "log"], ranks=2)
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "cannot write the log")
        self.assertFalse((self.folder / "b.h5").exists())

    def test_stages_in_the_report(self):
        recipe = write_recipe(self.folder / "c.toml", changed(OSCILLATOR, output={"checkpoint_every": 20}))
        outcome = run(["run", recipe, "-o", self.folder / "c.h5", "--progress", "none", "--", "-log_view"])
        self.assert_code(outcome, 0)
        for stage in ("Setting up", "Study", "Checkpoint"):
            self.assertRegex(outcome.text, rf"Event Stage \d+: {stage}\n")


if __name__ == "__main__":
    unittest.main()
