// Extensions of certificates and requests: from the arguments of a state to DER.
import { createHash } from 'node:crypto';
import { commandError, dictEntries, invocationError, isDict, oneOrMore, pyStr, type Value } from 'halite/sdk';
import {
  bits,
  boolean,
  elements,
  explicit,
  implicit,
  inside,
  integer,
  none,
  octets,
  oid,
  sequence,
  text,
} from './der.ts';
import { encodeName } from './names.ts';

export const extensionOids: Readonly<Record<string, string>> = {
  basicConstraints: '2.5.29.19',
  keyUsage: '2.5.29.15',
  extendedKeyUsage: '2.5.29.37',
  subjectKeyIdentifier: '2.5.29.14',
  authorityKeyIdentifier: '2.5.29.35',
  authorityInfoAccess: '1.3.6.1.5.5.7.1.1',
  subjectAltName: '2.5.29.17',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  noCheck: '1.3.6.1.5.5.7.48.1.5',
  tlsfeature: '1.3.6.1.5.5.7.1.24',
  nsComment: '2.16.840.1.113730.1.13',
};
/** Alternative names in states. */
export const longExtensionNames: Readonly<Record<string, string>> = {
  'X509v3 Basic Constraints': 'basicConstraints',
  'X509v3 Key Usage': 'keyUsage',
  'X509v3 Extended Key Usage': 'extendedKeyUsage',
  'X509v3 Subject Key Identifier': 'subjectKeyIdentifier',
  'X509v3 Authority Key Identifier': 'authorityKeyIdentifier',
  'Authority Information Access': 'authorityInfoAccess',
  'X509v3 Subject Alternative Name': 'subjectAltName',
  'X509v3 CRL Distribution Points': 'crlDistributionPoints',
  'X509v3 Certificate Policies': 'certificatePolicies',
  'OCSP No Check': 'noCheck',
  'TLS Feature': 'tlsfeature',
  'Netscape Comment': 'nsComment',
};
/** Not allowed in requests, because only the issuer knows their values. */
export const onlyForIssuers = ['authorityInfoAccess', 'authorityKeyIdentifier', 'crlDistributionPoints'];
/** Known to Salt, but not here. */
const unsupported = [
  ...['issuerAltName', 'policyConstraints', 'inhibitAnyPolicy', 'nameConstraints', 'nsCertType'],
  ...['issuingDistributionPoint', 'freshestCRL'],
];

export const keyUsages = [
  ...['digitalSignature', 'nonRepudiation', 'keyEncipherment', 'dataEncipherment', 'keyAgreement'],
  ...['keyCertSign', 'cRLSign', 'encipherOnly', 'decipherOnly'],
];
export const extendedUsages: Readonly<Record<string, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  codeSigning: '1.3.6.1.5.5.7.3.3',
  emailProtection: '1.3.6.1.5.5.7.3.4',
  timeStamping: '1.3.6.1.5.5.7.3.8',
  OCSPSigning: '1.3.6.1.5.5.7.3.9',
  ipsecIKE: '1.3.6.1.5.5.7.3.17',
  msSmartcardLogin: '1.3.6.1.4.1.311.20.2.2',
};
export const accessMethods: Readonly<Record<string, string>> = {
  OCSP: '1.3.6.1.5.5.7.48.1',
  caIssuers: '1.3.6.1.5.5.7.48.2',
  caRepository: '1.3.6.1.5.5.7.48.5',
};

export interface Extension {
  readonly name: string;
  readonly oid: string;
  readonly critical: boolean;
  readonly value: Buffer;
}

/** Data that extensions may need. */
export interface Surroundings {
  /** Public keys as SubjectPublicKeyInfo. */
  readonly subjectKey: Buffer;
  readonly issuerKey?: Buffer;
  /** Of the issuer's certificate: its key identifier, issuer and number. */
  readonly issuerKeyId?: Buffer | undefined;
  readonly issuerName?: Buffer;
  readonly issuerSerial?: bigint;
}

/** The hash of the bits of a public key. */
export function keyId(spki: Buffer): Buffer {
  const [, key] = inside(elements(spki)[0]);
  return createHash('sha1')
    .update((key?.content ?? Buffer.alloc(0)).subarray(1))
    .digest();
}

