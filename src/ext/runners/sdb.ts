// Runner `sdb`: secret stores, from the master.
import { defineRunner } from 'halite/sdk';
import { asModule } from './shared/as-module.ts';

export default defineRunner({
  name: 'sdb',
  doc: 'Values of secret stores, with the profiles of the master.',
  functions: {
    get: asModule('sdb.get', 'The value behind an address.', 'salt-run sdb.get sdb://mymemcached/foo'),
    set: asModule('sdb.set', 'Sets a value.', 'salt-run sdb.set sdb://mymemcached/foo bar'),
    delete: asModule('sdb.delete', 'Deletes a value.', 'salt-run sdb.delete sdb://mymemcached/foo'),
    get_or_set_hash: asModule(
      'sdb.get_or_set_hash',
      'The value of an address; when there is none yet, a random text that is stored there.',
      'salt-run sdb.get_or_set_hash sdb://mymemcached/SECRET_KEY 50',
    ),
  },
});
