// Proxy type `dummy`: a device that exists only as a file in the minion's cache, to try proxies and to test them.
import { join } from 'node:path';
import {
  asPlainDict,
  commandError,
  defineProxy,
  isDict,
  newDict,
  type PlainDict,
  type ProxyContext,
  type ProxyFunction,
  pyStr,
  type Value,
} from 'halite/sdk';
import { pack, unpack } from 'halite/sdk/codec';
import { readFile, replaceFile } from 'halite/sdk/fs';

/** As Salt's dummy begins; both read the other's file. */
const initial = (): PlainDict =>
  newDict([
    ['services', newDict(Object.entries({ apache: 'running', ntp: 'running', samba: 'stopped' }))],
    ['packages', newDict(Object.entries({ coreutils: '1.0', apache: '2.4', tinc: '1.4', redbull: '999.99' }))],
  ]);

class DummyDevice {
  readonly #path: string;
  readonly #log: ProxyContext['log'];

  constructor(ctx: ProxyContext) {
    this.#path = join(String(ctx.opts['cachedir']), `dummy-proxy-${ctx.id}.cache`);
    this.#log = ctx.log;
  }

  async read(): Promise<PlainDict> {
    try {
      const state = unpack(await readFile(this.#path));
      if (isDict(state)) return asPlainDict(state) ?? initial();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#log.error('the file of the dummy device cannot be read: it begins anew', { file: this.#path });
    }
    return initial();
  }

  async change<T extends Value>(work: (state: PlainDict) => T): Promise<T> {
    const state = await this.read();
    const result = work(state);
    await replaceFile(this.#path, pack(state));
    return result;
  }
}

const part = (state: PlainDict, name: 'services' | 'packages'): PlainDict => {
  const found = asPlainDict(state[name]) ?? newDict();
  state[name] = found;
  return found;
};

const upgraded = (version: Value): string => {
  const number = Number(version);
  if (!Number.isFinite(number)) throw commandError(`could not convert string to float: '${pyStr(version)}'`);
  const next = number + 1;
  return Number.isInteger(next) ? `${next}.0` : String(next);
};

const madeUp = (): PlainDict =>
  newDict(Object.entries({ dummy_grain_1: 'one', dummy_grain_2: 'two', dummy_grain_3: 'three' }));

function functionsOf(device: DummyDevice): Record<string, ProxyFunction> {
  const packages = async (): Promise<Value> => part(await device.read(), 'packages');
  const setService =
    (status: string): ProxyFunction =>
    ([name]) =>
      device.change((state) => {
        part(state, 'services')[pyStr(name ?? null)] = status;
        return status;
      });
  return {
    ping: () => true,
    initialized: async () => (await device.read())['initialized'] === true,
    grains: () =>
      device.change((state) => {
        state['grains_cache'] = madeUp();
        return madeUp();
      }),
    grains_refresh: () =>
      device.change((state) => {
        state['grains_cache'] = madeUp();
        return madeUp();
      }),
    fns: () => newDict([['details', 'made by the function fns of the proxy type']]),
    service_start: setService('running'),
    service_stop: setService('stopped'),
    service_restart: () => true,
    service_list: async () => Object.keys(part(await device.read(), 'services')),
    async service_status([name]) {
      const status = part(await device.read(), 'services')[pyStr(name ?? null)];
      if (status === undefined) throw commandError(`The device has no service ${pyStr(name ?? null)}`);
      return newDict([['comment', status === 'running' ? 'running' : 'stopped']]);
    },
    package_list: packages,
    uptodate: packages,
    package_install: ([name], { version }) =>
      device.change((state) => {
        const installed = version || '1.0';
        part(state, 'packages')[pyStr(name ?? null)] = installed;
        return newDict([[pyStr(name ?? null), installed]]);
      }),
    package_remove: ([name]) =>
      device.change((state) => {
        const all = part(state, 'packages');
        if (!Object.hasOwn(all, pyStr(name ?? null)))
          throw commandError(`The device has no package ${pyStr(name ?? null)}`);
        delete all[pyStr(name ?? null)];
        return all;
      }),
    async package_status([name]) {
      const version = part(await device.read(), 'packages')[pyStr(name ?? null)];
      return version === undefined ? null : newDict([[pyStr(name ?? null), version]]);
    },
    upgrade: () =>
      device.change((state) => {
        const all = part(state, 'packages');
        for (const [name, version] of Object.entries(all)) all[name] = upgraded(version);
        return all;
      }),
    test_from_state: () => 'testvalue',
  };
}

export default defineProxy({
  name: 'dummy',
  doc: 'A device that exists only as a file: packages and services that can be listed, installed and started.',
  examples: ['proxy:\n  proxytype: dummy'],
  async open(settings, ctx) {
    if (settings['raise_minion_error'] || settings['raise_commandexec_error'])
      throw commandError('The dummy device was told to refuse the connection');
    const device = new DummyDevice(ctx);
    await device.change((state) => {
      state['initialized'] = true;
      return null;
    });
    return { functions: functionsOf(device), close: () => undefined };
  },
});
