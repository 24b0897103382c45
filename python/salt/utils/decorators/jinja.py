"""Filters and tests for templates: Halite's own Jinja does not call Python, and says so."""
import logging


class _Register:
    kind = "filter"

    def __init__(self, name=None):
        self.name = name

    def __call__(self, function):
        logging.getLogger(__name__).debug(
            "The Jinja %s %s is not available in templates of Halite", self.kind, self.name or function.__name__)
        return function


class JinjaFilter(_Register):
    salt_jinja_filters = {}


class JinjaTest(_Register):
    kind = "test"
    salt_jinja_tests = {}


class JinjaGlobal(_Register):
    kind = "global"
    salt_jinja_globals = {}


jinja_filter, jinja_test, jinja_global = JinjaFilter, JinjaTest, JinjaGlobal
