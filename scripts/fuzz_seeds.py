"""Well-formed inputs for the fuzzers: fuzz_seeds.py FOLDER PROGRAM"""

import gzip
import io
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

folder, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
source = (pathlib.Path(__file__).parent.parent / "src/io/models/built_in_models.cpp").read_text()
for number, text in enumerate(re.findall(r'R"\((.*?)\)"', source, re.S)):
    (folder / "model" / f"built-in-{number}.json").write_text(text)

# Factor graphs: tables and clauses, -inf, a coordinate of one level.
(folder / "model" / "factors-0.json").write_text(json.dumps(
    {"model": "factors", "levels": [2, 1, 3], "constant": -0.5, "factors": [
        {"over": [2, 0], "log": [0, 1.5, "-inf", 0.25, -1, 0]}, {"over": [], "log": [0.75]}, {"over": [1], "log": [2]},
        {"clause": [[0, 1], [2, 2]], "weight": 1.5}, {"clause": [[2, 0], [2, 1], [0, 0]], "hard": True}]}))
(folder / "model" / "factors-1.json").write_text(json.dumps(
    {"model": "factors", "levels": [2, 2], "factors": [{"over": [0, 1], "log": ["-inf", 0, 0, "-inf"]}]}))

# Data sets of two rows; the first byte chooses the name (fuzz/data.cpp).
header = "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }".ljust(117) + "\n"
npy = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + b"\0\1\1\0\1\0"
npz = io.BytesIO()
with zipfile.ZipFile(npz, "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("x.npy", npy)
idx = b"\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\3" + b"\0\xff\xff\0\xff\0"
contents = (npy, npz.getvalue(), b"a,b,c\n0,1,1\n0,1.0,0\n", b"0 1 1\n0 1 0\n", idx)
for number, content in enumerate(contents):
    (folder / "data" / f"plain-{number}").write_bytes(bytes([number]) + content)
    (folder / "data" / f"packed-{number}").write_bytes(bytes([number]) + gzip.compress(content))

# Problem files: the first byte of a text chooses its format (fuzz/problem_text.cpp).
problems = pathlib.Path(__file__).parent.parent / "tests/io/problems"
formats = {".mc": 0, ".txt": 0, ".bq": 1, ".qubo": 2, ".coo": 3, ".isakov": 4, ".col": 5}
factors = {".uai": 0, ".lg": 1, ".fg": 2, ".cnf": 3, ".wcnf": 4}  # fuzz/factor_text.cpp
for file in sorted(problems.iterdir()):
    if file.suffix in formats:
        for number in range(formats[file.suffix], 24, 6):
            (folder / "problem_text" / f"{file.name}-{number}").write_bytes(bytes([number]) + file.read_bytes())
    if file.suffix.lower() in factors:
        for number in (3, 68) if file.suffix == ".cnf" else (factors[file.suffix.lower()],):  # 68: all are hard
            (folder / "factor_text" / f"{file.name}-{number}").write_bytes(bytes([number]) + file.read_bytes())
    if file.suffix == ".json":
        (folder / "dimod_json" / file.name).write_bytes(file.read_bytes())
        subprocess.run([program, "convert", str(file), str(folder / "bqm" / "labels.bqm")], check=True)
subprocess.run([program, "convert", "ising", str(folder / "bqm" / "ising.bqm")], check=True)
(folder / "plmc" / "two-sites").write_bytes(struct.pack("<5i5f", 2, 2, 1, 0, 9, *[1.0] * 5) + b"AC"
                                            + struct.pack("<f", 1) + b"AC" + struct.pack("<2i", 1, 2)
                                            + struct.pack("<16f", *[0.5] * 16))

# Observables.
for number, text in enumerate(["m2 = mean(x)^2", "x[0]*x[1,2]", "count(level[0:3] == 1) / 3", "-abs(min(x, 0)) + logp"]):
    (folder / "expression" / f"observable-{number}").write_text(text)

# An array "x" of 2 x 3 doubles as a MATLAB file, plain and compressed; the first byte says that the
# header goes before it (fuzz/mat.cpp).
def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)

array = element(14, element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", 2, 3))
                + element(1, b"x") + element(9, struct.pack("<6d", 0, 1, 1, 0, 1, 0)))
packed = zlib.compress(array)
(folder / "mat" / "plain").write_bytes(b"\x01" + array)
(folder / "mat" / "packed").write_bytes(b"\x01" + struct.pack("<II", 15, len(packed)) + packed)

# Two arrays each as a safetensors file, one of every type that is read.
def tensors(first, second, numbers):
    text = json.dumps({"__metadata__": {"format": "pt"},
                       "a": {"dtype": first, "shape": [2, 1], "data_offsets": [0, len(numbers) // 2]},
                       "b": {"dtype": second, "shape": [2], "data_offsets": [len(numbers) // 2, len(numbers)]}})
    return struct.pack("<Q", len(text)) + text.encode() + numbers

for first, second, size in (("F32", "I32", 4), ("F16", "BF16", 2), ("F64", "I64", 8)):
    (folder / "safetensors" / f"{first}-{second}").write_bytes(tensors(first, second, bytes(range(4 * size))))

for number, text in enumerate(("The [MASK]ing caf\u00e9\u2014\u0141\u00d3D\u0179.", "\u039f\u0394\u039f\u03a3 \u0130 \u4e2d\ud55c\u00ad x")):
    for first in (b"\x00", b"\x01"):
        (folder / "words" / f"{number}-{first[0]}").write_bytes(first + text.encode())

if program.exists():
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        model = work / "m.json"
        model.write_text('{"model": "ising-lattice", "shape": [2, 3], "periodic": true, "a": 0.1, "b": 0.2}')
        common = [program, "sample", model, "--chains", "2", "--draws", "20", "--warmup", "10"]
        for kind, first in (("npz", b"\x01"), ("csv", b"\x00")):
            subprocess.run([*common, "--out", work / f"d.{kind}"], check=True, stdout=subprocess.DEVNULL)
            (folder / "draws" / f"run.{kind}").write_bytes(first + (work / f"d.{kind}").read_bytes())
        for number, seconds in enumerate(("1e-9", "100")):
            subprocess.run([*common, "--checkpoint", work / f"c{number}", "--time", seconds], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            content = (work / f"c{number}").read_bytes()
            (folder / "checkpoint" / f"run-{number}").write_bytes(content[8:-4])
