// Execution module `config`: looks a key up in options, grains, pillar and the master's options.
import {
  type ArgsOf,
  type Dict,
  defineModule,
  dictEntries,
  dictGet,
  dictSize,
  fn,
  isDict,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { type MergeStrategy, mergeDicts, traverse } from 'halite/sdk/data';
import { normalizeMode } from 'halite/sdk/fs';
import { matchesGlob } from 'halite/sdk/text';

/** Defaults of settings that are not configured, as in Salt. */
const defaults: PlainDict = newDict([
  ['mongo.db', 'salt'],
  ['mongo.password', ''],
  ['mongo.port', 27017],
  ['mongo.user', ''],
  ['redis.db', '0'],
  ['redis.host', 'salt'],
  ['redis.port', 6379],
  ['test.foo', 'unconfigured'],
  ['ca.cert_base_path', '/etc/pki'],
  ['solr.cores', []],
  ['solr.host', 'localhost'],
  ['solr.port', '8983'],
  ['solr.baseurl', '/solr'],
  ['solr.type', 'master'],
  ['solr.request_timeout', null],
  ['solr.init_script', '/etc/rc.d/solr'],
  [
    'solr.dih.import_options',
    newDict([
      ['clean', false],
      ['optimize', true],
      ['commit', true],
      ['verbose', false],
    ]),
  ],
  ['solr.backup_path', null],
  ['solr.num_backups', 1],
  ['poudriere.config', '/usr/local/etc/poudriere.conf'],
  ['poudriere.config_dir', '/usr/local/etc/poudriere.d'],
  ['ldap.uri', ''],
  ['ldap.server', 'localhost'],
  ['ldap.port', '389'],
  ['ldap.tls', false],
  ['ldap.no_verify', false],
  ['ldap.anonymous', true],
  ['ldap.scope', 2],
  ['ldap.attrs', null],
  ['ldap.binddn', ''],
  ['ldap.bindpw', ''],
  ['hosts.file', '/etc/hosts'],
  ['aliases.file', '/etc/aliases'],
  [
    'virt',
    newDict([
      ['tunnel', false],
      ['images', '/srv/salt-images'],
    ]),
  ],
  ['docker.exec_driver', 'docker-exec'],
  [
    'docker.compare_container_networks',
    newDict([
      ['static', ['Aliases', 'Links', 'IPAMConfig']],
      ['automatic', ['IPAddress', 'Gateway', 'GlobalIPv6Address', 'IPv6Gateway']],
    ]),
  ],
]);

const protocols = ['salt', 'file', 'http', 'https', 'ftp', 'swift', 's3'];

/** The master's own options, when it puts them into the pillar (`pillar_opts`). */
function masterOptions(ctx: ModuleContext): Dict {
  const master = dictGet(ctx.pillar, 'master');
  return isDict(master) ? master : newDict();
}
const options = (ctx: ModuleContext): PlainDict => ctx.opts as PlainDict;

type Omissions = ArgsOf<typeof omitParams>;

/** The sources, in order of precedence. */
function places(ctx: ModuleContext, omit: Omissions): Dict[] {
  const all: [boolean, Dict][] = [
    [omit.omit_opts, options(ctx)],
    [omit.omit_grains, ctx.grains],
    [omit.omit_pillar, ctx.pillar],
    [omit.omit_master, masterOptions(ctx)],
  ];
  return all.flatMap(([left, data]) => (left ? [] : [data]));
}

/** `sdb://…` values are resolved when that module is available. */
async function resolved(value: Value, ctx: ModuleContext): Promise<Value> {
  if (typeof value !== 'string' || !value.startsWith('sdb://')) return value;
  return (await ctx.registry.functionInfo('modules', 'sdb.get')) ? ctx.call('sdb.get', value) : value;
}

function option(value: string, omit: Omissions, ctx: ModuleContext): Value | undefined {
  for (const data of [...places(ctx, omit), defaults]) {
    const found = dictGet(data, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function optionsByGlob(glob: string, omit: Omissions, ctx: ModuleContext): PlainDict {
  const found = newDict();
  for (const data of places(ctx, omit).reverse()) {
    for (const [key, value] of dictEntries(data)) if (matchesGlob(pyStr(key), glob)) found[pyStr(key)] = value;
  }
  for (const [key, value] of Object.entries(defaults))
    if (matchesGlob(key, glob) && !(key in found)) found[key] = value;
  return found;
}

function mergedAll(strategy: string, ctx: ModuleContext): Dict {
  let name: MergeStrategy = 'recurse';
  if (strategy === 'overwrite') name = strategy;
  else if (strategy !== 'recurse') ctx.log.warn(`Unsupported merge strategy '${strategy}'. Falling back to 'recurse'.`);
  const mergeLists = ctx.opts['pillar_merge_lists'] === true;
  const layers = [masterOptions(ctx), ctx.pillar, ctx.grains, options(ctx)];
  return layers.reduce<Dict>((data, layer) => mergeDicts(data, layer, { strategy: name, mergeLists }), defaults);
}

/** Merges the values of all sources: dicts by precedence, lists are concatenated, otherwise the first value wins. */
function mergeValue(value: string, omit: Omissions, ctx: ModuleContext): Value | undefined {
  let found: Value | undefined = omit.omit_opts ? undefined : dictGet(options(ctx), value);
  const others = [omit.omit_master ? newDict() : masterOptions(ctx), omit.omit_pillar ? newDict() : ctx.pillar];
  for (const data of others) {
    if (typeof found === 'string') return found;
    const more = dictGet(data, value);
    if (more === undefined) continue;
    if (found === undefined || found === null) found = more;
    else if (isDict(found) && isDict(more)) found = mergeDicts(more, found, { strategy: 'overwrite' });
    else if (Array.isArray(found) && Array.isArray(more)) found = [...found, ...more];
  }
  return found ?? dictGet(defaults, value);
}

const omitParams = {
  omit_opts: p.bool({ default: false, doc: 'skip the minion options' }),
  omit_grains: p.bool({ default: false, doc: 'skip grains' }),
  omit_pillar: p.bool({ default: false, doc: 'skip the pillar' }),
  omit_master: p.bool({ default: false, doc: 'skip the master options in the pillar' }),
};

export default defineModule({
  name: 'config',
  doc: 'Looks up settings in options, grains, pillar and the options of the master.',
  reads: ['get', 'option', 'merge', 'dot_vals', 'items', 'backup_mode', 'manage_mode', 'valid_fileproto'],
  functions: {
    get: fn({
      doc: 'A setting by its path: minion options first, then grains, pillar and master options. With merge, all of them merged.',
      examples: ["salt '*' config.get pkg:apache", "salt '*' config.get lxc.container_profile:centos merge=recurse"],
      params: {
        key: p.string(),
        default: p.any({ default: '', doc: 'returned when there is no value; any type' }),
        delimiter: p.string({ default: ':' }),
        merge: p.string({ default: null, doc: '`recurse` or `overwrite`' }),
        omit_opts: omitParams.omit_opts,
        omit_pillar: omitParams.omit_pillar,
        omit_master: omitParams.omit_master,
        omit_grains: omitParams.omit_grains,
      },
      inline: true,
      run(args, ctx) {
        const layers = args.merge === null ? [...places(ctx, args), defaults] : [mergedAll(args.merge, ctx)];
        for (const data of layers) {
          const found = traverse(data, args.key, args.delimiter);
          if (found !== undefined) return resolved(found, ctx);
        }
        return args.default;
      },
    }),
    option: fn({
      doc: 'A setting by its name, in order of precedence; with wildcard, all settings whose names match a glob.',
      examples: ["salt '*' config.option redis.host", "salt '*' config.option 'redis.*' wildcard=True"],
      params: {
        value: p.string(),
        default: p.any({ default: null, doc: 'returned when there is no value; any type' }),
        ...omitParams,
        omit_all: p.bool({ default: false, doc: 'use only the defaults' }),
        wildcard: p.bool({ default: false }),
      },
      inline: true,
      run(args, ctx) {
        const everything = { omit_opts: true, omit_grains: true, omit_pillar: true, omit_master: true };
        const omit = args.omit_all ? everything : args;
        if (!args.wildcard) return option(args.value, omit, ctx) ?? args.default ?? '';
        const found = optionsByGlob(args.value, omit, ctx);
        return dictSize(found) > 0 ? found : (args.default ?? newDict());
      },
    }),
    merge: fn({
      doc: 'The values of a setting in options, master and pillar, merged.',
      examples: ["salt '*' config.merge schedule"],
      params: {
        value: p.string(),
        default: p.any({ default: '', doc: 'returned when there is no value; any type' }),
        omit_opts: omitParams.omit_opts,
        omit_master: omitParams.omit_master,
        omit_pillar: omitParams.omit_pillar,
      },
      inline: true,
      run: (args, ctx) => mergeValue(args.value, { ...args, omit_grains: true }, ctx) ?? args.default,
    }),
    dot_vals: fn({
      doc: 'All settings whose names start with a word and a dot.',
      examples: ["salt '*' config.dot_vals host"],
      params: { value: p.string() },
      inline: true,
      run({ value }, ctx) {
        const entries = [...dictEntries(masterOptions(ctx)), ...Object.entries(ctx.opts)];
        return newDict(
          entries.flatMap(([key, item]) => (pyStr(key).startsWith(`${value}.`) ? [[pyStr(key), item] as const] : [])),
        );
      },
    }),
    items: fn({
      doc: 'All options of this minion, its grains and pillar among them.',
      examples: ["salt '*' config.items"],
      run: (_, ctx) => newDict([...Object.entries(ctx.opts), ['grains', ctx.grains], ['pillar', ctx.pillar]]),
    }),
    backup_mode: fn({
      doc: 'The backup mode given, or the configured one.',
      examples: ["salt '*' config.backup_mode"],
      params: { backup: p.string({ default: '' }) },
      inline: true,
      run: ({ backup }, ctx) =>
        backup ||
        (option('backup_mode', { omit_opts: false, omit_grains: false, omit_pillar: false, omit_master: false }, ctx) ??
          ''),
    }),
    manage_mode: fn({
      doc: 'A file mode as four octal digits in text.',
      examples: ["salt '*' config.manage_mode 644"],
      params: { mode: p.string({ nullable: true }) },
      inline: true,
      run: ({ mode }) => normalizeMode(mode),
    }),
    valid_fileproto: fn({
      doc: 'Whether an address starts with a protocol from which files can be fetched.',
      examples: ["salt '*' config.valid_fileproto salt://path/to/file"],
      params: { uri: p.string() },
      inline: true,
      run: ({ uri }) => protocols.includes((/^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(uri)?.[1] ?? '').toLowerCase()),
    }),
  },
});
