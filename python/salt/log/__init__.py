"""Levels of Salt's log."""
import logging

LOG_LEVELS = {
    "all": logging.NOTSET, "debug": logging.DEBUG, "error": logging.ERROR, "critical": logging.CRITICAL,
    "garbage": 1, "info": logging.INFO, "profile": 15, "quiet": 1000, "trace": 5, "warning": logging.WARNING,
}
SORTED_LEVEL_NAMES = sorted(LOG_LEVELS, key=LOG_LEVELS.get)


def setup_console_logger(*args, **kwargs):
    """Halite's own log is in use already."""


setup_logfile_logger = setup_multiprocessing_logging = setup_console_logger
