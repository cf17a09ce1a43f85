"""Sets up what the tests of this folder share: the package under test, the program folder BIN and a scratch folder WORK.

Ends the test with status 77, which means skipped, if the package's requirements are missing.
"""
import os
import pathlib
import sys

try:
    import h5py  # noqa: F401
    import numpy  # noqa: F401
    import yaml  # noqa: F401
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("LIE_INSTALLED") is None:  # scripts/check_python.sh tests the installed package
    sys.path.insert(0, str(ROOT / "python"))
BIN, WORK = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
