#!/usr/bin/env bash
# Runs the benchmark CONFIG, compares it with the artifact of the last good run on MAIN and, on a pull request,
# writes the finding as a comment. Fails where quality has dropped by more than MAX_DROP, or is below MIN.
set -euo pipefail

harness bench "$CONFIG" --quiet
results=$(python -c "import sys, harness; c = harness.load_config(sys.argv[1]); print(c.results / c.name)" "$CONFIG")
name=$(basename "$results")
printf 'results=%s\nname=%s\n' "$results" "$name" >>"${GITHUB_OUTPUT:-/dev/null}"

options=()
baseline=$(mktemp -d)
# A pull request from a branch of a fork that is called as the main branch is listed under its name too: what it has
# computed must not become the baseline.
if ! run=$(gh run list --branch "${MAIN:-main}" --workflow "${GITHUB_WORKFLOW:-}" --status success --limit 50 \
  --json databaseId,event \
  --jq '[.[] | select(.event | IN("push", "schedule", "workflow_dispatch"))][0].databaseId // empty'); then
  echo "::error::The runs on ${MAIN:-main} cannot be listed, so nothing can be compared. The workflow needs" \
    "\`permissions: actions: read\`."
  exit 1
fi
if [ -z "$run" ]; then
  echo "::notice::There is no run on ${MAIN:-main} to compare with yet; the next one on that branch becomes the baseline."
elif gh run download "$run" --name "ndcg-harness-$name" --dir "$baseline"; then
  options+=(--baseline "$baseline" --max-drop "${MAX_DROP:-0.02}")
else
  echo "::warning::The results of run $run on ${MAIN:-main} cannot be downloaded, so nothing is compared. Artifacts" \
    "expire: run the workflow on ${MAIN:-main} again."
fi
if [ -n "${MIN:-}" ]; then options+=(--min "$MIN"); fi
if [ -n "${MEASURE:-}" ]; then options+=(--measure "$MEASURE"); fi

link="${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-}/actions/runs/${GITHUB_RUN_ID:-}"
# bash 3.2 of macOS takes an empty array for one that is not set
if [ "${GITHUB_EVENT_NAME:-}" = pull_request ]; then
  harness comment "$results" ${options[@]+"${options[@]}"} --link "$link" --summary "${GITHUB_STEP_SUMMARY:-/dev/null}"
else
  harness comment "$results" ${options[@]+"${options[@]}"} --link "$link" --output "${GITHUB_STEP_SUMMARY:-/dev/null}"
fi
