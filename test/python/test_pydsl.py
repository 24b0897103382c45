"""Declarations of `#!pydsl` files."""
import unittest

from halite_worker import pydsl


class Ordered(unittest.TestCase):
    def test_only_what_follows_the_option_is_ordered(self):
        sls = pydsl.Sls({"sls": "web"})
        sls.state("before").test.nop()
        sls.set(ordered=True)
        sls.state("one").test.nop()
        sls.state("two").test.nop()
        data = sls.data()
        self.assertEqual(data["before"], {"test": ["nop"]})
        self.assertEqual(data["one"], {"test": ["nop"]})
        self.assertEqual(data["two"], {"test": ["nop", {"require": [{"test": "one"}]}]})
