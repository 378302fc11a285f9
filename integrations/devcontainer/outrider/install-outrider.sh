#!/bin/sh
# Installs the standalone command. Its archive is compared with SHA256SUMS before anything of it is unpacked, and nothing that was
# downloaded runs before that. With OUTRIDER_SIGNERS, a file for `ssh-keygen -Y verify`, SHA256SUMS itself must be signed.
#
# OUTRIDER_VERSION   the version, without v (needed)
# OUTRIDER_BASE_URL  where releases are: BASE/vVERSION/FILE (needed)
# OUTRIDER_PREFIX    the command goes to PREFIX/bin; $HOME/.local when absent
set -eu

main() {
  version=${OUTRIDER_VERSION:?say which version: OUTRIDER_VERSION=1.2.3}
  base=${OUTRIDER_BASE_URL:?say where releases are: OUTRIDER_BASE_URL=https://…/download}
  prefix=${OUTRIDER_PREFIX:-${HOME:?}/.local}
  case $version in *[!0-9A-Za-z.-]* | "") fail "OUTRIDER_VERSION is no version: $version" ;; esac
  case $base in
    https://* | http://127.0.0.1:* | http://localhost:*) ;;
    *) fail "OUTRIDER_BASE_URL must begin with https://" ;;
  esac

  archive=outrider-$version-$(platform).tar.gz
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  trap 'exit 130' INT TERM HUP
  cd "$folder"
  fetch "$base/v$version/SHA256SUMS" SHA256SUMS
  check_signature
  fetch "$base/v$version/$archive" "$archive"
  check_sum

  tar -xzf "$archive" "outrider-$version/outrider"
  mkdir -p "$prefix/bin"
  # Renamed into place: a run that is at work keeps its own file.
  cp "outrider-$version/outrider" "$prefix/bin/.outrider.$$"
  chmod 755 "$prefix/bin/.outrider.$$"
  mv -f "$prefix/bin/.outrider.$$" "$prefix/bin/outrider"
  echo "installed: $prefix/bin/outrider ($("$prefix/bin/outrider" --version))"
  case :$PATH: in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not on the PATH" ;; esac
}

platform() {
  case $(uname -sm) in
    "Linux x86_64") name=linux-x64 ;;
    "Linux aarch64" | "Linux arm64") name=linux-arm64 ;;
    "Darwin x86_64") name=darwin-x64 ;;
    "Darwin arm64") name=darwin-arm64 ;;
    *) fail "There is no standalone command for $(uname -sm); with Node: npm install -g outrider" ;;
  esac
  case $name in
    linux-*) [ -e /lib64/ld-linux-x86-64.so.2 ] || [ -e /lib/ld-linux-aarch64.so.1 ] || name=$name-musl ;;
  esac
  echo "$name"
}

fetch() {
  if command -v curl > /dev/null; then
    curl --proto '=https,http' --silent --show-error --fail --location --retry 2 --output "$2" -- "$1" || fail "$1 could not be fetched"
  elif command -v wget > /dev/null; then
    wget -q -O "$2" -- "$1" || fail "$1 could not be fetched"
  else
    fail "curl or wget is needed"
  fi
}

check_signature() {
  [ -n "${OUTRIDER_SIGNERS:-}" ] || return 0
  command -v ssh-keygen > /dev/null || fail "ssh-keygen is needed to check the signature"
  fetch "$base/v$version/SHA256SUMS.sig" SHA256SUMS.sig
  ssh-keygen -Y verify -f "$OUTRIDER_SIGNERS" -I outrider -n outrider-release -s SHA256SUMS.sig < SHA256SUMS > /dev/null 2>&1 ||
    fail "SHA256SUMS is not signed by one of $OUTRIDER_SIGNERS; nothing was installed"
}

check_sum() {
  wanted=$(awk -v name="$archive" '$2 == name { print $1 }' SHA256SUMS)
  [ -n "$wanted" ] || fail "SHA256SUMS does not name $archive; nothing was installed"
  if command -v sha256sum > /dev/null; then
    found=$(sha256sum "$archive" | cut -d ' ' -f 1)
  else
    found=$(shasum -a 256 "$archive" | cut -d ' ' -f 1)
  fi
  [ "$found" = "$wanted" ] || fail "$archive is not what SHA256SUMS says; nothing was installed"
}

fail() {
  echo "install.sh: $1" >&2
  exit 1
}

main
