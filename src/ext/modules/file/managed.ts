// Functions of `file` that states for files use: they compare and write the desired content.
import {
  commandError,
  dictEntries,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { expandUser, isFile, normalizeMode } from 'halite/sdk/fs';
import { bytesOf, type Content } from '../../shared/file/content.ts';
import { encodeText } from '../../shared/file/encodings.ts';
import { hashOfFile } from '../../shared/file/hash-sums.ts';
import { changesNeeded, type ManageRequest, manageFile } from '../../shared/file/manage.ts';
import { chooseSource, modeOfSource } from '../../shared/file/source.ts';
import { renderText, templateEngines, templateVariables } from '../../shared/file/template.ts';
import { asState } from './as-state.ts';
import { getManaged, type Managed, managedParams, sumOf } from './managed-source.ts';
import { selinuxOf, selinuxParams } from './perms.ts';

interface Wanted {
  readonly name: string;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs: Value;
  readonly saltenv: Value;
  readonly follow_symlinks: boolean;
  readonly seuser: Value;
  readonly serole: Value;
  readonly setype: Value;
  readonly serange: Value;
}

function requestFor(args: Wanted, content: Content | undefined, fromSource: boolean): ManageRequest {
  const { user, group, attrs } = args;
  return {
    name: expandUser(args.name),
    content,
    fromSource,
    user,
    group,
    mode: normalizeMode(args.mode),
    attrs,
    backup: '',
    makedirs: false,
    follow: args.follow_symlinks,
    showChanges: true,
    selinux: selinuxOf(args),
  };
}

/** The local file of a source: the given one, otherwise fetched. */
async function fileOf(sfn: Value, source: Value, saltenv: string, ctx: ModuleContext): Promise<string> {
  if (sfn) return pyStr(sfn);
  return source ? ctx.files.cacheFile(pyStr(source), { saltenv }) : '';
}

const ownContent = (contents: Value): Content | undefined =>
  contents === null
    ? undefined
    : { bytes: contents instanceof Uint8Array ? Buffer.from(contents) : Buffer.from(pyStr(contents)) };

/** What would change, found by comparing hashes or the given contents. */
async function metaChanges(
  args: Wanted & { readonly contents: Value },
  found: { readonly sfn: Value; readonly source: Value; readonly sum: Value },
  ctx: ModuleContext,
): Promise<PlainDict> {
  const name = expandUser(args.name);
  const saltenv = pyStr(args.saltenv ?? 'base');
  const sum = sumOf(found.sum);
  let content = ownContent(args.contents);
  let differs = false;
  if (!content && sum && isFile(name) && hashOfFile(name, sum.type) !== sum.digits) {
    const path = await fileOf(found.sfn, found.source, saltenv, ctx);
    if (path) content = { path };
    else differs = true;
  }
  const changes = await changesNeeded(requestFor(args, content, false), asState(ctx, saltenv, name));
  return differs && !('newfile' in changes)
    ? newDict([['sum', 'Checksum differs'], ...Object.entries(changes)])
    : changes;
}

const common = {
  contents: p.scalar({ default: null, doc: 'the content itself' }),
  skip_verify: p.bool({ default: false }),
};
/** The source of the content, and the owner of the file. */
const placed = {
  source: p.string({ nullable: true }),
  source_sum: p.oneOf(['dict', 'string'], { nullable: true }),
  user: p.oneOf(['int', 'string'], { nullable: true }),
  group: p.oneOf(['int', 'string'], { nullable: true }),
  mode: p.scalar({ nullable: true }),
  attrs: p.scalar({ nullable: true }),
  saltenv: p.string({ nullable: true }),
};
const follow = p.bool({ default: false });

type CheckArgs = Wanted & Managed & { readonly contents: Value; readonly keep_mode?: boolean };

/** The differences to the source, or why there is no source. */
async function planned(args: CheckArgs, ctx: ModuleContext): Promise<PlainDict | string> {
  const saltenv = pyStr(args.saltenv ?? 'base');
  const state = asState(ctx, saltenv, args.name);
  const { source, hash } = await chooseSource(args.source, args.source_hash, state);
  let mode = args.mode;
  let found: { sfn: Value; source: Value; sum: Value } = { sfn: '', source, sum: null };
  if (args.contents === null) {
    const [sfn, sum, problem] = await getManaged({ ...args, source, source_hash: hash }, ctx);
    if (problem) return problem;
    found = { sfn, source, sum };
    if (args.keep_mode && source) mode = (await modeOfSource(source, state)) ?? mode;
  }
  return metaChanges({ ...args, mode }, found, ctx);
}

async function manage(
  args: Wanted & {
    readonly sfn: Value;
    readonly source: Value;
    readonly source_sum: Value;
    readonly contents: Value;
    readonly backup: Value;
    readonly makedirs: boolean;
    readonly dir_mode: Value;
    readonly show_changes: boolean;
    readonly encoding: Value;
    readonly encoding_errors: string;
    readonly skip_verify: boolean;
  },
  ctx: ModuleContext,
): Promise<Value> {
  const saltenv = pyStr(args.saltenv ?? 'base');
  const name = expandUser(args.name);
  const state = asState(ctx, saltenv, name);
  const fail = (comment: string): Value => state.fail(comment, { name }) as unknown as Value;
  let content = ownContent(args.contents);
  if (content && args.encoding)
    content = { bytes: encodeText(bytesOf(content).toString('utf8'), args.encoding, args.encoding_errors) };
  if (!content && (args.sfn || args.source)) {
    const path = await fileOf(args.sfn, args.source, saltenv, ctx);
    if (!path) return fail(`Source file '${pyStr(args.source)}' not found`);
    const sum = sumOf(args.source_sum);
    if (sum && !args.skip_verify && hashOfFile(path, sum.type) !== sum.digits) {
      const actual = hashOfFile(path, sum.type);
      return fail(
        `Specified ${sum.type} checksum for ${pyStr(args.source)} (${sum.digits}) does not match actual checksum (${actual}). If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.`,
      );
    }
    content = { path };
  }
  const request = requestFor(args, content, args.contents === null && content !== undefined);
  const { show_changes, makedirs, dir_mode, backup } = args;
  return manageFile(
    { ...request, showChanges: show_changes, makedirs, dirMode: dir_mode, backup: pyStr(backup || '') },
    state,
  ) as unknown as Promise<Value>;
}

const text = (changes: PlainDict): string =>
  [
    'The following values are set to be changed:\n',
    ...dictEntries(changes).map(([key, value]) => `${pyStr(key)}: ${pyStr(value)}\n`),
  ].join('');

export const managedFunctions = {
  apply_template_on_contents: fn({
    doc: 'A text rendered with a template engine.',
    examples: [
      `salt '*' file.apply_template_on_contents contents='{{ who }}' template=jinja context='{"who": "me"}' defaults='{}' saltenv=base`,
    ],
    params: {
      contents: p.scalar(),
      template: p.string(),
      context: p.dict({ nullable: true }),
      defaults: p.dict({ nullable: true }),
      saltenv: p.string({ nullable: true }),
    },
    async run(args, ctx): Promise<Value> {
      const engine = args.template;
      if (!templateEngines.includes(engine))
        return newDict([
          ['result', false],
          ['comment', `Specified template format ${engine} is not supported`],
        ]);
      const variables = templateVariables(args.defaults, args.context);
      const state = asState(ctx, args.saltenv ?? 'base');
      const made = await renderText(pyStr(args.contents), { engine, variables }, state);
      if ('problem' in made) throw commandError(made.problem);
      return made.bytes.toString('utf8');
    },
  }),
  get_managed: fn({
    doc: 'The desired content of a file: path of a local copy, its hash, and an error message.',
    examples: [
      "salt '*' file.get_managed /etc/httpd/conf.d/httpd.conf jinja salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' None root root 755 None base None None",
    ],
    params: {
      ...managedParams,
      skip_verify: common.skip_verify,
      verify_ssl: p.oneOf(['bool', 'string'], { default: true }),
      use_etag: p.bool({ default: false }),
      kwargs: p.kwargs(),
    },
    run: (args, ctx): Promise<Value> => getManaged(args, ctx),
  }),
  check_file_meta: fn({
    doc: 'The changes of content, owner and mode of a file.',
    examples: [
      "salt '*' file.check_file_meta /etc/httpd/conf.d/httpd.conf None salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' root root 755 None base",
    ],
    params: {
      name: p.path(),
      sfn: p.string({ nullable: true }),
      ...placed,
      contents: common.contents,
      ...selinuxParams,
      verify_ssl: p.oneOf(['bool', 'string'], { default: true }),
      follow_symlinks: follow,
    },
    run: (args, ctx): Promise<Value> =>
      metaChanges(args, { sfn: args.sfn, source: args.source, sum: args.source_sum }, ctx),
  }),
  check_managed: fn({
    doc: 'Whether a file has the desired content, owner and mode: True, or None and what would change.',
    examples: [
      "salt '*' file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' root root 755 None jinja True None None base",
    ],
    params: { ...checkParams(), ...common, ...selinuxParams, follow_symlinks: follow, kwargs: p.kwargs() },
    async run(args, ctx): Promise<Value> {
      const changes = await planned(args, ctx);
      if (typeof changes === 'string') return [false, changes];
      // As in Salt: for files in the temporary folder only the content is compared.
      if (args.name.startsWith('/tmp')) for (const key of ['user', 'group', 'mode']) delete changes[key];
      return Object.keys(changes).length > 0
        ? [null, text(changes)]
        : [true, `The file ${args.name} is in the correct state`];
    },
  }),
  check_managed_changes: fn({
    doc: 'The changes needed so that a file has the desired content, owner and mode.',
    examples: [
      "salt '*' file.check_managed_changes /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' root root 755 None jinja True None None base",
    ],
    params: {
      ...checkParams(),
      ...common,
      keep_mode: p.bool({ default: false }),
      ...selinuxParams,
      verify_ssl: p.oneOf(['bool', 'string'], { default: true }),
      follow_symlinks: follow,
      kwargs: p.kwargs(),
    },
    async run(args, ctx): Promise<Value> {
      const changes = await planned(args, ctx);
      return typeof changes === 'string' ? [false, changes] : changes;
    },
  }),
  manage_file: fn({
    doc: 'Writes content and sets owner and mode, where they differ.',
    examples: [
      `salt '*' file.manage_file /etc/httpd/conf.d/httpd.conf '' '{}' salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' root root '755' '' base ''`,
    ],
    params: {
      name: p.path(),
      sfn: p.string({ nullable: true }),
      ret: p.dict({ nullable: true }),
      ...placed,
      backup: p.oneOf(['bool', 'string'], { nullable: true }),
      makedirs: p.bool({ default: false }),
      template: p.string({ default: null }),
      show_changes: p.bool({ default: true }),
      contents: common.contents,
      dir_mode: p.scalar({ default: null }),
      follow_symlinks: p.bool({ default: true }),
      skip_verify: common.skip_verify,
      keep_mode: p.bool({ default: false }),
      encoding: p.string({ default: null, falsy: null }),
      encoding_errors: p.string({ default: 'strict' }),
      ...selinuxParams,
      verify_ssl: p.oneOf(['bool', 'string'], { default: true }),
      use_etag: p.bool({ default: false }),
      kwargs: p.kwargs(),
    },
    run: (args, ctx) => manage(args, ctx),
  }),
};

function checkParams() {
  const { template, context, defaults, saltenv, source_hash_name, ...rest } = managedParams;
  const { name, source_hash, user, group, mode, attrs } = rest;
  const source = p.oneOf(['string', 'list'], {
    falsy: null,
    doc: 'the source, or several of which the first counts that exists',
  });
  return {
    name,
    source,
    source_hash,
    source_hash_name,
    user,
    group,
    mode,
    attrs,
    template,
    context,
    defaults,
    saltenv,
  };
}
