// Proxy type `deltaproxy`: the minion that holds many proxies. It has no device of its own.
import { defineProxy } from 'halite/sdk';

export default defineProxy({
  name: 'deltaproxy',
  doc: 'The proxy that starts those listed in `ids`, all in one process; needs `metaproxy: deltaproxy` in its configuration.',
  examples: ['proxy:\n  proxytype: deltaproxy\n  ids:\n    - router1\n    - router2'],
  concurrent: true,
  open: () => ({ functions: { ping: () => true, initialized: () => true }, close: () => undefined }),
});
