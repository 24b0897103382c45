// Language, encoding and time zone of the minion's own process.
import { newDict, type PlainDict } from 'halite/sdk';
import { listDir, pathExists } from 'halite/sdk/fs';
import { zoneAbbreviation } from 'halite/sdk/time';

function installed(name: string): boolean {
  if (pathExists('/usr/lib/locale/locale-archive')) return true;
  const plain = (text: string): string => text.toLowerCase().replaceAll('-', '');
  return listDir('/usr/lib/locale').some((folder) => plain(folder) === plain(name));
}

/** Language and encoding by the usual environment variables; `C.UTF-8` counts as American English, as in Python. */
export function localeOf(env: Readonly<Record<string, string | undefined>>): [string | null, string | null] {
  const name = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || 'C';
  if (env['LC_ALL'] === 'C' || env['LC_ALL'] === 'POSIX') return [null, null];
  const match = /^([a-z]{2,3}_[A-Z]{2})(?:\.([^@]+))?/.exec(name);
  if (!match || !installed(name)) return ['en_US', 'UTF-8'];
  const encoding = match[2] ?? 'ISO8859-1';
  return [match[1] ?? null, /^utf-?8$/i.test(encoding) ? 'UTF-8' : encoding];
}

export function localeGrains(): PlainDict {
  const [language, encoding] = localeOf(process.env);
  const info = newDict([
    ['defaultlanguage', language],
    ['defaultencoding', encoding],
    ['detectedencoding', 'utf-8'],
    ['timezone', zoneAbbreviation()],
  ]);
  return newDict([['locale_info', info]]);
}
