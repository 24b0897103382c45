// `git.config_set` and `git.config_unset`: settings of git.
import {
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyRepr,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { gitError, output_encoding, who } from './shared.ts';

const noRepo = "Non-global config options require the 'repo' argument to be set";
const texts = (value: Value): string[] => (Array.isArray(value) ? value.map(pyStr) : pyStr(value).split(','));

/** Refuses unknown arguments. */
function invalid(kwargs: PlainDict, known: readonly string[]): string | undefined {
  const extra = Object.keys(kwargs).filter((key) => !known.includes(key) && !key.startsWith('__'));
  return extra.length > 0
    ? `The following keyword arguments are not valid: ${extra.map((key) => `${key}=${pyStr(kwargs[key] as Value)}`).join(', ')}`
    : undefined;
}

export const config_set = state({
  doc: 'A setting of git, of one repository or of a user.',
  examples: ['user.email:\n  git.config_set:\n    - value: me@example.com\n    - global: true'],
  params: {
    name: p.string({ doc: 'the setting' }),
    value: p.scalar({ default: null, doc: 'its value' }),
    multivar: p.oneOf(['list', 'string'], { default: null, doc: 'several values' }),
    repo: p.scalar({ default: null, doc: 'the repository' }),
    ...who,
    output_encoding,
    kwargs: p.kwargs({ doc: 'global' }),
  },
  async run(args, ctx) {
    const { name, user, password, repo } = args;
    if (args.value !== null && args.multivar !== null)
      return ctx.fail("Only one of 'value' and 'multivar' is permitted");
    const wrong = invalid(args.kwargs, ['global']);
    if (wrong) return ctx.fail(wrong);
    const isGlobal = Boolean(args.kwargs['global']);
    if (!isGlobal && !repo) return ctx.fail(noRepo);
    const wanted = args.multivar === null ? [pyStr(args.value)] : texts(args.multivar);
    const shown = args.multivar === null ? `'${wanted[0]}'` : pyRepr(wanted);
    const common = { cwd: repo, key: name, user, password, output_encoding: args.output_encoding, global: isGlobal };
    const before = await ctx.callWith('git.config_get', [], { ...common, ignore_retcode: true, all: true });
    const subject = `${isGlobal ? 'Global key ' : ''}'${name}'`;
    if (pyEquals(before, wanted)) return ctx.ok(`${subject} is already set to ${shown}`);
    const how = before === null ? 'added as' : 'set to';
    return ctx.change(
      newDict([
        ['old', before],
        ['new', wanted],
      ]),
      '',
      {
        test: `${subject} would be ${how} ${shown}`,
        async apply() {
          const failed = `Failed to set ${isGlobal ? 'global key ' : ''}'${name}' to ${shown}`;
          let after: Value;
          try {
            after = await ctx.callWith('git.config_set', [], {
              ...common,
              value: args.value === null ? null : (wanted[0] ?? ''),
              multivar: args.multivar === null ? null : wanted,
            });
          } catch (error) {
            return ctx.fail(`${failed}: ${gitError(error)}`);
          }
          const changes = pyEquals(before, after)
            ? newDict()
            : newDict([
                [
                  name,
                  newDict([
                    ['old', before],
                    ['new', after],
                  ]),
                ],
              ]);
          return pyEquals(after, wanted)
            ? ctx.ok(`${subject} was ${how} ${shown}`, { changes })
            : ctx.fail(failed, { changes });
        },
      },
    );
  },
});

const values = (found: PlainDict, key: string): string[] => texts(found[key] ?? []);
const listed = (found: PlainDict, only: (list: string[]) => boolean): string[] =>
  Object.keys(found)
    .filter((key) => only(values(found, key)))
    .map((key) => `${key} (${values(found, key).join(', ')})`);

interface UnsetArgs {
  readonly name: string;
  readonly value_regex: Value;
  readonly repo: Value;
  readonly user: Value;
  readonly password: Value;
  readonly output_encoding: Value;
}

async function unset(
  args: UnsetArgs,
  isGlobal: boolean,
  all: boolean,
  matches: PlainDict,
  ctx: StateContext,
): Promise<StateResult> {
  const { name, repo, user, password } = args;
  const common = { cwd: repo, user, password, output_encoding: args.output_encoding, global: isGlobal };
  const key = `^${name.replace(/^\^+/, '').replace(/\$+$/, '')}$`;
  const find = async (regex: Value): Promise<PlainDict> =>
    textKeyed(
      await ctx.callWith('git.config_get_regexp', [], { ...common, key, value_regex: regex, ignore_retcode: true }),
    );
  const before = args.value_regex === null ? matches : await find(null);
  const failures: string[] = [];
  for (const match of Object.keys(matches)) {
    try {
      await ctx.callWith('git.config_unset', [], { ...common, key: match, value_regex: args.value_regex, all });
    } catch (error) {
      ctx.log.error(`Failed to unset '${match}': ${gitError(error)}`);
      failures.push(match);
    }
  }
  if (failures.length > 0)
    return ctx.fail(
      `Error(s) occurred unsetting values for the following keys (see the minion log for details): ${failures.join(', ')}`,
    );
  const after = await find(null);
  const changes = newDict();
  for (const match of Object.keys(before)) {
    const gone = values(before, match).filter((value) => !values(after, match).includes(value));
    if (gone.length > 0) changes[match] = gone;
  }
  const left = args.value_regex === null ? after : await find(args.value_regex);
  if (Object.keys(left).length > 0)
    return ctx.fail(`Failed to unset value(s): ${listed(left, () => true).join('; ')}`, { changes });
  return ctx.ok('Value(s) successfully unset', { changes });
}

export const config_unset = state({
  doc: 'A setting of git that must not be set.',
  examples: ['alias.ci:\n  git.config_unset:\n    - global: true'],
  params: {
    name: p.string({ doc: 'the setting; an expression' }),
    value_regex: p.scalar({ default: null, doc: 'only matching values' }),
    repo: p.scalar({ default: null, doc: 'the repository' }),
    ...who,
    output_encoding,
    kwargs: p.kwargs({ doc: 'global, all' }),
  },
  async run(args, ctx) {
    const wrong = invalid(args.kwargs, ['global', 'all']);
    if (wrong) return ctx.fail(wrong);
    const [isGlobal, all] = [Boolean(args.kwargs['global']), Boolean(args.kwargs['all'])];
    if (!isGlobal && !args.repo) return ctx.fail(noRepo);
    const key = `^${args.name.replace(/^\^+/, '').replace(/\$+$/, '')}$`;
    const { user, password } = args;
    const matches = textKeyed(
      await ctx.callWith('git.config_get_regexp', [], {
        cwd: args.repo,
        key,
        value_regex: args.value_regex,
        user,
        password,
        ignore_retcode: true,
        output_encoding: args.output_encoding,
        global: isGlobal,
      }),
    );
    if (Object.keys(matches).length === 0) return ctx.ok('No matching keys are set');
    const several = all ? [] : listed(matches, (list) => list.length > 1);
    if (several.length > 0) {
      const what =
        args.value_regex === null
          ? 'Multivar(s) matched by the key expression'
          : 'Multiple values are matched by value_regex for the following keys';
      return ctx.fail(`${what} (set 'all' to True to force removal): ${several.join('; ')}`);
    }
    return ctx.change(matches, '', {
      test: `${Object.keys(matches).length} key(s) would have value(s) unset`,
      apply: () => unset(args, isGlobal, all, matches, ctx),
    });
  },
});
