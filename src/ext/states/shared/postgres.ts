// Shared code of the PostgreSQL states: connection arguments, and removal of objects.
import {
  type ArgsOf,
  newDict,
  type PlainDict,
  p,
  resource,
  type StateContext,
  type StateResult,
  type Value,
} from 'halite/sdk';

export const dbParams = {
  user: p.scalar({ default: null, doc: 'run psql as this system user' }),
  maintenance_db: p.scalar({ default: null, doc: 'database to connect to' }),
  db_password: p.scalar({ default: null, doc: 'password to connect with' }),
  db_host: p.scalar({ default: null, doc: 'address of the server' }),
  db_port: p.scalar({ default: null, doc: 'its port' }),
  db_user: p.scalar({ default: null, doc: 'user of the database to connect as' }),
};

export type DbArgs = ArgsOf<typeof dbParams>;

/** Arguments of a state in the form of the execution functions. */
export const dbArgs = (args: DbArgs): PlainDict =>
  newDict([
    ...(args.maintenance_db === undefined ? [] : [['maintenance_db', args.maintenance_db] as [string, Value]]),
    ['runas', args.user],
    ['host', args.db_host],
    ['user', args.db_user],
    ['port', args.db_port],
    ['password', args.db_password],
  ]);

interface Removal {
  /** `User frank`. */
  readonly what: string;
  readonly name: string;
  readonly exists: () => Promise<Value>;
  readonly remove: () => Promise<Value>;
}

/** Removes an existing object. */
export const removal = ({ what, name, exists, remove }: Removal, ctx: StateContext): Promise<StateResult> =>
  resource(ctx, {
    find: exists,
    wanted: false,
    change: remove,
    changes: () => ({ [name]: 'Absent' }),
    right: `${what} is not present, so it cannot be removed`,
    would: `${what} is set to be removed`,
    done: `${what} has been removed`,
    failed: `${what} failed to be removed`,
  });
