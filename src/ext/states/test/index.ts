// State module `test`: states that change nothing and return a given result, for tests of requisites and output.
import {
  asNumber,
  defineState,
  dictSize,
  HaliteError,
  isDict,
  isFloat,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateExtra,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';

const name = p.scalar({ nullable: true, doc: 'a unique text' });
const kwargs = p.kwargs({ doc: 'anything else is accepted; `comment` replaces the comment' });

const pretended = (): PlainDict =>
  newDict([
    [
      'testing',
      newDict([
        ['old', 'Unchanged'],
        ['new', 'Something pretended to change'],
      ]),
    ],
  ]);

function told(ctx: StateContext, given: Value, comment: Value, fields: StateExtra): StateResult {
  return ctx.result({ name: given, comment, ...fields });
}

const fixed = {
  nop: state({
    doc: 'Does nothing and succeeds. Useful with `use`, and when a template might produce no other states.',
    params: { name, kwargs: p.kwargs({ doc: 'other arguments are accepted' }) },
    run: (args, ctx) => told(ctx, args.name, 'Success!', { result: true }),
  }),
  succeed_without_changes: state({
    doc: 'Succeeds without changes.',
    params: { name, kwargs },
    run: (args, ctx) => told(ctx, args.name, args.kwargs['comment'] ?? 'Success!', { result: true }),
  }),
  fail_without_changes: state({
    doc: 'Fails without changes.',
    params: { name, kwargs },
    run: (args, ctx) => {
      const comment = ctx.test
        ? "If we weren't testing, this would be a failure!"
        : (args.kwargs['comment'] ?? 'Failure!');
      return told(ctx, args.name, comment, { result: false });
    },
  }),
  succeed_with_changes: state({
    doc: 'Succeeds with changes.',
    params: { name, kwargs },
    run: (args, ctx) => {
      const done = args.kwargs['comment'] ?? 'Success!';
      const comment = ctx.test ? "If we weren't testing, this would be successful with changes" : done;
      return told(ctx, args.name, comment, { result: ctx.test ? null : true, changes: pretended() });
    },
  }),
  fail_with_changes: state({
    doc: 'Fails with changes.',
    params: { name, kwargs },
    run: (args, ctx) => {
      const done = args.kwargs['comment'] ?? 'Failure!';
      const comment = ctx.test ? "If we weren't testing, this would be failed with changes" : done;
      return told(ctx, args.name, comment, { result: ctx.test ? null : false, changes: pretended() });
    },
  }),
};

const wrongOption = (option: string): HaliteError =>
  new HaliteError(
    'call.arguments',
    `You have specified the state option '${option}' with invalid arguments. It must be either True, False, or 'Random'`,
  );

/** True, false, or a random value for `Random`. */
function decide(option: string, value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (pyStr(value).toLowerCase() === 'random') return Math.random() < 0.5;
  throw wrongOption(option);
}

function warningsOf(warnings: Value): Value[] | undefined {
  if (warnings === null) return undefined;
  if (typeof warnings === 'string') return [warnings];
  if (Array.isArray(warnings)) return warnings;
  throw new HaliteError(
    'call.arguments',
    "You have specified the state option 'warnings' with invalid arguments. It must be a string or a list of strings",
  );
}

const configurable = {
  configurable_test_state: state({
    doc: 'Returns the given result.',
    params: {
      name,
      changes: p.scalar({ default: true, nullable: true, doc: 'True, False or `Random`: whether there are changes' }),
      result: p.scalar({
        default: true,
        nullable: true,
        doc: 'True, False or `Random`; None under test=True when there are changes',
      }),
      comment: p.any({ default: '', doc: 'the comment' }),
      warnings: p.any({ default: null, doc: 'a text or a list of texts' }),
    },
    run: (args, ctx) => {
      const changes = decide('changes', args.changes) ? pretended() : newDict();
      const result = decide('result', args.result);
      const warnings = warningsOf(args.warnings);
      return told(ctx, args.name, ctx.test ? args.comment || 'This is a test' : args.comment, {
        result: ctx.test ? (args.changes === false ? true : null) : result,
        changes,
        warnings,
      });
    },
  }),
  show_notification: state({
    doc: 'Succeeds with a text as comment.',
    params: { name, text: p.any({ default: null, doc: 'the text' }), kwargs: p.kwargs() },
    run: (args, ctx) => {
      if (!args.text) throw new HaliteError('call.arguments', 'Missing required argument text.');
      return told(ctx, args.name, args.text, { result: true });
    },
  }),
};

/** Python's names of types, and their checks. */
const kinds: readonly (readonly [string, string, (value: Value) => boolean])[] = [
  ['boolean', "<class 'bool'>", (value) => typeof value === 'boolean'],
  // Python: a boolean is an integer too.
  [
    'integer',
    "<class 'int'>",
    (value) => typeof value === 'boolean' || (asNumber(value) !== undefined && !isFloat(value)),
  ],
  ['string', "(<class 'str'>,)", (value) => typeof value === 'string'],
  ['listing', "<class 'list'>", (value) => Array.isArray(value)],
  ['dictionary', "<class 'dict'>", (value) => isDict(value)],
];

const keysOf = (value: Value): Value[] => {
  if (value === null || value === '' || value === false) return [];
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value;
  throw new HaliteError('call.arguments', 'Pillar keys must be given as a text or a list');
};

const checkParams = {
  name,
  present: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must exist' }),
  boolean: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must be True or False' }),
  integer: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must be an integer' }),
  string: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must be text' }),
  listing: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must be a list' }),
  dictionary: p.oneOf(['list', 'string'], { default: null, doc: 'keys that must be a dictionary' }),
  verbose: p.bool({ default: false, doc: 'also list the correct keys' }),
};

const checkPillar = state({
  doc: 'Fails unless pillar keys exist and have the right type.',
  params: checkParams,
  async run(args, ctx) {
    const wanted = args as unknown as PlainDict;
    const lists = [['present', 'None', () => true] as const, ...kinds].map(([key, shown, fits]) => ({
      keys: keysOf(wanted[key] ?? null),
      shown,
      fits,
    }));
    if (lists.every((list) => list.keys.length === 0))
      throw new HaliteError('call.arguments', 'Missing required argument text.');
    const failed = new Map<string, string>();
    const fine = new Map<string, string>();
    for (const { keys, shown, fits } of lists) {
      for (const key of keys.map(pyStr)) {
        const value = await ctx.call('pillar.get', key, null);
        if (value === null) failed.set(key, 'is missing');
        else if (!fits(value)) failed.set(key, `is not ${shown}`);
        else if (args.verbose) fine.set(key, shown);
      }
    }
    let comment = [...failed].map(([key, why]) => `Pillar key "${key}" ${why}.\n`).join('');
    if (fine.size > 0) {
      comment += `Those keys passed the check:\n${[...fine].map(([key, shown]) => `- ${key} (${shown})\n`).join('')}`;
    }
    return told(ctx, args.name, comment, { result: failed.size === 0 });
  },
});

const tagOf = (low: Readonly<PlainDict>): string =>
  ['state', '__id__', 'name', 'fun'].map((key) => pyStr(low[key] ?? null)).join('_|-');

const modWatch = state({
  doc: 'Called when a state watched by a `test` state has changed; `result`, `comment` and `changes` may be given.',
  params: { name, sfun: p.ignored({ default: null }), kwargs: p.kwargs() },
  run: (args, ctx) => {
    const changed = (ctx.requisites['watch'] ?? [])
      .filter((low) => {
        const { changes } = ctx.running[tagOf(low)] ?? {};
        return changes !== undefined && isDict(changes) && dictSize(changes) > 0;
      })
      .map((low) => `${pyStr(low['state'] ?? null)}: ${pyStr(low['__id__'] ?? null)}`);
    return newDict([
      ['name', args.name],
      ['result', args.kwargs['result'] ?? true],
      ['comment', args.kwargs['comment'] ?? 'Watch statement fired.'],
      ['changes', args.kwargs['changes'] ?? newDict([['Requisites with changes', changed]])],
    ]) as unknown as StateResult;
  },
});

export default defineState({
  name: 'test',
  doc: 'States that return a given result without changing anything.',
  functions: { ...fixed, ...configurable, check_pillar: checkPillar },
  modWatch,
});
