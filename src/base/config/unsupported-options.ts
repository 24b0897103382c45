// Options of Salt that Halite reads but that have no effect yet: reported when a daemon starts and by the doctor.
import { dictKeys, dictSize, isDict, type PlainDict, type Value } from '../codec/value.ts';
import type { ConfigReport } from './problems.ts';

interface Unsupported {
  readonly option: string;
  /** The missing feature, when this value asks for one. */
  readonly missing: (value: Value) => string | undefined;
  readonly advice: string;
}

const filled = (value: Value): boolean =>
  Array.isArray(value) ? value.length > 0 : isDict(value) ? dictSize(value) > 0 : Boolean(value);
const whenFilled =
  (text: string) =>
  (value: Value): string | undefined =>
    filled(value) ? text : undefined;

/** Names in a list of names and of maps with options. */
const namesIn = (value: Value): string[] =>
  Array.isArray(value)
    ? value.flatMap((item) => (isDict(item) ? dictKeys(item).map(String) : [String(item)]))
    : isDict(value)
      ? dictKeys(value).map(String)
      : [];

function missingEngines(present: readonly string[]): (value: Value) => string | undefined {
  return (value) => {
    const missing = namesIn(value).filter((name) => !present.includes(name));
    return missing.length > 0 ? `engines (${missing.join(', ')})` : undefined;
  };
}

const api = { missing: whenFilled('salt-api'), advice: 'keep a Salt master for programs that use it' };

const ofMaster: readonly Unsupported[] = [
  {
    option: 'external_auth',
    missing: whenFilled('external authentication, so commands with -a or -T are refused'),
    advice: 'give users of this machine rights with publisher_acl',
  },
  { option: 'rest_cherrypy', ...api },
  { option: 'rest_tornado', ...api },
  { option: 'engines', missing: missingEngines(['reactor']), advice: 'use the reactor, or event_return' },
  {
    option: 'syndic_master',
    missing: whenFilled('salt-syndic'),
    advice: 'let minions connect to this master directly',
  },
];

const ofMinion: readonly Unsupported[] = [
  { option: 'engines', missing: missingEngines([]), advice: 'use beacons' },
  {
    option: 'master_type',
    missing: (value) =>
      ['str', 'standard', 'disable'].includes(String(value)) ? undefined : `master_type ${String(value)}`,
    advice: 'nothing: all masters are used at the same time, and each job runs once',
  },
];

/** Adds a problem for every option that asks for a feature that is not implemented yet. */
export function reportUnsupported(kind: 'master' | 'minion', given: PlainDict, report: ConfigReport): void {
  for (const { option, missing, advice } of kind === 'master' ? ofMaster : ofMinion) {
    const value = given[option];
    const what = value === undefined || value === null ? undefined : missing(value);
    if (what)
      report.warn('unsupported', `The option ${option} asks for a feature that is not implemented yet: ${what}`, {
        option,
        advice,
      });
  }
}
