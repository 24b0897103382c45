"""Dates."""
import datetime


def date_cast(date):
    """A datetime from a datetime, a number of seconds or a text."""
    if date is None:
        return datetime.datetime.now()
    if isinstance(date, datetime.datetime):
        return date
    text = str(date)
    if text.isdigit():
        return datetime.datetime.fromtimestamp(int(text))
    try:
        return datetime.datetime.fromtimestamp(float(text))
    except ValueError:
        pass
    for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S.%f", "%d/%m/%Y"):
        try:
            return datetime.datetime.strptime(text, form)
        except ValueError:
            continue
    raise ValueError("Unable to parse the date {}".format(text))


def strftime(date=None, format="%Y-%m-%d"):
    return date_cast(date).strftime(format)


date_format = strftime


def total_seconds(td):
    return td.total_seconds()
