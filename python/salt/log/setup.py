"""The old place of the log's set-up."""
from . import LOG_LEVELS, setup_console_logger, setup_logfile_logger, setup_multiprocessing_logging  # noqa: F401

SaltLoggingClass = __import__("logging").getLoggerClass()


def is_console_configured():
    return True


is_logfile_configured = is_logging_configured = is_console_configured
