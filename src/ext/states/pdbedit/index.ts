// State module `pdbedit`: accounts of Samba.
import {
  defineState,
  isTruthy,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyEquals,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  withForecast,
} from 'halite/sdk';
import { changesOf } from '../../shared/pdbedit/details.ts';

const name = p.string({ doc: 'the account' });

const saved = async (login: string, ctx: StateContext): Promise<PlainDict> =>
  textKeyed(textKeyed(await ctx.callWith('pdbedit.list', [], newDict([['hashes', true]])))[login]);

/** Fields that differ, each with the value before and after. */
function difference(before: PlainDict, after: PlainDict): PlainDict {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => !pyEquals(before[key] ?? null, after[key] ?? null));
  return newDict(
    changed.map((key) => [key, newDict(Object.entries({ old: before[key] ?? '', new: after[key] ?? '' }))]),
  );
}

/** Under test: the fields that would be set. Salt sets them. */
async function planned(login: string, given: PlainDict, ctx: StateContext): Promise<StateResult> {
  const before = await saved(login, ctx);
  const there = Object.keys(before).length > 0;
  const after = newDict([...Object.entries(before), ...changesOf(before, given)]);
  const password = given['password'];
  if (there && isTruthy(password)) {
    after['nt hash'] = isTruthy(given['password_hashed'])
      ? pyStr(password ?? '').toUpperCase()
      : await ctx.call('pdbedit.generate_nt_hash', password ?? '');
  }
  const changes = difference(before, after);
  if (there && Object.keys(changes).length === 0) return ctx.ok('');
  return ctx.result({
    result: null,
    comment: `account ${login} would be ${there ? 'updated' : 'created'}`,
    changes: newDict([[login, there ? changes : 'created']]),
  });
}

async function modified(login: string, given: PlainDict, ctx: StateContext): Promise<StateResult> {
  const before = await saved(login, ctx);
  const outcome = textKeyed(await ctx.callWith('pdbedit.modify', [], { ...given, login }));
  const said = pyStr(outcome[login] ?? '');
  if (said === 'created') return ctx.ok('', { changes: outcome });
  if (said === 'unchanged') return ctx.ok('');
  if (said !== 'updated') return ctx.fail(said);
  return ctx.ok('', { changes: newDict([[login, difference(before, await saved(login, ctx))]]) });
}

const managed = ({ name, kwargs }: { name: string; kwargs: PlainDict }, ctx: StateContext): Promise<StateResult> =>
  withForecast(
    ctx,
    () => planned(name, kwargs, ctx),
    () => modified(name, kwargs, ctx),
  );

const params = { name, kwargs: p.kwargs({ doc: 'password, fullname, … as for pdbedit.modify' }) };

const absent = state({
  doc: 'An account that must not exist.',
  examples: ['wash:\n  pdbedit.absent'],
  params: { name },
  run: ({ name }, ctx) =>
    resource(ctx, {
      find: () => ctx.call('pdbedit.list', false),
      compare: (all) => Array.isArray(all) && all.includes(name),
      async change() {
        const outcome = textKeyed(await ctx.call('pdbedit.delete', name));
        if (outcome[name] === 'deleted') return ctx.ok('', { changes: outcome });
        return outcome[name] === 'absent' ? ctx.ok('') : ctx.fail('');
      },
      changes: { [name]: 'deleted' },
      right: `account ${name} is absent`,
      would: `account ${name} would be deleted`,
    }),
});

export default defineState({
  name: 'pdbedit',
  doc: 'Accounts of Samba.',
  available: needsFunction(
    'pdbedit.create',
    'pdbedit state module can only be loaded when the pdbedit module is available',
  ),
  functions: {
    absent,
    managed: state({
      doc: 'An account with the given settings.',
      examples: ['zoe:\n  pdbedit.managed:\n    - password: secret\n    - fullname: Zoe Washburne'],
      params,
      run: managed,
    }),
    present: state({ doc: 'The same as `managed`.', examples: ['zoe:\n  pdbedit.present'], params, run: managed }),
  },
});
