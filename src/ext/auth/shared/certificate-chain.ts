// Certificates of clients: who has signed one, and the name in it. The TLS connection of the API has checked it already,
// with everything that OpenSSL knows (revocations, lengths of paths, names that an authority may use). This is the
// master's own look: whatever the API says, only those count whom the configured authorities have signed.
import { X509Certificate } from 'node:crypto';
import { HaliteError } from 'halite/sdk';

const longestChain = 6;
const clientUse = '1.3.6.1.5.5.7.3.2';

const refused = (why: string): HaliteError => new HaliteError('auth.failed', `the certificate ${why}`);

const isValid = (each: X509Certificate, now: number): boolean =>
  Date.parse(each.validFrom) <= now && now <= Date.parse(each.validTo);

const isIssuer = (candidate: X509Certificate, of: X509Certificate): boolean =>
  candidate.ca && of.checkIssued(candidate) && of.verify(candidate.publicKey);

/** Throws unless one of the authorities has signed it, itself or through the others that came with it. */
export function checkChain(
  [own, ...others]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  now = Date.now(),
): void {
  if (!own) throw refused('is missing');
  // Node names the extended uses so; without any, every use is permitted.
  if (own.keyUsage && !own.keyUsage.includes(clientUse)) throw refused('is not for clients');
  let last = own;
  for (let length = 0; length < longestChain; length++) {
    if (!isValid(last, now)) throw refused(`of ${last.subject.replaceAll('\n', ', ')} is not valid at this time`);
    const by = authorities.find((each) => isIssuer(each, last));
    if (by) {
      if (!isValid(by, now)) throw refused('is of an authority that is not valid at this time');
      return;
    }
    const next = others.find((each) => isIssuer(each, last));
    if (!next) break;
    last = next;
  }
  throw refused('is not signed by an authority of ca_file');
}

/** All certificates of a file in PEM. */
export function readCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

const alternative = (certificate: X509Certificate, kind: string): string[] => {
  const text = certificate.subjectAltName ?? '';
  // Node quotes what could be taken for several names: nobody who is honest has such a one.
  if (text.includes('"')) throw refused('has an unusual alternative name');
  return text
    .split(', ')
    .filter((each) => each.startsWith(`${kind}:`))
    .map((each) => each.slice(kind.length + 1));
};

function commonNames(certificate: X509Certificate): string[] {
  const { CN: name } = certificate.toLegacyObject().subject as { CN?: string | string[] };
  return name === undefined ? [] : [name].flat();
}

const places = {
  cn: commonNames,
  'san-email': (each: X509Certificate) => alternative(each, 'email'),
  'san-dns': (each: X509Certificate) => alternative(each, 'DNS'),
} as const;

export type NamePlace = keyof typeof places;
export const namePlaces = Object.keys(places) as readonly NamePlace[];

/** The name of the user; a certificate with several of them names nobody. */
export function nameIn(certificate: X509Certificate, place: NamePlace): string {
  const found = places[place](certificate);
  const [name] = found;
  if (found.length !== 1 || !name) throw refused(`has ${found.length} names (${place}), not one`);
  return name;
}
