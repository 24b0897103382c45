"""Names that older extensions take from here."""
import ipaddress  # noqa: F401
import xml.etree.ElementTree as ElementTree  # noqa: F401
from io import BytesIO, StringIO  # noqa: F401
from urllib.error import HTTPError, URLError  # noqa: F401
from urllib.parse import quote, quote_plus, urlencode, urlparse, urlunparse  # noqa: F401
from urllib.request import urlopen  # noqa: F401

string_types = (str,)
integer_types = (int,)
text_type = str
MAX_SIZE = 2 ** 63 - 1
callable = callable
import subprocess  # noqa: F401,E402
