// Execution module `pkg` on proxies of the built-in types: their device's packages.
import {
  defineModule,
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  p,
  pyEquals,
  pyStr,
  type Value,
} from 'halite/sdk';
import { proxyOf, sampleTypes } from './shared/sample-proxies.ts';

const ask = (ctx: ModuleContext, fun: string, args: readonly Value[] = [], kwargs = newDict()): Promise<Value> =>
  proxyOf(ctx).call(fun, args, kwargs);

const ignored = { refresh: p.ignored({ default: false }), fromrepo: p.ignored({ default: null }) };
const several = { pkgs: p.any({ default: null }), sources: p.ignored({ default: null }), kwargs: p.kwargs() };

/** What changed, in Salt's form for packages. */
function changed(old: Value, now: Value): Value {
  const changes = newDict();
  if (!isDict(old) || !isDict(now)) return changes;
  const [before, after] = [new Map(dictEntries(old)), new Map(dictEntries(now))];
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(key) ?? '', after.get(key) ?? ''];
    if (!pyEquals(was, is)) changes[pyStr(key)] = newDict(Object.entries({ old: was, new: is }));
  }
  return changes;
}

export default defineModule({
  name: 'proxy_pkg',
  virtualName: 'pkg',
  doc: 'Packages of the device behind a proxy of the types dummy, rest_sample and ssh_sample.',
  available: ({ opts }) => sampleTypes(opts, ['dummy', 'rest_sample', 'ssh_sample']),
  reads: ['list_pkgs', 'version', 'installed'],
  functions: {
    list_pkgs: fn({
      doc: 'The packages of the device with their versions.',
      examples: ['salt router1 pkg.list_pkgs'],
      params: { versions_as_list: p.ignored({ default: false }), kwargs: p.kwargs() },
      run: (_, ctx) => ask(ctx, 'package_list'),
    }),
    install: fn({
      doc: 'Installs a package on the device.',
      examples: ['salt router1 pkg.install redbull'],
      params: { name: p.any({ default: null }), ...ignored, ...several },
      run: ({ name, kwargs }, ctx) => ask(ctx, 'package_install', [name], kwargs),
    }),
    remove: fn({
      doc: 'Removes a package from the device.',
      examples: ['salt router1 pkg.remove redbull'],
      params: { name: p.any({ default: null }), pkgs: p.any({ default: null }), kwargs: p.kwargs() },
      run: ({ name }, ctx) => ask(ctx, 'package_remove', [name]),
    }),
    version: fn({
      doc: 'The version of a package of the device; of several a map.',
      examples: ['salt router1 pkg.version redbull coreutils'],
      params: { names: p.rest(), kwargs: p.kwargs() },
      async run({ names }, ctx) {
        const all = newDict();
        for (const name of names) {
          const found = await ask(ctx, 'package_status', [name]);
          if (isDict(found)) for (const [key, value] of dictEntries(found)) all[pyStr(key)] = value;
        }
        return names.length === 1 ? (all[pyStr(names[0]!)] ?? Object.values(all)[0] ?? '') : all;
      },
    }),
    upgrade: fn({
      doc: 'Upgrades the packages of the device and returns what changed.',
      examples: ['salt router1 pkg.upgrade'],
      params: { name: p.any({ default: null }), ...several, refresh: p.ignored({ default: true }) },
      async run(_, ctx) {
        const before = await ask(ctx, 'package_list');
        return changed(before, await ask(ctx, 'upgrade'));
      },
    }),
    installed: fn({
      doc: 'Whether a package is installed on the device, in this version when one is given.',
      examples: ['salt router1 pkg.installed redbull version=1.0'],
      params: { name: p.any(), version: p.any({ default: null }), ...ignored, ...several },
      async run({ name, version }, ctx) {
        const found = await ask(ctx, 'package_status', [name]);
        if (!isDict(found)) return false;
        if (version === null) return true;
        return dictEntries(found).some(([, value]) => pyStr(value) === pyStr(version));
      },
    }),
  },
});
