"""Checks that other programs read the files of draws, and writes some for saltus to read.

usage: interop_test.py DIR [PROGRAM]

DIR holds what write_interop_files wrote. With PROGRAM, the path of write_interop_files, the script
runs it before and after its own part, so that one call checks both directions.
"""

import csv
import math
import os
import subprocess
import sys

SKIPPED = 77

try:
    import numpy as np
    import xarray as xr
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

CHAINS, DRAWS, SHAPE = 3, 50, (2, 3)
DIM = SHAPE[0] * SHAPE[1]


def states(levels):
    """The formula of memory_draws.hpp."""
    c, d, i = np.ogrid[:CHAINS, :DRAWS, :DIM]
    return (7 * c + 13 * d + i) % levels


def logp():
    c, d = np.ogrid[:CHAINS, :DRAWS]
    lp = -1.0 / 3.0 - 1e5 * c - d / 7.0
    lp[0, 1], lp[0, 2] = np.nan, -np.inf
    return lp


def acceptance():
    c, d = np.ogrid[:CHAINS, :DRAWS]
    return np.float32(1) / (2 + c + d % 10).astype(np.float32)


def check(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")


def same(a, b, what):
    check(a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"), what)


def check_npz(folder):
    with np.load(f"{folder}/sample.npz") as f:
        check(set(f.files) == {"x", "logp", "acceptance_rate", "values", "step_size"}, f.files)
        check(f["x"].dtype == np.uint8, "type of x")
        same(f["x"], states(2), "x in npz")
        same(f["logp"], logp(), "logp in npz")
        check(f["acceptance_rate"].dtype == np.float32, "type of acceptance_rate")
        same(f["acceptance_rate"], acceptance(), "acceptance_rate in npz")
        check(f["values"].tolist() == [-1.0, 2.0], "values in npz")
        check(f["step_size"].shape == () and f["step_size"] == 0.25, "step_size in npz")
    with np.load(f"{folder}/many_levels.npz") as f:
        check(f["x"].dtype == np.uint16, "type of x with 300 levels")
        same(f["x"], states(300), "x with 300 levels in npz")
    with np.load(f"{folder}/zip64.npz") as f:
        for name in "ab":
            check(f[name].tolist() == [1, 2, 3, 4], "ZIP64")


def check_csv(folder):
    with open(f"{folder}/sample.csv", newline="") as f:
        rows = list(csv.reader(f))
    names = ["chain", "draw", "logp", "acceptance_rate"] + [f"x{i}" for i in range(DIM)]
    check(rows[0] == names, "names in csv")
    check(len(rows) == 1 + CHAINS * DRAWS, "lines in csv")
    x, lp, rate = states(2), logp(), acceptance()
    for n, row in enumerate(rows[1:]):
        c, d = divmod(n, DRAWS)
        check([int(row[0]), int(row[1])] == [c, d], "numbering in csv")
        value = float(row[2])
        check(value == lp[c, d] or (math.isnan(value) and math.isnan(lp[c, d])), "logp in csv")
        check(np.float32(row[3]) == rate[c, d], "acceptance_rate in csv")
        check([int(v) for v in row[4:]] == x[c, d].tolist(), "x in csv")


def check_netcdf(folder):
    path = f"{folder}/sample.nc"
    with xr.open_dataset(path) as root:
        check(root.attrs["creation_library"] == "saltus", "creation_library")
        check(root.attrs["inference_library"] == "saltus", "inference_library")
        check(root.attrs["created_at"].startswith("20"), "created_at")
    with xr.open_dataset(path, group="posterior") as posterior:
        check(posterior["x"].dims == ("chain", "draw", "x_dim_0", "x_dim_1"), "dimensions of x")
        check(posterior["x"].dtype == np.int8, "type of x in netCDF")
        spins = 2 * states(2).reshape(CHAINS, DRAWS, *SHAPE) - 1
        same(posterior["x"].values, spins, "x in netCDF")
        for name, length in zip(posterior["x"].dims, posterior["x"].shape):
            same(posterior[name].values, np.arange(length), f"coordinate {name}")
            check(posterior[name].dtype == np.int64, f"type of coordinate {name}")
        check_attributes(posterior.attrs)
    with xr.open_dataset(path, group="sample_stats") as stats:
        check(stats["lp"].dims == ("chain", "draw"), "dimensions of lp")
        same(stats["lp"].values, logp(), "lp in netCDF")
        same(stats["acceptance_rate"].values, acceptance().astype(float), "rate in netCDF")
        same(stats["step_size"].values, np.full((CHAINS, DRAWS), 0.25), "step_size in netCDF")
        same(stats["draw"].values, np.arange(DRAWS), "draw of sample_stats")
        check_attributes(stats.attrs)
    with xr.open_dataset(f"{folder}/many_levels.nc", group="posterior") as posterior:
        check(posterior["x"].dtype == np.int16, "type of x with 300 levels in netCDF")
        same(posterior["x"].values, states(300), "x with 300 levels in netCDF")


def check_attributes(attributes):
    expected = {"inference_library": "saltus", "inference_library_version": "0.1.0", "seed": "17",
                "model": "ising", "sampler": "gibbs", "step_size": 0.25, "levels": 2,
                "first_value": -1.0, "spacing": 2.0, "exact": 1}
    for name, value in expected.items():
        check(attributes.get(name) == value, f"attribute {name}: {attributes.get(name)}")
    check(attributes["created_at"].endswith("+00:00"), "created_at")


def write_npz(folder):
    arrays = {"x": states(2), "logp": logp(), "acceptance_rate": acceptance(),
              "values": np.array([-1.0, 2.0]), "step_size": np.float64(0.25), "other": np.array("?")}
    np.savez(f"{folder}/plain.npz", **{**arrays, "x": states(2).astype(np.uint8)})
    np.savez(f"{folder}/states.npz", x=states(2)[0].astype(np.int32))
    # Last, because its presence says that the others are there.
    np.savez_compressed(f"{folder}/compressed.npz", **arrays)


def write_csv(folder):
    with open(f"{folder}/rewritten.csv", "w", newline="") as f:
        writer = csv.writer(f)  # with \r\n, as its standard says
        writer.writerow(["chain", "draw", "logp", "acceptance_rate"] + [f"x{i}" for i in range(DIM)])
        x, lp, rate = states(2), logp(), acceptance()
        for c in range(CHAINS):
            for d in range(DRAWS):
                writer.writerow([c, d, lp[c, d], rate[c, d], *x[c, d]])


def write_netcdf(folder):
    dims = ("chain", "draw", "z_dim_0", "z_dim_1")
    z = states(2).reshape(CHAINS, DRAWS, *SHAPE)
    foreign = xr.Dataset({"theta": (dims[:2], logp()), "z": (dims, z)})
    foreign.to_netcdf(f"{folder}/foreign.nc", group="posterior")
    for mode, group in (("w", "posterior"), ("a", "sample_stats")):
        with xr.open_dataset(f"{folder}/sample.nc", group=group) as data:
            data.load().to_netcdf(f"{folder}/rewritten.nc", group=group, mode=mode)


def run(program, *arguments):
    status = subprocess.run([program, *arguments]).returncode
    check(status == 0, f"{program} ended with status {status}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, program = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None
    if program:
        run(program, folder)
    check_npz(folder)
    check_csv(folder)
    if os.path.exists(f"{folder}/sample.nc"):
        check_netcdf(folder)
        write_netcdf(folder)
    else:
        print("no sample.nc: this build has no netCDF")
    write_csv(folder)
    write_npz(folder)
    if program:
        run(program, "--read", folder)
    print("passed")


main()
