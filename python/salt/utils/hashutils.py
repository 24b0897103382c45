"""Digests and encodings."""
import base64
import hashlib
import hmac
import os

from .stringutils import to_bytes


def md5_digest(instr):
    return hashlib.md5(to_bytes(instr)).hexdigest()


def sha1_digest(instr):
    return hashlib.sha1(to_bytes(instr)).hexdigest()


def sha256_digest(instr):
    return hashlib.sha256(to_bytes(instr)).hexdigest()


def sha512_digest(instr):
    return hashlib.sha512(to_bytes(instr)).hexdigest()


def _hmac(string, shared_secret):
    return hmac.new(to_bytes(shared_secret), to_bytes(string), hashlib.sha256)


def hmac_signature(string, shared_secret, challenge_hmac):
    made = base64.b64encode(_hmac(string, shared_secret).digest())
    return hmac.compare_digest(made, to_bytes(challenge_hmac))


def hmac_compute(string, shared_secret):
    return _hmac(string, shared_secret).hexdigest()


def _text_if_it_is(data):
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data


def base64_b64encode(instr):
    return base64.b64encode(to_bytes(instr)).decode("ascii")


def base64_b64decode(instr):
    return _text_if_it_is(base64.b64decode(to_bytes(instr)))


def base64_encodestring(instr):
    return base64.encodebytes(to_bytes(instr)).decode("ascii")


def base64_decodestring(instr):
    return _text_if_it_is(base64.decodebytes(to_bytes(instr)))


def random_hash(size=9999999999, hash_type=None):
    import random

    return hashlib.new(hash_type or "md5", str(random.SystemRandom().randint(0, size)).encode()).hexdigest()


def _new(form):
    try:
        return hashlib.new(form)
    except ValueError:
        raise ValueError("Invalid hash type: {}".format(form))


def _feed(digest, path, size):
    with open(path, "rb") as handle:
        for piece in iter(lambda: handle.read(size), b""):
            digest.update(piece)


def get_hash(path, form="sha256", chunk_size=65536):
    """The digest of a file."""
    digest = _new(form)
    _feed(digest, path, chunk_size)
    return digest.hexdigest()


class DigestCollector:
    """One digest of several files."""

    def __init__(self, form="sha256", buff=0x10000):
        self._digest = _new(form)
        self._size = buff

    def add(self, path):
        _feed(self._digest, path, self._size)

    def digest(self):
        return self._digest.hexdigest() + os.linesep
