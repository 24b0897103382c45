// Details of an account of Samba: as arguments, as pdbedit prints them and as it sets them.
import { type ArgsOf, type PlainDict, p, pyStr } from 'halite/sdk';

const detail = (doc: string) => p.string({ default: null, doc });
export const details = {
  domain: detail('its domain'),
  profile: detail('path of the profile'),
  script: detail('script at log-on'),
  drive: detail('drive of the home folder'),
  homedir: detail('home folder'),
  fullname: detail('full name'),
  account_desc: detail('description'),
  account_control: detail('flags out of N, D, H, L, X'),
  machine_sid: detail('security id of the machine'),
  user_sid: detail('security id of the user'),
};
export type Details = Partial<ArgsOf<typeof details>>;

/** Field as pdbedit prints it → argument here, and option that sets it. */
export const options: readonly (readonly [field: string, argument: keyof Details, option: readonly string[]])[] = [
  ['domain', 'domain', ['--domain=']],
  ['full name', 'fullname', ['--fullname=']],
  ['account desc', 'account_desc', ['--account-desc=']],
  ['home directory', 'homedir', ['--homedir=']],
  ['homedir drive', 'drive', ['--drive=']],
  ['profile path', 'profile', ['--profile=']],
  ['logon script', 'script', ['--script=']],
  ['account flags', 'account_control', ['--account-control=']],
  ['user sid', 'user_sid', ['-U', '']],
  ['machine sid', 'machine_sid', ['-M', '']],
];

/** The given fields that differ. Flags are always set when they are given. */
export function changesOf(current: PlainDict, given: Details): [string, string][] {
  return options.flatMap(([field, argument]): [string, string][] => {
    const value = given[argument];
    if (value === null || value === undefined) return [];
    const now = current[field];
    if (argument === 'account_control') {
      const letters = [
        ...pyStr(value)
          .replace(/^\[(.*).$/s, '$1')
          .toUpperCase(),
      ].filter((flag) => 'NDHLX'.includes(flag));
      return [[field, `[${letters.join('')}]`]];
    }
    if (now === undefined) return [];
    const same = argument.endsWith('_sid') ? pyStr(now).endsWith(pyStr(value)) : now === value;
    return same ? [] : [[field, pyStr(value)]];
  });
}
