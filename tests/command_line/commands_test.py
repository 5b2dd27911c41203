"""The subcommands that run nothing: list, describe, check, claims, --version and --help."""

import re
import unittest

from program import OSCILLATOR, SOURCE, FolderTest, ask, changed, run, toml, write_recipe

LISTS = {
    "systems": ["single-oscillator", "dual-oscillator", "binary-oscillator", "kepler", "pair-potential"],
    "potentials": ["harmonic", "quartic", "double-well", "morse", "lennard-jones"],
    "environments": ["spring-mass-line", "spring-inerter-line"],
    "integrators": ["gamma", "stoermer-verlet", "explicit-euler", "implicit-euler", "rk4", "exact"],
    "studies": ["trajectory", "convergence", "reduction"],
    "recipes": ["limebeer2020/fig04", "limebeer2020/ledger"],
}


def names_in(text):
    """The first word of every indented line."""
    return re.findall(r"^ *(\S+) {2,}\S", text, re.MULTILINE)


class ListTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.all = run(["list"])

    def test_everything_under_its_heading(self):
        self.assert_code(self.all, 0)
        self.assertEqual([line for line in self.all.out.splitlines() if line[0] != " "], list(LISTS))

    def test_each_list_alone_has_the_same_names(self):
        together = []
        for what, known in LISTS.items():
            outcome = run(["list", what])
            self.assert_code(outcome, 0)
            names = names_in(outcome.out)
            self.assertLessEqual(set(known), set(names), what)
            together += names
        self.assertEqual(names_in(self.all.out), together)

    def test_an_unknown_list(self):
        outcome = run(["list", "sytems"])
        self.assert_code(outcome, 2)
        self.assertIn("systems", outcome.err)
        self.assertEqual(outcome.out, "")

    def test_integrators_have_their_properties_before_their_notes(self):
        rk4 = " ".join(run(["describe", "rk4"]).out.split())
        self.assertIn("Notes Order 4, not symplectic", rk4)
        yoshida = " ".join(run(["describe", "yoshida4"]).out.split())
        self.assertRegex(yoshida, r"Notes Order 4, symplectic.* up to h omega = 1\.573\..* Some of its steps are negative")

    def test_every_name_of_a_list_can_be_described(self):
        for what in ("systems", "potentials", "environments", "integrators", "studies"):
            for line in ask(["list", what]).out.splitlines():
                name, summary = line.split(None, 1)
                outcome = ask(["describe", name])
                self.assert_code(outcome, 0)
                self.assertTrue(outcome.out.startswith(f"{name} ("), outcome.out)
                # A list has the aliases beside the summary; a description has them below their own heading.
                summary, _, aliases = summary.partition("; also ")
                # A long summary is on several lines.
                self.assertIn(summary, " ".join(outcome.out.split()), name)
                headings = ["Parameters", "Source"] + (["Aliases", *aliases.split(", ")] if aliases else [])
                for heading in headings:
                    self.assertIn(heading, outcome.out, name)

    def test_several_ranks_print_it_once(self):
        outcome = run(["list"], ranks=2)
        self.assert_code(outcome, 0)
        self.assertEqual(outcome.out, self.all.out)


class DescribeTest(FolderTest):
    def test_the_recipe_with_all_its_sections(self):
        outcome = run(["describe", "recipe"], ranks=2)
        self.assert_code(outcome, 0)
        for section in ("[system]", "[[environments]]", "[time]", "[[integrators]]", "[study]", "[output]"):
            self.assert_said_once(outcome, f"\n{section} (")

    def test_sections_and_statistics_have_pages(self):
        outcome = run(["describe", "claims"])
        self.assert_code(outcome, 0)
        for said in ("[[claims]] (any number)", "relative_tolerance", "statistics\n", "peak_to_peak"):
            self.assertIn(said, outcome.out)
        statistics = run(["describe", "statistics"]).out
        self.assertTrue(outcome.out.endswith(statistics))
        for name in ("first", "min_at", "rms", "count"):
            self.assertRegex(statistics, rf"(?m)^  {name} +\S")
        self.assertIn("did you mean `statistics`?", run(["describe", "statistic"]).err)

    def test_a_similar_name_is_suggested(self):
        for ranks in (None, 2):
            outcome = run(["describe", "stormer-verlet"], ranks)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, "unknown name `stormer-verlet`")
            self.assert_said_once(outcome, "did you mean `stoermer-verlet`?")
            self.assertEqual(outcome.out, "")

    def test_list_is_suggested_for_a_name_similar_to_none(self):
        outcome = run(["describe", "qqqqqqqqqqqq"])
        self.assert_code(outcome, 2)
        self.assertIn("bathline list", outcome.err)


class CheckTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.recipe = write_recipe(cls.folder / "good.toml", OSCILLATOR)

    def test_the_cases_of_a_valid_recipe(self):
        alone = run(["check", self.recipe], cwd=self.folder)
        self.assert_code(alone, 0)
        self.assertIn("An oscillator", alone.out)
        self.assertRegex(alone.out, r"closed +gamma on the closed system, 60 steps of 0.05, 45 sites \(line\)")
        self.assertRegex(alone.out, r"open +gamma on the open system, 60 steps of 0.05\n")
        self.assertEqual(alone.err, "")
        together = run(["check", self.recipe], ranks=2, cwd=self.folder)
        self.assertEqual(together, alone)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["good.toml"])

    def test_oscillators_are_not_called_sites(self):
        bath = {"name": "bath", "kind": "heat-bath", "oscillators": 30, "damping": 0.3, "omega_max": 9.0}
        mixed = changed(OSCILLATOR, environments=[*OSCILLATOR["environments"], bath, bath | {"name": "other"}])
        outcome = run(["check", write_recipe(self.new_folder() / "mixed.toml", mixed)])
        self.assertRegex(outcome.out, r"steps of 0.05, 45 sites \(line\), 60 oscillators \(bath, other\)\n")

    def test_settings_are_applied(self):
        outcome = run(["check", self.recipe, "--set", "environments.0.sites=77", "--set", "time.end=1.0"])
        self.assert_code(outcome, 0)
        self.assertIn("20 steps of 0.05, 77 sites", outcome.out)

    def test_an_invalid_recipe(self):
        recipe = write_recipe(self.new_folder() / "bad.toml", changed(OSCILLATOR, system={"m": -1.0}))
        outcome = run(["check", recipe])
        self.assert_code(outcome, 2)
        self.assertIn("must be positive", outcome.err)
        self.assertEqual(outcome.out, "")


