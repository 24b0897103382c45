// External pillar `git`: pillar trees in git repositories, each branch with its own top file.
import { createHash, randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import {
  type Dict,
  definePillar,
  dictEntries,
  type GitFolderRequest,
  isDict,
  newDict,
  type PillarContext,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { type MergeStrategy, mergeDicts } from 'halite/sdk/data';
import { mkdir, readlink, rename, symlink } from 'halite/sdk/fs';

/** One remote as configured: `branch url`, with settings below it. */
interface Remote {
  readonly id: string;
  readonly branch: string;
  readonly url: string;
  readonly settings: ReadonlyMap<string, Value>;
}

/** A remote as a folder: its environment, and whether only other remotes may use it (`mountpoint`). */
interface Tree {
  readonly folder: string;
  readonly env: string;
  readonly mounted: boolean;
}

const anyEnvironment = '__env__';

function readRemote(item: Value, ctx: PillarContext): Remote {
  const [[id, settings = null] = ['', null]] = isDict(item)
    ? dictEntries(item)
    : [[pyStr(item), null] as [Value, Value]];
  const words = pyStr(id).trim().split(/\s+/);
  const own = new Map<string, Value>();
  for (const part of Array.isArray(settings) ? settings : settings === null ? [] : [settings]) {
    if (isDict(part)) for (const [key, value] of dictEntries(part)) own.set(pyStr(key), value);
  }
  const url = words.length > 1 ? words[1]! : words[0]!;
  const branch = words.length > 1 ? words[0]! : pyStr(ctx.opts['git_pillar_branch'] ?? 'master');
  return { id: pyStr(id), branch, url, settings: own };
}

const setting = (remote: Remote, name: string, ctx: PillarContext): Value =>
  remote.settings.get(name) ?? ctx.opts[`git_pillar_${name}`] ?? null;
const textSetting = (remote: Remote, name: string, ctx: PillarContext): string => {
  const value = setting(remote, name, ctx);
  return value === null ? '' : pyStr(value);
};

const baseOf = (remote: Remote, ctx: PillarContext): string => textSetting(remote, 'base', ctx) || 'master';

/** The requested environment; `base` means the configured base branch. */
const askedFor = (ctx: PillarContext): string => ctx.pillarenv || ctx.saltenv || 'base';

function targetOf(remote: Remote, ctx: PillarContext): string {
  if (remote.branch !== anyEnvironment) return remote.branch;
  const all = remote.settings.get('all_saltenvs');
  if (all !== undefined) return pyStr(all);
  const asked = askedFor(ctx);
  return asked === 'base' ? baseOf(remote, ctx) : asked;
}

function environmentOf(remote: Remote, ctx: PillarContext): string {
  if (remote.branch === anyEnvironment && remote.settings.has('all_saltenvs')) return askedFor(ctx);
  const env = textSetting(remote, 'env', ctx);
  if (env === anyEnvironment) return ctx.pillarenv || ctx.saltenv || pyStr(ctx.opts['git_pillar_base'] ?? 'master');
  if (env !== '') return env;
  const base = baseOf(remote, ctx);
  const target = targetOf(remote, ctx);
  return remote.branch === base || target === base ? 'base' : target;
}

function requestOf(remote: Remote, ctx: PillarContext): GitFolderRequest {
  const fallback = textSetting(remote, 'fallback', ctx);
  const interval = Number(ctx.opts['git_pillar_update_interval'] ?? 60);
  const name = remote.settings.get('name');
  const refspecs = setting(remote, 'refspecs', ctx);
  return {
    url: remote.url,
    refs: fallback === '' ? [targetOf(remote, ctx)] : [targetOf(remote, ctx), fallback],
    root: textSetting(remote, 'root', ctx).replace(/^\/+|\/+$/g, ''),
    updateSeconds: Number.isFinite(interval) ? interval : 60,
    user: textSetting(remote, 'user', ctx),
    password: textSetting(remote, 'password', ctx),
    privkey: textSetting(remote, 'privkey', ctx),
    insecureAuth: setting(remote, 'insecure_auth', ctx) === true,
    sslVerify: setting(remote, 'ssl_verify', ctx) !== false,
    ...(name === undefined ? {} : { name: pyStr(name) }),
    ...(Array.isArray(refspecs) ? { refspecs: refspecs.map(pyStr) } : {}),
  };
}

async function checkout(remote: Remote, ctx: PillarContext): Promise<Tree | undefined> {
  const folder = await ctx.gitFolder(requestOf(remote, ctx));
  if (folder === undefined) {
    ctx.log.error(
      `Failed to checkout ${targetOf(remote, ctx)} from git_pillar remote '${remote.id}': remote ref does not exist`,
    );
    return undefined;
  }
  const env = environmentOf(remote, ctx);
  const mountpoint = textSetting(remote, 'mountpoint', ctx)
    .replace(/^[a-z]+:\/\//, '')
    .replace(/^\/+|\/+$/g, '');
  if (mountpoint === '') return { folder, env, mounted: false };
  return { folder: await mounted(folder, mountpoint, ctx), env, mounted: true };
}

/** A folder in which the tree appears below its mountpoint. */
async function mounted(folder: string, mountpoint: string, ctx: PillarContext): Promise<string> {
  if (mountpoint.split('/').includes('..')) throw new Error(`the mountpoint ${mountpoint} leads out of the tree`);
  const key = createHash('sha256').update(`${mountpoint}\0${folder}`).digest('hex').slice(0, 32);
  const place = join(String(ctx.opts['cachedir']), 'git_pillar', 'links', key);
  const link = join(place, mountpoint);
  if ((await readlink(link).catch(() => undefined)) === folder) return place;
  await mkdir(dirname(link), { recursive: true, mode: 0o700 });
  const temporary = `${link}.${randomUUID()}`;
  await symlink(folder, temporary);
  await rename(temporary, link);
  return place;
}

export default definePillar({
  name: 'git_pillar',
  virtualName: 'git',
  doc: `Compiles pillar trees of git repositories: a list of "branch address", each with settings below it if need be (env, root,
base, fallback, mountpoint, all_saltenvs, name, user, password, privkey). __env__ as branch means the environment asked for.`,
  params: { repos: p.rest({ doc: 'remotes' }) },
  async compile({ repos }, ctx): Promise<Dict> {
    const trees: Tree[] = [];
    for (const item of repos) {
      const tree = await checkout(readRemote(item, ctx), ctx);
      if (tree) trees.push(tree);
    }
    const strategy = pyStr(ctx.opts['pillar_source_merging_strategy'] ?? 'smart') as MergeStrategy;
    const mergeLists = ctx.opts['pillar_merge_lists'] === true;
    let pillar: Dict = newDict();
    for (const tree of trees) {
      if (tree.mounted || (ctx.pillarenv && tree.env !== ctx.pillarenv)) continue;
      const others =
        ctx.opts['git_pillar_includes'] === false
          ? []
          : trees.filter((other) => other !== tree && other.env === tree.env);
      const roots = [tree, ...others].map(({ folder }) => folder);
      pillar = mergeDicts(pillar, await ctx.compileRoots({ [tree.env]: roots }, tree.env), { strategy, mergeLists });
    }
    return pillar;
  },
  async update({ repos }, ctx, { branch, repo }) {
    const found = newDict();
    for (const remote of repos.map((item) => readRemote(item, ctx))) {
      const names = [remote.url, remote.settings.get('name')];
      if ((branch !== undefined && branch !== remote.branch) || (repo !== undefined && !names.includes(repo))) continue;
      found[remote.id] = await ctx.gitUpdate(requestOf(remote, ctx));
    }
    return found;
  },
});
