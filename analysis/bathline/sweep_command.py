"""The command `bathline-sweep`: table or figure of the results of a sweep.

    bathline-sweep table many.*.h5 -o many.csv
    bathline-sweep figure many.*.h5 --of closed.energy_particles.last --against time.step -o STEM
"""

import sys
from importlib import import_module


def main() -> int:
    """Run the command; returns the exit code."""
    kind = sys.argv[1] if len(sys.argv) > 1 else ""
    if kind in ("-h", "--help"):
        print(__doc__.rstrip())
        return 0
    if kind not in ("table", "figure"):
        print(f"bathline-sweep: {f'unknown word {kind!r}; ' if kind else ''}begin with table or figure", file=sys.stderr)
        return 2
    sys.argv[0:2] = [f"bathline-sweep {kind}"]
    return import_module(f"bathline.commands.sweep_{kind}").main()
