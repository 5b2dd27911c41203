"""The command `bathline-sweep`: table or figure of the results of a sweep.

    bathline-sweep table many.*.h5 -o many.csv
    bathline-sweep figure many.*.h5 --of closed.energy_particles.last --against time.step -o STEM
"""

import sys
from importlib import import_module


def main() -> int:
    """Run the command; returns the exit code."""
    kind = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if kind not in ("table", "figure"):
        is_help = kind in ("-h", "--help")
        print(__doc__.rstrip(), file=sys.stdout if is_help else sys.stderr)
        return 0 if is_help else 2
    sys.argv[0:2] = [f"bathline-sweep {kind}"]
    return import_module(f"bathline.commands.sweep_{kind}").main()
