// Beacon `btmp`: logins that failed.

import { defineBeacon } from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { loginProblem, openLogins } from './shared/logins.ts';

export const btmpPath = '/var/log/btmp';

export default defineBeacon({
  name: 'btmp',
  doc: 'Tells logins that failed: of everybody, or of users and members of groups, at any time or within a range.',
  examples: [
    "btmp:\n  - users:\n      root:\n        time_range: {start: '8am', end: '4pm'}\n  - groups:\n      wheel: {}",
  ],
  available: () => existsSync(btmpPath) || `${btmpPath} does not exist.`,
  validate: (settings) => loginProblem('btmp', settings),
  open: (settings, ctx) => openLogins(settings, ctx, { path: btmpPath }),
});
