"""The package's annotations, by mypy --strict (pyproject.toml)."""

import importlib.util
import os
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("SALTUS_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))

if importlib.util.find_spec("mypy") is None:
    print("skipped: mypy is not installed")
    sys.exit(77)
with tempfile.TemporaryDirectory() as cache:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", cache], cwd=SOURCE, capture_output=True, text=True
    )
print(done.stdout + done.stderr)
sys.exit(done.returncode)
