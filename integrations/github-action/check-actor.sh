#!/usr/bin/env bash
# Ends with 0 only when everybody behind this event may write to the repository, or is named in OUTRIDER_ALLOWED_ACTORS,
# and no branch of a fork is involved. What cannot be found out is a no.
set -euo pipefail
set -f # [bot] in a name is no pattern

main() {
  need curl
  need jq
  [ -r "$OUTRIDER_EVENT_PATH" ] || refuse "The event cannot be read"
  jq -e 'type == "object"' "$OUTRIDER_EVENT_PATH" > /dev/null 2>&1 || refuse "The event is no JSON object"
  # Nobody triggers a schedule: its workflow is the one of the default branch, which took write permission to change.
  if [ "$OUTRIDER_EVENT_NAME" != schedule ]; then
    check_actor "$OUTRIDER_ACTOR"
    # Somebody else may have started it again.
    [ "$OUTRIDER_TRIGGERING_ACTOR" = "$OUTRIDER_ACTOR" ] || check_actor "$OUTRIDER_TRIGGERING_ACTOR"
  fi
  [ "$OUTRIDER_ALLOW_FORKS" = true ] || check_fork
  echo "Outrider may run for $OUTRIDER_TRIGGERING_ACTOR ($OUTRIDER_EVENT_NAME)"
}

check_actor() {
  local login=$1 allowed permission
  [[ $login =~ ^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$ ]] || refuse "The event names no actor"
  for allowed in ${OUTRIDER_ALLOWED_ACTORS//,/ }; do
    [ "$(lower "$allowed")" != "$(lower "$login")" ] || return 0
  done
  permission=$(ask "/collaborators/$(jq -rn --arg login "$login" '$login | @uri')/permission" '.permission') ||
    refuse "The permission of $login could not be found out"
  case $permission in
    admin | write) ;;
    *) refuse "$login has no write permission (but: ${permission:0:20}); allowed-actors can name who may run this without" ;;
  esac
}

# The branch of a pull request: from the event, or, where the event is about a comment, from GitHub.
check_fork() {
  local head number
  if jq -e '.pull_request' "$OUTRIDER_EVENT_PATH" > /dev/null; then
    head=$(jq -r '.pull_request.head.repo.full_name' "$OUTRIDER_EVENT_PATH")
  elif jq -e '.issue.pull_request' "$OUTRIDER_EVENT_PATH" > /dev/null; then
    number=$(jq -r '.issue.number | numbers' "$OUTRIDER_EVENT_PATH")
    head=$(ask "/pulls/$number" '.head.repo.full_name') || refuse "The pull request could not be looked at"
  elif jq -e '.workflow_run' "$OUTRIDER_EVENT_PATH" > /dev/null; then
    head=$(jq -r '.workflow_run.head_repository.full_name' "$OUTRIDER_EVENT_PATH")
  else
    return 0
  fi
  [ "$head" = "$OUTRIDER_REPOSITORY" ] || refuse "The branch is in a fork; allow-forks lets such pull requests in"
}

# ask PATH FILTER: a value of what GitHub says about this repository. Fails unless there is one. The token is not in the arguments,
# which every process of the machine can read.
ask() {
  printf 'header = "Authorization: Bearer %s"\n' "$OUTRIDER_GITHUB_TOKEN" |
    curl --disable --config - --silent --show-error --fail --max-time 20 --retry 2 \
      --header "Accept: application/vnd.github+json" --header "X-GitHub-Api-Version: 2022-11-28" \
      "$OUTRIDER_API_URL/repos/$OUTRIDER_REPOSITORY$1" |
    jq -er "$2 | strings"
}

# GitHub's logins know no difference between a and A; the bash of macOS knows no other way.
lower() {
  printf '%s' "$1" | tr '[:upper:]' '[:lower:]'
}

need() {
  command -v "$1" > /dev/null || refuse "$1 is not installed"
}

refuse() {
  printf '::error title=Outrider will not run::%s\n' "$1"
  exit 1
}

main
