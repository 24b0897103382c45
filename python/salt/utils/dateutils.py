"""Dates."""
import datetime


def date_cast(date):
    """A datetime from a datetime, a number of seconds or, with the library timelib, a text."""
    if date is None:
        return datetime.datetime.now()
    if isinstance(date, datetime.datetime):
        return date
    try:
        import timelib
    except ImportError:
        timelib = None
    try:
        if isinstance(date, str):
            if timelib is not None:
                try:
                    return timelib.strtodatetime(date.encode("utf-8"))
                except ValueError:
                    pass
            date = int(date) if date.isdigit() else float(date)
        return datetime.datetime.fromtimestamp(date)
    except Exception:
        if timelib is not None:
            raise ValueError("Unable to parse {}".format(date))
        raise RuntimeError("Unable to parse {}. Consider installing timelib".format(date))


def strftime(date=None, format="%Y-%m-%d"):
    return date_cast(date).strftime(format)


date_format = strftime


def total_seconds(td):
    return td.total_seconds()
