// `file.accumulated`, `mknod`, `decode`, `cached`, `not_cached` and `shortcut`.
import {
  commandError,
  type Dict,
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
  withForecast,
} from 'halite/sdk';
import { traverse } from 'halite/sdk/data';
import { expandUser, realpathSync, rmSync } from 'halite/sdk/fs';
import { exists, isRegular, lookAt } from '../../shared/file/facts.ts';
import { type HashSum, hashOfFile, sourceSum } from '../../shared/file/hash-sums.ts';
import { permsNeeded, setPerms } from '../../shared/file/perms.ts';
import { localProtocols, remoteProtocols, splitUrl, withoutPassword } from '../../shared/file/urls.ts';
import { loadAccumulators, saveAccumulators } from './accumulators.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

const plain = (dict: PlainDict, key: string): PlainDict => {
  const found = dict[key];
  if (found !== undefined && isDict(found) && !(found instanceof Map)) return found;
  const made = newDict();
  dict[key] = made;
  return made;
};

const requisites = (value: Value | undefined): Value[] => (Array.isArray(value) ? value : []);

/** Ids of states that use the text, from `require_in` and `watch_in`. */
function dependentsOf(ctx: StateContext): Dict[] {
  const all = [...requisites(ctx.low['require_in']), ...requisites(ctx.low['watch_in'])];
  return all.filter((item): item is Dict => isDict(item) && dictEntries(item).some(([kind]) => kind === 'file'));
}

