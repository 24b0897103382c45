from urllib.parse import *  # noqa: F401,F403
from urllib.parse import quote, unquote, urlencode, urlparse, urlsplit, urljoin, urlunparse, quote_plus, unquote_plus  # noqa: F401
