"""Values on the pipe."""
import collections
import datetime
import json
import os
import random
import unittest

from halite_worker import values


def there_and_back(value):
    return values.loads(values.dumps(values.encode(value)))


def random_tree(chance, depth):
    """Anything that comes back as it was."""
    if depth == 0 or chance.random() < 0.4:
        return chance.choice([
            None, True, chance.randrange(-5, 5), chance.randrange(-(2 ** 80), 2 ** 80), chance.uniform(-9, 9), float(chance.randrange(9)),
            float("inf"), float("nan"), -0.0, "".join(chance.choice("a1\x01\u00e9\ud800\U0001f600'") for _ in range(chance.randrange(6))),
            bytes(chance.randrange(256) for _ in range(chance.randrange(4))),
            datetime.datetime(2000 + chance.randrange(50), 1, 1, 0, 0, 0, chance.randrange(10 ** 6)),
        ])
    size = chance.randrange(4)
    if chance.random() < 0.5:
        return [random_tree(chance, depth - 1) for _ in range(size)]
    keys = [chance.choice([None, chance.randrange(99), "k{}".format(n), str(n), "\x01i", 1.5, b"x", (1, "a")]) for n in range(size)]
    return {key: random_tree(chance, depth - 1) for key in keys}


class Values(unittest.TestCase):
    def test_what_both_sides_have(self):
        for value in (None, True, 0, -1, 2 ** 53, -(2 ** 70), 1.5, 1.0, float("inf"), "", "é\ud800", [], {}, [[{"a": None}]], b"\0\xff",
                      {1: "a", "1": "b"}, {"\x01i": "x"}, {"10": 1, "9": 2}, datetime.datetime(2026, 1, 2, 3, 4, 5, 6)):
            back = there_and_back(value)
            self.assertEqual(back, value)
            self.assertEqual(type(back), type(value))

    def test_order_of_maps(self):
        self.assertEqual(list(there_and_back(collections.OrderedDict([("b", 1), ("a", 2), ("10", 3)]))), ["b", "a", "10"])

    def test_what_becomes_something_else(self):
        self.assertEqual(there_and_back({3, 1, 2}), [1, 2, 3])
        self.assertEqual(there_and_back((1, (2,))), [1, [2]])
        self.assertEqual(there_and_back({1: 2}.keys()), [1])
        self.assertEqual(there_and_back(ValueError("x")), "x")

    def test_other_objects_are_named(self):
        encoder = values.Encoder()
        self.assertIn("object at", encoder.encode(object()))
        self.assertEqual(encoder.strange, ["object"])

    def test_objects_for_templates(self):
        class Thing:
            def __init__(self):
                self.size = 3
                self.again = self

        thing = Thing()
        [handle, text, kind, attributes] = values.Encoder(objects=True).encode(thing)["\x01o"]
        self.assertEqual((text, kind, attributes["size"]), (str(thing), "Thing", 3))
        self.assertIn("object at", attributes["again"])
        self.assertIs(values.loads(values.dumps([{"\x01o": [handle, text]}]))[0], thing)
        self.assertEqual(values.loads(values.dumps([{"\x01o": ["0:0", "text"]}])), ["text"])

    def test_random_trees(self):
        chance = random.Random(int(os.environ.get("HALITE_SEED", "1")))
        for _ in range(int(os.environ.get("HALITE_TREES", "2000"))):
            tree = random_tree(chance, 4)
            self.assertEqual(repr(there_and_back(tree)), repr(tree))

    def test_depth(self):
        deep = []
        for _ in range(300):
            deep = [deep]
        with self.assertRaises(ValueError):
            values.encode(deep)
        around = []
        around.append(around)
        with self.assertRaises(ValueError):
            values.encode(around)

    def test_json_is_plain(self):
        self.assertEqual(json.loads(values.dumps(values.encode({"a": [1, "x"]}))), {"a": [1, "x"]})


if __name__ == "__main__":
    unittest.main()
