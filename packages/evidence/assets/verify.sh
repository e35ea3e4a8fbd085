#!/bin/sh
# Verifies the dossier in this file's folder, offline: sh verify.sh [--roots roots.pem]
# Needs python3 (3.7 or later) and openssl (1.1.1 or later). The exit code is 0 only when everything holds,
# and 2 when it cannot be told for want of a program.
set -eu
here=$(dirname "$0")
for program in python3 openssl; do
  command -v "$program" >/dev/null 2>&1 || {
    echo "$program is missing: install it, e.g. \"apt install $program\" or \"brew install $program\"" >&2
    exit 2
  }
done
# Once more with the system's own tool, so that nothing of ours has to be believed for the files' sums.
if command -v sha256sum >/dev/null 2>&1; then
  # The plainest options, and believed only where it says FAILED: BusyBox and BSD know fewer; verify.py does it again.
  said=$(cd "$here" && LC_ALL=C sha256sum -c SHA256SUMS 2>&1) || case $said in
    *': FAILED'*)
      printf '%s\n' "$said" | grep -v ': OK$' | LC_ALL=C tr -cd '[:print:]\n' >&2
      exit 1
      ;;
  esac
fi
exec python3 "$here/verify.py" "$@"
