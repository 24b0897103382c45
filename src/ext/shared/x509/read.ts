// Parses certificates and requests, and formats them for operators.
import { createHash, createPublicKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { type Element, elements, inside, readInteger, readOid, readTime } from './der.ts';
import { accessMethods, type Extension, extendedUsages, extensionOids, keyId, keyUsages } from './extensions.ts';
import { keySize, keyType, toPem } from './load.ts';
import { nameDict, nameText } from './names.ts';

export const signatureNames: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.5': 'sha1WithRSAEncryption',
  '1.2.840.113549.1.1.14': 'sha224WithRSAEncryption',
  '1.2.840.113549.1.1.11': 'sha256WithRSAEncryption',
  '1.2.840.113549.1.1.12': 'sha384WithRSAEncryption',
  '1.2.840.113549.1.1.13': 'sha512WithRSAEncryption',
  '1.2.840.10045.4.1': 'ecdsa-with-SHA1',
  '1.2.840.10045.4.3.1': 'ecdsa-with-SHA224',
  '1.2.840.10045.4.3.2': 'ecdsa-with-SHA256',
  '1.2.840.10045.4.3.3': 'ecdsa-with-SHA384',
  '1.2.840.10045.4.3.4': 'ecdsa-with-SHA512',
  '1.3.101.112': 'ed25519',
  '1.3.101.113': 'ed448',
};

export interface Parsed {
  readonly serial: bigint;
  readonly signature: string;
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly spki: Buffer;
  readonly extensions: Extension[];
  readonly version: number;
}

const nameOf = (number: string): string =>
  Object.keys(extensionOids).find((name) => extensionOids[name] === number) ?? number;
const empty = Buffer.alloc(0);

function extensionsIn(list: Element | undefined): Extension[] {
  return inside(list).map((item) => {
    const parts = inside(item);
    const number = readOid(parts[0]?.content ?? empty);
    const critical = parts.length > 2 && parts[1]?.content[0] === 0xff;
    return { name: nameOf(number), oid: number, critical, value: Buffer.from(parts.at(-1)?.content ?? empty) };
  });
}

export function parseCertificate(der: Buffer): Parsed {
  const [tbs, algorithm] = inside(elements(der)[0]);
  const parts = inside(tbs);
  const version = parts[0]?.tag === 0xa0 ? Number(readInteger(inside(parts.shift())[0]?.content ?? empty)) + 1 : 1;
  const [serial, , issuer, validity, subject, spki] = parts;
  const [from, until] = inside(validity);
  if (!from || !until) throw new Error('no certificate');
  return {
    version,
    serial: readInteger(serial?.content ?? empty),
    signature: readOid(inside(algorithm)[0]?.content ?? empty),
    issuer: Buffer.from(issuer?.whole ?? empty),
    subject: Buffer.from(subject?.whole ?? empty),
    notBefore: readTime(from),
    notAfter: readTime(until),
    spki: Buffer.from(spki?.whole ?? empty),
    extensions: extensionsIn(inside(parts.find((part) => part.tag === 0xa3))[0]),
  };
}

export type ParsedRequest = Pick<Parsed, 'subject' | 'spki' | 'extensions' | 'signature'>;

/** A certificate signing request. */
export function parseRequest(der: Buffer): ParsedRequest {
  const [info, algorithm] = inside(elements(der)[0]);
  const [, subject, spki, attributes] = inside(info);
  if (!subject || !spki) throw new Error('no request');
  const asked = inside(attributes).find(
    (attribute) => readOid(inside(attribute)[0]?.content ?? empty) === '1.2.840.113549.1.9.14',
  );
  return {
    subject: Buffer.from(subject.whole),
    spki: Buffer.from(spki.whole),
    signature: readOid(inside(algorithm)[0]?.content ?? empty),
    extensions: extensionsIn(inside(inside(asked)[1])[0]),
  };
}

/** `0A:1B`. */
export const prettyHex = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(':');
function prettyNumber(value: bigint): string {
  const hex = value.toString(16);
  return prettyHex(Buffer.from(hex.length % 2 === 1 ? `0${hex}` : hex, 'hex'));
}
/** `2026-01-02 03:04:05`. */
const prettyTime = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ');

function nameShown(element: Element): string {
  const value = element.content.toString('utf8');
  switch (element.tag & 0x1f) {
    case 1:
      return `mail:${value}`;
    case 2:
      return `DNS:${value}`;
    case 4:
      return `dirName:${nameText(Buffer.from(element.content))}`;
    case 6:
      return `URI:${value}`;
    case 7:
      return `IP:${
        element.content.length === 4
          ? [...element.content].join('.')
          : (element.content.toString('hex').match(/.{4}/g) ?? []).join(':')
      }`;
    case 8:
      return `RID:${readOid(element.content)}`;
    default:
      return value;
  }
}

const called = (number: string, known: Readonly<Record<string, string>>): string =>
  Object.keys(known).find((name) => known[name] === number) ?? number;

