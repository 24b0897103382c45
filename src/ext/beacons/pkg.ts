// Beacon `pkg`: packages that were installed or removed, or that have an upgrade.
import {
  asList,
  type BeaconContext,
  defineBeacon,
  isTruthy,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';

interface Found {
  readonly status: 'installed' | 'upgrade' | 'not-installed';
  readonly version: Value;
}

async function look(pkg: string, refresh: boolean, ctx: BeaconContext): Promise<Found> {
  const version = await ctx.call('pkg.version', pkg);
  if (!isTruthy(version)) return { status: 'not-installed', version: null };
  const latest = await ctx.callWith('pkg.latest_version', [pkg], newDict([['refresh', refresh]]));
  return isTruthy(latest) ? { status: 'upgrade', version: latest } : { status: 'installed', version };
}

async function read(settings: PlainDict, ctx: BeaconContext, known: Map<string, string>): Promise<PlainDict[]> {
  const events: PlainDict[] = [];
  const { pkgs } = settings;
  let refresh = isTruthy(settings['refresh']);
  for (const pkg of (asList(pkgs) ?? []).map((name) => pyStr(name))) {
    const { status, version } = await look(pkg, refresh, ctx);
    refresh = false;
    const before = known.get(pkg);
    known.set(pkg, status);
    // The first check only records the present state.
    if (before !== undefined && before !== status) events.push(newDict(Object.entries({ pkg, version, status })));
  }
  return events;
}

export default defineBeacon({
  name: 'pkg',
  doc: 'Sends an event when a package is installed or removed, or has an upgrade.',
  examples: ['pkg:\n  - pkgs: [zsh, apache2]\n  - refresh: True\n  - interval: 3600'],
  validate: ({ pkgs }) => (Array.isArray(pkgs) ? undefined : 'Configuration for pkg beacon requires list of pkgs.'),
  open(settings, ctx) {
    const known = new Map<string, string>();
    return { read: () => read(settings, ctx, known) };
  },
});
