#!/usr/bin/env bash
# setup.sh [GROUP]: looks for the Debian packages that a group of targets needs. Where some are missing, it says
# which and what each is for; root then gets them installed, everyone else the command to run. On other systems it
# does nothing: docs/installing.md lists their packages, and CMake names what it does not find.
set -euo pipefail

build="g++ cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libopenblas-pthread-dev libnetcdf-dev libpng-dev libjs-chart.js"
deep="libtorch-dev"
site="python3 python3-markdown-it python3-pygments"
test="$deep python3-torch libgtest-dev librandom123-dev libopenmpi-dev openmpi-bin man-db groff-base $site python3-yaml python3-numpy python3-xarray python3-netcdf4 python3-selenium chromium chromium-driver"
group=${1:-build}
case "$group" in
  build) packages="$build" ;;
  test) packages="$build $test" ;;
  package) packages="$build dpkg-dev file gzip" ;;
  site) packages="$site" ;;
  python) packages="$build python3-pip python3-venv python3-numpy" ;;
  deep) packages="$build $deep" ;;
  bench) packages="$build libbenchmark-dev" ;;
  peers) packages="$build python3-numpy python3-torch" ;;
  fuzz) packages="$build clang libclang-rt-14-dev" ;;
  format) packages="clang-format" ;;
  lint) packages="$build $test clang-tidy clang-format" ;;
  coverage) packages="$build $test lcov" ;;
  *) echo "usage: $0 [build|deep|package|site|python|test|bench|peers|fuzz|format|lint|coverage]" >&2; exit 64 ;;
esac

purpose() {
  case "$1" in
    g++) echo "compiles C++20" ;;
    cmake) echo "configures the build" ;;
    ninja-build) echo "runs the build" ;;
    libfmt-dev) echo "formats text" ;;
    nlohmann-json3-dev) echo "reads and writes JSON" ;;
    libcli11-dev) echo "parses the command line" ;;
    zlib1g-dev) echo "packs and unpacks files" ;;
    libopenblas-pthread-dev) echo "multiplies the matrices of dense models" ;;
    libnetcdf-dev) echo "reads and writes draws as netCDF" ;;
    libpng-dev) echo "writes images" ;;
    libjs-chart.js) echo "draws the charts of 'saltus report'" ;;
    libtorch-dev) echo "computes networks (1.1 GB on disk)" ;;
    python3-torch) echo "computes reference values of networks" ;;
    libgtest-dev) echo "runs the unit tests" ;;
    librandom123-dev) echo "has the random numbers that ours are compared with" ;;
    libopenmpi-dev) echo "builds runs in several processes" ;;
    openmpi-bin) echo "starts runs in several processes" ;;
    python3) echo "runs the tests of the program, and makes the site" ;;
    python3-markdown-it) echo "reads the documents for the site" ;;
    python3-pygments) echo "colours the code of the site" ;;
    python3-yaml) echo "reads CITATION.cff in a test" ;;
    man-db | groff-base) echo "checks the manual pages" ;;
    dpkg-dev) echo "finds what a Debian package depends on" ;;
    file) echo "tells CPack which files to strip" ;;
    python3-pip | python3-venv) echo "builds and installs the Python package" ;;
    gzip) echo "packs manual pages" ;;
    python3-numpy) echo "reads .npz draws in tests" ;;
    python3-xarray | python3-netcdf4) echo "reads .nc draws in tests" ;;
    python3-selenium | chromium-driver) echo "steers the browser in tests of pages" ;;
    chromium) echo "shows pages in tests" ;;
    libbenchmark-dev) echo "times single passes" ;;
    clang) echo "compiles the fuzz targets" ;;
    libclang-rt-14-dev) echo "has the fuzzer and the sanitizers" ;;
    clang-format) echo "formats the sources" ;;
    clang-tidy) echo "checks the sources" ;;
    lcov) echo "measures line coverage" ;;
  esac
}

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0

missing=""
for package in $packages; do
  dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

say_missing() {
  for package in $missing; do printf '  %-24s %s\n' "$package" "$(purpose "$package")"; done
}
if [ "$(id -u)" -ne 0 ]; then
  {
    echo "These Debian packages are missing:"
    say_missing
    echo "Install them, then repeat the command:"
    echo "  sudo apt-get install --no-install-recommends$missing"
  } >&2
  exit 69
fi
echo "Installing Debian packages that are missing:"
say_missing
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -y -qq --no-install-recommends $missing >/dev/null
