#!/usr/bin/env bash
# Packs the programs that need no desktop for machines where nothing can be installed. `--help` says more.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
. "$here/build.sh"

usage() {
    cat <<'TEXT'
usage: packaging/bundle.sh [--build DIR] [FILE.tar.gz]

Packs faceter, faceter-worker, the plugins, experiments and every library that they need into FILE.tar.gz (default:
faceter-VERSION-linux-x86_64.tar.gz, here). Left out: glibc, and libtorch with its CUDA libraries, which come from the Python
environment of the machine where the bundle runs:

  tar xf FILE.tar.gz && faceter-VERSION/faceter --torch ~/venv run experiment.yaml --project DIR

  --build DIR   what to pack (default: build/release, which is built first)
  --help        this text
TEXT
}
die() { printf 'bundle: %s\n' "$*" >&2; exit "${code:-5}"; }

packing_arguments "$@"
for tool in patchelf objdump ldd; do command -v $tool >/dev/null || die "there is no $tool; packaging/setup.sh installs it"; done
if [ -z "$build_folder" ]; then
    build_folder=$root/build/release
    (cd "$root" && build release faceter faceter-worker plugins/all)
fi
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build_folder/CMakeCache.txt") || die "$build_folder is no build folder of Faceter"
name=faceter-$version
file=${target:-$PWD/$name-linux-x86_64.tar.gz}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/$name
for component in faceter worker; do cmake --install "$build_folder" --prefix "$bundle" --component $component >/dev/null; done
install -m 755 "$here/bundle_launcher.sh" "$bundle/faceter"
ln -s faceter "$bundle/faceter-worker"

# What every machine has (glibc), and what comes with its torch.
from_elsewhere='^(ld-linux|libc\.|libm\.|libdl\.|librt\.|libpthread\.|libutil\.|libresolv\.|linux-vdso|libtorch|libc10|libgomp|libcu|libnv|libnccl|libarrow|libparquet)'
elf_files() { find "$bundle" -type f \( -path '*/bin/*' -o -name '*.so' -o -name '*.so.*' \) -print0; }
mkdir -p "$bundle/lib/stdcxx" "$bundle/lib/crypto"
elf_files | xargs -0 -n1 ldd | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u | while read -r library path; do
    case $path in "$bundle"/*) continue ;; esac
    if [[ $library =~ $from_elsewhere ]]; then continue; fi
    # The site's own C++ library is taken where it is newer: its torch may need that. And its own libcrypto where it has one.
    case $library in
        libstdc++.* | libgcc_s.*) cp -L "$path" "$bundle/lib/stdcxx/$library" ;;
        libcrypto.*) cp -L "$path" "$bundle/lib/crypto/$library" ;;
        *) cp -L "$path" "$bundle/lib/$library" ;;
    esac
    # Packages that were made before /lib became a link to /usr/lib own their files under the old name.
    file_of_package=$(readlink -f "$path")
    package=$({ dpkg -S "$file_of_package" || dpkg -S "${file_of_package#/usr}"; } 2>/dev/null | sed 's/:.*//' | head -1) || true
    if [ -n "$package" ]; then cp -L "/usr/share/doc/$package/copyright" "$bundle/share/doc/faceter/copyright-$package"; fi
done

# Nothing of this machine's folders stays in the bundle; the launcher says where the rest is.
elf_files | while IFS= read -r -d '' elf; do
    case $elf in
        "$bundle"/bin/*) patchelf --set-rpath '$ORIGIN/../lib' "$elf" ;;
        "$bundle"/lib/faceter/plugins/*) patchelf --set-rpath '$ORIGIN/../..' "$elf" ;;
        "$bundle"/lib/faceter/*) patchelf --set-rpath '$ORIGIN/..' "$elf" ;;
        *) patchelf --set-rpath '$ORIGIN' "$elf" ;;
    esac
done

floor=$(elf_files | xargs -0 objdump -T | sed -n 's/.*(GLIBC_\([0-9.]*\)).*/\1/p' | sort -uV | tail -1)
printf '%s\n' "$floor" >"$bundle/lib/glibc-floor"
tar -C "$work" -czf "$file.new" "$name"
mv "$file.new" "$file"
printf 'bundle: %s, %s; needs glibc %s or newer and torch 2.11\n' "$file" "$(du -h "$file" | cut -f1)" "$floor"
