"""What a run says to machines: a log of JSON lines, and the stages of PETSc's own report."""

import json
import unittest

from program import OSCILLATOR, FolderTest, changed, run, write_recipe


class LogTest(FolderTest):
    def test_json_lines_beside_the_messages(self):
        recipe = write_recipe(self.folder / 'a "quoted" name.toml', changed(OSCILLATOR, time={"steps": 20000}))
        log = self.folder / "log.jsonl"
        words = ["run", recipe, "-o", self.folder / "a.h5", "--progress", "none", "--log-json", log]
        for code in (0, 2):  # the second time the result is there
            outcome = run(words, ranks=2)
            self.assert_code(outcome, code)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            self.assertEqual(sorted(line), ["level", "message", "time"])
        self.assertEqual([line["level"] for line in lines if line["level"] != "warning"], ["info", "info", "info", "error"])
        self.assertIn('a "quoted" name.toml', lines[0]["message"])
        self.assertTrue([line for line in lines if "echo" in line["message"]])
        self.assertIn("exit code 0", [line for line in lines if line["level"] == "info"][1]["message"])
        # The human log has the warnings and errors only.
        self.assertNotIn("exit code", outcome.err)
        self.assertIn("exists already", outcome.err)

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
