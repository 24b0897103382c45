// Roster `cloud`: refused by name.
import { defineRoster, HaliteError } from 'halite/sdk';

export default defineRoster({
  name: 'cloud',
  doc: 'Not available: it needs salt-cloud.',
  targets() {
    throw new HaliteError('extension.unavailable', 'The roster cloud is not available in Halite', {
      hint: 'Use the roster terraform, or a script for the roster ansible.',
    });
  },
});