type Show = (value: Element) => PlainDict;
const shows: Readonly<Record<string, Show>> = {
  basicConstraints(value) {
    const parts = inside(value);
    const length = parts.find((part) => part.tag === 0x02);
    return { ca: parts[0]?.tag === 0x01, pathlen: length ? Number(readInteger(length.content)) : null };
  },
  keyUsage(value) {
    const word = ((value.content[1] ?? 0) << 8) | (value.content[2] ?? 0);
    const entries = keyUsages.map((name, i): [string, Value] => [name, (word & (0x8000 >> i)) !== 0]);
    return newDict(entries.sort(([a], [b]) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)));
  },
  extendedKeyUsage: (value) => ({ value: inside(value).map((part) => called(readOid(part.content), extendedUsages)) }),
  subjectKeyIdentifier: (value) => ({ value: prettyHex(value.content) }),
  authorityKeyIdentifier(value) {
    const find = (n: number): Element | undefined => inside(value).find((part) => (part.tag & 0x1f) === n);
    const [id, issuer, serial] = [find(0), find(1), find(2)];
    return {
      keyid: id ? prettyHex(id.content) : null,
      issuer: issuer ? inside(issuer).map(nameShown) : null,
      issuer_sn: serial ? prettyNumber(readInteger(serial.content)) : null,
    };
  },
  authorityInfoAccess: (value) => ({
    value: inside(value).map((part) => {
      const [method, place] = inside(part);
      const name = called(readOid(method?.content ?? empty), accessMethods);
      // Salt shows only the address here.
      return newDict([[name, place ? nameShown(place).replace(/^URI:/, '') : null]]);
    }),
  }),
  subjectAltName: (value) => ({ value: inside(value).map(nameShown) }),
  crlDistributionPoints: (value) => ({
    value: inside(value).map((point) => {
      const full = inside(inside(point)[0])[0];
      return newDict([
        ['crlissuer', []],
        ['fullname', inside(full).map(nameShown)],
        ['reasons', []],
        ['relativename', null],
      ]);
    }),
  }),
  certificatePolicies: (value) => ({
    value: inside(value).map((part) => newDict([[readOid(inside(part)[0]?.content ?? empty), []]])),
  }),
  noCheck: () => ({ value: true }),
};

function extensionsShown(list: readonly Extension[]): PlainDict {
  const order = Object.keys(extensionOids);
  const known = list
    .filter(({ name }) => order.includes(name))
    .sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
  return newDict(
    known.map(({ name, critical, value }): [string, Value] => {
      const [inner] = elements(value);
      const shown = inner && shows[name] ? shows[name](inner) : { value: value.toString('hex') };
      return [name, newDict([['critical', critical], ...Object.entries(shown)])];
    }),
  );
}

/** As `openssl x509 -subject_hash_old` shows it. */
const nameHash = (name: Buffer): string => prettyHex(createHash('sha1').update(name).digest().subarray(0, 4).reverse());

const keyOf = (spki: Buffer): KeyObject => createPublicKey({ key: spki, format: 'der', type: 'spki' });

export function certificateShown(certificate: X509Certificate, fips: boolean): PlainDict {
  const parsed = parseCertificate(certificate.raw);
  const key = keyOf(parsed.spki);
  const print = (hash: string): string => prettyHex(createHash(hash).update(certificate.raw).digest());
  return newDict([
    ['version', parsed.version],
    ['key_size', keySize(key)],
    ['key_type', keyType(key)],
    ['serial_number', prettyNumber(parsed.serial)],
    [
      'fingerprints',
      newDict(['sha1', 'sha256', ...(fips ? [] : ['md5'])].map((hash): [string, Value] => [hash, print(hash)])),
    ],
    ['subject', nameDict(parsed.subject)],
    ['subject_hash', nameHash(parsed.subject)],
    ['subject_str', nameText(parsed.subject)],
    ['issuer', nameDict(parsed.issuer)],
    ['issuer_hash', nameHash(parsed.issuer)],
    ['issuer_str', nameText(parsed.issuer)],
    ['not_before', prettyTime(parsed.notBefore)],
    ['not_after', prettyTime(parsed.notAfter)],
    ['public_key', toPem(parsed.spki, 'PUBLIC KEY')],
    ['extensions', extensionsShown(parsed.extensions)],
    ['signature_algorithm', signatureNames[parsed.signature] ?? parsed.signature],
  ]);
}

export function requestShown(der: Buffer): PlainDict {
  const parsed = parseRequest(der);
  const key = keyOf(parsed.spki);
  return newDict([
    ['key_size', keySize(key)],
    ['key_type', keyType(key)],
    ['subject', nameDict(parsed.subject)],
    ['subject_hash', nameHash(parsed.subject)],
    ['subject_str', nameText(parsed.subject)],
    ['public_key_hash', prettyHex(keyId(parsed.spki))],
    ['extensions', extensionsShown(parsed.extensions)],
  ]);
}
