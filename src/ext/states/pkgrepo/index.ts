// State module `pkgrepo`: package repositories.

import {
  type ArgsOf,
  defineState,
  dictGet,
  invocationError,
  isTrue,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { compareText } from 'halite/sdk/codec';
import { existsSync, readFileSync, writeFileSync } from 'halite/sdk/fs';
import { parseSource, sourceLine } from '../../shared/apt/repos.ts';
import { failureOf, hasFunction, isExpected } from '../shared/calls.ts';
import { forgetKeys, importKeys } from './keys.ts';

const params = {
  name: p.string({ doc: 'apt: the line of the source; others: its name' }),
  ppa: p.scalar({ default: null, doc: 'Ubuntu: owner/name of a personal archive' }),
  copr: p.scalar({ default: null, doc: 'Fedora: owner/name of a copr project' }),
  aptkey: p.bool({ default: true, doc: 'accepted; keys are stored in separate files' }),
  kwargs: p.kwargs({
    doc: 'file, dist, comps, architectures, disabled, enabled, humanname, baseurl, mirrorlist, gpgkey, gpgcheck, keyid, keyserver, key_url, key_text, refresh, clean_file, …',
  }),
};
type Args = ArgsOf<typeof params>;

const grain = (ctx: StateContext, name: string): string => pyStr(dictGet(ctx.grains, name) ?? '');
const isDebian = (ctx: StateContext): boolean => grain(ctx, 'os_family') === 'Debian';
const texts = (value: Value | undefined): string[] =>
  Array.isArray(value)
    ? value.map(pyStr)
    : value === undefined || value === null
      ? []
      : pyStr(value)
          .split(',')
          .map((item) => item.trim());

/** Errors in the arguments, in Salt's order. */
function contradiction(kwargs: PlainDict): string | undefined {
  if ('repo' in kwargs)
    return "'repo' is not a supported argument for this state. The 'name' argument is probably what was intended.";
  if ('key_text' in kwargs && 'key_url' in kwargs) return 'You may not use both "key_url" and "key_text" argument.';
  const byId = 'keyid' in kwargs || 'keyserver' in kwargs;
  if ('key_text' in kwargs && byId) return 'You may not use both "keyid"/"keyserver" and "key_text" argument.';
  if ('key_url' in kwargs && byId) return 'You may not use both "keyid"/"keyserver" and "key_url" argument.';
  if ((kwargs['enabled'] ?? null) !== null && (kwargs['disabled'] ?? null) !== null)
    return 'Only one of enabled/disabled is allowed';
  if (
    pyStr(kwargs['key_url'] ?? '')
      .trim()
      .startsWith('http:') &&
    kwargs['allow_insecure_key'] === false
  ) {
    return "Cannot have 'key_url' using http with 'allow_insecure_key' set to True";
  }
  return undefined;
}

interface Wanted {
  /** The package manager's name of the source. */
  readonly repo: string;
  readonly kwargs: PlainDict;
  /** The desired source. */
  readonly target: PlainDict;
}

/** An apt source with everything the arguments add. */
function aptTarget(repo: string, kwargs: PlainDict, ctx: StateContext): PlainDict {
  const ppa = /^ppa:([^/]+)\/(.+)$/.exec(repo);
  const line = ppa ? `deb http://ppa.launchpad.net/${ppa[1]}/${ppa[2]}/ubuntu ${grain(ctx, 'oscodename')} main` : repo;
  const source = parseSource(line, '');
  if (!source) return newDict();
  const made = {
    ...source,
    type: kwargs['type'] ? pyStr(kwargs['type']) : source.type,
    uri: kwargs['uri'] ? pyStr(kwargs['uri']) : source.uri,
    dist: kwargs['dist'] ? pyStr(kwargs['dist']) : source.dist,
    comps: 'comps' in kwargs ? texts(kwargs['comps']) : source.comps,
    architectures: 'architectures' in kwargs ? texts(kwargs['architectures']) : source.architectures,
    disabled: 'disabled' in kwargs ? isTrue(kwargs['disabled']) : source.disabled,
  };
  const { comps, disabled, dist, type, uri, architectures, signedby } = made;
  return newDict(Object.entries({ comps, disabled, dist, type, uri, line: sourceLine(made), architectures, signedby }));
}

function wantedOf(args: Args, ctx: StateContext): Wanted {
  const { enabled: on, disabled: off, allow_insecure_key: _, ...rest } = args.kwargs;
  const kwargs = newDict(Object.entries(rest));
  const isOff = (off ?? null) !== null ? isTrue(off) : !isTrue(on ?? true);
  let repo = args.name;
  kwargs['name'] = repo;
  const family = grain(ctx, 'os_family');
  if (['Ubuntu', 'Mint'].includes(grain(ctx, 'os'))) {
    if (args.ppa !== null) repo = `ppa:${pyStr(args.ppa)}`;
    kwargs['disabled'] = isOff;
  } else if (family === 'RedHat' || family === 'Suse') {
    if (family === 'RedHat' && args.copr !== null) repo = `copr:${pyStr(args.copr)}`;
    if ('humanname' in kwargs) {
      kwargs['name'] = kwargs['humanname'] as Value;
      delete kwargs['humanname'];
    }
    kwargs['enabled'] = !isOff;
  } else if (family === 'NILinuxRT' || family === 'Poky') kwargs['enabled'] = !isOff;
  else if (isDebian(ctx) && isOff) kwargs['disabled'] = true; // Salt forgets this on Debian itself.
  return { repo, kwargs, target: isDebian(ctx) ? aptTarget(repo, kwargs, ctx) : kwargs };
}

const sorted = (value: Value | undefined): string[] => texts(value).sort(compareText);
const ordered = (line: string): string => {
  const [type = '', ...rest] = line.split(/\s+/);
  const at = rest[0]?.startsWith('[') ? rest.findIndex((word) => word.endsWith(']')) + 3 : 2;
  return [type, ...rest.slice(0, at), ...rest.slice(at).sort(compareText)].join(' ');
};

/** Comments in one text, `# a, b`, from any form. */
const commentText = (value: Value | undefined): string =>
  texts(value)
    .map((line) => line.replace(/^#+\s*/, ''))
    .join(' ')
    .trim();

/** Whether one property of a source is as requested. */
function sameProperty(key: string, target: PlainDict, now: PlainDict, kwargs: PlainDict, ctx: StateContext): boolean {
  const wanted = target[key] as Value;
  if (!(key in now)) return key === 'enabled' && grain(ctx, 'os_family') === 'RedHat' && isTrue(wanted);
  const found = now[key] as Value;
  if (key === 'comps' || key === 'key_url') return sorted(wanted).join() === sorted(found).join();
  if (key === 'line' && isDebian(ctx)) {
    if (target['disabled']) return true;
    const [line = '', comment = ''] = pyStr(found)
      .split('#')
      .map((part) => part.trim());
    if (ordered(pyStr(wanted)) !== ordered(line)) return false;
    return !('comments' in kwargs) || comment === commentText(kwargs['comments']);
  }
  if (key === 'comments') return commentText(wanted) === commentText(found);
  if (key === 'architectures' && texts(wanted).length > 0) return sorted(wanted).join() === sorted(found).join();
  if (!isDebian(ctx) && (typeof wanted === 'boolean' || typeof found === 'boolean'))
    return isTrue(wanted) === isTrue(found);
  return pyStr(wanted) === pyStr(found);
}

/** Whether a file that must contain only this source contains others. */
function hasOthers(kwargs: PlainDict, name: string): boolean {
  const file = kwargs['file'];
  if (!kwargs['clean_file'] || !file || !existsSync(pyStr(file))) return false;
  const rows = readFileSync(pyStr(file), 'utf8')
    .split('\n')
    .map((line) => line.trim());
  return rows.some((line) => line !== '' && !line.startsWith('#') && line !== name.trim());
}

function differences(keys: readonly string[], before: PlainDict, after: PlainDict): PlainDict {
  const changes = newDict();
  for (const key of keys) {
    if (pyEquals(after[key] ?? null, before[key] ?? null)) continue;
    changes[key] = newDict([
      ['new', after[key] ?? null],
      ['old', before[key] ?? null],
    ]);
  }
  return changes;
}

async function configure(args: Args, wanted: Wanted, before: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name } = args;
  const { repo, kwargs, target } = wanted;
  try {
    if (isDebian(ctx) && !args.aptkey && !target['signedby'] && Object.keys(target).length > 0)
      throw invocationError("missing 'signedby' option when apt-key is missing");
    if (isDebian(ctx)) await importKeys(repo, pyStr(target['signedby'] ?? ''), kwargs, ctx);
    if (kwargs['clean_file'] && kwargs['file']) writeFileSync(pyStr(kwargs['file']), '');
    const own: PlainDict = isDebian(ctx) ? { saltenv: ctx.saltenv, aptkey: args.aptkey } : {};
    await ctx.callWith('pkg.mod_repo', [repo], { ...kwargs, ...own });
  } catch (error) {
    return ctx.fail(`Failed to configure repo '${name}': ${failureOf(error).message}`);
  }
  try {
    const after = textKeyed(await ctx.callWith('pkg.get_repo', [], { ...kwargs, repo }));
    const changes =
      Object.keys(before).length > 0 ? differences(Object.keys(target), before, after) : newDict([['repo', repo]]);
    return ctx.ok(`Configured package repo '${name}'`, { changes });
  } catch (error) {
    return ctx.fail(`Failed to confirm config of repo '${name}': ${failureOf(error).message}`);
  }
}

const caution =
  'This may cause pkg states to behave differently than stated if this action is repeated without test=True, due to the differences in the configured repositories.';

const managed = state({
  doc: 'A package repository, optionally with its key.',
  examples: [
    'nginx:\n  pkgrepo.managed:\n    - name: deb [signed-by=/etc/apt/keyrings/nginx.gpg] https://nginx.org/packages/debian bookworm nginx\n    - file: /etc/apt/sources.list.d/nginx.list\n    - key_url: https://nginx.org/keys/nginx_signing.key',
  ],
  params,
  async run(args, ctx) {
    const { name } = args;
    if (!(await hasFunction(ctx, 'pkg.get_repo'))) return ctx.fail('Repo management not implemented on this platform');
    const wrong = contradiction(args.kwargs);
    if (wrong) return ctx.fail(wrong);
    const wanted = wantedOf(args, ctx);
    const { repo, kwargs, target } = wanted;
    let before: PlainDict;
    try {
      const { file: _, ...found } = textKeyed(await ctx.callWith('pkg.get_repo', [], { ...kwargs, repo }));
      before = newDict(Object.entries(found));
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Failed to examine repo '${name}': ${failureOf(error).message}`);
    }
    const keys = Object.keys(target).filter((key) => key !== 'file');
    const known = Object.keys(before).length > 0;
    if (known && !hasOthers(kwargs, name) && keys.every((key) => sameProperty(key, target, before, kwargs, ctx))) {
      return ctx.ok(`Package repo '${name}' already configured`);
    }
    return ctx.change(known ? differences(keys, before, target) : newDict([['repo', name]]), '', {
      test: `Package repo '${name}' would be configured. ${caution}`,
      apply: () => configure(args, wanted, before, ctx),
    });
  },
});

const absent = state({
  doc: 'A package repository that must not be configured.',
  examples: ['nginx:\n  pkgrepo.absent:\n    - name: deb https://nginx.org/packages/debian bookworm nginx'],
  params: { name: p.string({ doc: 'the source' }), kwargs: p.kwargs({ doc: 'ppa, copr, keyid, keyid_ppa, refresh' }) },
  async run({ name: given, kwargs: all }, ctx) {
    const { ppa, copr, ...rest } = all;
    const kwargs = newDict(Object.entries(rest));
    let name = given;
    if (ppa !== undefined && ['Ubuntu', 'Mint'].includes(grain(ctx, 'os')))
      name = `ppa:${pyStr(ppa).replace(/^ppa:/, '')}`;
    if (copr !== undefined && grain(ctx, 'os_family') === 'RedHat') name = `copr:${pyStr(copr).replace(/^copr:/, '')}`;
    const withKey = ['keyid', 'keyid_ppa'].some((key) => (kwargs[key] ?? null) !== null);
    if (withKey && !isDebian(ctx) && !(await hasFunction(ctx, 'pkg.del_repo_key')))
      return ctx.fail('Repo key management is not implemented for this platform');
    let found: PlainDict;
    try {
      found = textKeyed(await ctx.callWith('pkg.get_repo', [name], kwargs));
    } catch (error) {
      if (!isExpected(error)) throw error;
      return ctx.fail(`Failed to configure repo '${name}': ${failureOf(error).message}`);
    }
    const architectures = isDebian(ctx) ? parseSource(name, '')?.architectures : undefined;
    const other = architectures && sorted(architectures).join() !== sorted(found['architectures']).join();
    if (Object.keys(found).length === 0 || other) return ctx.ok(`Package repo ${name} is absent`);
    return ctx.change(newDict([['repo', name]]), `Removed repo ${name}`, {
      test: `Package repo '${name}' will be removed. ${caution}`,
      testChanges: newDict(),
      apply: () => remove(name, kwargs, withKey, ctx),
    });
  },
});

/** Keys of apt sources are separate files here, unless the package module has a function for keys. */
async function removeKey(name: string, kwargs: PlainDict, ctx: StateContext): Promise<Value> {
  if (await hasFunction(ctx, 'pkg.del_repo_key')) return ctx.callWith('pkg.del_repo_key', [name], kwargs);
  forgetKeys(name);
  return kwargs['keyid'] ?? null;
}

async function remove(name: string, kwargs: PlainDict, withKey: boolean, ctx: StateContext): Promise<StateResult> {
  try {
    await ctx.callWith('pkg.del_repo', [], { ...kwargs, repo: name });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(failureOf(error).message);
  }
  if (name in textKeyed(await ctx.call('pkg.list_repos'))) return ctx.fail(`Failed to remove repo ${name}`);
  const changes = newDict([['repo', name]]);
  if (!withKey) return ctx.ok(`Removed repo ${name}`, { changes });
  try {
    const key = await removeKey(name, kwargs, ctx);
    changes['keyid'] = key;
    return ctx.ok(`Removed repo ${name}, and keyid ${pyStr(key)}`, { changes });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(`Removed repo ${name}, but failed to remove key: ${failureOf(error).message}`, { changes });
  }
}

export default defineState({
  name: 'pkgrepo',
  doc: 'Package repositories.',
  available: needsFunction(
    'pkg.mod_repo',
    'pkgrepo: the package manager of this system has no way to change its sources',
  ),
  functions: { managed, absent },
});