/** `critical, a:b, c`, a list or a dictionary → words, and whether the extension is critical. */
function words(given: Value): { critical: boolean; items: [string, string][] } {
  // The first comma may be missing.
  const value = typeof given === 'string' ? given.replace(/^critical[\s,]+/, 'critical,') : given;
  const list = isDict(value)
    ? dictEntries(value).map(([key, item]): [string, string] => [pyStr(key), pyStr(item)])
    : (Array.isArray(value) ? value : pyStr(value).split(',')).flatMap((item): [string, string][] => {
        if (isDict(item)) return dictEntries(item).map(([key, inner]): [string, string] => [pyStr(key), pyStr(inner)]);
        const [, key = '', rest = ''] = /^([^:]*)(?::(.*))?$/s.exec(pyStr(item).trim()) ?? [];
        return [[key.trim(), rest.trim()]];
      });
  const isCritical = ([key, item]: [string, string]): boolean => key === 'critical' && item.toLowerCase() !== 'false';
  return { critical: list.some(isCritical), items: list.filter(([key]) => key !== 'critical' && key !== '') };
}

const numbered = (name: string, known: Readonly<Record<string, string>>): Buffer => {
  const number = known[name] ?? (/^\d+(\.\d+)+$/.test(name) ? name : undefined);
  if (number === undefined) throw commandError(`Unknown OID: ${name}`);
  return oid(number);
};

