// Proxy type `rest_sample`: a device behind a small REST interface, as an example of one over HTTP. It speaks to the server of
// Salt's own example.
import {
  asDict,
  asText,
  commandError,
  defineProxy,
  dictEntries,
  fieldOf,
  newDict,
  type PlainDict,
  type ProxyContext,
  type ProxyFunction,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { httpCall } from '../shared/http/request.ts';

const timeoutMs = 30_000;
const mostBytes = 4 << 20;

class RestDevice {
  readonly #url: string;
  readonly #ctx: ProxyContext;
  #grains: PlainDict | undefined;

  constructor(url: string, ctx: ProxyContext) {
    this.#url = url.endsWith('/') ? url : `${url}/`;
    this.#ctx = ctx;
  }

  /** What the server answers, which has to be a map. */
  async ask(...path: readonly Value[]): Promise<PlainDict> {
    const words = path.map((word) => encodeURIComponent(pyStr(word)));
    const url = `${this.#url}${words.join('/')}`;
    const { signal } = this.#ctx;
    const call = { service: 'rest_sample', url, timeoutMs, maxBytes: mostBytes, signal };
    const { text } = await httpCall(call);
    const value = asDict(loadJson(text) as Value);
    if (!value) throw commandError(`The device answered ${words.join('/')} with something other than a map`);
    return newDict(dictEntries(value).map(([key, item]) => [pyStr(key), item]));
  }

  async grains(fresh: boolean): Promise<PlainDict> {
    if (fresh) this.#grains = undefined;
    this.#grains ??= await this.ask('info');
    return this.#grains;
  }

  async ping(): Promise<boolean> {
    try {
      return (await this.ask('ping'))['ret'] === true;
    } catch (error) {
      this.#ctx.log.debug('the device does not answer', { error: String(error) });
      return false;
    }
  }
}

function functionsOf(device: RestDevice): Record<string, ProxyFunction> {
  const named =
    (...path: readonly string[]): ProxyFunction =>
    ([name = null]) =>
      device.ask(...path, name);
  return {
    ping: () => device.ping(),
    alive: () => device.ping(),
    initialized: () => true,
    async id() {
      return asText(fieldOf(await device.ask('id'), 'id')) ?? '';
    },
    grains: () => device.grains(false),
    grains_refresh: () => device.grains(true),
    fns: () => newDict([['details', 'made by the function fns of the proxy type']]),
    service_start: named('service', 'start'),
    service_stop: named('service', 'stop'),
    service_restart: named('service', 'restart'),
    service_status: named('service', 'status'),
    service_list: () => device.ask('service', 'list'),
    package_list: () => device.ask('package', 'list'),
    package_install: ([name = null], { version }) => device.ask('package', 'install', name, version || '1.0'),
    package_remove: named('package', 'remove'),
    package_status: named('package', 'status'),
    fix_outage: () => device.ask('fix_outage'),
    test_from_state: () => 'testvalue',
  };
}

export default defineProxy({
  name: 'rest_sample',
  doc: 'A device with a small REST interface (`package/list`, `service/start/NAME`, `info`, `ping`): an example.',
  examples: ['proxy:\n  proxytype: rest_sample\n  url: http://192.0.2.7:8000/'],
  open(settings, ctx) {
    const url = asText(settings['url']);
    if (!url) throw commandError('The pillar of a rest_sample proxy needs proxy:url');
    return { functions: functionsOf(new RestDevice(url, ctx)), close: () => undefined };
  },
});
