#!/usr/bin/env python3
"""Writes the recipe reference in experiments/README.md anew from what `bathline describe` prints.

    experiments/reference.py            writes it
    experiments/reference.py --check    exit code 1 where it is not what the program says
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("BATHLINE", str(ROOT / "build" / "bathline"))
README = ROOT / "experiments" / "README.md"
BEGIN, END = "<!-- reference: written by experiments/reference.py -->\n", "<!-- end of the reference -->\n"
KINDS = ("systems", "potentials", "environments", "integrators", "studies")


def said(*arguments):
    """What the program prints."""
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=True).stdout


def reference():
    """The text between the two marks."""
    text = [BEGIN, "\n### Sections and keys\n\n```text\n", said("describe", "recipe"), "```\n"]
    told = set()  # What two things are called is described once, with both.
    for kind in KINDS:
        text.append(f"\n### {kind.capitalize()}\n")
        for line in said("list", kind).splitlines():
            name = line.split()[0]
            if name in told:
                continue
            told.add(name)
            text.append(f"\n```text\n{said('describe', name)}```\n")
    text += ["\n", END]
    return "".join(line.rstrip() + "\n" for line in "".join(text).splitlines())


def main():
    old = README.read_text()
    before, rest = old.split(BEGIN)
    new = before + reference() + rest.split(END)[1]
    if "--check" in sys.argv[1:]:
        if new != old:
            sys.exit("experiments/README.md is not what the program says: run experiments/reference.py")
        return
    README.write_text(new)


if __name__ == "__main__":
    main()
