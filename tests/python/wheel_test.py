"""A wheel that `make python` has built: what is in it, what it needs, and that it works alone."""

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

SOURCE = os.environ.get("SALTUS_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def sources():
    package = os.path.join(SOURCE, "python")
    for folder, _, files in os.walk(package):
        for file in files:
            if file.endswith((".py", ".typed")):
                path = os.path.join(folder, file)
                with open(path, "rb") as f:
                    yield os.path.relpath(path, package), f.read()


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, text=True, **options)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def main():
    if sys.prefix != sys.base_prefix:
        skip("a virtual environment lends no NumPy to another")
    wheels = glob.glob(os.path.join(SOURCE, "build", "python", "saltus-*.whl"))
    if not wheels:
        skip("there is no wheel: make python builds one")
    wheel = max(wheels, key=os.path.getmtime)
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        mine = dict(sources())
        if {name: file.read(name) for name in mine if name in names} != mine:
            skip("the wheel is of other sources: make python builds a new one")
        libraries = [name for name in names if name.endswith(".so")]
        assert libraries == ["saltus/libsaltus_c.so"], libraries
        assert any(name.endswith("/scripts/saltus") for name in names), "the program is missing"
        assert any("LICENSE" in name for name in names)
        python = {name for name in names if name.endswith(".py")}
        assert python == {name for name in mine if name.endswith(".py")}, python
    assert re.search(r"-py3-none-\w+\.whl$", wheel), wheel

    with tempfile.TemporaryDirectory() as folder:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SALTUS"))}
        run(sys.executable, "-m", "venv", "--system-site-packages", folder)
        pip = os.path.join(folder, "bin", "pip")
        run(pip, "install", "--quiet", "--no-index", "--no-deps", wheel, env=clean, cwd=folder)
        python = os.path.join(folder, "bin", "python")
        code = (
            "import saltus; r = saltus.sample('ising-lattice', draws=20, seed=1, exact=False, probe=False);"
            "print(saltus.__version__, r.levels.sum(), saltus.__file__)"
        )
        version, total, place = run(python, "-W", "ignore", "-c", code, env=clean, cwd=folder).split()
        assert place.startswith(folder), place
        program = os.path.join(folder, "bin", "saltus")
        assert version in run(program, "--version", env=clean), version
        if shutil.which("ldd"):  # the C library and its loader
            for file in (program, os.path.join(os.path.dirname(place), "libsaltus_c.so")):
                needed = re.findall(r"^\s*(\S+) (?:=>|\()", run("ldd", file), re.M)
                others = [n for n in needed if not re.match(r"linux-vdso|(?:/lib64/)?ld-linux|lib(?:c|m|dl|pthread|rt)\.so", os.path.basename(n))]
                assert not others, (file, others)
    print(f"{os.path.basename(wheel)}: works in a fresh environment; {total} of its draws' levels are 1")


main()
