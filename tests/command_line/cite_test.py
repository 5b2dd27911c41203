"""`bathline cite`, and its agreement with CITATION.cff."""

import re
import unittest

from program import OSCILLATOR, SOURCE, FolderTest, ask, changed, toml, write_recipe

# The keys of CITATION.cff that its schema (citation-file-format 1.2.0) requires or that cite needs, with their patterns.
PATTERNS = {
    "cff-version": r"1\.2\.0",
    "message": r'".+"',
    "title": r'".+"',
    "type": "software",
    "version": r'"\d+\.\d+\.\d+"',
    "date-released": r'"[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])"',
    "license": "BSD-3-Clause",
    "authors": "",
}


def keys_in(bibtex):
    """The keys of the entries; checks that each entry is closed."""
    entries = re.findall(r"^@\w+\{([^,\s]+),\n(?:  .*\n)+\}$", bibtex, re.MULTILINE)
    assert len(entries) == bibtex.count("\n@") + bibtex.startswith("@"), bibtex
    return entries


class CiteTest(FolderTest):
    def cited(self, recipe):
        outcome = ask(["cite", write_recipe(self.folder / "own.toml", recipe)])
        self.assert_code(outcome, 0)
        return keys_in(outcome.out)

    def test_the_program_alone(self):
        outcome = ask(["cite"])
        self.assert_code(outcome, 0)
        self.assertEqual(keys_in(outcome.out), ["bathline"])
        version = re.search(r"bathline (\S+)", ask(["--version"]).out)[1]
        self.assertIn(f"version = {{{version}}}", outcome.out)

    def test_the_file_for_citations_is_valid_and_says_the_same(self):
        text = (SOURCE / "CITATION.cff").read_text()
        values = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
        self.assertEqual(sorted(values), sorted(PATTERNS))
        for key, pattern in PATTERNS.items():
            self.assertRegex(values[key], rf"^(?:{pattern})$", key)
        authors = re.findall(r'^  - name: "(.+)"$', text, re.MULTILINE)
        self.assertEqual(len(authors), 1)
        bibtex = ask(["cite"]).out
        for said in (values["title"].strip('"'), values["version"].strip('"'), authors[0], values["date-released"][1:5]):
            self.assertIn(f"{{{said}}}", bibtex)

    def test_a_recipe_cites_its_paper_its_methods_and_its_claims(self):
        self.assertEqual(self.cited(OSCILLATOR), self.cited(changed(OSCILLATOR, title="hairer2006x xhairer2006")))
        base = set(self.cited(OSCILLATOR))
        self.assertIn("farshi2018", base)
        claim = {"name": "x", "quantity": "open.q.max", "bounds": [0.0, 9.0], "source": "simoes2020, eq. (3)"}
        self.assertEqual(set(self.cited(changed(OSCILLATOR, claims=[claim]))), base | {"simoes2020"})
        self.assertEqual(set(self.cited(changed(OSCILLATOR, paper={"key": "luo2010"}))), base | {"luo2010"})
        method = {"method": "yoshida4", "on": "open", "name": "open"}
        self.assertIn("yoshida1990", self.cited(changed(OSCILLATOR, integrators=[method])))
        self.assertNotIn("yoshida1990", base)
        swept = toml(OSCILLATOR) + '[sweep]\nintegrators.open.method = ["gamma", "yoshida4"]\n'
        path = self.folder / "swept.toml"
        path.write_text(swept)
        with_sets = ["--unset", "integrators.open.gamma"]
        self.assertIn("yoshida1990", keys_in(ask(["cite", path, *with_sets]).out))
        one = ask(["cite", path, *with_sets, "--unset", "sweep", "--set", "integrators.open.method=rk4"])
        self.assertNotIn("yoshida1990", keys_in(one.out))

    def test_names_and_titles_are_no_entries_of_catalogues(self):
        base = self.cited(OSCILLATOR)
        environment = {"name": "yoshida4", "kind": "spring-mass-line", "M": 0.1, "lambda": 1.0, "sites": 8, "attach": 0}
        line = set(self.cited(changed(OSCILLATOR, environments=[environment | {"name": "line"}])))
        self.assertEqual(set(self.cited(changed(OSCILLATOR, environments=[environment]))), line)
        waves = {"environments": [environment], "figure": {"kind": "wave"}, "output": {"snapshots": 10}}
        self.assertEqual(set(self.cited(changed(OSCILLATOR, title="simoes2020", **waves))), line)
        wave = set(self.cited(changed(OSCILLATOR, study={"kind": "energy"})))
        self.assertNotEqual(wave, set(base))

    def test_every_installed_recipe_is_cited_once(self):
        keys = set(keys_in((SOURCE / "src" / "references.bib").read_text().partition("\n\n")[2]))
        for name in ("limebeer2020/fig06", "martin2018/fig7_1", "simoes2020/fig01"):
            outcome = ask(["cite", name], ranks=2)
            cited = keys_in(outcome.out)
            self.assertIn(name.partition("/")[0], cited)
            self.assertEqual(len(cited), len(set(cited)))
            self.assertLessEqual(set(cited) - {"bathline"}, keys)

    def test_mistakes_of_the_recipe(self):
        outcome = ask(["cite", write_recipe(self.folder / "bad.toml", changed(OSCILLATOR, system={"kind": "oscillator"}))])
        self.assert_code(outcome, 2)
        self.assertIn("not one of the systems", outcome.err)
        self.assertEqual(outcome.out, "")


if __name__ == "__main__":
    unittest.main()
