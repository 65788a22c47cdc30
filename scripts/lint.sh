#!/usr/bin/env bash
# lint.sh [FILE...]: clang-tidy of these files, on all cores.
#
# Without arguments it takes the files that changed: since the branch left origin's main branch or, where
# nothing is ahead of it (a fresh clone of the branch itself), in the last 20 commits; SALTUS_LINT_BASE names
# another commit to compare with. After SALTUS_LINT_SECONDS (default: 900 for changed files, no limit
# otherwise) no further file is begun, and those left out are named: they do not fail.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
  files=$(printf '%s\n' "$@")
  seconds=${SALTUS_LINT_SECONDS:-1000000}
else
  base=${SALTUS_LINT_BASE:-$(git merge-base HEAD origin/HEAD 2>/dev/null || true)}
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-list --first-parent --max-count=21 HEAD | tail -n 1)
  fi
  files=$(git diff --name-only --diff-filter=d "$base")
  seconds=${SALTUS_LINT_SECONDS:-900}
fi
# clang cannot read libtorch's headers as C++20, nor lanes and CUDA as gcc and nvcc do; and its analyser of
# MPI takes MPI_Test for no way to wait.
files=$(grep -E '^(src|cli)/.*\.cpp$' <<<"$files" | grep -vE '^src/(ops/.*_vector\.cpp|torch/|cuda/|mpi/)' || true)
[ -n "$files" ] || { echo "No file to lint."; exit 0; }

cmake --preset lint >/dev/null
deadline=$(($(date +%s) + seconds))
lint_one() {
  if [ "$(date +%s)" -ge "$2" ]; then
    echo "not linted, the time is up: $1"
  else
    clang-tidy -quiet -p build/lint --extra-arg=-Wno-unknown-warning-option "$1" 2>/dev/null
  fi
}
export -f lint_one
xargs -P "$(nproc)" -I {} bash -c 'lint_one {} '"$deadline" <<<"$files"
echo "$(wc -l <<<"$files") files to lint, nothing found."
