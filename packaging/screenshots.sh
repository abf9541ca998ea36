#!/usr/bin/env bash
# Makes the pictures of the workbench that README.md and the manual show. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

usage() {
    cat <<'TEXT'
usage: packaging/screenshots.sh [--build DIR] [--only NAME] [FOLDER]

Draws every picture of the workbench anew: those of README.md into resources/screenshots, those of the manual into resources/manual/pictures.
What they show are real runs, in projects that FOLDER keeps (default: build/screenshots):
  tickets-project    what the manual's First steps make
  quickstart-project what packaging/quickstart.sh makes
  experts-project    the quick start's MoTE, with analysis expert_moves
  spread-project     what the manual's chapter on plugins makes, with a plugin that is built there
  router-project     experiments/router_retriever_small.yaml
  curriculum-project experiments/data_cube_small.yaml without its sweep, with analysis data_cube_report
Runs that are done are not trained again; the first time takes half an hour on two cores. Look at each picture before it is committed.

  --build DIR   whose programs draw (default: build/release)
  --only NAME   pictures of that name alone: runs, compare ...
  --help        this text
TEXT
}
die() { printf 'screenshots: %s\n' "$*" >&2; exit "${code:-5}"; }

build_folder=$root/build/release
folder=$root/build/screenshots
only=
while [ $# -gt 0 ]; do
    case $1 in
        --build) build_folder=${2:?--build needs a folder}; shift 2 ;;
        --only) only=${2:?--only needs a name}; shift 2 ;;
        --help | -h) usage; exit 0 ;;
        -*) usage >&2; code=2 die "unknown argument '$1'" ;;
        *) folder=$1; shift ;;
    esac
done
for program in faceter faceter-worker faceter-desktop; do
    [ -x "$build_folder/bin/$program" ] || die "$build_folder/bin has no $program; build it first (cmake --build --preset release)"
done
command -v pngquant >/dev/null || die "there is no pngquant, which makes the pictures small; apt-get install pngquant"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
PATH=$(cd "$build_folder/bin" && pwd):$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Neither the names of this machine's projects nor what their pages were left at.
chmod 700 "$work"
export XDG_CONFIG_HOME=$work XDG_RUNTIME_DIR=$work QT_QPA_PLATFORM=offscreen FACETER_PROJECT=

# run_once NAME ARGUMENT...: `faceter run`, where FOLDER does not say that it was done.
run_once() {
    local name=$1
    shift
    [ ! -e "$folder/$name.done" ] || return 0
    printf 'screenshots: training %s\n' "$name"
    (cd "$folder" && faceter run "$@" >"$folder/$name.log") || die "$name failed; $folder/$name.log says how far it came"
    touch "$folder/$name.done"
}

cp "$root/resources/manual/tickets.csv" "$folder"
[ -e "$folder/tickets.yaml" ] || (cd "$folder" && faceter init tickets.csv --yes >/dev/null)
run_once tickets tickets.yaml --project tickets-project
run_once quickstart "$root/experiments/quickstart.yaml" --project quickstart-project
if [ ! -e "$folder/spread.done" ]; then
    cmake --install "$build_folder" --prefix "$folder/prefix" >/dev/null
    [ -d "$folder/spread" ] || (cd "$folder" && "$folder/prefix/bin/faceter" plugin new spread --kind analysis >/dev/null)
    cmake -S "$folder/spread" -B "$folder/spread/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$folder/prefix" >/dev/null
    cmake --build "$folder/spread/build" >/dev/null
fi
FACETER_PLUGIN_DIR=$folder/spread/build/lib/faceter/plugins run_once spread spread/experiment.yaml --project spread-project
run_once experts "$root/experiments/quickstart.yaml" --project experts-project --only MoTE \
    --set 'analyses=[{method: expert_moves}]' --set 'evaluation={baseline: false, datasets: []}'
run_once router "$root/experiments/router_retriever_small.yaml" --project router-project
run_once curriculum "$root/experiments/data_cube_small.yaml" --project curriculum-project --set 'sweep={}' \
    --set 'analyses=[{method: data_cube_report}]' --set 'evaluation={baseline: false, datasets: []}'

# shoot PROJECT PAGE SIZE FILE: fewer colours, for the frame of the workbench has few.
shoot() {
    [ -z "$only" ] || [ "$only" = "$2" ] || return 0
    rm -f "$work/page.png"
    faceter-desktop --project "$folder/$1" --screenshot "$2" "$work/page.png" --size "$3" --light 2>"$work/said" || die "$(cat "$work/said")"
    pngquant --force --strip --speed 1 --nofs 128 --output "$4" "$work/page.png"
    printf 'screenshots: %s, %s kB\n' "${4#"$root"/}" $(($(stat -c %s "$4") / 1000))
}

readme=$root/resources/screenshots
manual=$root/resources/manual/pictures
for page in runs curves compare facets; do shoot quickstart-project $page 1280x800 "$readme/$page.png"; done
for page in runs curves compare facets; do shoot quickstart-project $page 1120x720 "$manual/$page.png"; done
shoot experts-project experts 1120x720 "$manual/experts.png"
shoot tickets-project explore 1120x720 "$manual/explore.png"
for page in router curriculum; do shoot $page-project $page 1120x720 "$manual/$page.png"; done
shoot spread-project results 1120x720 "$manual/results.png"
