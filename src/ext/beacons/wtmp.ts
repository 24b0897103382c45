// Beacon `wtmp`: logins and logouts.

import { asNumber, defineBeacon, fieldOf, type PlainDict, pyStr } from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { loginProblem, openLogins } from './shared/logins.ts';

const wtmpPath = '/var/log/wtmp';

/** Adds the kind of event and the user: the record of a logout only names the terminal line. */
export function actions(settings: PlainDict): (event: PlainDict) => void {
  const types = settings['ut_type'];
  const login = asNumber(fieldOf(types, 'login') ?? 7);
  const logout = asNumber(fieldOf(types, 'logout') ?? 8);
  const users = new Map<string, string>();
  return (event) => {
    const line = pyStr(event['line'] ?? '');
    if (event['type'] === login) {
      event['action'] = 'login';
      users.set(line, pyStr(event['user'] ?? ''));
    } else if (event['type'] === logout) {
      event['action'] = 'logout';
      const user = users.get(line);
      if (user !== undefined) event['user'] = user;
      users.delete(line);
    }
  };
}

export default defineBeacon({
  name: 'wtmp',
  doc: 'Sends an event for logins and logouts: of all users, or of some users and members of groups, at any time or within a time range.',
  examples: ["wtmp:\n  - users:\n      root: {}\n  - defaults:\n      time_range: {start: '8am', end: '4pm'}"],
  available: () => existsSync(wtmpPath) || `${wtmpPath} does not exist.`,
  validate: (settings) => loginProblem('wtmp', settings),
  open: (settings, ctx) => openLogins(settings, ctx, { path: wtmpPath, complete: actions(settings) }),
});
