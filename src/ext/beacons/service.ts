// Beacon `service`: services that run or do not run.

import {
  asNumber,
  type BeaconContext,
  defineBeacon,
  fieldOf,
  isDict,
  isTruthy,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { existsSync } from 'halite/sdk/fs';
import { entriesOf } from './shared/settings.ts';

function validate({ services }: PlainDict): string | undefined {
  if (services === undefined) return 'Configuration for service beacon requires services.';
  if (!isDict(services)) return 'Services configuration item for service beacon must be a dictionary.';
  for (const [name, settings] of entriesOf(services)) {
    if (!isDict(settings)) return 'Configuration for service beacon must be a list of dictionaries.';
    const delay = fieldOf(settings, 'delay');
    if (delay !== undefined && asNumber(delay) === undefined)
      return `Configuration for service beacon: delay of ${name} must be a number of seconds.`;
  }
  return undefined;
}

/** What is remembered about a service between two checks. */
interface Known {
  running: boolean;
  /** When it changed, until the change is reported. */
  since: number | undefined;
}

/** Whether to report this check; updates `known`. */
function isNews(name: string, running: boolean, settings: Value, known: Map<string, Known>, now: number): boolean {
  if (fieldOf(settings, 'onchangeonly') !== true) return true;
  const delay = asNumber(fieldOf(settings, 'delay') ?? 0) ?? 0;
  const before = known.get(name);
  if (!before && !isTruthy(fieldOf(settings, 'emitatstartup') ?? true)) {
    known.set(name, { running, since: undefined });
    return false;
  }
  if (!before || before.running !== running) {
    known.set(name, { running, since: delay > 0 ? now : undefined });
    return delay <= 0;
  }
  if (before.since === undefined || Math.round((now - before.since) / 1000) <= delay) return false;
  before.since = undefined;
  return true;
}

async function read(settings: PlainDict, ctx: BeaconContext, known: Map<string, Known>): Promise<PlainDict[]> {
  const found: PlainDict[] = [];
  for (const [name, wanted] of entriesOf(settings['services'])) {
    const running = await ctx.call('service.status', name);
    const state = newDict([['running', running]]);
    const clean = fieldOf(wanted, 'uncleanshutdown');
    if (clean !== undefined && !isTruthy(running)) state['uncleanshutdown'] = existsSync(pyStr(clean));
    if (isNews(name, isTruthy(running), wanted, known, Date.now()))
      found.push(newDict(Object.entries({ [name]: state, service_name: name, tag: name })));
  }
  return found;
}

export default defineBeacon({
  name: 'service',
  doc: 'Sends an event about services that run or do not run: at every check, or with `onchangeonly` when that changes.',
  examples: [
    'service:\n  - services:\n      nginx:\n        onchangeonly: True\n        delay: 30\n        uncleanshutdown: /run/nginx.pid',
  ],
  validate,
  open(settings, ctx) {
    const known = new Map<string, Known>();
    return { read: () => read(settings, ctx, known) };
  },
});
