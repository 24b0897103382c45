// Execution module `service` on proxies of the built-in types: their device's services.
import { defineModule, dictKeys, fn, isDict, type ModuleContext, newDict, p, pyStr, type Value } from 'halite/sdk';
import { globMatcher, hasGlob } from 'halite/sdk/text';
import { isRunning, proxyOf, sampleTypes } from './shared/sample-proxies.ts';

const named = { name: p.string(), sig: p.ignored({ default: null }) };

async function all(ctx: ModuleContext): Promise<Value> {
  return proxyOf(ctx).call('service_list');
}

async function names(ctx: ModuleContext): Promise<string[]> {
  const found = await all(ctx);
  return (isDict(found) ? dictKeys(found) : Array.isArray(found) ? found : []).map(pyStr);
}

async function status(name: string, ctx: ModuleContext): Promise<Value> {
  const one = async (service: string): Promise<boolean> =>
    isRunning(await proxyOf(ctx).call('service_status', [service]));
  // As in Salt, dummy takes no patterns.
  if (!hasGlob(name) || proxyOf(ctx).type === 'dummy') return one(name);
  const matches = globMatcher(name);
  const found = newDict();
  for (const service of (await names(ctx)).filter((service) => matches(service))) found[service] = await one(service);
  return found;
}

const verb = (name: 'start' | 'stop' | 'restart', doc: string) =>
  fn({
    doc,
    examples: [`salt router1 service.${name} redbull`],
    params: named,
    run: (args, ctx) => proxyOf(ctx).call(`service_${name}`, [args.name]),
  });
const listed = fn({
  doc: 'The services of the device.',
  examples: ['salt router1 service.get_all'],
  run: (_, ctx) => all(ctx),
});

export default defineModule({
  name: 'proxy_service',
  virtualName: 'service',
  doc: 'Services of the device behind a proxy of the types dummy, rest_sample and ssh_sample.',
  available: ({ opts }) => sampleTypes(opts, ['dummy', 'rest_sample', 'ssh_sample']),
  reads: ['get_all', 'list', 'status', 'running', 'enabled', 'available'],
  functions: {
    get_all: listed,
    list: listed,
    start: verb('start', 'Starts a service of the device.'),
    stop: verb('stop', 'Stops a service of the device.'),
    restart: verb('restart', 'Restarts a service of the device.'),
    status: fn({
      doc: 'Whether a service of the device is running.',
      examples: ['salt router1 service.status redbull'],
      params: named,
      run: ({ name }, ctx) => status(name, ctx),
    }),
    running: fn({
      doc: 'Whether a service of the device is running.',
      examples: ['salt router1 service.running redbull'],
      params: named,
      run: ({ name }, ctx) => status(name, ctx),
    }),
    available: fn({
      doc: 'Whether the device has a service of this name.',
      examples: ['salt router1 service.available redbull'],
      params: named,
      run: async ({ name }, ctx) => (await names(ctx)).includes(name),
    }),
    enabled: fn({
      doc: 'Whether a service starts at boot: of these devices only redbull does.',
      examples: ['salt router1 service.enabled redbull'],
      params: named,
      run: ({ name }) => name === 'redbull',
    }),
  },
});
