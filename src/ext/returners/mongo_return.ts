// Returner `mongo_return`: Salt's first returner for MongoDB, which stores results and authenticates at the database itself.
import { defineReturner } from 'halite/sdk';
import { mongoOptions } from './mongo/index.ts';
import { mongoSession } from './mongo/session.ts';

export default defineReturner({
  name: 'mongo_return',
  optionPrefix: 'mongo',
  doc: 'Like `mongo`, but the user is authenticated at the database itself, and without events.',
  keeps: ['jobs'],
  options: mongoOptions,
  async open(given) {
    const { saveEvents, ...session } = await mongoSession({ ...given, uri: null, authSource: given.db });
    return session;
  },
});
