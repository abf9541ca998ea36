#!/usr/bin/env python3
"""Unpacks the parts of wheels that Faceter needs: unpack_wheel.py FOLDER WHEEL PATTERN... (shell patterns; `!PATTERN` leaves out).

Names that would leave FOLDER are refused. Nothing of a wheel is ever run.
"""
import fnmatch
import pathlib
import shutil
import sys
import zipfile


def wanted(name, patterns):
    chosen = False
    for pattern in patterns:
        if pattern.startswith("!"):
            chosen = chosen and not fnmatch.fnmatchcase(name, pattern[1:])
        else:
            chosen = chosen or fnmatch.fnmatchcase(name, pattern)
    return chosen


def unpack(folder, wheel, patterns):
    count = 0
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            path = pathlib.PurePosixPath(entry.filename)
            if entry.is_dir() or not wanted(entry.filename, patterns):
                continue
            if path.is_absolute() or ".." in path.parts:
                sys.exit(f"{wheel}: the member {entry.filename!r} would leave the folder; this is not the wheel we know")
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(entry) as source, open(target, "wb") as out:
                shutil.copyfileobj(source, out, 1 << 20)
            count += 1
    if count == 0:
        sys.exit(f"{wheel}: holds nothing that matches {' '.join(patterns)}; this is not the wheel we know")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    unpack(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:])
