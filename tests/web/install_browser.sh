#!/bin/sh
# Install the distribution's Chromium for the browser tests, if it is missing. Playwright itself downloads nothing.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then exit 0; fi
done
if ! command -v apt-get >/dev/null; then
    echo "Chromium is missing and there is no apt-get: install it, and set CHROMIUM to its path" >&2
    exit 1
fi
as_root=""
if [ "$(id -u)" != 0 ]; then as_root="sudo"; fi
$as_root apt-get update -qq
$as_root apt-get install -y -qq --no-install-recommends chromium
