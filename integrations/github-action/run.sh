#!/usr/bin/env bash
# Runs the command with the inputs of the action. They come as variables and become whole arguments: nothing in them is ever read by a
# shell. The command itself leaves summary, outputs and annotations.
set -euo pipefail

main() {
  local arguments=() prompt output report code=0
  add_flag --model "$INPUT_MODEL"
  add_flag --provider "$INPUT_PROVIDER"
  add_flag --permission-mode "$INPUT_PERMISSION_MODE"
  add_flag --sandbox "$INPUT_SANDBOX"
  add_flag --max-turns "$INPUT_MAX_TURNS"
  add_flag --max-budget-usd "$INPUT_MAX_BUDGET_USD"
  add_flag --deadline "$INPUT_DEADLINE"
  add_flag --json-schema "$INPUT_JSON_SCHEMA"
  add_flag --output-format "$INPUT_OUTPUT_FORMAT"
  arguments+=("--setting-sources=$INPUT_SETTING_SOURCES")
  add_lines --allowedTools= "$INPUT_ALLOWED_TOOLS"
  add_lines --disallowedTools= "$INPUT_DISALLOWED_TOOLS"
  add_lines "" "$INPUT_EXTRA_ARGS"

  prompt=$(mktemp "$RUNNER_TEMP/outrider-prompt-XXXXXX")
  output=$(mktemp "$RUNNER_TEMP/outrider-output-XXXXXX")
  # Prompts are words of strangers: behind a space, one that begins with a slash is no command for the session.
  printf ' ' > "$prompt"
  if [ -n "$INPUT_PROMPT_FILE" ]; then
    cat -- "$INPUT_PROMPT_FILE" >> "$prompt"
  else
    printf '%s' "$INPUT_PROMPT" >> "$prompt"
  fi
  echo "output_file=$output" >> "$GITHUB_OUTPUT"
  if [ "$INPUT_REPORT" = true ]; then
    report=$(mktemp -d "$RUNNER_TEMP/outrider-report-XXXXXX")/report.html
    arguments+=("--report=$report")
    echo "report_file=$report" >> "$GITHUB_OUTPUT"
  fi

  # The runner tells only this shell that the job was cancelled.
  "$INPUT_EXECUTABLE" "${arguments[@]}" -p < "$prompt" > "$output" &
  child=$!
  trap 'kill -TERM "$child" 2> /dev/null' INT TERM
  while wait "$child" || code=$?; kill -0 "$child" 2> /dev/null; do code=0; done
  rm -f -- "$prompt"
  [ "$INPUT_OUTPUT_FORMAT" != text ] || show "$output"
  exit "$code"
}

# One word each time, so that a value that begins with a dash is no flag.
add_flag() {
  [ -z "$2" ] || arguments+=("$1=$2")
}

add_lines() {
  local line
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -z "$line" ] || arguments+=("$1$line")
  done <<< "$2"
}

# The answer in the log. All of it goes to one stream, so nothing in it can be taken for a command of ours.
show() {
  local token
  token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  echo "::group::Outrider: answer"
  echo "::stop-commands::$token"
  cat -- "$1"
  printf '\n::%s::\n' "$token"
  echo "::endgroup::"
}

main
