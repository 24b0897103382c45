// Returner `mongo`: results, jobs and events in MongoDB (Salt's mongo_future_return).
import { defineReturner, p } from 'halite/sdk';
import { mongoSession } from './session.ts';

export const mongoOptions = {
  host: p.string({ default: null, doc: 'Name or address of the server (default: salt).' }),
  port: p.int({ default: 27_017, doc: 'Its port.' }),
  db: p.string({ default: 'salt', doc: 'The database.' }),
  user: p.string({ default: null, doc: 'User.' }),
  password: p.string({ default: null, doc: 'Password of the user.' }),
  indexes: p.bool({ default: false, doc: 'Create indexes for minions, job ids and tags.' }),
};

export default defineReturner({
  name: 'mongo',
  doc:
    'Keeps results in the collection `saltReturns` of MongoDB (minion, jid, fun, return and the whole load as ' +
    'full_ret, dots of names as dashes), jobs in `jobs` and events in `events`.',
  keeps: ['jobs', 'events'],
  options: {
    ...mongoOptions,
    uri: p.string({
      default: null,
      doc: 'A whole address (`mongodb://…/salt`), instead of host, port, user and database.',
    }),
  },
  open: (given) => mongoSession({ ...given, authSource: 'admin' }),
});
