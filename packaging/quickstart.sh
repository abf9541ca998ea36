#!/usr/bin/env bash
# From a fresh checkout to a table that compares three ways to specialise an encoder. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/quickstart.sh [--smoke] [FOLDER]

Sets the machine up (packaging/setup.sh), builds the programs, trains three variants of all-MiniLM-L6-v2 on the descriptions of the
Debian packages (experiments/quickstart.yaml) and prints the comparison. The runs are kept in FOLDER (default: ./quickstart-project);
running this again goes on where it was stopped, and does not train again what is done.

  --smoke   every stage with a few steps on a sample of the data: two minutes, and the scores mean nothing
  --help    this text
TEXT
}

smoke=()
project=$PWD/quickstart-project
for argument in "$@"; do
    case $argument in
        --smoke) smoke=(--smoke) ;;
        --help | -h) usage; exit 0 ;;
        -*) usage >&2; printf "quickstart: unknown argument '%s'\n" "$argument" >&2; exit 2 ;;
        *) mkdir -p -- "$argument"; project=$(cd -- "$argument" && pwd) ;;
    esac
done

"$here/setup.sh"
cd "$root"
printf 'quickstart: building (the first time some 10 minutes on 2 cores)\n'
build release programs
PATH=$root/build/release/bin:$PATH

printf 'quickstart: training and evaluating; Ctrl-C stops with a checkpoint, running this again goes on\n'
faceter run experiments/quickstart.yaml --project "$project" "${smoke[@]}"
faceter compare --project "$project"

cat <<TEXT

Where to look next
  the comparison again       build/release/bin/faceter compare --project '$project'
  every run, and one of them build/release/bin/faceter list --project '$project'
                             build/release/bin/faceter show --project '$project' RUN
  the experiment itself      experiments/quickstart.yaml; copy it, change a line, check it:
                             build/release/bin/faceter check experiments/quickstart.yaml
  your own texts             experiments/README.md
TEXT
