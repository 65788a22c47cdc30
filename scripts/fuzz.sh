#!/usr/bin/env bash
# Runs every fuzz program in FOLDER for SECONDS, or those that are named, from well-formed inputs.
#   scripts/fuzz.sh build/fuzz/fuzz 60
#   scripts/fuzz.sh build/fuzz/fuzz 600 model draws
set -euo pipefail
folder=$1
seconds=$2
shift 2
names=${*:-model checkpoint draws data mat safetensors words problem_text factor_text bqm dimod_json plmc expression}
cd "$(dirname "$0")/.."

corpus=$folder/corpus
mkdir -p "$corpus"/{model,checkpoint,draws,data,mat,safetensors,words,problem_text,factor_text,bqm,dimod_json,plmc,expression}
# Seeds: the built-in models, the files that a run writes, and small data sets.
python3 scripts/fuzz_seeds.py "$corpus" build/release/saltus
for name in $names; do
  echo "fuzzing $name for $seconds s"
  log=$folder/$name.log
  if ! "$folder/fuzz_$name" -max_total_time="$seconds" -max_len=65536 -timeout=20 \
      -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$folder/" "$corpus/$name" \
      >"$log" 2>&1; then
    tail -60 "$log"
    exit 1
  fi
  grep -E 'number_of_executed_units|new_units_added' "$log"
done
rm -f "${TMPDIR:-/tmp}"/saltus-fuzz-*
