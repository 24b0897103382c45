"""Digests and encodings."""
import base64
import hashlib
import hmac


def _bytes(value):
    return value if isinstance(value, bytes) else str(value).encode("utf-8")


def md5_digest(value):
    return hashlib.md5(_bytes(value)).hexdigest()


def sha1_digest(value):
    return hashlib.sha1(_bytes(value)).hexdigest()


def sha256_digest(value):
    return hashlib.sha256(_bytes(value)).hexdigest()


def sha512_digest(value):
    return hashlib.sha512(_bytes(value)).hexdigest()


def hmac_signature(string, shared_secret, challenge_hmac):
    made = hmac.new(_bytes(shared_secret), _bytes(string), hashlib.sha256).digest()
    return base64.b64encode(made) == _bytes(challenge_hmac)


def hmac_compute(string, shared_secret):
    return hmac.new(_bytes(shared_secret), _bytes(string), hashlib.sha256).hexdigest()


def base64_b64encode(value):
    return base64.b64encode(_bytes(value)).decode("ascii")


def base64_b64decode(value):
    found = base64.b64decode(_bytes(value))
    try:
        return found.decode("utf-8")
    except UnicodeDecodeError:
        return found


def base64_encodestring(value):
    return base64.encodebytes(_bytes(value)).decode("ascii")


def base64_decodestring(value):
    return base64.decodebytes(_bytes(value)).decode("utf-8")


def random_hash(size=9999999999, hash_type=None):
    import random

    return hashlib.new(hash_type or "sha256", str(random.SystemRandom().randint(0, size)).encode()).hexdigest()


def get_hash(path, form="sha256", chunk_size=65536):
    """The digest of a file."""
    try:
        digest = hashlib.new(form)
    except ValueError:
        raise ValueError("Invalid hash type: {}".format(form))
    with open(path, "rb") as handle:
        for piece in iter(lambda: handle.read(chunk_size), b""):
            digest.update(piece)
    return digest.hexdigest()


class DigestCollector:
    """Several digests of one stream."""

    def __init__(self, form="sha256", **kwargs):
        self._digest = hashlib.new(form)

    def update(self, data):
        self._digest.update(data)

    def digest(self):
        return self._digest.hexdigest()
