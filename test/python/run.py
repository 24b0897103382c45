"""Runs the tests of the package `salt` and of the worker with the Python that runs this file."""
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(HERE)), "python"), HERE]

if __name__ == "__main__":
    found = unittest.defaultTestLoader.discover(HERE, pattern="test_*.py", top_level_dir=HERE)
    result = unittest.TextTestRunner(verbosity=0).run(found)
    print("{}.{} ran {} tests".format(sys.version_info[0], sys.version_info[1], result.testsRun))
    sys.exit(0 if result.wasSuccessful() and result.testsRun > 0 else 1)
