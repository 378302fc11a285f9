#!/usr/bin/env bash
# Installs exactly one version, from a release or from npm, away from the project: its .npmrc must not say where the package comes from. No script of a package runs.
set -euo pipefail

if [ -n "$OUTRIDER_EXECUTABLE" ]; then
  executable=$(command -v "$OUTRIDER_EXECUTABLE") || {
    echo "::error title=Outrider::The input executable names no program"
    exit 1
  }
elif [ -n "${OUTRIDER_RELEASE_URL:-}" ]; then
  # The standalone command: no Node and no npm. Its checksums are compared before anything of it runs.
  folder=$(mktemp -d "$RUNNER_TEMP/outrider-XXXXXX")
  OUTRIDER_PREFIX=$folder OUTRIDER_BASE_URL=$OUTRIDER_RELEASE_URL sh "$GITHUB_ACTION_PATH/../install/install.sh" || {
    echo "::error title=Outrider::The standalone command could not be installed"
    exit 1
  }
  executable=$folder/bin/outrider
elif [ -n "${OUTRIDER_PACKAGE:-}" ]; then
  # A tarball of npm pack, by its whole path: nothing of the project is asked where it is.
  case $OUTRIDER_PACKAGE in
    /*.tgz) [ -f "$OUTRIDER_PACKAGE" ] || { echo "::error title=Outrider::The input package names no file"; exit 1; } ;;
    https://*.tgz) ;;
    *)
      echo "::error title=Outrider::The input package must be the whole path of a .tgz file, or its https address"
      exit 1
      ;;
  esac
  package=$OUTRIDER_PACKAGE
else
  if ! [[ $OUTRIDER_VERSION =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
    echo "::error title=Outrider::The input version must be one exact version, such as 1.2.3"
    exit 1
  fi
  package=outrider@$OUTRIDER_VERSION
fi
if [ -n "${package:-}" ]; then
  folder=$(mktemp -d "$RUNNER_TEMP/outrider-XXXXXX")
  cd "$folder"
  npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund --no-package-lock "$package"
  executable=$folder/node_modules/.bin/outrider
fi
echo "executable=$executable" >> "$GITHUB_OUTPUT"