function addressBytes(address: string): Buffer {
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const missing = tail === undefined ? 0 : 8 - first.length - last.length;
  const all = [...first, ...Array<string>(Math.max(missing, 0)).fill('0'), ...last];
  if (all.length !== 8 || !all.every((group) => /^[0-9a-f]{1,4}$/i.test(group)))
    throw invocationError(`Provided value ${address} does not seem to be an IP address or network range.`);
  return Buffer.concat(all.map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}

/** General names such as `DNS:example.org`. */
function generalName(kind: string, value: string): Buffer {
  const plain = (n: number): Buffer => implicit(n, Buffer.from(value, 'utf8'));
  switch (kind.toLowerCase()) {
    case 'dns':
      return plain(2);
    case 'email':
    case 'mail':
      return plain(1);
    case 'uri':
    case 'url':
      return plain(6);
    case 'ip':
    case 'ip address':
      return implicit(7, addressBytes(value));
    case 'rid':
      return implicit(8, elements(oid(value))[0]?.content ?? Buffer.alloc(0));
    case 'dirname':
      return explicit(4, encodeName(value));
    default:
      throw commandError(`GeneralName ${kind} is not supported`);
  }
}

type Builder = (value: Value, about: Surroundings) => { value: Buffer; critical: boolean };

const basicConstraints: Builder = (value) => {
  const { critical, items } = words(value);
  const get = (name: string): string | undefined => items.find(([key]) => key.toLowerCase() === name)?.[1];
  const [ca, length] = [get('ca'), get('pathlen')];
  if (ca === undefined) throw invocationError("Invalid configuration for basicContraints: 'ca'");
  const isCa = ca.toLowerCase() === 'true';
  const path = length === undefined || length === 'None' ? [] : [integer(BigInt(length))];
  return { critical, value: sequence(...(isCa ? [boolean(true)] : []), ...path) };
};

const keyUsage: Builder = (value) => {
  const { critical, items } = words(value);
  let [word, last] = [0, 0];
  for (const [name] of items) {
    const at = keyUsages.indexOf(name);
    if (at < 0) throw invocationError(`Unknown key usage: ${name}`);
    word |= 0x8000 >> at;
    last = Math.max(last, at);
  }
  const bytes = Buffer.from(last > 7 ? [word >> 8, word & 0xff] : [word >> 8]);
  return { critical, value: bits(bytes, bytes.length * 8 - 1 - last) };
};

const authorityKeyIdentifier: Builder = (value, about) => {
  const { items } = words(value);
  const has = new Map(items);
  const id = has.has('keyid')
    ? (about.issuerKeyId ?? (about.issuerKey ? keyId(about.issuerKey) : undefined))
    : undefined;
  if (has.get('keyid') === 'always' && !id)
    throw commandError('Could not retrieve authorityKeyIdentifier keyid, but it was set to always');
  const parts = id ? [implicit(0, id)] : [];
  const { issuerName, issuerSerial } = about;
  const wantsIssuer = has.get('issuer') === 'always' || (has.has('issuer') && !id);
  if (wantsIssuer && issuerName && issuerSerial !== undefined) {
    parts.push(explicit(1, explicit(4, issuerName)));
    parts.push(implicit(2, elements(integer(issuerSerial))[0]?.content ?? Buffer.alloc(0)));
  }
  return { critical: false, value: sequence(...parts) };
};

const builders: Readonly<Record<string, Builder>> = {
  basicConstraints,
  keyUsage,
  extendedKeyUsage(value) {
    const { critical, items } = words(value);
    return { critical, value: sequence(...items.map(([name]) => numbered(name, extendedUsages))) };
  },
  subjectKeyIdentifier(value, about) {
    if (pyStr(value) === 'hash') return { critical: false, value: octets(keyId(about.subjectKey)) };
    const hex = pyStr(value).replaceAll(':', '');
    if (!/^(?:[0-9a-f]{2})+$/i.test(hex)) throw invocationError('Value must be precomputed hash');
    return { critical: false, value: octets(Buffer.from(hex, 'hex')) };
  },
  authorityKeyIdentifier,
  authorityInfoAccess(value) {
    // In text the two are separated by a semicolon: `OCSP;URI:http://…`.
    const items = (typeof value === 'string' ? value.split(',') : oneOrMore(value)).flatMap((item) =>
      isDict(item) ? dictEntries(item) : [pyStr(item).trim().split(';') as [Value, Value]],
    );
    const described = items
      .filter(([key]) => key !== 'critical')
      .map(([method, place]) => {
        const [, kind = '', rest = ''] = /^([^:]*):(.*)$/s.exec(pyStr(place ?? '')) ?? [];
        return sequence(numbered(pyStr(method), accessMethods), generalName(kind, rest));
      });
    return { critical: false, value: sequence(...described) };
  },
  subjectAltName(value) {
    const { critical, items } = words(value);
    return { critical, value: sequence(...items.map(([kind, name]) => generalName(kind, name))) };
  },
  crlDistributionPoints(value) {
    const { critical, items } = words(value);
    const points = items.map(([kind, name]) => {
      // `fullname: URI:http://…`, or without that word.
      const [, inner = kind, rest = name] = kind === 'fullname' ? (/^([^:]*):(.*)$/s.exec(name) ?? []) : [];
      return sequence(explicit(0, explicit(0, generalName(inner, rest))));
    });
    return { critical, value: sequence(...points) };
  },
  certificatePolicies(value) {
    const { critical, items } = words(value);
    return { critical, value: sequence(...items.map(([name]) => sequence(numbered(name, {})))) };
  },
  noCheck: (value) => ({ critical: pyStr(value).includes('critical'), value: none() }),
  tlsfeature(value) {
    const { critical, items } = words(value);
    const numbers: Readonly<Record<string, bigint>> = { status_request: 5n, status_request_v2: 17n };
    return { critical, value: sequence(...items.map(([name]) => integer(numbers[name] ?? 5n))) };
  },
  nsComment: (value) => ({ critical: false, value: text(0x16, pyStr(value)) }),
};

/** The extensions among arguments, in the order of the table. */
export function buildExtensions(
  given: Readonly<Record<string, Value>>,
  about: Surroundings,
  without: readonly string[] = [],
): Extension[] {
  const wrong = unsupported.find((name) => given[name] !== undefined && given[name] !== null);
  if (wrong !== undefined) throw invocationError(`${wrong} is currently not implemented.`);
  return Object.entries(extensionOids).flatMap(([name, number]) => {
    const value = given[name];
    if (value === undefined || value === null || without.includes(name)) return [];
    const made = builders[name]?.(value, about);
    return made ? [{ name, oid: number, ...made }] : [];
  });
}

export const encodeExtensions = (list: readonly Extension[]): Buffer =>
  sequence(
    ...list.map(({ oid: number, critical, value }) =>
      sequence(oid(number), ...(critical ? [boolean(true)] : []), octets(value)),
    ),
  );
