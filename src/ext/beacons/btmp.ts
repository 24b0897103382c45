// Beacon `btmp`: failed logins.

import { defineBeacon } from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { loginProblem, openLogins } from './shared/logins.ts';

export const btmpPath = '/var/log/btmp';

export default defineBeacon({
  name: 'btmp',
  doc: 'Sends an event for each failed login: of all users, or of some users and members of groups, at any time or within a time range.',
  examples: [
    "btmp:\n  - users:\n      root:\n        time_range: {start: '8am', end: '4pm'}\n  - groups:\n      wheel: {}",
  ],
  available: () => existsSync(btmpPath) || `${btmpPath} does not exist.`,
  validate: (settings) => loginProblem('btmp', settings),
  open: (settings, ctx) => openLogins(settings, ctx, { path: btmpPath }),
});
