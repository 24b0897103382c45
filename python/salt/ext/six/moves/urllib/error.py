from urllib.error import *  # noqa: F401,F403
