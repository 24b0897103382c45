"""Records of `logging` go to Halite's log with their level and logger."""
import logging
import sys
import traceback

from . import bridge

TRACE, GARBAGE, PROFILE, QUIET = 5, 1, 15, 1000
NAMES = {"all": 0, "garbage": 1, "trace": 5, "debug": 10, "profile": 15, "info": 20, "warning": 30, "error": 40,
         "critical": 50, "quiet": 1000}
LONGEST = 65536


class Handler(logging.Handler):
    """Sends each record; what cannot be formatted is said, not raised."""

    def emit(self, record):
        try:
            text = record.getMessage()
        except Exception as exc:
            text = "{!r} cannot be formatted: {}".format(record.msg, exc)
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        try:
            if bridge.channel is not None and bridge.channel.own:
                bridge.channel.send(["log", 0, level_word(record.levelno), record.name, text[:LONGEST]])
        except Exception:
            sys.stderr.write(text + "\n")


def level_word(number):
    if number >= 40:
        return "error"
    if number >= 30:
        return "warn"
    return "info" if number >= 20 else "debug"


def _method(level):
    def log_at(self, msg, *args, **kwargs):
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)
    return log_at


def install(opts):
    for level, word in ((TRACE, "trace"), (GARBAGE, "garbage"), (PROFILE, "profile")):
        logging.addLevelName(level, word.upper())
        setattr(logging.Logger, word, _method(level))
        setattr(logging, word.upper(), level)
    logging.addLevelName(QUIET, "QUIET")
    root = logging.getLogger()
    root.handlers[:] = [Handler()]
    wanted = [NAMES.get(str(opts.get(name, "")).lower()) for name in ("log_level", "log_level_logfile")]
    root.setLevel(min([level for level in wanted if level is not None] or [logging.WARNING]))
