#!/usr/bin/env bash
# From a fresh checkout to a table that compares three ways to specialise an encoder. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/quickstart.sh [--smoke] [--no-desktop] [FOLDER]

Sets the machine up (packaging/setup.sh), builds the programs, trains three variants of all-MiniLM-L6-v2 on the descriptions of the
Debian packages (experiments/quickstart.yaml) and prints the comparison. The runs are kept in FOLDER (default: ./quickstart-project);
running this again goes on where it was stopped, and does not train again what is done.

Where there is a display, the workbench opens on the result.

  --smoke   every stage with a few steps on a sample of the data: two minutes, and the scores mean nothing
  --no-desktop   leave the workbench closed
  --help    this text
TEXT
}

smoke=()
desktop=yes
project=$PWD/quickstart-project
for argument in "$@"; do
    case $argument in
        --smoke) smoke=(--smoke) ;;
        --no-desktop) desktop=no ;;
        --help | -h) usage; exit 0 ;;
        -*) usage >&2; printf "quickstart: unknown argument '%s'\n" "$argument" >&2; exit 2 ;;
        *) mkdir -p -- "$argument"; project=$(cd -- "$argument" && pwd) ;;
    esac
done

"$here/setup.sh"
cd "$root"
printf 'quickstart: building (the first time 10 to 35 minutes on 2 cores)\n'
build release programs
PATH=$root/build/release/bin:$PATH

# The project's full runs, a line each: state and name. Nothing where there is no project yet.
earlier_runs() {
    [ -d "$project/runs" ] || return 0
    faceter list --project "$project" --json |
        python3 -c 'import json, sys; [print(r["state"], r["name"]) for r in json.load(sys.stdin)["runs"] if not r["smoke"]]'
}

earlier=$([ ${#smoke[@]} -gt 0 ] || earlier_runs)
mapfile -t unfinished < <(printf '%s\n' "$earlier" | sed -n -E 's/^(queued|stopped|failed|dead) //p')
if grep -q -E '^(running|silent) ' <<<"$earlier"; then
    printf 'quickstart: runs are still going on: faceter list --project %q\n' "$project" >&2
    exit 2
elif [ -z "$earlier" ]; then
    printf 'quickstart: training and evaluating; Ctrl-C stops with a checkpoint, running this again goes on\n'
    faceter run experiments/quickstart.yaml --project "$project" "${smoke[@]}"
elif [ ${#unfinished[@]} -gt 0 ]; then
    printf 'quickstart: going on with %s\n' "${unfinished[*]}"
    faceter resume --project "$project" "${unfinished[@]}" >/dev/null
    faceter compare --project "$project" --layout summary
else
    printf 'quickstart: everything is trained already; delete %q to start anew\n' "$project"
    faceter compare --project "$project" --layout summary
fi

cat <<TEXT

Where to look next
  cd $(printf %q "$root") && export PATH="\$PWD/build/release/bin:\$PATH" FACETER_PROJECT=$(printf %q "$project")
  faceter compare                                  every test, costs (--format latex, md, csv, json)
  faceter similarity MoTE IC                       do the tasks' embeddings of the same texts differ?
  faceter report --output report.html              all of it on one page
  faceter init FILE.csv                            an experiment on texts of your own
  faceter list, faceter show RUN                   the runs; their figures, tables and logs are in $(printf %q "$project/runs")
  faceter export RUN DIR --project "\$FACETER_PROJECT"   a model for sentence-transformers
  faceter-desktop --project "\$FACETER_PROJECT"      the same in the workbench: runs, curves, comparison, facets
  faceter plugins                                  the methods that an experiment may name
  experiments/README.md                            experiments of your own, on texts of your own
TEXT

if [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    printf '\nThere is no display here. On a machine with one (or over ssh -X) the workbench shows the result:\n  %q --project %q\n' \
        "$root/build/release/bin/faceter-desktop" "$project"
elif [ "$desktop" = yes ]; then
    printf '\nquickstart: opening the workbench (it can be closed at any time; faceter-desktop --project %q opens it again)\n' "$project"
    setsid "$root/build/release/bin/faceter-desktop" --project "$project" >/dev/null 2>&1 &
fi
