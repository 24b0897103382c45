// A certificate described with OpenSSL's names, as the beacon `cert_info` reports it.
import type { X509Certificate } from 'node:crypto';
import { newDict, type PlainDict, type Value } from 'halite/sdk';
import { type Element, elements, inside, readInteger, readOid } from '../../shared/x509/der.ts';
import { extendedUsages } from '../../shared/x509/extensions.ts';
import { nameAttributes, nameOids } from '../../shared/x509/names.ts';
import { parseCertificate, prettyHex, signatureNames } from '../../shared/x509/read.ts';

const usages = [
  'Digital Signature',
  'Non Repudiation',
  'Key Encipherment',
  'Data Encipherment',
  'Key Agreement',
  'Certificate Sign',
  'CRL Sign',
  'Encipher Only',
  'Decipher Only',
];
const purposes: Readonly<Record<string, string>> = {
  serverAuth: 'TLS Web Server Authentication',
  clientAuth: 'TLS Web Client Authentication',
  codeSigning: 'Code Signing',
  emailProtection: 'E-mail Protection',
  timeStamping: 'Time Stamping',
  OCSPSigning: 'OCSP Signing',
};
const purposeOf = (oid: string): string => {
  const name = Object.keys(extendedUsages).find((key) => extendedUsages[key] === oid);
  return (name && purposes[name]) ?? name ?? oid;
};

function usedBits(element: Element): string {
  const bits = element.content.subarray(1);
  return usages.filter((_, at) => ((bits[at >> 3] ?? 0) & (0x80 >> (at & 7))) !== 0).join(', ');
}

function constraints(element: Element): string {
  const parts = inside(element);
  const isIssuer = parts.some(({ tag, content }) => tag === 0x01 && content[0] !== 0);
  const length = parts.find(({ tag }) => tag === 0x02);
  return `CA:${isIssuer ? 'TRUE' : 'FALSE'}${length ? `, pathlen:${readInteger(length.content)}` : ''}`;
}

/** Fields that contain an address. */
function addresses(element: Element): string[] {
  if (element.tag === 0x86) return [element.content.toString('utf8')];
  return (element.tag & 0x20) === 0 ? [] : inside(element).flatMap(addresses);
}

function dataOf(name: string, value: Buffer, certificate: X509Certificate): string {
  const [first] = elements(value);
  if (!first) return '';
  switch (name) {
    case 'subjectKeyIdentifier':
      return prettyHex(first.content);
    case 'authorityKeyIdentifier':
      return prettyHex(inside(first).find(({ tag }) => tag === 0x80)?.content ?? Buffer.alloc(0));
    case 'basicConstraints':
      return constraints(first);
    case 'subjectAltName':
      return certificate.subjectAltName ?? '';
    case 'keyUsage':
      return usedBits(first);
    case 'extendedKeyUsage':
      return inside(first)
        .map(({ content }) => purposeOf(readOid(content)))
        .join(', ');
    case 'authorityInfoAccess':
      return (certificate.infoAccess ?? '').trimEnd();
    case 'crlDistributionPoints':
      return addresses(first)
        .map((address) => `Full Name:\n  URI:${address}\n`)
        .join('\n');
    default:
      return value.toString('hex');
  }
}

const numbers = new Map(Object.entries(nameOids).map(([name, oid]) => [oid, name === 'MAIL' ? 'emailAddress' : name]));
const named = (name: Buffer): [string, string][] =>
  nameAttributes(name).map(([oid, value]) => [numbers.get(oid) ?? oid, value]);
const nameText = (name: Buffer): string =>
  named(name)
    .map(([key, value]) => `${key}="${value}"`)
    .join(',');
const digits = (at: Date): string => `${at.toISOString().slice(0, 19).replace(/\D/g, '')}Z`;
const readable = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`;

export function describeCertificate(path: string, certificate: X509Certificate, now: Date): PlainDict {
  const parsed = parseCertificate(certificate.raw);
  const { serial, issuer, subject, notAfter, notBefore } = parsed;
  const extensions = parsed.extensions.map(({ name, value }) =>
    newDict(Object.entries({ ext_name: name, ext_data: dataOf(name, Buffer.from(value), certificate) })),
  );
  const fields: Record<string, Value> = {
    cert_path: path,
    issuer: nameText(issuer),
    issuer_dict: newDict(named(issuer)),
    notAfter_raw: digits(notAfter),
    notAfter: readable(notAfter),
    notBefore_raw: digits(notBefore),
    notBefore: readable(notBefore),
    // Salt also sends numbers of more than 64 bits as text.
    serial_number: serial <= 0xffff_ffff_ffff_ffffn ? (serial < 2n ** 53n ? Number(serial) : serial) : String(serial),
    signature_algorithm: signatureNames[parsed.signature] ?? parsed.signature,
    subject: nameText(subject),
    subject_dict: newDict(named(subject)),
    version: parsed.version - 1,
    extensions,
    has_expired: notAfter < now,
  };
  return newDict(Object.entries(fields));
}
