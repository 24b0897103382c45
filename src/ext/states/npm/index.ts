// State module `npm`: packages of Node.js.
import {
  defineState,
  messageOf,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const name = p.string({ doc: 'the package, with a version if wanted: `left-pad@1.0.0`' });
const dir = p.scalar({ default: null, doc: 'the project; without it packages are global' });
const user = p.scalar({ default: null, doc: 'run as this user' });

/** `@scope/name@1.2` → name and version. */
function split(pkg: string): { name: string; version: string | undefined } {
  const match = /^(@?[^@\s]+)(?:@(\S+))?/.exec(pkg);
  return { name: match?.[1] ?? pkg, version: match?.[2] };
}

/** The installed package that answers to a name or to an address. */
function find(pkg: string, installed: PlainDict): PlainDict | undefined {
  const direct = textKeyed(installed[pkg]);
  if (direct['version'] !== undefined) return direct;
  const wanted = pkg.split('://')[1];
  if (wanted === undefined) return undefined;
  return Object.values(installed)
    .map(textKeyed)
    .find((details) => {
      const from = pyStr(details['from'] ?? '').split('://')[1];
      const full = from !== undefined && !from.endsWith('.git') && pkg.startsWith('git://') ? `${from}.git` : from;
      return full === wanted;
    });
}

type Sorted = {
  readonly missing: string[];
  readonly there: string[];
};

function sort(wanted: readonly string[], installed: PlainDict, again: boolean): Sorted {
  const [missing, there]: [string[], string[]] = [[], []];
  for (const pkg of wanted) {
    const { name: bare, version } = split(pkg);
    const found = again ? undefined : find(bare, installed);
    if (!found || (version !== undefined && found['version'] !== version)) missing.push(pkg);
    else there.push(`${bare}@${pyStr(found['version'] ?? '')}`);
  }
  return { missing, there };
}

const installed = state({
  doc: 'Packages that must be installed.',
  examples: ['left-pad@1.3.0:\n  npm.installed:\n    - dir: /srv/app'],
  params: {
    name,
    pkgs: p.oneOf(['list', 'string'], { default: null, doc: 'several packages' }),
    dir,
    user,
    force_reinstall: p.bool({ default: false, doc: 'reinstall installed packages' }),
    registry: p.scalar({ default: null, doc: 'address of the registry' }),
    env: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'environment variables' }),
  },
  async run(args, ctx) {
    const wanted = Array.isArray(args.pkgs) && args.pkgs.length > 0 ? args.pkgs.map(pyStr) : [args.name];
    const all = wanted.join(', ');
    const at = { dir: args.dir, runas: args.user, env: args.env };
    const satisfied = (there: string[]): string => `Package(s) '${all}' satisfied by ${there.join(', ')}`;
    return resource(ctx, {
      find: async () =>
        sort(wanted, textKeyed(await ctx.callWith('npm.list', [], { ...at, depth: 0 })), args.force_reinstall),
      compare: ({ missing }) => missing,
      change: () => ctx.callWith('npm.install', [], { ...at, registry: args.registry, pkgs: wanted }),
      changes: ({ difference: missing }) => ({ old: [], new: missing }),
      testChanges: ({ difference: missing }) => ({ old: [], new: missing }),
      right: ({ found }) => satisfied(found.there),
      would: ({ found: { missing, there } }) =>
        [
          `NPM package(s) '${missing.join(', ')}' are set to be installed`,
          ...(there.length > 0 ? [satisfied(there)] : []),
        ].join('. '),
      done: ({ difference: missing }) => `Package(s) '${missing.join(', ')}' successfully installed`,
      error: (message, during) =>
        during === 'find' ? `Error looking up '${args.name}': ${message}` : `Error installing '${all}': ${message}`,
    });
  },
});

