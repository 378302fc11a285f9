#!/usr/bin/env bash
# Adds the way to the page of the run to the summary of the job.
set -euo pipefail

printf '\n[The run as a page](%s): every step, change and cost.\n' "$OUTRIDER_REPORT_URL" >> "$GITHUB_STEP_SUMMARY"
