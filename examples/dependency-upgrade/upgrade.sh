#!/bin/sh
# upgrade.sh [FLAGS OF OUTRIDER…]: upgrades, checks, has an agent mend what broke, and leaves upgrade.diff.
set -eu
upgrade=${UPGRADE:-npx --yes npm-check-updates -u && npm install}
check=${CHECK:-npm test}
tries=${TRIES:-3}
session=upgrade-$(date +%Y%m%d%H%M%S)-$$
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

sh -c "$upgrade" > "$work/upgrade.log" 2>&1 || { tail -n 50 "$work/upgrade.log"; exit 1; }
try=0
until sh -c "$check" > "$work/check.log" 2>&1; do
  try=$((try + 1))
  if [ "$try" -gt "$tries" ]; then
    echo "After $tries tries the check still fails:"
    tail -n 50 "$work/check.log"
    exit 1
  fi
  if [ "$try" -eq 1 ]; then same="--session-id $session"; else same="--resume $session"; fi
  # shellcheck disable=SC2086 # two words
  tail -n 200 "$work/check.log" | outrider -p "Dependencies were upgraded and '$check' fails. Mend the code that uses them." - \
    $same --permission-mode acceptEdits --allowedTools "Bash($check)" \
    --disallowedTools "Edit(./**/*.test.*)" "Edit(./package-lock.json)" \
    --max-turns 40 --deadline 20m "$@" > "$work/answer.txt"
  sed 's/^/  /' "$work/answer.txt"
done
git add --intent-to-add .
git diff > upgrade.diff
echo "The check passes after $try tries; upgrade.diff has $(grep -c '^diff ' upgrade.diff) files"