export const accumulated = state({
  doc: 'Collects text for a file that a later state writes (`accumulator` in templates, or `file.blockreplace`).',
  examples: [
    'web-hosts:\n  file.accumulated:\n    - filename: /etc/hosts.list\n    - text: web1\n    - require_in:\n      - file: /etc/hosts.list',
  ],
  params: {
    name: p.string({ doc: 'name of the collection' }),
    filename: p.string({ doc: 'file it is for' }),
    text: p.any({ doc: 'text, or a list of texts' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run({ name, filename, text }, ctx) {
    if (!name) return ctx.fail('Must provide name to file.accumulated', { name });
    if (text === null) return ctx.fail('No text supplied for accumulator', { name });
    const dependents = dependentsOf(ctx);
    if (dependents.length === 0) return ctx.fail(`Orphaned accumulator ${name} in ${ctx.sls}:${ctx.stateId}`, { name });
    const data = loadAccumulators(ctx);
    const known = plain(data.texts, filename);
    const waiting = plain(data.dependents, filename);
    waiting[name] = [
      ...((waiting[name] as Value[] | undefined) ?? []),
      ...dependents.flatMap((item) => dictEntries(item).map(([, id]) => id)),
    ];
    const texts = [...((known[name] as Value[] | undefined) ?? [])];
    const before = texts.length;
    for (const chunk of Array.isArray(text) ? text : [text])
      if (!texts.some((item) => pyEquals(item, chunk))) texts.push(chunk);
    known[name] = texts;
    saveAccumulators(data, ctx);
    return ctx.ok(texts.length > before ? `Accumulator ${name} for file ${filename} was charged by text` : '', {
      name,
    });
  },
});

const nodeKinds: Readonly<Record<string, { title: string; is: (path: string) => boolean }>> = {
  c: { title: 'Character device', is: (path) => lookAt(path)?.isCharacterDevice() ?? false },
  b: { title: 'Block device', is: (path) => lookAt(path)?.isBlockDevice() ?? false },
  p: { title: 'Fifo pipe', is: (path) => lookAt(path)?.isFIFO() ?? false },
};

interface Node {
  readonly name: string;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
}

/** Owner and mode of an existing device. */
async function nodePerms(node: Node, title: string, ctx: StateContext): Promise<StateResult> {
  const { name, ...perms } = node;
  const right = `${title} ${name} is in the correct state`;
  const foreseen = async (): Promise<StateResult> => {
    const changes = await permsNeeded(name, perms, ctx);
    if (Object.keys(changes).length > 0) return ctx.result({ name, changes, result: null, comment: '' });
    return ctx.ok(right, { name });
  };
  return withForecast(ctx, foreseen, async () => {
    const done = await setPerms(name, perms, ctx);
    const comment = Object.keys(done.changes).length === 0 ? right : done.problems.join('; ');
    return ctx.result({ name, changes: done.changes, result: done.ok, comment });
  });
}

export const mknod = state({
  doc: 'A device file or named pipe.',
  examples: ['/dev/chr:\n  file.mknod:\n    - ntype: c\n    - major: 180\n    - minor: 31'],
  params: {
    name: common.name,
    ntype: p.string({ doc: 'c for character, b for block, p for pipe' }),
    major: p.int({ default: 0, doc: 'major number' }),
    minor: p.int({ default: 0, doc: 'minor number' }),
    user: common.user,
    group: common.group,
    mode: p.scalar({ default: '0600', nullable: true, doc: 'permission bits' }),
  },
  async run({ ntype, major, minor, user, group, mode, ...args }, ctx) {
    const name = expandUser(args.name);
    if (!name) return ctx.fail('Must provide name to file.mknod', { name });
    const kind = Object.hasOwn(nodeKinds, ntype) ? nodeKinds[ntype] : undefined;
    if (!kind) {
      const text = `Node type unavailable: '${ntype}'. Available node types are character ('c'), block ('b'), and pipe ('p')`;
      return ctx.fail(text, { name });
    }
    const { title } = kind;
    if (isRegular(name))
      return ctx.fail(`File ${name} exists and is not a ${title.toLowerCase()}. Refusing to continue`, { name });
    if (!kind.is(name)) {
      const done = await ctx.change(newDict(), '', {
        test: `${title} ${name} is set to be created`,
        apply: async () =>
          ctx.result((await ctx.call('file.mknod', name, ntype, major, minor, user, group, mode)) as PlainDict),
      });
      return Object.assign(done, { name });
    }
    if (ntype !== 'p') {
      const [nowMajor, nowMinor] = (await ctx.call('file.get_devmm', name)) as number[];
      if (nowMajor !== major || nowMinor !== minor) {
        const text = `${title} ${name} exists and has a different major/minor ${nowMajor}/${nowMinor}. Refusing to continue`;
        return ctx.fail(text, { name });
      }
    }
    return nodePerms({ name, user, group, mode }, title, ctx);
  },
});

export const decode = state({
  doc: 'A file whose content is given in base64.',
  examples: ['/tmp/logo.png:\n  file.decode:\n    - contents_pillar: logo'],
  params: {
    name: common.name,
    encoded_data: p.scalar({ default: null, doc: 'the content in base64' }),
    contents_pillar: p.scalar({ default: null, doc: 'pillar key of the content' }),
    encoding_type: p.string({ default: 'base64', doc: 'only base64 is supported' }),
    checksum: p.string({ default: 'md5', doc: 'hash to compare by: md5, sha256, sha512' }),
  },
  async run({ name, encoded_data: given, contents_pillar: key, checksum }, ctx) {
    if (!given && !key) throw commandError("Specify either the 'encoded_data' or 'contents_pillar' argument.");
    if (given && key) throw commandError("Specify only one 'encoded_data' or 'contents_pillar' argument.");
    const content = given || traverse(ctx.pillar, pyStr(key));
    if (content === undefined || content === false) throw commandError('Pillar data not found.');
    const wanted = await ctx.call('hashutil.digest', await ctx.call('hashutil.base64_decodestring', content), checksum);
    const now = isRegular(name) ? await ctx.call('hashutil.digest_file', name, checksum) : null;
    if (now === wanted) return ctx.ok('File is in the correct state.');
    return ctx.change(
      newDict([
        ['old', now],
        ['new', wanted],
      ]),
      'File was updated.',
      {
        test: 'File is set to be updated.',
        testChanges:
          now === null
            ? newDict()
            : newDict([
                ['old', now],
                ['new', wanted],
              ]),
        apply: () => ctx.call('hashutil.base64_decodefile', content, name),
      },
    );
  },
});

const realPathOf = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

interface CacheWork {
  readonly name: string;
  readonly sum: HashSum | undefined;
  readonly skipVerify: boolean;
  readonly useEtag: boolean;
  readonly saltenv: string;
}

async function cacheForecast({ name, sum, saltenv }: CacheWork, ctx: StateContext): Promise<StateResult> {
  const copy = await ctx.files.isCached(name, saltenv);
  let comment = `File will be cached: ${name}`;
  if (copy && !sum) comment = `No hash found. File will be cached: ${name}`;
  else if (copy && sum) {
    const same = hashOfFile(copy, pyStr(ctx.opts['hash_type'] ?? 'sha256')) === sum.digits;
    comment = same ? `File already cached: ${name}` : `Hashes don't match.\nFile will be cached: ${name}`;
  }
  return ctx.result({ name, result: null, comment });
}

/** Local files are not cached, only checked. */
function localFile({ name, sum, skipVerify }: CacheWork, ctx: StateContext): StateResult {
  const path = realPathOf(expandUser(splitUrl(name).path));
  if (!exists(path)) return ctx.fail(`File ${path} is not present on the minion`, { name });
  if (skipVerify || !sum) return ctx.ok(`File ${path} is present on the minion`, { name });
  const found = hashOfFile(path, sum.type);
  if (found === sum.digits) return ctx.ok(`File ${path} is present on the minion and has hash ${found}`, { name });
  return ctx.fail(
    `File ${path} is present on the minion, but the hash (${found}) does not match the specified hash (${sum.digits})`,
    { name },
  );
}

async function cache(work: CacheWork, ctx: StateContext): Promise<StateResult> {
  const { name, sum, skipVerify, useEtag, saltenv } = work;
  const type = sum?.type ?? pyStr(ctx.opts['hash_type'] ?? 'sha256');
  const before = await ctx.files.isCached(name, saltenv);
  const old = before ? hashOfFile(before, type) : null;
  let path: string;
  try {
    path = await ctx.files.cacheFile(name, { saltenv, sourceHash: sum?.digits, useEtag });
  } catch (error) {
    return ctx.fail(withoutPassword(failureText(error)), { name });
  }
  if (!path)
    return ctx.fail(`Failed to cache ${withoutPassword(name)}, check minion log for more information`, { name });
  const now = hashOfFile(path, type);
  const changes =
    old === now
      ? newDict()
      : newDict([
          [
            'hash',
            newDict([
              ['old', old],
              ['new', now],
            ]),
          ],
        ]);
  if (skipVerify || !sum) return ctx.ok(`File is cached to ${path}`, { name, changes });
  if (now === sum.digits) return ctx.ok(`File is already cached to ${path} with hash ${now}`, { name, changes });
  return ctx.fail(
    `File is cached to ${path}, but the hash (${now}) does not match the specified hash (${sum.digits})`,
    { name, changes },
  );
}

export const cached = state({
  doc: 'A file of the file server or the web in the minion cache.',
  examples: [
    'cache-it:\n  file.cached:\n    - name: https://example.com/file.tar.gz\n    - source_hash: https://example.com/file.tar.gz.sha256',
  ],
  params: {
    name: p.string({ doc: 'address of the file' }),
    source_hash: common.sourceHash,
    source_hash_name: common.sourceHashName,
    skip_verify: common.skipVerify,
    saltenv: p.string({ default: 'base', doc: 'environment of the file server' }),
    use_etag: common.useEtag,
  },
  async run(
    { name, source_hash: sourceHash, source_hash_name: hashName, skip_verify: skipVerify, saltenv, use_etag: useEtag },
    ctx,
  ) {
    const { scheme } = splitUrl(name);
    if (!skipVerify && !sourceHash && !useEtag && remoteProtocols.includes(scheme)) {
      const advice = 'please set source_hash or set skip_verify or use_etag to True';
      return ctx.fail(`Unable to verify upstream hash of source file ${withoutPassword(name)}, ${advice}`);
    }
    let sum: HashSum | undefined;
    try {
      if (sourceHash)
        sum = await sourceSum({ fileName: '', source: name, sourceHash, hashName, saltenv, verifySsl: true }, ctx);
    } catch (error) {
      return ctx.fail(failureText(error));
    }
    const work: CacheWork = { name, sum, skipVerify, useEtag, saltenv };
    return withForecast(
      ctx,
      () => cacheForecast(work, ctx),
      async () => {
        return localProtocols.includes(scheme) ? localFile(work, ctx) : cache(work, ctx);
      },
    );
  },
});

export const not_cached = state({
  doc: 'A file that must not be in the minion cache.',
  examples: ['forget-it:\n  file.not_cached:\n    - name: https://example.com/file.tar.gz'],
  params: {
    name: p.string({ doc: 'address of the file' }),
    saltenv: p.string({ default: 'base', doc: 'environment of the file server' }),
  },
  async run({ name, saltenv }, ctx) {
    const { scheme, path } = splitUrl(name);
    if (localProtocols.includes(scheme))
      return ctx.ok(`File ${realPathOf(expandUser(path))} is a local path, no action taken`);
    const copy = await ctx.files.isCached(name, saltenv);
    if (!copy) return ctx.ok(`${name} is not cached`);
    return ctx.change(newDict([['deleted', true]]), `${copy} was deleted`, {
      test: `${copy} would be deleted`,
      apply() {
        try {
          rmSync(copy);
          return undefined;
        } catch (error) {
          return ctx.fail(`Failed to delete ${copy}: ${failureText(error)}`);
        }
      },
    });
  },
});

export const shortcut = state({
  doc: 'Shortcuts exist on Windows only: this fails here, as in Salt.',
  params: {
    name: p.string({ doc: 'the shortcut' }),
    target: p.scalar({ nullable: true, doc: 'what it opens' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run: (_, ctx) => ctx.fail('Shortcuts are only supported on Windows'),
});
