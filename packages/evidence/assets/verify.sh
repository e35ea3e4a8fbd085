#!/bin/sh
# Verifies the dossier in this file's folder, offline: sh verify.sh [--roots roots.pem]
# Needs python3 (3.8 or later) and openssl (1.1.1 or later). The exit code is 0 only if there is no problem,
# 1 if there is one, and 2 if the dossier could not be checked because a program is missing or too old.
set -eu
unset CDPATH
case $0 in
  */*) here=${0%/*}/ ;;
  *) here=./ ;;
esac
here=$(cd "$here" && pwd -P)

# Only absolute folders of PATH outside the dossier are searched for programs: a dossier may contain files with the names
# of programs.
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
    echo "$program is missing. Install it, for example with \"apt install $program\" or \"brew install $program\"." >&2
    exit 2
  }
done
# A link can point to a file outside the dossier, and reading a pipe or a device may never end.
if [ -n "$(find "$here" ! -type f ! -type d)" ]; then
  echo "The dossier contains something other than files and folders:" >&2
  find "$here" ! -type f ! -type d | LC_ALL=C tr -cd '[:print:]\n' >&2
  exit 1
fi
# Compares the checksums with the system's own tool as well, so that this step does not depend on our program. A list with
# lines that no dossier has, such as a path outside the dossier, is left to verify.py, which rejects it.
if command -v sha256sum >/dev/null 2>&1 &&
  ! LC_ALL=C grep -Eqv '^[0-9a-f]{64}  [A-Za-z0-9_-][A-Za-z0-9._/-]*$' "$here/SHA256SUMS" &&
  ! grep -q '\.\.' "$here/SHA256SUMS"; then
  # BusyBox and BSD support few options, so only the basic ones are used, and a failure counts only if the output contains
  # FAILED. verify.py repeats the comparison.
  output=$(cd "$here" && LC_ALL=C sha256sum -c SHA256SUMS 2>&1) || case $output in
    *': FAILED'*)
      printf '%s\n' "$output" | grep -v ': OK$' | LC_ALL=C tr -cd '[:print:]\n' >&2
      exit 1
      ;;
  esac
fi
# -I: Python loads modules only from its own library and ignores environment variables that name other folders.
exec python3 -I "$here/verify.py" "$@"
