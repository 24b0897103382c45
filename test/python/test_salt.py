"""The package `salt`."""
import importlib
import os
import tempfile
import unittest
import unittest.mock

import salt.utils
import salt.exceptions
import salt.utils.args
import salt.utils.data
import salt.utils.dictdiffer
import salt.utils.dictupdate
import salt.utils.files
import salt.utils.stringutils
import salt.utils.versions


class Package(unittest.TestCase):
    def test_modules_come_when_somebody_looks(self):
        self.assertTrue(callable(salt.utils.platform.is_linux))
        self.assertEqual(salt.utils.path.join("/a", "/b", "c"), "/a/b/c")

    def test_names_of_the_flat_module(self):
        for name, home in salt.utils.MOVED.items():
            self.assertTrue(callable(getattr(salt.utils, name)), "{} -> {}".format(name, home))

    def test_what_is_missing_says_so(self):
        with self.assertRaises(ImportError) as caught:
            importlib.import_module("salt.utils.docker")
        self.assertIn("not part of Halite", str(caught.exception))
        self.assertFalse(hasattr(salt.utils, "no_such_name"))

    def test_every_module_can_be_imported(self):


        import salt

        base = os.path.dirname(salt.__file__)
        count = 0
        for root, folders, files in os.walk(base):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in files:
                if name.endswith(".py"):
                    path = os.path.relpath(os.path.join(root, name), os.path.dirname(base))[:-3]
                    importlib.import_module(path.replace(os.sep, ".").replace(".__init__", ""))
                    count += 1
        self.assertGreater(count, 80)

    def test_exceptions(self):
        error = salt.exceptions.CommandExecutionError("no", info={"a": 1})
        self.assertIsInstance(error, salt.exceptions.SaltException)
        self.assertEqual(error.info, {"a": 1})
        self.assertTrue(error.strerror.startswith("no. Additional info follows:"))
        # `except CommandExecutionError` does not catch a missing program.
        self.assertFalse(issubclass(salt.exceptions.CommandNotFoundError, salt.exceptions.CommandExecutionError))
        self.assertTrue(issubclass(salt.exceptions.SaltInvocationError, TypeError))

    def test_data(self):
        data = {"a": {"b": [{"c": 1}, {"d": 2}]}}
        self.assertEqual(salt.utils.data.traverse_dict_and_list(data, "a:b:1:d"), 2)
        self.assertEqual(salt.utils.data.traverse_dict_and_list(data, "a:b:c"), 1)
        self.assertEqual(salt.utils.data.traverse_dict(data, "a:x", "no"), "no")
        self.assertTrue(salt.utils.data.subdict_match({"a": {"b": "web1"}}, "a:b:web*"))
        self.assertEqual(salt.utils.data.repack_dictlist([{"a": 1}, {"b": [{"c": 2}]}], recurse=True), {"a": 1, "b": {"c": 2}})
        self.assertTrue(salt.utils.data.is_true("True"))
        self.assertFalse(salt.utils.data.is_true("yes please"))
        found = salt.utils.data.filter_by({"Debian": {"x": 1}, "default": {"x": 0}}, "os", {"os": "Debian"}, base="default")
        self.assertEqual(found, {"x": 1})

    def test_merging(self):
        self.assertEqual(salt.utils.dictupdate.update({"a": {"b": 1}}, {"a": {"c": 2}}), {"a": {"b": 1, "c": 2}})
        self.assertEqual(salt.utils.dictupdate.merge({"a": [1]}, {"a": [2]}, "recurse", merge_lists=True), {"a": [1, 2]})
        self.assertEqual(salt.utils.dictdiffer.deep_diff({"a": 1, "b": 2}, {"a": 1, "b": 3}), {"old": {"b": 2}, "new": {"b": 3}})

    def test_arguments(self):
        self.assertEqual(salt.utils.args.clean_kwargs(a=1, __pub_jid=2), {"a": 1})
        spec = salt.utils.args.get_function_argspec(lambda a, b=2, *c, **d: None)
        self.assertEqual(tuple(spec), (["a", "b"], "c", "d", (2,)))

    def test_versions(self):
        self.assertTrue(salt.utils.versions.LooseVersion("1.10") > salt.utils.versions.LooseVersion("1.9"))
        self.assertTrue(salt.utils.versions.compare("2.0", ">=", "2.0"))

    def test_files(self):
        path = salt.utils.files.mkstemp()
        try:
            with salt.utils.files.fopen(path, "w") as handle:
                handle.write("x")
            with salt.utils.fopen(path) as handle:
                self.assertEqual(handle.read(), "x")
            self.assertEqual(salt.utils.get_hash(path, "md5"), "9dd4e461268c8034f5c8564e155c67a6")
        finally:
            os.remove(path)
        self.assertEqual(salt.utils.files.normalize_mode("644"), "0644")
        self.assertTrue(os.path.isdir(tempfile.gettempdir()))

    def test_text(self):
        self.assertEqual(salt.utils.stringutils.to_str(b"x"), "x")
        self.assertEqual(salt.utils.stringutils.to_num("1.5"), 1.5)
        self.assertEqual(salt.utils.stringutils.human_to_bytes("2K"), 2048)

    def test_only_inside_halite(self):
        import salt.modules.test

        with self.assertRaises(RuntimeError):
            salt.modules.test.ping()
        with self.assertRaises(RuntimeError):
            salt.client.LocalClient({"x": 1}).cmd("*", "test.ping")

    def test_six(self):
        import salt.ext.six as six
        from salt.ext.six.moves import configparser, range  # noqa: A004
        from salt.ext.six.moves.urllib.parse import quote

        self.assertEqual([list(six.iteritems({"a": 1})), list(range(2)), quote("a b")], [[("a", 1)], [0, 1], "a%20b"])
        self.assertTrue(configparser.ConfigParser)

    def test_decorators(self):
        import salt.utils.decorators as decorators

        calls = []

        @decorators.memoize
        def once(value):
            calls.append(value)
            return value

        self.assertEqual([once(1), once(1), once(2), calls], [1, 1, 2, [1, 2]])

    def test_yaml(self):
        import salt.utils.yaml

        try:
            import yaml  # noqa: F401
        except ImportError:
            self.skipTest("PyYAML is not there: Halite's own YAML needs a call")
        self.assertEqual(salt.utils.yaml.safe_load("a: [1, b]"), {"a": [1, "b"]})
        self.assertEqual(salt.utils.yaml.safe_dump({"b": 1, "a": 2}, default_flow_style=False), "a: 2\nb: 1\n")

    def test_the_name_of_this_host_is_the_canonical_one(self):
        import salt.utils.network

        found = [("", "", "", "web.example.org", ""), ("", "", "", "", "")]
        with unittest.mock.patch("socket.getaddrinfo", return_value=found), \
                unittest.mock.patch("socket.getfqdn", return_value="localhost"):
            self.assertEqual(salt.utils.network.get_fqhostname(), "web.example.org")
        with unittest.mock.patch("socket.getaddrinfo", side_effect=OSError("no resolver")), \
                unittest.mock.patch("socket.getfqdn", return_value="localhost"), \
                unittest.mock.patch("socket.gethostname", return_value="web"):
            self.assertEqual(salt.utils.network.get_fqhostname(), "localhost")
            self.assertEqual(salt.utils.network.generate_minion_id(), "web")

    def test_network_without_halite(self):
        import salt.utils.network as network

        entry = {"ifname": "eth0", "flags": ["UP"], "address": "02:00:00:00:00:01", "addr_info": [
            {"family": "inet", "local": "10.1.2.3", "prefixlen": 8, "broadcast": "10.255.255.255", "label": "eth0"},
            {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"}]}
        found = {"eth0": network._interface(entry), "lo": {"up": True, "inet": [{"address": "127.0.0.1", "netmask": "255.0.0.0"}]}}
        self.assertEqual(found["eth0"]["inet"][0]["netmask"], "255.0.0.0")
        self.assertEqual(found["eth0"]["inet6"], [{"address": "fe80::1", "prefixlen": "64", "scope": "link"}])
        self.assertEqual(network.ip_addrs(interface_data=found), ["10.1.2.3"])
        self.assertEqual(network.ip_addrs(include_loopback=True, interface_data=found), ["10.1.2.3", "127.0.0.1"])
        self.assertEqual(network.ip_addrs("lo", interface_data=found), [])
        self.assertEqual(network.ip_addrs6(interface_data=found), ["fe80::1"])
        self.assertIsInstance(network.interfaces(), dict)

    def test_errors_by_name(self):
        import salt.utils.error as error

        for name, cls in (("CommandExecutionError", salt.exceptions.CommandExecutionError), ("KeyError", KeyError), (None, Exception)):
            with self.assertRaises(cls):
                error.raise_error(name, message="why")
        self.assertEqual(error.pack_exception(ValueError("x")), {"message": "x", "args": ("x",)})

    def test_names_of_other_systems(self):
        import salt.utils.mac_utils as mac_utils
        import salt.utils.napalm as napalm
        import salt.utils.pkg.rpm as rpm

        self.assertEqual(napalm.virtual({}, "net", "net.py")[0], False)
        self.assertEqual([mac_utils.validate_enabled(each) for each in (True, "no", "On")], ["on", "off", "on"])
        self.assertEqual(mac_utils.parse_return("Network Time: On"), "On")
        self.assertEqual(rpm.resolve_name("glibc", "i686", "x86_64"), "glibc.i686")
        self.assertEqual(rpm.parse_pkginfo("bash_|-1_|-5.1_|-2_|-noarch", "x86_64").version, "1:5.1-2")

    def test_signatures(self):
        import shutil
        import salt.crypt

        if shutil.which("openssl") is None:
            self.skipTest("there is no openssl")
        with tempfile.TemporaryDirectory() as folder:
            private = salt.crypt.gen_keys(folder, "key", 2048)
            public = os.path.join(folder, "key.pub")
            signature = salt.crypt.sign_message(private, b"text")
            self.assertTrue(salt.crypt.verify_signature(public, "text", signature))
            self.assertFalse(salt.crypt.verify_signature(public, "other", signature))
            self.assertFalse(salt.crypt.verify_signature(public, "text", b"x" * 256))


if __name__ == "__main__":
    unittest.main()
