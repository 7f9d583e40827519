#!/usr/bin/env bash
# The steps of action.yml, one a function: `run.sh install`, `run.sh judge`, `run.sh gate`.
#
# What a user of the action says comes in by the environment and is only ever data: nothing of it is part of a script. It
# keeps to what Bash 3.2 can do, which is what macOS has.
set -euo pipefail

# Words as a shell would split them, into the array `words`; without expansions, and without running anything.
split() {
  words=()
  local word list
  list="$RUNNER_TEMP/sds-conformance.words"
  if ! "$SDS_PYTHON" -c 'import shlex, sys; sys.stdout.write("".join(f"{w}\0" for w in shlex.split(sys.argv[1])))' \
    "$1" >"$list" 2>/dev/null; then
    echo "::error title=sds-conformance::The input $2 is not a command line: does a quotation mark miss its partner?"
    ended 2
    exit 2
  fi
  while IFS= read -r -d '' word; do words+=("$word"); done <"$list"
}

# The suite with all that `run` has options for, in a Python environment of its own: that of the job is left as it is.
install() {
  local what="${SDS_ACTION_PATH}[clock,grpc]"
  if [ -n "$SDS_VERSION" ]; then
    case "$SDS_VERSION" in
      *[!0-9A-Za-z.+!-]*) echo "::error title=sds-conformance::The input version is no version"; exit 2 ;;
    esac
    what="sds-conformance[clock,grpc]==$SDS_VERSION"
  fi
  "$SDS_SETUP_PYTHON" -m venv "$RUNNER_TEMP/sds-conformance.venv"
  "$RUNNER_TEMP/sds-conformance.venv/bin/python" -m pip install --quiet --disable-pip-version-check "$what"
  echo "bin=$RUNNER_TEMP/sds-conformance.venv/bin" >>"$GITHUB_OUTPUT"
}

# What names the cache of pip: where it is, and what it would be filled with.
key() {
  echo "folder=$("$SDS_SETUP_PYTHON" -m pip cache dir)" >>"$GITHUB_OUTPUT"
  echo "key=$(cksum <"$SDS_ACTION_PATH/pyproject.toml" | tr ' ' '-')$(printf %s "$SDS_VERSION" | cksum | cut -d' ' -f1)" \
    >>"$GITHUB_OUTPUT"
}

# One run with all reports. It always ends well: `gate` says how it went, when all has been kept.
judge() {
  local folder token suite code=0 options=() words=()
  SDS_PYTHON="$SDS_BIN/python"
  folder="$(mktemp -d "$RUNNER_TEMP/sds-conformance.XXXXXX")"
  echo "report=$folder" >>"$GITHUB_OUTPUT"
  [ -z "$SDS_REVISION" ] || options+=(--revision "$SDS_REVISION")
  [ -z "$SDS_PROFILE" ] || options+=(--profile "$SDS_PROFILE")
  [ -z "$SDS_BASELINE" ] || options+=(--baseline "$SDS_BASELINE")
  [ "$SDS_STRICT" != true ] || options+=(--strict)
  split "$SDS_ARGS" args
  options+=(${words[@]+"${words[@]}"})
  split "$SDS_COMMAND" command
  [ ${#words[@]} -eq 0 ] || options+=(-- "${words[@]}")

  # The story quotes the implementation: no line of it is a command to the runner.
  token="$("$SDS_PYTHON" -c 'import secrets; print(secrets.token_hex(16))')"
  echo "::stop-commands::$token"
  # In the background: Bash would end at SIGTERM before the suite, and nobody would say how it went.
  "$SDS_BIN/sds-conformance" run --report "$folder" --html "$folder/report.html" --junit "$folder/junit.xml" \
    --markdown "$folder/summary.md" --badge "$folder/badge.svg" --sarif "$folder/report.sarif" \
    ${options[@]+"${options[@]}"} &
  suite=$!
  trap 'kill -TERM "$suite" 2>/dev/null || true' INT TERM HUP
  wait "$suite" || code=$?
  while kill -0 "$suite" 2>/dev/null; do # a signal has ended the waiting, not the suite
    code=0
    wait "$suite" || code=$?
  done
  trap - INT TERM HUP
  echo "::$token::"

  [ ! -f "$folder/report.jsonl" ] || "$SDS_BIN/sds-conformance" report "$folder" --annotations || true
  [ ! -f "$folder/summary.md" ] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
  ended "$code" "$folder/report.json"
}

# An exit code, with and without words, for the steps that follow.
ended() {
  local verdict
  case "$1" in
    0) if conforms "$2"; then verdict=conformant; else verdict=known-failures; fi ;;
    1) verdict=failed ;;
    3) verdict=not-driven ;;
    4) verdict=nothing-exercised ;;
    129 | 130 | 143) verdict=interrupted ;;
    *) verdict=not-judged ;;
  esac
  echo "exit-code=$1" >>"$GITHUB_OUTPUT"
  echo "verdict=$verdict" >>"$GITHUB_OUTPUT"
}

# Did it end well by itself, and not because a baseline knows what failed?
conforms() {
  "$SDS_PYTHON" -c 'import json, sys; sys.exit(json.load(open(sys.argv[1], encoding="utf-8"))["summary"]["exit_code"])' "$1"
}

gate() {
  echo "The exit code is $SDS_EXIT_CODE: $SDS_VERDICT."
  exit "$SDS_EXIT_CODE"
}

case "${1:-}" in
  install | key | judge | gate) "$1" ;;
  *) echo "usage: run.sh install | key | judge | gate" >&2; exit 2 ;;
esac
