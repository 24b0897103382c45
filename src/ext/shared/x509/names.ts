// Subject and issuer names of certificates.
import {
  commandError,
  dictEntries,
  dictGet,
  invocationError,
  isDict,
  newDict,
  type PlainDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { type Element, elements, inside, oid, readOid, sequence, set, text } from './der.ts';

/** Attributes in the order of a name. */
export const nameOids: Readonly<Record<string, string>> = {
  C: '2.5.4.6',
  ST: '2.5.4.8',
  L: '2.5.4.7',
  STREET: '2.5.4.9',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  CN: '2.5.4.3',
  MAIL: '1.2.840.113549.1.9.1',
  SN: '2.5.4.4',
  GN: '2.5.4.42',
  UID: '0.9.2342.19200300.100.1.1',
  SERIALNUMBER: '2.5.4.5',
};
/** Alternative names. */
export const longNames: Readonly<Record<string, string>> = {
  commonName: 'CN',
  localityName: 'L',
  stateOrProvinceName: 'ST',
  organizationName: 'O',
  organizationUnitName: 'OU',
  organizationalUnitName: 'OU',
  countryName: 'C',
  givenName: 'GN',
  surname: 'SN',
  Email: 'MAIL',
  emailAddress: 'MAIL',
  serialNumber: 'SERIALNUMBER',
};
/** Attributes that RFC 4514 names; others are shown by number. */
const shown: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['C', 'ST', 'L', 'STREET', 'O', 'OU', 'CN', 'UID'].map((name) => [nameOids[name] as string, name]),
  ),
  '0.9.2342.19200300.100.1.25': 'DC',
};

const printable = 0x13;
const ia5 = 0x16;
const utf8 = 0x0c;
const kinds: Readonly<Record<string, number>> = { C: printable, SERIALNUMBER: printable, MAIL: ia5 };

function attribute(name: string, value: string): Buffer {
  const short = longNames[name] ?? name;
  const number = nameOids[short] ?? nameOids[short.toUpperCase()] ?? (/^\d+(\.\d+)+$/.test(short) ? short : undefined);
  if (number === undefined) throw invocationError(`Unknown name attribute: ${name}`);
  if (short === 'C' && value.length !== 2) throw invocationError('Country code must be a 2 character string');
  return sequence(oid(number), text(kinds[short.toUpperCase()] ?? utf8, value));
}

/** `CN=x,O=y`, in the reverse order of the certificate. */
function fromText(dn: string): Buffer[] {
  const parts = [...dn.matchAll(/((?:[^,\\]|\\.)+)(?:,|$)/g)].map((match) => match[1] ?? '');
  return parts.reverse().map((part) => {
    const at = part.indexOf('=');
    if (at < 1) throw commandError('Failed parsing rfc4514 dirName string');
    return set(
      attribute(
        part.slice(0, at).trim(),
        part
          .slice(at + 1)
          .trim()
          .replace(/\\(.)/g, '$1'),
      ),
    );
  });
}

/** A name in DER: from text, from a list of `CN=x` or dictionaries, or from a dictionary that may have other keys too. */
export function encodeName(dn: Value): Buffer {
  if (typeof dn === 'string') return sequence(...fromText(dn));
  if (Array.isArray(dn))
    return sequence(
      ...dn.flatMap((item) =>
        isDict(item)
          ? dictEntries(item).map(([key, value]) => set(attribute(pyStr(key), pyStr(value))))
          : fromText(pyStr(item)),
      ),
    );
  if (!isDict(dn)) throw invocationError('Need string, list or dict to parse distinguished names');
  const given = (name: string): Value | undefined =>
    [name, ...Object.keys(longNames).filter((long) => longNames[long] === name)]
      .map((key) => dictGet(dn, key))
      .find((value) => value !== undefined && value !== null);
  return sequence(
    ...Object.keys(nameOids).flatMap((name) => {
      const value = given(name);
      return value === undefined ? [] : [set(attribute(name, pyStr(value)))];
    }),
  );
}

export function nameAttributes(name: Buffer): [string, string][] {
  return inside(elements(name)[0]).flatMap((rdn) =>
    inside(rdn).map((pair): [string, string] => {
      const [key, value] = inside(pair);
      return [readOid(key?.content ?? Buffer.alloc(0)), textOf(value)];
    }),
  );
}

function textOf(value: Element | undefined): string {
  if (!value) return '';
  if (value.tag === 0x1e) return Buffer.from(value.content).swap16().toString('utf16le');
  return value.content.toString(value.tag === 0x14 ? 'latin1' : 'utf8');
}

/** `{CN: x, O: y}`. */
export function nameDict(name: Buffer): PlainDict {
  const found = nameAttributes(name);
  return newDict(
    Object.entries(nameOids).flatMap(([short, number]): [string, Value][] => {
      const hit = found.find(([key]) => key === number);
      return hit ? [[short, hit[1]]] : [];
    }),
  );
}

/** `CN=x,O=y`. */
export function nameText(name: Buffer): string {
  const quoted = (value: string): string => value.replace(/[,+"\\<>;]/g, '\\$&').replace(/^[# ]/, '\\$&');
  return nameAttributes(name)
    .reverse()
    .map(([key, value]) => `${shown[key] ?? key}=${quoted(value)}`)
    .join(',');
}
