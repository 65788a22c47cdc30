"""Files that trials use: models, weights, starting states, data. All come from formulas or a seed."""

import io
import json
import random
import struct
import zipfile

BIDI = "\u202e"  # turns the direction of what follows
ESCAPE = "\x1b[31m"


def models():
    """Model files, by name."""
    ring = [[i, (i + 1) % 12, 0.4 - 0.1 * (i % 4)] for i in range(12)]
    return {
        "lattice.json": {"model": "ising-lattice", "shape": [7, 7], "periodic": True, "a": 0.1, "b": 0.1},
        "ising.json": {"model": "ising", "n": 12, "couplings": ring, "fields": [0.1 * (i % 3) for i in range(12)]},
        "bernoulli.json": {"model": "bernoulli", "logits": [-1, 0, 2.5, 0.3]},
        "quadratic.json": {"model": "quadratic", "levels": [5, 3], "A": [[0, 0, -0.4], [0, 1, 0.3]], "b": [1, 0]},
        "potts.json": {"model": "potts", "levels": [3, 3, 2], "unary": [[0, 0.5, 1], [0, 0, 0], [0.2, -0.2]],
                       "pairwise": [{"between": [0, 1], "table": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]},
        "poisson.json": {"model": "poisson", "rate": [0.5, 12]},
        "rbm.json": {"model": "rbm", "weights": [[0.8, -1.2, 0.5], [-0.4, 0.9, 1.5]],
                     "visible_bias": [-0.2, 0.4, -0.6], "hidden_bias": [0.1, -0.3]},
        "npz-rbm.json": {"model": "rbm", "weights_file": "weights.npz"},
        "safetensors-rbm.json": {"model": "rbm", "weights_file": "weights.safetensors"},
    }


def weights(seed, visible=16, hidden=6):
    """Arrays of an RBM, as name -> (shape, numbers)."""
    rng = random.Random(seed)
    shapes = {"weights": (hidden, visible), "visible_bias": (visible,), "hidden_bias": (hidden,)}
    sizes = {"weights": hidden * visible, "visible_bias": visible, "hidden_bias": hidden}
    return {name: (shapes[name], [rng.gauss(0, 0.4) for _ in range(sizes[name])]) for name in shapes}


def npy(shape, numbers, code="d", descr="<f8"):
    header = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(numbers)}{code}", *numbers)


def npz(entries):
    """An .npz file of entries name -> bytes of an .npy array."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, content in entries.items():
            file.writestr(zipfile.ZipInfo(name + ".npy"), content)
    return out.getvalue()


def weights_npz(seed):
    return npz({name: npy(*array) for name, array in weights(seed).items()})


def weights_safetensors(seed):
    header, data = {}, b""
    for name, (shape, numbers) in weights(seed).items():
        packed = struct.pack(f"<{len(numbers)}d", *numbers)
        header[name] = {"dtype": "F64", "shape": list(shape), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def data_rows(rows=200, cols=9, seed=5):
    """Rows of 0 and 1: the left or the right column is on, with a little noise."""
    rng = random.Random(seed)
    table = []
    for _ in range(rows):
        side = rng.randrange(2) * 2
        table.append([int((i % 3 == side) != (rng.random() < 0.1)) for i in range(cols)])
    return table


def data_csv(seed=5):
    return "".join(",".join(map(str, row)) + "\n" for row in data_rows(seed=seed))


def data_files():
    """The same data in the formats that the program reads."""
    table = data_rows()
    flat = [x for row in table for x in row]
    array = npy((len(table), len(table[0])), flat, "B", "|u1")
    idx = struct.pack(">BBBBIII", 0, 0, 8, 3, len(table), 3, 3) + bytes(255 * x for x in flat)
    return {"data.csv": data_csv().encode(), "data.npy": array, "data.npz": npz({"x": array}), "data-idx3-ubyte": idx,
            "data.amat": "".join(" ".join(map(str, row)) + "\n" for row in table).encode()}


def init_text(chains, dim, levels=2, seed=3):
    rng = random.Random(seed)
    return "".join(" ".join(str(rng.randrange(levels)) for _ in range(dim)) + "\n" for _ in range(chains))


def put(trial, *names):
    """Writes files of these names into the trial's folder."""
    for name in names:
        if name in models():
            trial.write(name, json.dumps(models()[name]))
        elif name == "weights.npz":
            trial.write(name, weights_npz(1))
        elif name == "weights.safetensors":
            trial.write(name, weights_safetensors(1))
        else:
            trial.write(name, data_files()[name])
