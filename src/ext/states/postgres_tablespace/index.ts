// State module `postgres_tablespace`: tablespaces of PostgreSQL.
import {
  defineState,
  dictEntries,
  isDict,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { type DbArgs, dbArgs, dbParams, removal } from '../shared/postgres.ts';

interface Wanted extends DbArgs {
  readonly name: string;
  readonly directory: string;
  readonly options: Value;
  readonly owner: Value;
}

/** Owner and settings of a tablespace that is there. */
async function adjust(args: Wanted, now: PlainDict, ctx: StateContext): Promise<StateResult> {
  const { name, owner } = args;
  const at = dbArgs(args);
  if (pyStr(now['Location'] ?? '') !== args.directory)
    return ctx.fail(
      `Tablespace ${name} is not at the right location. This is unfixable without dropping and recreating the tablespace.`,
    );
  const has = pyStr(now['Opts'] ?? '');
  const options = isDict(args.options)
    ? dictEntries(args.options).filter(([key, value]) => !has.includes(`${pyStr(key)}=${pyStr(value)}`))
    : [];
  const newOwner = owner && now['Owner'] !== owner ? owner : null;
  if (newOwner === null && options.length === 0) return ctx.ok(`Tablespace ${name} is already present`);
  const changed = newDict([
    ...(newOwner === null ? [] : [['owner', newOwner] as [string, Value]]),
    ...(options.length === 0 ? [] : [['options', newDict(options.map(([k, v]) => [pyStr(k), v]))] as [string, Value]]),
  ]);
  const done = options.length > 0 ? `Tablespace ${name} opts changed` : `Tablespace ${name} owner changed`;
  return ctx.change(newDict([[name, changed]]), done, {
    test: options.length > 0 ? `Tablespace ${name} options to be altered` : `Tablespace ${name} owner to be altered`,
    testChanges: newDict(),
    async apply() {
      const alter = (what: PlainDict): Promise<Value> =>
        ctx.callWith('postgres.tablespace_alter', [name], { ...what, ...at });
      if (newOwner !== null && !(await alter({ new_owner: newOwner })))
        return ctx.fail(`Failed to change the owner of tablespace ${name}`);
      for (const [key, value] of options) {
        if (!(await alter({ set_option: newDict([[pyStr(key), value]]) })))
          return ctx.fail(`Failed to change option ${pyStr(key)} of tablespace ${name}`);
      }
      return undefined;
    },
  });
}

async function present(args: Wanted, ctx: StateContext): Promise<StateResult> {
  const { name, directory, options, owner } = args;
  const at = dbArgs(args);
  const now = textKeyed(await ctx.callWith('postgres.tablespace_list', [], at))[name];
  if (now !== undefined) return adjust(args, textKeyed(now), ctx);
  return resource(ctx, {
    change: () => ctx.callWith('postgres.tablespace_create', [name, directory, options, owner], at),
    changes: () => ({ [name]: 'Present' }),
    would: `Tablespace ${name} is set to be created`,
    done: `The tablespace ${name} has been created`,
    failed: `Failed to create tablespace ${name}`,
  });
}

const name = p.string({ doc: 'the tablespace' });
const { user, maintenance_db, db_user, db_password, db_host, db_port } = dbParams;

export default defineState({
  name: 'postgres_tablespace',
  doc: 'Tablespaces of PostgreSQL.',
  available: needsFunction(
    'postgres.tablespace_exists',
    'Unable to load postgres module.  Make sure `postgres.bins_dir` is set.',
  ),
  functions: {
    present: state({
      doc: 'A tablespace that must exist.',
      examples: [
        'fast:\n  postgres_tablespace.present:\n    - directory: /srv/fast\n    - options:\n        random_page_cost: 1.1',
      ],
      params: {
        name,
        directory: p.string({ doc: 'its folder' }),
        options: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'its settings' }),
        owner: p.scalar({ default: null, doc: 'the owner' }),
        ...dbParams,
      },
      run: present,
    }),
    absent: state({
      doc: 'A tablespace that must not exist.',
      examples: ['fast:\n  postgres_tablespace.absent'],
      params: { name, ...{ user, maintenance_db, db_user, db_password, db_host, db_port } },
      run: (args, ctx) =>
        removal(
          {
            what: `Tablespace ${args.name}`,
            name: args.name,
            exists: () => ctx.callWith('postgres.tablespace_exists', [args.name], dbArgs(args)),
            remove: () => ctx.callWith('postgres.tablespace_remove', [args.name], dbArgs(args)),
          },
          ctx,
        ),
    }),
  },
});
