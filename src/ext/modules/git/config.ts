// Functions of `git` for its configuration.
import {
  commandError,
  fn,
  invocationError,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { encoding, expandPath, type GitResult, git, ignore, lineList, who } from './run.ts';

const params = {
  cwd: p.string({ default: null, doc: 'the checkout; not needed with global=True' }),
  ...who,
  ignore_retcode: ignore,
  output_encoding: encoding,
  kwargs: p.kwargs({ doc: 'global, all, add' }),
};

interface Place {
  readonly cwd: Value;
  readonly user: Value;
  readonly kwargs: PlainDict;
}

const isGlobal = (place: Place): boolean => Boolean(place.kwargs['global']);

function folder(place: Place): string | null {
  if (place.cwd !== null) return expandPath(place.cwd, place.user);
  if (!isGlobal(place)) throw invocationError("'cwd' argument required unless global=True");
  return null;
}

function get(
  how: string,
  key: string,
  valueRegex: string | null,
  place: Place,
  ctx: ModuleContext,
): Promise<GitResult> {
  const command = [
    'config',
    isGlobal(place) ? '--global' : '--local',
    how,
    key,
    ...(valueRegex === null ? [] : [pyStr(valueRegex)]),
  ];
  return git(command, { cwd: folder(place), user: place.user, lenient: true }, ctx);
}

async function getAll(key: string, place: Place, ctx: ModuleContext): Promise<string[] | null> {
  const result = await get('--get-all', key, null, place, ctx);
  return result.retcode === 1 ? null : lineList(result.stdout);
}

const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : pyStr(value).split(','));

const getRegexp = fn({
  doc: 'All settings whose names match a regular expression.',
  examples: ["salt myminion git.config_get_regexp /path/to/repo 'url.+'"],
  params: { key: p.string(), value_regex: p.string({ default: null }), ...params },
  async run(args, ctx) {
    const result = await get('--get-regexp', args.key, args.value_regex, args, ctx);
    const found = newDict();
    for (const line of result.retcode === 0 ? lineList(result.stdout) : []) {
      const match = /^(\S+)\s+(.*)$/.exec(line);
      if (match)
        found[match[1] as string] = [...((found[match[1] as string] as Value[] | undefined) ?? []), match[2] as string];
    }
    return found;
  },
});

async function unset(args: Place & { key: string; value_regex: Value }, ctx: ModuleContext): Promise<boolean> {
  const { key } = args;
  const how = args.kwargs['all'] ? '--unset-all' : '--unset';
  const command = [
    'config',
    how,
    isGlobal(args) ? '--global' : '--local',
    key,
    ...(args.value_regex === null ? [] : [pyStr(args.value_regex)]),
  ];
  const { retcode, stderr } = await git(command, { cwd: folder(args), user: args.user, lenient: true }, ctx);
  if (retcode === 0) return true;
  if (retcode === 1) throw commandError('Section or key is invalid');
  if (retcode === 6) throw commandError('The value_regex is invalid');
  if (retcode !== 5)
    throw commandError(
      `Failed to unset key '${key}', git config returned exit code ${retcode}${stderr ? `; ${stderr}` : ''}`,
    );
  if ((await getAll(key, args, ctx)) === null) throw commandError(`Key '${key}' does not exist`);
  throw commandError(
    `Multiple values exist for key '${key}'${args.value_regex === null ? '' : ' and value_regex matches multiple values'}`,
  );
}

export const configFunctions = {
  config_get: fn({
    doc: 'A setting, or None; with all=True every value.',
    examples: [
      'salt myminion git.config_get user.name cwd=/path/to/repo',
      'salt myminion git.config_get user.email global=True',
    ],
    params: { key: p.string(), ...params },
    async run(args, ctx): Promise<Value> {
      const values = await getAll(args.key, args, ctx);
      if (values === null && !args.ignore_retcode) ctx.setRetcode(1);
      return values === null || args.kwargs['all'] ? values : (values.at(-1) ?? '');
    },
  }),
  config_get_regexp: getRegexp,
  config_get_regex: getRegexp,
  config_set: fn({
    doc: 'Sets a setting to one or several values.',
    examples: ['salt myminion git.config_set user.email me@example.com cwd=/path/to/repo'],
    params: {
      key: p.string(),
      value: p.string({ default: null }),
      multivar: p.strings({ default: null, split: ',' }),
      ...params,
    },
    async run(args, ctx) {
      if (args.value !== null && args.multivar !== null)
        throw invocationError("Only one of 'value' and 'multivar' is permitted");
      const place = folder(args);
      const values = args.value === null ? texts(args.multivar) : [args.value];
      for (const [index, value] of values.entries()) {
        const how = (args.value !== null && args.kwargs['add']) || index > 0 ? '--add' : '--replace-all';
        await git(
          ['config', ...(isGlobal(args) ? ['--global'] : []), how, args.key, value],
          { cwd: place, user: args.user },
          ctx,
        );
      }
      return getAll(args.key, args, ctx);
    },
  }),
  config_unset: fn({
    doc: 'Removes a setting.',
    examples: ['salt myminion git.config_unset foo.bar cwd=/path/to/repo all=True'],
    params: { key: p.string(), value_regex: p.string({ default: null }), ...params },
    run: (args, ctx) => unset(args, ctx),
  }),
};
