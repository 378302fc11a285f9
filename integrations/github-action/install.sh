#!/usr/bin/env bash
# Installs exactly one version, away from the project: its .npmrc must not say where the package comes from. No script of a package runs.
set -euo pipefail

if [ -n "$OUTRIDER_EXECUTABLE" ]; then
  executable=$(command -v "$OUTRIDER_EXECUTABLE") || {
    echo "::error title=Outrider::The input executable names no program"
    exit 1
  }
else
  if ! [[ $OUTRIDER_VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    echo "::error title=Outrider::The input version must be one exact version, such as 1.2.3"
    exit 1
  fi
  folder=$(mktemp -d "$RUNNER_TEMP/outrider-XXXXXX")
  cd "$folder"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-package-lock "outrider@$OUTRIDER_VERSION"
  executable=$folder/node_modules/.bin/outrider
fi
echo "executable=$executable" >> "$GITHUB_OUTPUT"