const removed = state({
  doc: 'A package that must not be installed.',
  examples: ['left-pad:\n  npm.removed'],
  params: { name: p.string({ doc: 'the package' }), dir, user },
  run: ({ name, dir, user: runas }, ctx) =>
    resource(ctx, {
      find: async () => Object.hasOwn(textKeyed(await ctx.callWith('npm.list', [], { dir, depth: 0 })), name),
      wanted: false,
      change: () => ctx.callWith('npm.uninstall', [], { pkg: name, dir, runas }),
      changes: () => ({ [name]: 'Removed' }),
      right: `Package '${name}' is not installed`,
      would: `Package '${name}' is set to be removed`,
      done: `Package '${name}' was successfully removed`,
      failed: `Error removing package '${name}'`,
      error: (message, during) => (during === 'find' ? `Error uninstalling '${name}': ${message}` : message),
    }),
});

const isEmpty = (value: Value): boolean =>
  !value || (Array.isArray(value) ? value.length === 0 : typeof value === 'object' && Object.keys(value).length === 0);

const bootstrap = state({
  doc: 'The dependencies of a project in package.json.',
  examples: ['/srv/app:\n  npm.bootstrap'],
  params: {
    name: p.path({ doc: 'the project' }),
    user,
    silent: p.bool({ default: true, doc: 'no log of npm' }),
  },
  async run(args, ctx) {
    const kwargs = newDict([
      ['dir', args.name],
      ['runas', args.user],
      ['pkg', null],
      ['silent', args.silent],
      // npm has a test mode of its own.
      ...(ctx.test ? [['dry_run', true] as [string, Value]] : []),
    ]);
    let answer: Value;
    try {
      answer = await ctx.callWith('npm.install', [], kwargs);
    } catch (error) {
      return ctx.fail(`Error Bootstrapping '${args.name}': ${messageOf(error)}`);
    }
    if (isEmpty(answer))
      return ctx.ok(ctx.test ? `${args.name} is already bootstrapped` : 'Directory is already bootstrapped');
    if (!ctx.test && typeof answer === 'string')
      return ctx.fail('Could not bootstrap directory', { changes: newDict([['output', answer]]) });
    return ctx.change(newDict([[args.name, 'Bootstrapped']]), 'Directory was successfully bootstrapped', {
      test: `${args.name} is set to be bootstrapped`,
      testChanges: newDict([
        ['old', []],
        ['new', answer],
      ]),
      apply: () => undefined,
    });
  },
});

async function isCached(what: string, list: Value, as: Value, ctx: StateContext): Promise<boolean> {
  const all = await ctx.callWith('npm.cache_list', [], { path: null, runas: as });
  const root = Array.isArray(all) ? pyStr(all[0] ?? '') : (pyStr(all).split('\n')[0] ?? '');
  const path = `${root}/${what}/`;
  return Array.isArray(list) ? list.map(pyStr).includes(path) : pyStr(list).includes(path);
}

const cacheCleaned = state({
  doc: 'An empty cache of npm.',
  examples: ['npm:\n  npm.cache_cleaned:\n    - name:'],
  params: {
    name: p.scalar({ default: null, doc: 'only this package' }),
    user,
    force: p.bool({ default: false, doc: '' }),
  },
  async run(args, ctx) {
    const what = args.name ? pyStr(args.name) : 'packages';
    let list: Value;
    try {
      list = await ctx.callWith('npm.cache_list', [], { path: args.name, runas: args.user });
    } catch (error) {
      return ctx.fail(`Error looking up cached ${what}: ${messageOf(error)}`);
    }
    if (args.name && !(await isCached(pyStr(args.name), list, args.user, ctx)))
      return ctx.ok(`Package ${what} is not in the cache`);
    const changes = newDict([[args.name ? pyStr(args.name) : 'cache', 'Removed']]);
    return ctx.change(changes, `Cached ${what} successfully removed`, {
      test: `Cached ${what} set to be removed`,
      testChanges: newDict(),
      async apply() {
        const done = await ctx.callWith('npm.cache_clean', [], {
          path: args.name,
          runas: args.user,
          ...(args.force ? { force: true } : {}),
        });
        return done ? undefined : ctx.fail(`Error cleaning cached ${what}`);
      },
    });
  },
});

export default defineState({
  name: 'npm',
  doc: 'Packages of Node.js.',
  available: needsFunction('npm.list', "'npm' binary not found on system"),
  functions: { installed, removed, bootstrap, cache_cleaned: cacheCleaned },
});
