#!/usr/bin/env bash
# The tests of the Python package with current packages of the Python Package Index, in a virtual
# environment under build/: those that Debian's packages leave incomplete. Where no index can be
# reached it says so; ctest runs all tests with what Debian has.
set -euo pipefail
cd "$(dirname "$0")/.."
environment=build/python-tests
packages="numpy scipy networkx pandas xarray h5netcdf arviz dimod jax scikit-learn matplotlib nbclient nbformat ipykernel mypy"
library=${SALTUS_LIBRARY:-$PWD/build/release/libsaltus_c.so}
program=${SALTUS_PROGRAM:-$PWD/build/release/saltus}

if [ ! -e "$environment/complete" ]; then
  rm -rf "$environment"
  if ! { /usr/bin/python3 -m venv "$environment" &&
         timeout 600 "$environment/bin/pip" install --quiet --retries 1 --timeout 15 $packages; } >"build/python-tests.log" 2>&1; then
    echo "python: no package index could be reached (build/python-tests.log): the package was tested with Debian's packages alone"
    rm -rf "$environment"
    exit 0
  fi
  touch "$environment/complete"
fi

export SALTUS_LIBRARY=$library SALTUS_SOURCE=$PWD PYTHONPATH=$PWD/python:$PWD/tests/python PYTHONDONTWRITEBYTECODE=1
if [ -x "$program" ]; then export SALTUS_PROGRAM=$program; fi
failed=
for name in docs jax learning models notebooks result services types; do
  test=tests/python/${name}_test.py status=0
  "$environment/bin/python" -W ignore "$test" >"build/python-tests.log" 2>&1 || status=$?
  case $status in
    0) echo "python: $(basename "$test" .py) passed" ;;
    77) echo "python: $(basename "$test" .py) $(tail -1 build/python-tests.log)" ;;
    *) echo "python: $(basename "$test" .py) FAILED"; cat build/python-tests.log; failed=yes ;;
  esac
done
[ -z "$failed" ]
