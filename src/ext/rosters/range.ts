// Roster `range`: refused by name.
import { defineRoster, HaliteError } from 'halite/sdk';

export default defineRoster({
  name: 'range',
  doc: 'Not available: it needs a range server.',
  targets() {
    throw new HaliteError('extension.unavailable', 'The roster range is not available in Halite', {
      hint: 'Use clustershell ranges (--roster clustershell), node groups, or a script for the roster ansible.',
    });
  },
});
