"""What a Python lacks for a script of this folder, in words that continue "it has ...", as core/plugin/export_peers.h reads them."""

import importlib
import importlib.util
import sys

LACKS = 3  # exit code


def lacking(words):
    """Ends the program: `words` are its last line."""
    print(words)
    sys.exit(LACKS)


def need(*names):
    """The packages of these names. One that is not there is told before any is imported: some take seconds."""
    for name in names:
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            lacking(f"no {shown(name)}")
    return [imported(name) for name in names]


def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        itself = isinstance(error, ModuleNotFoundError) and (name + ".").startswith(f"{error.name}.")
        lacking(f"no {shown(name)}" if itself else f"a broken {shown(name)} ({first_line(error)})")


def shown(name):
    return name.replace("_", "-")


def first_line(error):
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
