#!/usr/bin/env bash
# Line coverage of the tests that were run in the coverage build: scripts/coverage.sh build/coverage
set -euo pipefail
build=$1
lcov --quiet --capture --directory "$build" --output-file "$build/all.info"
lcov --quiet --extract "$build/all.info" "$PWD/src/*" "$PWD/include/*" "$PWD/cli/*" \
  --output-file "$build/saltus.info"
lcov --list "$build/saltus.info"
genhtml --quiet "$build/saltus.info" --output-directory "$build/html"
echo "See $build/html/index.html"
