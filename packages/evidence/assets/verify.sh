#!/bin/sh
# Verifies the dossier in this file's folder, offline: sh verify.sh [--roots roots.pem]
# Needs python3 (3.8 or later) and openssl (1.1.1 or later). The exit code is 0 only when everything holds,
# and 2 when a program is missing or too old to tell.
set -eu
unset CDPATH
case $0 in
  */*) here=${0%/*}/ ;;
  *) here=./ ;;
esac
here=$(cd "$here" && pwd -P)

# Programs come from absolute folders of PATH outside the dossier: it may hold files with the names of programs.
programs=
IFS=:
set -f
for folder in $PATH; do
  case $folder in
    /*) real=$(cd "$folder" 2>/dev/null && pwd -P) || continue ;;
    *) continue ;;
  esac
  case $real in
    "$here" | "$here"/*) ;;
    *) programs=$programs:$folder ;;
  esac
done
set +f
unset IFS
PATH=${programs#:}
export PATH

for program in python3 openssl; do
  command -v "$program" >/dev/null 2>&1 || {
    echo "$program is missing: install it, e.g. \"apt install $program\" or \"brew install $program\"" >&2
    exit 2
  }
done
# A link leads out of the dossier, and reading a pipe or a device may never end.
if [ -n "$(find "$here" ! -type f ! -type d)" ]; then
  echo "The dossier holds something else than files and folders:" >&2
  find "$here" ! -type f ! -type d | LC_ALL=C tr -cd '[:print:]\n' >&2
  exit 1
fi
# Once more with the system's own tool, so that nothing of ours has to be believed for the files' sums. A list with other
# lines than those of a dossier, such as a path that leads out of it, is left to verify.py, which refuses it.
if command -v sha256sum >/dev/null 2>&1 &&
  ! LC_ALL=C grep -Eqv '^[0-9a-f]{64}  [A-Za-z0-9_-][A-Za-z0-9._/-]*$' "$here/SHA256SUMS" &&
  ! grep -q '\.\.' "$here/SHA256SUMS"; then
  # The plainest options, and believed only where it says FAILED: BusyBox and BSD know fewer; verify.py does it again.
  said=$(cd "$here" && LC_ALL=C sha256sum -c SHA256SUMS 2>&1) || case $said in
    *': FAILED'*)
      printf '%s\n' "$said" | grep -v ': OK$' | LC_ALL=C tr -cd '[:print:]\n' >&2
      exit 1
      ;;
  esac
fi
# -I: Python takes modules from its own library alone, and ignores variables that name other places.
exec python3 -I "$here/verify.py" "$@"
