// `file.serialize`: a file with serialized data.
import {
  type ArgsOf,
  dictEntries,
  isDict,
  isTruthy,
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
import { mergeRecurse, traverse } from 'halite/sdk/data';
import { expandUser, normalizeMode, readFileSync } from 'halite/sdk/fs';
import { encodeText } from '../../shared/file/encodings.ts';
import { isDir, isRegular } from '../../shared/file/facts.ts';
import { changesNeeded, type ManageRequest, manageFile } from '../../shared/file/manage.ts';
import { anySerializerFor } from '../../shared/serializers/serializers.ts';
import { dataDiff } from '../shared/data-diff.ts';
import { failureText } from './errors.ts';
import * as common from './params.ts';

const params = {
  name: common.name,
  dataset: p.any({ default: null, doc: 'the data' }),
  dataset_pillar: p.scalar({ default: null, doc: 'pillar key of the data' }),
  user: common.user,
  group: common.group,
  mode: common.mode,
  backup: common.backup,
  makedirs: common.makedirs,
  show_changes: common.showChanges,
  create: p.bool({ default: true, doc: 'false: only a file that exists' }),
  merge_if_exists: p.bool({ default: false, doc: 'merge the data over the existing data' }),
  encoding: p.scalar({ default: null, doc: 'encoding of the file' }),
  encoding_errors: p.string({ default: 'strict', doc: 'what to do with characters it does not have' }),
  serializer: p.scalar({ default: null, doc: 'format: yaml, json, python, configparser, …' }),
  serializer_opts: p.oneOf(['list', 'dict', 'string'], { default: null, doc: 'options for writing' }),
  deserializer_opts: p.oneOf(['list', 'dict', 'string'], {
    default: null,
    doc: 'options for reading, with `merge_if_exists`',
  }),
  kwargs: p.kwargs({ doc: '`formatter` is another word for `serializer`' }),
};
type Args = ArgsOf<typeof params>;

/** Options as a dictionary or as a list of one-entry dictionaries. */
function optionsOf(value: Value): PlainDict {
  const all = newDict();
  for (const item of Array.isArray(value) ? value : [value]) {
    if (isDict(item)) for (const [key, option] of dictEntries(item)) all[pyStr(key)] = option;
  }
  return all;
}

function writingOptions(format: string, args: Args): PlainDict {
  const options = newDict();
  if (format === 'yaml') {
    options['default_flow_style'] = false;
    if (args.encoding) options['allow_unicode'] = true;
  }
  if (format === 'json') {
    Object.assign(options, { indent: 2, separators: [',', ': '], sort_keys: true });
  }
  return Object.assign(options, optionsOf(args.serializer_opts));
}

const findSerializer = (format: string, direction: 'serialize' | 'deserialize', ctx: StateContext) =>
  anySerializerFor(format, direction, ctx).catch(() => undefined);

interface Merged {
  readonly old: Value;
  readonly data: Value;
}

/** The data merged over the existing data of the file. */
async function mergeWithFile(
  name: string,
  format: string,
  data: Value,
  args: Args,
  ctx: StateContext,
): Promise<Merged | { problem: string } | undefined> {
  if (!args.merge_if_exists || !isRegular(name)) return undefined;
  const read = await findSerializer(format, 'deserialize', ctx);
  if (!read) return { problem: `merge_if_exists is not supported for the ${format} serializer` };
  try {
    const old = await read(readFileSync(name, 'utf8'), optionsOf(args.deserializer_opts));
    if (old === null) return undefined;
    return { old, data: isDict(old) && isDict(data) ? mergeRecurse(old, data) : data };
  } catch (error) {
    return { problem: `Failed to deserialize existing data: ${failureText(error)}` };
  }
}

interface Work {
  readonly name: string;
  readonly content: Buffer;
  readonly merged: Merged | undefined;
  readonly args: Args;
}

async function put(work: Work, ctx: StateContext): Promise<StateResult> {
  const { name, args, merged } = work;
  const request: ManageRequest = {
    name,
    content: { bytes: work.content },
    fromSource: false,
    user: args.user,
    group: args.group,
    mode: normalizeMode(args.mode),
    backup: pyStr(args.backup ?? ''),
    makedirs: args.makedirs,
    follow: true,
    showChanges: args.show_changes,
  };
  const needed = await changesNeeded(request, ctx);
  // After a merge Salt shows changes of the data, not of the text.
  const diff = merged && isDict(merged.old) && isDict(merged.data) ? dataDiff(merged.old, merged.data) : undefined;
  if (Object.keys(needed).length === 0) {
    // Salt says it in two ways.
    const comment = ctx.test ? `The file ${name} is in the correct state` : `File ${name} is in the correct state`;
    return ctx.ok(comment, { name, changes: diff ? newDict([['diff', diff]]) : newDict() });
  }
  const foreseen = (): StateResult => {
    if (!args.show_changes) needed['diff'] = '<show_changes=False>';
    if (diff) needed['diff'] = diff;
    const comment = `Dataset will be serialized and stored into ${name}`;
    return ctx.result({ name, changes: needed, result: null, comment });
  };
  return withForecast(ctx, foreseen, async () => {
    const done = await manageFile(request, ctx);
    if (diff) (done.changes as PlainDict)['diff'] = diff;
    return done;
  });
}

async function run(args: Args, ctx: StateContext): Promise<StateResult> {
  const name = expandUser(args.name);
  const fail = (problem: string): StateResult => ctx.fail(problem, { name });
  if (!name) return fail('Must provide name to file.serialize');
  if (!args.create && !isRegular(name))
    return ctx.ok(`File ${name} is not present and is not set for creation`, { name });
  const formatter = args.kwargs['formatter'] ?? null;
  if (args.serializer && formatter) return fail('Only one of serializer and formatter are allowed');
  const format = pyStr(args.serializer || formatter || 'yaml').toLowerCase();
  if (isTruthy(args.dataset) && isTruthy(args.dataset_pillar))
    return fail("Only one of 'dataset' and 'dataset_pillar' is permitted");
  const data = isTruthy(args.dataset_pillar) ? (traverse(ctx.pillar, pyStr(args.dataset_pillar)) ?? '') : args.dataset;
  if (data === null) return fail("Neither 'dataset' nor 'dataset_pillar' was defined");
  const write = await findSerializer(format, 'serialize', ctx);
  if (!write)
    return fail(
      `The ${format} serializer could not be found. It either does not exist or its prerequisites are not installed.`,
    );
  if (isDir(name)) return fail(`Specified target ${name} is a directory`);
  const merged = await mergeWithFile(name, format, data, args, ctx);
  if (merged && 'problem' in merged) return fail(merged.problem);
  if (merged && pyEquals(merged.old, merged.data)) return ctx.ok(`The file ${name} is in the correct state`, { name });
  const made = await write(merged ? merged.data : data, writingOptions(format, args));
  const content =
    made instanceof Uint8Array
      ? Buffer.from(made)
      : encodeText(`${pyStr(made)}\n`, args.encoding, args.encoding_errors);
  const result = await put({ name, content, merged, args }, ctx);
  if (!args.merge_if_exists && isTruthy(args.deserializer_opts)) {
    result['warnings'] = ["The 'deserializer_opts' option is ignored unless merge_if_exists is set to True."];
  }
  return result;
}

export const serialize = state({
  doc: 'A file with data of the state or the pillar, in YAML, JSON or another format.',
  examples: ['/etc/app.json:\n  file.serialize:\n    - dataset:\n        port: 80\n    - serializer: json'],
  params,
  run,
});
