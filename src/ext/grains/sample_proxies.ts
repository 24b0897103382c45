// Grains of the devices of the example proxy types, which a collector of their own gives, as with Salt.
import { defineGrain, isProxyMinion, newDict, proxyTypeOf } from 'halite/sdk';

const systems: Readonly<Record<string, string>> = { rest_sample: 'RestExampleOS', ssh_sample: 'SshExampleOS' };

export default defineGrain({
  name: 'sample_proxies',
  doc: 'Grains of the devices of rest_sample and ssh_sample.',
  priority: 50,
  proxies: Object.keys(systems),
  async collect({ opts, proxy }) {
    // As with Salt, what is for proxies is asked on ordinary minions too.
    if (!isProxyMinion(opts)) return newDict();
    const grains = newDict(Object.entries({ kernel: 'proxy', os_family: 'proxy' }));
    grains['os'] = systems[proxyTypeOf(opts) ?? ''] ?? 'proxy';
    if (proxy) grains['proxy_functions'] = await proxy.call('fns');
    return grains;
  },
});
