#!/usr/bin/env bash
# Installs the Debian packages into an empty Debian and uses them as somebody would who has nothing else. `--help` says more.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: packaging/try_packages.sh PACKAGES WHEELS

PACKAGES is what packaging/package.sh wrote, WHEELS a folder with the wheels of packaging/wheels.txt (pip download --no-deps). As root, with mmdebstrap:
  - makes an empty Debian (the suite of this machine, from its own package sources) and copies both into it
  - installs the packages with apt, and runs `faceter setup --from` their folder as a user of its own, without network
  - runs quickstart.yaml --smoke, draws a page of the workbench, checks that man pages and completions are there
  - writes a plugin (faceter plugin new), builds it with what faceter-dev depends on, and runs its test
  - purges the packages, and lists what they left: nothing may be
Takes ten minutes and 4 GB under TMPDIR.
TEXT
}
die() { printf 'try_packages: %s\n' "$*" >&2; exit "${code:-5}"; }
say() { printf 'try_packages: %s\n' "$*"; }

case ${1:-} in --help | -h) usage; exit 0 ;; esac
[ $# -eq 2 ] || { usage >&2; code=2 die "two folders are needed"; }
[ "$(id -u)" -eq 0 ] || die "a chroot needs root"
for tool in mmdebstrap unshare; do command -v $tool >/dev/null || die "there is no $tool"; done
packages=$(cd "$1" && pwd)
wheels=$(cd "$2" && pwd)
ls "$packages"/faceter_*.deb >/dev/null 2>&1 || die "$packages has no faceter_*.deb; packaging/package.sh makes them"
. /etc/os-release
work=$(mktemp -d)
trap 'umount "$work/root/proc" 2>/dev/null || true; rm -rf "$work"' EXIT
root=$work/root
inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { unshare --net chroot --userspec=somebody:somebody "$root" /usr/bin/env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 HOME=/home/somebody QT_QPA_PLATFORM=offscreen bash -c "$*"; }
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./home -o -path ./tmp -o -path ./packages -o -path ./var/log -o -path ./var/cache -o -path ./var/lib/dpkg -o -path ./var/lib/apt \) -prune -o -print | sort); }

say "making an empty $VERSION_CODENAME"
# An installation from the usual medium has them in one file, images of containers in the other's folder.
shopt -s nullglob
sources=(/etc/apt/sources.list.d/*.sources)
shopt -u nullglob
[ ${#sources[@]} -gt 0 ] || sources=(/etc/apt/sources.list)
mmdebstrap --quiet --variant=minbase "$VERSION_CODENAME" "$root" "${sources[@]}"
cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
printf '#clear Acquire::Languages;\nAcquire::Languages { "en"; };\n' >"$root/etc/apt/apt.conf.d/zz-descriptions"  # the quick start reads them
mount -t proc proc "$root/proc"
mkdir "$root/packages" "$root/wheels"
cp "$packages"/*.deb "$root/packages"
cp "$wheels"/* "$root/wheels"
chmod -R a+rX "$root/packages" "$root/wheels"
inside useradd --create-home somebody
say "installing what the packages depend on"
inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends fonts-dejavu-core $(inside sh -c 'for package in /packages/*.deb; do dpkg-deb -f $package Depends; done' |
    tr ',' '\n' | sed 's/([^)]*)//; s/|.*//; s/^ *//; s/ *$//' | grep -v '^faceter' | sort -u) >/dev/null
files >"$work/before"
say "installing the packages"
inside sh -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb' >/dev/null
inside ls /usr/share/man/man1/faceter.1.gz /usr/share/man/man1/faceter-desktop.1.gz /usr/share/bash-completion/completions/faceter >/dev/null
say "as a user without network: faceter setup --from, doctor, the quick start's smoke, a screenshot"
as_user 'faceter setup --from /wheels'
as_user 'faceter --version && faceter doctor'
# The quick start's data are the machine's package lists, which a user without network has as apt left them.
as_user 'faceter run /usr/lib/faceter/share/faceter/experiments/quickstart.yaml --smoke --project ~/p && faceter compare --project ~/p'
as_user 'test -f "$(faceter manual)" && test -f /usr/share/doc/faceter/html/manual.css'
as_user 'cd && printf "text,team\n" > t.csv && for i in $(seq 60); do echo "the printer on floor $i is out of paper,office"; echo "my password $i has expired again,accounts"; done >> t.csv &&
    faceter init t.csv --yes && faceter check t.yaml'
as_user 'cd && faceter-desktop --project p --screenshot runs runs.png && test -s runs.png'
as_user 'faceter report --project ~/p --output ~/report.html --pdf ~/report.pdf && test -s ~/report.pdf'
say "a plugin: written, built and tested with faceter-dev"
as_user 'cd && faceter plugin new spread --kind analysis &&
    cmake -S spread -B spread/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=/usr/lib/faceter >/dev/null &&
    cmake --build spread/build && ctest --test-dir spread/build --output-on-failure'
say "purging"
inside apt-get purge -y -qq faceter faceter-worker faceter-desktop faceter-dev >/dev/null
files >"$work/after"
if ! diff "$work/before" "$work/after" >"$work/left"; then
    cat "$work/left"
    die "the packages left traces"
fi
say "everything passed, and nothing is left of the packages"
