#!/bin/sh
# Of a dev container's feature: options come as variables, and this runs as root while the image is built.
set -eu
if ! command -v curl > /dev/null && ! command -v wget > /dev/null; then
  apt-get update
  apt-get install -y --no-install-recommends ca-certificates curl
  rm -rf /var/lib/apt/lists/*
fi
here=$(cd "$(dirname "$0")" && pwd)
OUTRIDER_VERSION=${VERSION:?} OUTRIDER_BASE_URL=${BASEURL:?the option baseUrl says where releases are} OUTRIDER_PREFIX=/usr/local \
  sh "$here/install-outrider.sh"
