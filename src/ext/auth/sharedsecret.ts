// Authentication module `sharedsecret`: one password for all names, in the option `sharedsecret`.
import { defineAuth, HaliteError } from 'halite/sdk';
import { equalSecrets } from './shared/equal.ts';

export default defineAuth({
  name: 'sharedsecret',
  doc: 'Accepts every name with the password in the option `sharedsecret`.',
  open(_settings, { opts }) {
    const { sharedsecret: known } = opts;
    if (typeof known !== 'string' || known === '')
      throw new HaliteError('config.value', 'the option sharedsecret must be a text that is not empty');
    return { check: ({ password }) => (equalSecrets(password, known) ? {} : undefined) };
  },
});
