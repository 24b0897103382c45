# Renders a state file as Salt does, again and again, and prints seconds for each time and the data as JSON.
import json
import logging
import sys
import time
from collections import OrderedDict

logging.disable(logging.CRITICAL)
import salt.utils.jinja  # noqa: E402
import salt.utils.templates  # noqa: E402
from salt.utils.yamlloader import SaltYamlSafeLoader  # noqa: E402

path, rounds, data = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
opts = {
    "cachedir": "/nonexistent", "file_roots": {"base": []}, "file_client": "local", "saltenv": "base", "id": "m1",
    "renderer": "jinja|yaml", "pillar_roots": {"base": []}, "hash_type": "sha256", "fileserver_backend": ["roots"],
    "__role": "minion", "fileserver_ignoresymlinks": False, "fileserver_followsymlinks": True, "file_buffer_size": 262144,
    "jinja_env": {}, "jinja_sls_env": {}, "allow_undefined": False, "extension_modules": "", "jinja_lstrip_blocks": False,
}


def pillar_get(key, default=""):
    value = data["pillar"]
    for part in key.split(":"):
        if not isinstance(value, dict) or part not in value:
            return default
        value = value[part]
    return value


def once():
    with open(path) as handle:
        text = handle.read()
    context = dict(
        data, opts=opts, saltenv="base", sls="states", slspath="states", tplpath=path, salt={"pillar.get": pillar_get}
    )
    rendered = salt.utils.templates.render_jinja_tmpl(text, context)
    return SaltYamlSafeLoader(rendered, dictclass=OrderedDict).get_single_data()


value = once()
times = []
for _ in range(rounds):
    started = time.perf_counter()
    once()
    times.append(time.perf_counter() - started)
print(json.dumps({"times": times, "data": value}))
