// Beacon `cert_info`: certificates in files that expire soon.
import { X509Certificate } from 'node:crypto';
import {
  asList,
  type BeaconContext,
  defineBeacon,
  fieldOf,
  messageOf,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import { entriesOf, percentOf } from './shared/settings.ts';

const usualDays = 45;
const dayMs = 86_400_000;

interface Watched {
  readonly path: string;
  readonly days: number;
}

function watchedFiles({ files, notify_days }: PlainDict): Watched[] {
  const days = percentOf(notify_days) ?? usualDays;
  return (asList(files) ?? []).flatMap((file: Value): Watched[] => {
    const named = entriesOf(file);
    if (named.length === 0) return [{ path: pyStr(file), days }];
    return named.map(([path, settings]) => ({ path, days: percentOf(fieldOf(settings, 'notify_days')) ?? days }));
  });
}

/** `said` has the unreadable files: each is logged once, until it can be read again. */
async function read(settings: PlainDict, ctx: BeaconContext, said: Set<string>): Promise<PlainDict[]> {
  const { describeCertificate } = await import('./shared/certificate.ts');
  const certificates: PlainDict[] = [];
  const now = new Date();
  for (const { path, days } of watchedFiles(settings)) {
    try {
      const certificate = new X509Certificate(await readFile(path));
      const left = Math.floor((Date.parse(certificate.validTo) - now.getTime()) / dayMs);
      said.delete(path);
      if (days < 0 || left <= days) certificates.push(describeCertificate(path, certificate, now));
    } catch (error) {
      if (!said.has(path)) ctx.log.error(`Unable to load certificate ${path} (${messageOf(error)})`);
      said.add(path);
    }
  }
  return certificates.length > 0 ? [newDict([['certificates', certificates]])] : [];
}

export default defineBeacon({
  name: 'cert_info',
  doc: 'Sends an event for certificates that expire within `notify_days` (default 45); -1 reports them always.',
  examples: [
    'cert_info:\n  - files:\n      - /etc/ssl/mine.pem\n      - /etc/ssl/yours.pem:\n          notify_days: 15\n  - notify_days: 45\n  - interval: 86400',
  ],
  validate(settings) {
    const { files, notify_days: days } = settings;
    if (files === undefined) return 'Configuration for cert_info beacon must contain files option.';
    if (!Array.isArray(files)) return 'Configuration for cert_info beacon: files must be a list.';
    if (days !== undefined && percentOf(days) === undefined)
      return 'Configuration for cert_info beacon: notify_days must be a number.';
    return undefined;
  },
  open(settings, ctx) {
    const said = new Set<string>();
    return { read: () => read(settings, ctx, said) };
  },
});
