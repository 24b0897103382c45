"""Keys and signatures: with the program openssl."""
import os
import subprocess


def gen_keys(keydir, keyname, keysize, user=None, passphrase=None):
    base = os.path.join(keydir, keyname)
    with open(base + ".pem", "wb", opener=lambda path, flags: os.open(path, flags, 0o400)) as handle:
        subprocess.run(["openssl", "genrsa", str(keysize)], stdout=handle, stderr=subprocess.DEVNULL, check=True)
    subprocess.run(["openssl", "rsa", "-in", base + ".pem", "-pubout", "-out", base + ".pub"], stderr=subprocess.DEVNULL, check=True)
    return base + ".pem"


def _digest(algorithm):
    return "-sha224" if str(algorithm).endswith("SHA224") else "-sha1"


def _with_file(data, run):
    import tempfile

    with tempfile.NamedTemporaryFile() as handle:
        handle.write(data if isinstance(data, bytes) else str(data).encode("utf-8"))
        handle.flush()
        return run(handle.name)


def sign_message(privkey_path, message, passphrase=None, algorithm="PKCS1v15-SHA1"):
    """The signature as bytes; the passphrase does not appear among the arguments of a program."""
    words = ["openssl", "dgst", _digest(algorithm), "-sign", str(privkey_path)]
    env = dict(os.environ, HALITE_PASSPHRASE=passphrase or "")
    words += ["-passin", "env:HALITE_PASSPHRASE"] if passphrase else []
    return _with_file(message, lambda name: subprocess.run(words + [name], env=env, stdout=subprocess.PIPE, check=True).stdout)


def verify_signature(pubkey_path, message, signature, algorithm="PKCS1v15-SHA1"):
    def run(name):
        words = ["openssl", "dgst", _digest(algorithm), "-verify", str(pubkey_path), "-signature"]
        return _with_file(signature, lambda signed: subprocess.run(words + [signed, name], stdout=subprocess.DEVNULL,
                                                                   stderr=subprocess.DEVNULL, check=False).returncode == 0)

    return _with_file(message, run)
