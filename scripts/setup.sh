#!/usr/bin/env bash
# Installs the Debian packages that saltus needs and that are missing. Works as root and with sudo;
# does nothing, quickly, when all are there.
set -euo pipefail

build="g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libopenblas-pthread-dev libnetcdf-dev libpng-dev libjs-chart.js"
deep="libtorch-dev"
test="$deep python3-torch libgtest-dev librandom123-dev libopenmpi-dev openmpi-bin python3 python3-numpy python3-xarray python3-netcdf4 python3-selenium chromium chromium-driver"
case "${1:-build}" in
  build) packages="$build" ;;
  test) packages="$build $test" ;;
  deep) packages="$build $deep" ;;
  bench) packages="$build libbenchmark-dev" ;;
  peers) packages="$build python3-numpy python3-torch" ;;
  fuzz) packages="$build clang libclang-rt-14-dev" ;;
  format) packages="clang-format" ;;
  lint) packages="$build $test clang-tidy clang-format" ;;
  coverage) packages="$build $test lcov" ;;
  *) echo "usage: $0 [build|deep|test|bench|peers|fuzz|format|lint|coverage]" >&2; exit 64 ;;
esac

missing=""
for package in $packages; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=""
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "Missing packages:$missing. Install them, or install sudo." >&2; exit 69; }
  as_root="sudo"
fi
echo "Installing:$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