class NamesOfRecipesTest(FolderTest):
    """A recipe is a path or a name that `list recipes` shows."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = cls.new_folder()
        (cls.library / "a2010").mkdir()
        (cls.library / "b2020").mkdir()
        claims = [
            {"name": "small", "quantity": "closed.q.max", "minus": "open.q.max", "bounds": [-1.0, 1.0]},
            {"name": "start", "quantity": "open.q.first", "expect": 1.0, "tolerance": 0.5, "source": "by definition"},
        ]
        paper = {"key": "b2020", "figure": "7", "note": "The paper leaves the step open."}
        write_recipe(cls.library / "b2020" / "fig07.toml", changed(OSCILLATOR, paper=paper, claims=claims))
        write_recipe(cls.library / "a2010" / "many.toml", toml(OSCILLATOR) + "[sweep]\nsystem.k = [1.0, 2.0]\n")
        cls.names = {"BATHLINE_EXPERIMENTS": str(cls.library)}

    def must(self, *arguments, code=0, ranks=None):
        outcome = run(arguments, ranks, cwd=self.folder, env=self.names)
        self.assert_code(outcome, code)
        return outcome

    def test_all_commands_with_a_recipe(self):
        self.assertIn("An oscillator", self.must("check", "b2020/fig07", ranks=2).out)
        self.must("run", "b2020/fig07", "--progress", "none", ranks=2)
        self.assertTrue((self.folder / "fig07.h5").exists())
        self.must("resume", "fig07.h5", "--recipe", "b2020/fig07")
        self.assertEqual(self.must("sweep", "a2010/many", "--count").out, "2\n")

    def test_a_file_wins_over_a_name(self):
        (self.folder / "b2020").mkdir()
        write_recipe(self.folder / "b2020" / "fig07", changed(OSCILLATOR, title="Another one"))
        self.assertIn("Another one", self.must("check", "b2020/fig07").out)
        (self.folder / "b2020" / "fig07").unlink()

    def test_neither_a_file_nor_a_name(self):
        for name, advice in (
            ("b2020/fig7", "did you mean `b2020/fig07`?"),
            ("fig07", "did you mean `b2020/fig07`?"),
            ("c2030/many", "did you mean `a2010/many`?"),
            ("qqqqqqqqqqqqq", "`bathline list recipes`"),
        ):
            # On several ranks one case suffices to show that only one rank prints it.
            for command, ranks in (("run", None), ("check", 2 if name == "fig07" else None), ("sweep", None)):
                outcome = self.must(command, name, code=2, ranks=ranks)
                self.assert_said_once(outcome, f"cannot read the recipe {name}: No such file")
                self.assert_said_once(outcome, advice)

    def test_what_it_does_and_claims(self):
        outcome = self.must("describe", "b2020/fig07", ranks=2)
        self.assertEqual(outcome.err, "")
        for words in (
            "b2020/fig07 (recipe)\n  An oscillator\n",
            "b2020: figure 7\n      The paper leaves the step open.\n",
            "trajectory: runs every integrator",
            "line: spring-mass-line, ",
            "closed: gamma on the closed system (line), ",
            "open: gamma on the open system, ",
            "small: closed.q.max minus open.q.max in [-1, 1]\n",
            "start: open.q.first = 1 +- 0.5\n      by definition\n",
        ):
            self.assert_said_once(outcome, words)
        self.assertIn("A sweep of 2 runs", self.must("describe", "a2010/many").out)
        path = self.library / "b2020" / "fig07.toml"
        self.assertEqual(self.must("describe", path).out.splitlines()[1:], outcome.out.splitlines()[1:])
        self.assertIn("did you mean `b2020/fig07`?", self.must("describe", "b2020/fig7", code=2).err)

    def test_installed_recipes(self):
        names = [line.split()[0] for line in run(["list", "recipes"]).out.splitlines()]
        self.assertGreater(len(names), 25)
        for name in {*names[::10], "ours/kernel_from_data"}:
            outcome = run(["describe", name])
            self.assert_code(outcome, 0)
            # Studies of measured data have no cases.
            for heading in (f"{name} (recipe)", "Study", *(["Cases"] if name != "ours/kernel_from_data" else [])):
                self.assertIn(heading, outcome.out)


class ClaimsTest(FolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        start = {"name": "the-start", "quantity": "closed.q.first", "expect": 1.0, "tolerance": 0.0}
        wrong = {"name": "a-wrong-one", "quantity": "closed.q.first", "bounds": [2.0, 3.0]}
        cls.results = {}
        for name, claims in (("good", [start]), ("bad", [start, wrong]), ("none", None)):
            recipe = write_recipe(cls.folder / f"{name}.toml", changed(OSCILLATOR, claims=claims))
            cls.results[name] = run(["run", recipe, "-o", cls.folder / f"{name}.h5", "--progress", "none"])

    def test_a_table_of_what_the_run_has_printed(self):
        for name, code in (("good", 0), ("bad", 1)):
            self.assert_code(self.results[name], code)
            outcome = run(["claims", self.folder / f"{name}.h5"])
            self.assert_code(outcome, code)
            self.assertEqual(outcome.out, self.results[name].out)
            self.assertRegex(outcome.out, r"(?m)^.*PASS.*the-start|the-start.*PASS")
        self.assertRegex(outcome.out, r"(?m)^.*FAIL.*a-wrong-one|a-wrong-one.*FAIL")

    def test_a_file_without_claims(self):
        outcome = run(["claims", self.folder / "none.h5"])
        self.assert_code(outcome, 0)
        self.assertIn("no claims", outcome.out)

    def test_all_ranks_end_with_the_code_and_one_prints(self):
        outcome = run(["claims", self.folder / "bad.h5"], ranks=2)
        self.assert_code(outcome, 1)
        self.assert_said_once(outcome, "a-wrong-one")

    def test_files_that_are_not_results(self):
        for name, reason in (("absent.h5", "no(t| such)? .*file"), ("good.toml", "not an HDF5 file")):
            outcome = run(["claims", self.folder / name])
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, name)
            self.assertRegex(outcome.err.lower(), reason.lower())

    def test_a_missing_file_does_not_leave_ranks_waiting(self):
        outcome = run(["claims", self.folder / "absent.h5"], ranks=2)
        self.assert_code(outcome, 2)
        self.assert_said_once(outcome, "absent.h5")


class VersionTest(FolderTest):
    def test_all_libraries_once(self):
        for ranks in (None, 2):
            outcome = run(["--version"], ranks)
            self.assert_code(outcome, 0)
            self.assertRegex(outcome.out, r"\A[\x20-\x7e\n]+\Z")
            self.assertRegex(outcome.out, r"^bathline \d+\.\d+\.\d+\n")
            for name in ("commit", "compiler", "MPI", "PETSc", "HDF5", "Eigen"):
                rows = re.findall(rf"(?m)^{name} +(\S.*)$", outcome.out)
                self.assertEqual(len(rows), 1, f"{name}: {outcome.out}")
                if name != "commit":
                    self.assertRegex(rows[0], r"\d+\.\d+\.\d+", name)


class UsageTest(FolderTest):
    def test_help(self):
        for ranks in (None, 2):
            outcome = run(["--help"], ranks)
            self.assert_code(outcome, 0)
            for command in ("run", "check", "list", "describe", "claims"):
                self.assertEqual(len(re.findall(rf"(?m)^  {command} ", outcome.out)), 1, outcome.out)
            self.assert_said_once(outcome, "Usage:")
            self.assert_said_once(outcome, "Exit codes:")

    def test_help_of_a_command(self):
        outcome = run(["run", "--help"])
        self.assert_code(outcome, 0)
        for option in ("--set", "--output", "--overwrite", "--progress"):
            self.assertIn(option, outcome.out)

    def test_wrong_usage(self):
        wrong = [
            [],
            ["frobnicate"],
            ["run"],
            ["check"],
            ["describe"],
            ["claims"],
            ["run", "a.toml", "--colour", "red"],
            ["run", "a.toml", "--progress", "loud"],
            ["run", "a.toml", "b.toml"],
            ["list", "--", "-ksp_type", "cg"],
        ]
        for arguments in wrong:
            with self.subTest(arguments=arguments):
                outcome = run(arguments, cwd=self.folder)
                self.assert_code(outcome, 2)
                self.assertEqual(outcome.out, "")
                self.assertNotEqual(outcome.err, "")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_invalid_words_are_named(self):
        for arguments, message in (
            (["frobnicate"], "error: unknown command `frobnicate`; known are `run`, "),
            (["chek", "a.toml"], "error: unknown command `chek`; did you mean `check`?"),
            (["run", "a.toml", "--sett", "time.end=3"], "error: `run` has no option `--sett`; did you mean `--set`?"),
            (["run", "a.toml", "--wall-time", "-3"], "-3 is not a positive number of seconds"),
            (["claims", self.folder], "is not a regular file"),
        ):
            with self.subTest(arguments=arguments):
                outcome = run(arguments, cwd=self.folder)
                self.assert_code(outcome, 2)
                self.assert_said_once(outcome, message)

    def test_settings_before_the_recipe_take_one_value(self):
        recipe = write_recipe(self.new_folder() / "a.toml", OSCILLATOR)
        words = ["run", "--set", "time.steps=3", recipe, "--unset", "integrators.open.gamma", "-o", recipe.with_name("a.h5")]
        self.assert_code(run([*words, "--progress", "none"]), 0)

    def test_wrong_usage_is_reported_once(self):
        outcome = run(["frobnicate"], ranks=2)
        self.assert_code(outcome, 2)
        self.assertEqual(outcome, run(["frobnicate"]))


class FigureCheckTest(FolderTest):
    """`check` finds mistakes in figures."""

    def check(self, figure):
        panel = '[[figure.panels]]\nseries = [{ of = "closed.q[0]" }]\n'
        return run(["check", write_recipe(self.folder / "figure.toml", toml(OSCILLATOR) + f"[figure]\n{figure}\n{panel}")])

    def test_kinds_are_those_of_the_analysis(self):
        kinds = [path.stem for path in (SOURCE / "analysis" / "bathline" / "figure_kinds").glob("[a-z]*.py")]
        self.assertGreater(len(kinds), 3)
        for kind in kinds:
            self.assert_code(self.check(f'kind = "{kind}"'), 0)
        outcome = self.check('kind = "pie"')
        self.assert_code(outcome, 2)
        for kind in kinds:
            self.assertIn(kind, outcome.err)

    def test_sizes(self):
        self.assert_code(self.check("width = 7.0\nheight = 40.0\ncolumns = 3"), 0)
        for wrong in ("width = 1e6", "height = 41.0", "width = 0.1", "columns = 1000000"):
            outcome = self.check(wrong)
            self.assert_code(outcome, 2)
            self.assert_said_once(outcome, wrong.split(" ")[0] + " = ")


if __name__ == "__main__":
    unittest.main()
