"""Starts the worker: the folder above is importable, so that `salt` is the package of Halite."""
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _here]
sys.path.insert(0, os.path.dirname(_here))

from halite_worker import worker  # noqa: E402

worker.main()
