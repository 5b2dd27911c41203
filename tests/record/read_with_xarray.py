"""Reads the file that python_reading_test.cpp writes with h5py, with both engines of xarray, and with netCDF's ncdump. Prints the
differences from what is expected."""
import subprocess
import sys

import h5py
import numpy
import xarray

path = sys.argv[1]
differences = []


def check(what, value, expected):
    if isinstance(value, numpy.ndarray):
        value = value.tolist()
    if isinstance(value, numpy.generic):
        value = value.item()
    if type(value) is not type(expected) or value != expected:
        differences.append(f"{what}: {value!r} instead of {expected!r}")


with h5py.File(path) as file:
    for name, expected in {"title": "Größe", "status": "complete", "recipe": "x" * 100000, "git_dirty": 0, "seed": 7,
                           "wall_time_s": 0.0, "petsc_options": "-ksp_type cg"}.items():
        if name == "git_dirty":
            check("git_dirty is 0 or 1", bool(file.attrs[name] in (0, 1)), True)
        else:
            check(name, file.attrs[name], expected)
    check("units of q", file["closed/q"].attrs["units"], "m")
    check("long_name of q", file["closed/q"].attrs["long_name"], "position, µm or m")
    check("chunks of q", file["closed/q"].chunks, (1024, 2, 1))
    check("chunks of time", file["closed/time"].chunks, (1024,))
    check("chunks of displacement", file["closed/displacement"].chunks, (1, 65536))
    check("limits of q", file["closed/q"].maxshape, (None, 2, 1))
    chunk = file["wide/q"].chunks
    check("a chunk is at most 1 MiB", bool(8 * numpy.prod(chunk) <= 2**20), True)
    check("a chunk is not tiny", bool(8 * numpy.prod(chunk) > 2**18), True)
    check("labels in h5py", [label for label in file["convergence/label"].asstr()[:]], ["Størmer-Verlet", "b", ""])

for engine in ("h5netcdf", "netcdf4"):

    def check_here(what, value, expected, engine=engine):
        check(f"{engine}: {what}", value, expected)

    def group(name, engine=engine):
        return xarray.open_dataset(path, group=name, engine=engine, decode_times=False)

    closed = group("closed")
    check_here("dimensions of q", closed["q"].dims, ("time", "particle", "axis"))
    check_here("dimensions of the energy", closed["energy_total"].dims, ("time",))
    check_here("dimensions of the displacement", closed["displacement"].dims, ("snapshot_time", "site"))
    check_here("coordinates", sorted(closed.coords), ["axis", "particle", "site", "snapshot_time", "time"])
    check_here("time", closed["time"].values, [0.0, 0.25, 0.5])
    check_here("units of time", closed["time"].attrs, {"units": "s", "long_name": "time"})
    check_here("q", closed["q"].sel(time=0.5, particle=1).values, [5.0])
    check_here("energy", closed["energy_total"].values, [0.0, -1.0, -2.0])
    check_here("displacement", float(closed["displacement"].sel(snapshot_time=1.5, site=69999)), 69999.0)
    check_here("units of displacement", closed["displacement"].attrs["units"], "m")

    convergence = group("convergence")
    check_here("dimensions of the error", convergence["error_q"].dims, ("step",))
    check_here("error", float(convergence["error_q"].sel(step=0.2)), 2.0)
    check_here("labels in xarray", convergence["label"].values.tolist(), ["Størmer-Verlet", "b", ""])
    check_here("names of a dimension", convergence["heat"].sel(environment="größer").item(), 5.0)
    check_here("single letters in xarray", convergence["letter"].values.tolist(), ["a", "b", "c"])
    check_here("a scalar", float(group("convergence/midpoint")["order_q"]), 2.0)

    claims = group("claims")
    check_here("claims", claims["name"].values.tolist(), ["energy", "größer"])
    check_here("dimensions of the claims", claims["measured"].dims, ("claim",))
    check_here("passed", claims["passed"].values.tolist(), [1, 0])
    check_here("supported", claims["supported"].values.tolist(), [1, 0])
    check_here("expected", bool(numpy.isnan(claims["expected"].values[1])), True)
    for name in claims.variables:
        check_here(f"attributes of {name}", sorted(claims[name].attrs), ["long_name", "units"])

dump = subprocess.run(["ncdump", "-v", "name,supported", "-g", "claims", path], capture_output=True, text=True)
check("exit code of ncdump", (dump.returncode, dump.stderr), (0, ""))
check("claims in ncdump", 'name = "energy", "größer" ;' in dump.stdout, True)
copy = subprocess.run(["nccopy", path, path + ".nc"], capture_output=True, text=True)
check("exit code of nccopy", (copy.returncode, copy.stderr), (0, ""))

if differences:
    sys.exit("\n".join(differences))
