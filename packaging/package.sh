#!/usr/bin/env bash
# Makes everything that users install. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/package.sh [--build DIR] FOLDER

Writes into FOLDER:
  - faceter, faceter-worker, faceter-desktop and faceter-dev as Debian packages. libtorch is not inside: `faceter setup` fetches it
  - the bundle for machines where nothing can be installed (packaging/bundle.sh)
  - a Python wheel that carries the same programs and takes the environment's torch:  pip install FOLDER/faceter-*.whl

  --build DIR   what to pack (default: build/release, which is built first)
  --help        this text
TEXT
}
die() { printf 'package: %s\n' "$*" >&2; exit "${code:-5}"; }

packing_arguments "$@"
folder=$target
[ -n "$folder" ] || { usage >&2; code=2 die "where to? Name a folder"; }
for tool in cpack patchelf dpkg-shlibdeps; do command -v $tool >/dev/null || die "there is no $tool; packaging/setup.sh installs it"; done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ -z "$build_folder" ]; then
    build_folder=$root/build/release
    (cd "$root" && build release programs)
fi
build_folder=$(cd "$build_folder" && pwd)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build_folder/CMakeCache.txt") || die "$build_folder is no build folder of Faceter"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && FACETER_PACKAGED_BUILD=$build_folder cpack --config "$build_folder/CPackConfig.cmake" -G DEB -B "$work/packages" >"$work/log" 2>&1) ||
    { cat "$work/log" >&2; die "cpack could not make the packages"; }
cp "$work"/packages/*.deb "$folder"

bundle=$folder/faceter-$version-linux-x86_64.tar.gz
"$here/bundle.sh" --build "$build_folder" "$bundle"
tar -C "$work" -xf "$bundle"
python3 "$here/make_wheel.py" "$work/faceter-$version" "$here/python/faceter" "$folder" >/dev/null
printf 'package: %s\n' "$folder"/*
