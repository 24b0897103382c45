// Execution module `pkg_resource`: functions that package modules share: compare versions, read targets.
import {
  defineModule,
  dictEntries,
  fn,
  invocationError,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyRepr,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { isAbsolutePath } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';

/** Numbers and words of a version; dots only separate. */
const parts = (version: string): (number | string)[] =>
  (version.match(/\d+|[a-z]+|[^\da-z.]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** Like Python's LooseVersion in Salt: when one side is a word, numbers are compared as text, padded with zeros. */
export function compareLoose(one: string, other: string): number {
  const [a, b] = [parts(one), parts(other)];
  const worded = [...a, ...b].some((part) => typeof part === 'string');
  const key = (part: number | string): number | string =>
    worded && typeof part === 'number' ? String(part).padStart(8, '0') : part;
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [left, right] = [key(a[at] ?? 0), key(b[at] ?? 0)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return Math.sign(a.length - b.length);
}

const tests: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
  '>=': (order) => order >= 0,
  '>': (order) => order > 0,
};

/** The name of a package without this machine's architecture, if the package module adds it to names. */
async function normalized(name: string, normalize: boolean, ctx: ModuleContext): Promise<string> {
  const has = normalize && (await ctx.registry.functionNames('modules')).includes('pkg.normalize_name');
  return has ? pyStr(await ctx.call('pkg.normalize_name', name)) : name;
}

async function packSources(given: Value, normalize: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const sources = typeof given === 'string' ? (loadYaml(given) as Value) : given;
  const packed = newDict();
  for (const source of Array.isArray(sources) ? sources : []) {
    const [only, more] = isDict(source) ? dictEntries(source) : [];
    if (only === undefined || more !== undefined) {
      ctx.log.error('Input must be a list of 1-element dicts');
      return newDict();
    }
    packed[await normalized(pyStr(only[0]), normalize, ctx)] = only[1];
  }
  return packed;
}

async function packNames(pkgs: Value, normalize: boolean, ctx: ModuleContext): Promise<PlainDict> {
  const list = Array.isArray(pkgs) ? pkgs : [];
  const packed = newDict();
  for (const item of list) {
    const [name, version] = isDict(item) ? (dictEntries(item)[0] ?? [null, null]) : [item, null];
    packed[await normalized(pyStr(name), normalize, ctx)] = version === null ? null : pyStr(version);
  }
  if (Object.keys(packed).length !== list.length) {
    throw invocationError(
      `You are passing a list of packages that contains duplicated packages names: ${pyRepr(pkgs)}. This cannot be processed. In case you are targeting different versions of the same package, please target them individually`,
    );
  }
  return packed;
}

/** Files of packages: those of the file server or the web are fetched. */
async function sourceFiles(sources: PlainDict, saltenv: string, ctx: ModuleContext): Promise<Value[]> {
  const files: Value[] = [];
  for (const [name, source] of Object.entries(sources)) {
    const path = pyStr(source);
    if (isTruthy(await ctx.call('config.valid_fileproto', path))) {
      files.push(await ctx.call('cp.cache_file', path, saltenv));
    } else if (isAbsolutePath(path)) files.push(path);
    else throw invocationError(`Path ${path} for package ${name} is either not absolute or an invalid protocol`);
  }
  return files;
}

const isEmpty = (value: PlainDict): boolean => Object.keys(value).length === 0;

const withoutEpoch = (text: string, ignore: boolean): string =>
  ignore ? pyStr(text).replace(/^[^:]*:/, '') : pyStr(text);

export default defineModule({
  name: 'pkg_resource',
  doc: 'Functions that package modules share: compare versions, read targets.',
  reads: [
    'version_compare',
    'pack_sources',
    'parse_targets',
    'version',
    'format_version',
    'check_extra_requirements',
    'version_clean',
  ],
  functions: {
    version_compare: fn({
      doc: 'Whether a comparison of two versions holds.',
      examples: ["salt '*' pkg_resource.version_compare 2.1.0 '<=' 2.2.0"],
      params: {
        ver1: p.string({ doc: 'one' }),
        oper: p.string({ doc: '<, <=, ==, !=, >= or >' }),
        ver2: p.string({ doc: 'the other' }),
        ignore_epoch: p.bool({ default: false, doc: 'ignore the epoch before the colon' }),
      },
      run(args, ctx) {
        const test = tests[args.oper];
        if (!test) {
          ctx.log.error(`Invalid operator '${args.oper}' for version comparison`);
          return false;
        }
        const [one, other] = [args.ver1, args.ver2].map((text) => withoutEpoch(text, args.ignore_epoch));
        return test(compareLoose(one ?? '', other ?? ''));
      },
    }),
    pack_sources: fn({
      doc: 'Sources of packages, a list of maps with one key each, as one map.',
      examples: [`salt '*' pkg_resource.pack_sources '[{"foo": "salt://foo.rpm"}, {"bar": "salt://bar.rpm"}]'`],
      params: {
        sources: p.oneOf(['string', 'list', 'dict'], { nullable: true }),
        normalize: p.bool({ default: true, doc: 'normalize names like the package system' }),
      },
      run: (args, ctx) => packSources(args.sources, args.normalize, ctx),
    }),
    parse_targets: fn({
      doc: 'The packages to install, as a map of names and versions (`repository`) or a list of files (`file`).',
      examples: ["salt '*' pkg_resource.parse_targets pkgs='[a, {b: 1.0}]'"],
      params: {
        name: p.string({ default: null, falsy: null }),
        pkgs: p.oneOf(['string', 'list', 'dict'], { default: null, falsy: null }),
        sources: p.oneOf(['string', 'list', 'dict'], { default: null, falsy: null }),
        saltenv: p.string({ default: 'base' }),
        normalize: p.bool({ default: true }),
        kwargs: p.kwargs({ doc: 'version' }),
      },
      async run(args, ctx): Promise<Value> {
        const { name, pkgs, sources, normalize } = args;
        const nothing: Value = [null, null];
        if (isTruthy(pkgs) && isTruthy(sources)) return nothing;
        if (isTruthy(pkgs)) {
          const packed = await packNames(pkgs, normalize, ctx);
          return isEmpty(packed) ? nothing : [packed, 'repository'];
        }
        if (isTruthy(sources)) {
          const packed = await packSources(sources, normalize, ctx);
          return isEmpty(packed) ? nothing : [await sourceFiles(packed, args.saltenv, ctx), 'file'];
        }
        if (!isTruthy(name)) return nothing;
        const packed = newDict();
        for (const one of pyStr(name).split(','))
          packed[await normalized(one, normalize, ctx)] = args.kwargs['version'] ?? null;
        return [packed, 'repository'];
      },
    }),
    version: fn({
      doc: 'Installed versions of packages; one text when one name without a star is given.',
      examples: ["salt '*' pkg_resource.version vim", "salt '*' pkg_resource.version foo 'python*'"],
      params: { names: p.rest(), kwargs: p.kwargs({ doc: 'versions_as_list' }) },
      async run(args, ctx): Promise<Value> {
        const inLists = isTruthy(args.kwargs['versions_as_list'] ?? false);
        const names = args.names.map(pyStr);
        const all =
          names.length === 0
            ? newDict()
            : await ctx.callWith('pkg.list_pkgs', [], newDict([['versions_as_list', true]]));
        const known = new Map((isDict(all) ? dictEntries(all) : []) as [string, Value[]][]);
        const found = new Map<string, Value[]>();
        for (const name of names) {
          if (!name.includes('*')) found.set(name, known.get(name) ?? []);
          else for (const [one, versions] of known) if (matchesGlob(one, name)) found.set(one, versions);
        }
        const rows = [...found].map(([name, list]): [string, Value] => [
          name,
          inLists ? list : list.map(pyStr).join(','),
        ]);
        return rows.length === 1 && !names.some((name) => name.includes('*')) ? (rows[0]?.[1] ?? '') : newDict(rows);
      },
    }),
    format_version: fn({
      doc: 'Builds a version from its parts.',
      examples: ["salt '*' pkg_resource.format_version 1 2.0 3"],
      params: { epoch: p.string({ falsy: null }), version: p.string(), release: p.string({ falsy: null }) },
      run(args) {
        const full = isTruthy(args.epoch) ? `${pyStr(args.epoch)}:${args.version}` : args.version;
        return isTruthy(args.release) ? `${full}-${pyStr(args.release)}` : full;
      },
    }),
    check_extra_requirements: fn({
      doc: 'Whether additional requirements on a version are met; they exist only on Gentoo.',
      examples: ["salt '*' pkg_resource.check_extra_requirements <pkgname> <pkgver>"],
      params: { pkgname: p.scalar(), pkgver: p.scalar() },
      run: () => true,
    }),
    version_clean: fn({
      doc: 'A version as the package system writes it.',
      examples: ["salt '*' pkg_resource.version_clean 1.2.3"],
      params: { verstr: p.scalar({ nullable: true, doc: 'the version' }) },
      run: (args) => args.verstr,
    }),
  },
});
