#!/usr/bin/env python3
"""Makes a Python wheel of an unpacked bundle: make_wheel.py BUNDLE_FOLDER PACKAGE DIR prints the path of the wheel.

PACKAGE is packaging/python/faceter; the programs lie in faceter/programs of the wheel. torch, which has their libtorch, is a requirement.
"""
import base64
import hashlib
import pathlib
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: faceter
Version: {version}
Summary: A workbench for task-specialised text embeddings
License: Apache-2.0
Requires-Python: >=3.10
Requires-Dist: torch ==2.11.*
Requires-Dist: numpy
Description-Content-Type: text/markdown

{readme}"""
WHEEL = "Wheel-Version: 1.0\nGenerator: faceter\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n"
ENTRY_POINTS = "[console_scripts]\nfaceter = faceter:main\n"


def files_of(bundle):
    """Links are followed: a wheel has none."""
    for path in sorted(bundle.rglob("*")):
        if path.is_file():
            yield "faceter/programs/" + path.relative_to(bundle).as_posix(), path.read_bytes(), path.stat().st_mode & 0o777


def make(bundle, package, folder):
    version = bundle.name.rpartition("-")[2]
    platform = "manylinux_" + (bundle / "lib/glibc-floor").read_text().strip().replace(".", "_") + "_x86_64"
    info = f"faceter-{version}.dist-info"
    members = [("faceter/" + file.name, file.read_bytes(), 0o644) for file in sorted(package.iterdir()) if file.is_file()]
    members += files_of(bundle)
    readme = (bundle / "share/doc/faceter/README.md").read_text()
    members += [(f"{info}/METADATA", METADATA.format(version=version, readme=readme).encode(), 0o644),
                (f"{info}/WHEEL", WHEEL.format(platform=platform).encode(), 0o644),
                (f"{info}/entry_points.txt", ENTRY_POINTS.encode(), 0o644)]
    wheel = folder / f"faceter-{version}-py3-none-{platform}.whl"
    record = ""
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in members:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            record += f"{name},sha256={digest},{len(content)}\n"
            write(archive, name, content, mode)
        write(archive, f"{info}/RECORD", (record + f"{info}/RECORD,,\n").encode(), 0o644)
    return wheel


def write(archive, name, content, mode):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    print(make(*map(pathlib.Path, sys.argv[1:])))
