"""Times."""
import time
from datetime import datetime  # noqa: F401

from .dateutils import date_cast, strftime  # noqa: F401


def get_time():
    return time.time()


def get_timestamp_at(time_in=None, time_at=None):
    if time_in:
        return int(time.time()) + int(time_in) * 60
    return int(date_cast(time_at).timestamp())


def get_time_at(time_in=None, time_at=None, out_fmt="%Y-%m-%dT%H:%M:%S"):
    return datetime.fromtimestamp(get_timestamp_at(time_in, time_at)).strftime(out_fmt)
