// Builds certificates and requests.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { commandError, invocationError, pyStr, type Value } from 'halite/sdk';
import { bits, explicit, integer, none, oid, sequence, set, time } from './der.ts';
import { buildExtensions, type Extension, encodeExtensions, onlyForIssuers, type Surroundings } from './extensions.ts';
import { bytesOf, keyType, loadCertificate, loadPrivateKey, loadPublicKey, pemBody, publicDer } from './load.ts';
import { encodeName } from './names.ts';
import { parseCertificate, parseRequest } from './read.ts';

export type CertArgs = Readonly<Record<string, Value>>;

const digests = ['sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const rsaOids = ['5', '14', '11', '12', '13'].map((last) => `1.2.840.113549.1.1.${last}`);
const ecOids = ['1.2.840.10045.4.1', ...['1', '2', '3', '4'].map((last) => `1.2.840.10045.4.3.${last}`)];

export interface Algorithm {
  readonly oid: string;
  readonly der: Buffer;
  /** null for key types with a fixed digest. */
  readonly hash: string | null;
}

export function algorithmFor(key: KeyObject, digest: Value): Algorithm {
  const type = keyType(key);
  if (type === 'ed25519' || type === 'ed448') {
    const number = type === 'ed25519' ? '1.3.101.112' : '1.3.101.113';
    return { oid: number, der: sequence(oid(number)), hash: null };
  }
  const hash = pyStr(digest || 'sha256').toLowerCase();
  const at = digests.indexOf(hash);
  if (at < 0) throw commandError(`Invalid value '${pyStr(digest)}' for digest. Valid: ${digests.join(', ')}`);
  const number = (type === 'ec' ? ecOids : rsaOids)[at] as string;
  return { oid: number, hash, der: type === 'ec' ? sequence(oid(number)) : sequence(oid(number), none()) };
}

const signed = (body: Buffer, key: KeyObject, algorithm: Algorithm): Buffer =>
  sequence(body, algorithm.der, bits(sign(algorithm.hash, body, key)));

export function generateKey(algo: string, size: Value): KeyObject {
  const number = size === null ? null : Number(size);
  const plain = { modulusLength: number ?? 2048 };
  switch (algo) {
    case 'rsa':
      if (![2048, 3072, 4096].includes(plain.modulusLength))
        throw invocationError('RSA key size must be either 2048, 3072 or 4096 bits.');
      return generateKeyPairSync('rsa', plain).privateKey;
    case 'ec': {
      const curve = { 256: 'P-256', 384: 'P-384', 521: 'P-521' }[number ?? 256];
      if (!curve) throw invocationError('EC key size must be either 256, 384, 521 bits.');
      return generateKeyPairSync('ec', { namedCurve: curve }).privateKey;
    }
    case 'ed25519':
      return generateKeyPairSync('ed25519').privateKey;
    case 'ed448':
      return generateKeyPairSync('ed448').privateKey;
    default:
      throw invocationError(
        `Invalid algorithm specified for generating private key: ${algo}. Valid: rsa, ec, ed25519, ed448`,
      );
  }
}

function serialFor(value: Value): bigint {
  if (value === null) return BigInt(`0x${randomBytes(20).toString('hex')}`) >> 1n;
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value);
  const hex = pyStr(value).replaceAll(':', '');
  if (!/^[0-9a-f]+$/i.test(hex)) throw commandError(`Could not parse serial number ${pyStr(value)}`);
  return BigInt(`0x${hex}`);
}

function moment(value: Value, otherwise: Date): Date {
  if (!value) return otherwise;
  const at = new Date(`${pyStr(value).replace(' ', 'T')}Z`);
  if (Number.isNaN(at.getTime())) throw invocationError(`${pyStr(value)} is no time of the form 2026-01-31 12:00:00`);
  return at;
}

/** The content of a certificate before it is signed. */
export interface CertificatePlan {
  readonly serial: bigint;
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly spki: Buffer;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: Extension[];
  /** Undefined when another party signs it. */
  readonly signingKey: KeyObject | undefined;
  /** Undefined for a self-signed certificate. */
  readonly issuerKey: KeyObject | undefined;
}

const text = (args: CertArgs, name: string): Value => args[name] ?? null;

/** The public key a certificate is for. */
function subjectKey(args: CertArgs, signingKey: KeyObject | undefined): Buffer {
  if (!args['signing_cert']) {
    if (signingKey) return publicDer(signingKey);
  } else if (args['private_key'])
    return publicDer(loadPrivateKey(text(args, 'private_key'), text(args, 'private_key_passphrase')));
  else if (args['public_key']) return publicDer(loadPublicKey(text(args, 'public_key')));
  else if (args['csr']) return publicDer(loadPublicKey(text(args, 'csr')));
  throw invocationError(
    'This certificate is not self-signed (signing_cert is set) and thus needs public_key, private_key or csr to derive public key to sign',
  );
}

/** Data of the issuer for the extensions. */
function surroundings(args: CertArgs, spki: Buffer, subject: Buffer, serial: bigint): Surroundings {
  if (!args['signing_cert']) return { subjectKey: spki, issuerKey: spki, issuerName: subject, issuerSerial: serial };
  const issuer = parseCertificate(loadCertificate(text(args, 'signing_cert')).raw);
  const id = issuer.extensions.find(({ name }) => name === 'subjectKeyIdentifier')?.value.subarray(2);
  return {
    subjectKey: spki,
    issuerKey: issuer.spki,
    issuerKeyId: id ? Buffer.from(id) : undefined,
    issuerName: issuer.issuer,
    issuerSerial: issuer.serial,
  };
}

/** Builds a certificate. `known` is the serial number of the certificate it is compared with. */
export function planCertificate(args: CertArgs, options: { remote?: boolean; known?: bigint } = {}): CertificatePlan {
  const signingKey = options.remote
    ? undefined
    : loadPrivateKey(text(args, 'signing_private_key'), text(args, 'signing_private_key_passphrase'));
  const issuerCert = args['signing_cert'] ? loadCertificate(text(args, 'signing_cert')) : undefined;
  const spki = subjectKey(args, signingKey);
  if (issuerCert && signingKey && !publicDer(issuerCert.publicKey).equals(publicDer(signingKey)))
    throw invocationError("Signing private key does not match the certificate's public key");
  const serial = options.known ?? serialFor(text(args, 'serial_number'));
  const subject = encodeName(args['subject'] || (args as Value));
  const request = args['csr']
    ? parseRequest(pemBody(bytesOf(text(args, 'csr')), '(?:NEW )?CERTIFICATE REQUEST'))
    : undefined;
  const own = buildExtensions(args, surroundings(args, spki, subject, serial));
  const asked = (request?.extensions ?? []).filter(
    ({ name }) => !own.some((one) => one.name === name) && !onlyForIssuers.includes(name),
  );
  const now = new Date();
  const days = Number(args['days_valid'] ?? 30);
  return {
    serial,
    subject,
    issuer: issuerCert ? parseCertificate(issuerCert.raw).subject : subject,
    spki,
    notBefore: moment(text(args, 'not_before'), now),
    notAfter: moment(text(args, 'not_after'), new Date(now.getTime() + days * 86_400_000)),
    extensions: [...own, ...asked],
    signingKey,
    issuerKey: issuerCert?.publicKey,
  };
}

export function signCertificate(plan: CertificatePlan, digest: Value): Buffer {
  if (!plan.signingKey)
    throw invocationError('Creating a certificate locally at least requires a signing private key.');
  const algorithm = algorithmFor(plan.signingKey, digest);
  const body = sequence(
    explicit(0, integer(2n)),
    integer(plan.serial),
    algorithm.der,
    plan.issuer,
    sequence(time(plan.notBefore), time(plan.notAfter)),
    plan.subject,
    plan.spki,
    ...(plan.extensions.length > 0 ? [explicit(3, encodeExtensions(plan.extensions))] : []),
  );
  return signed(body, plan.signingKey, algorithm);
}

export interface RequestPlan {
  readonly subject: Buffer;
  readonly spki: Buffer;
  readonly extensions: Extension[];
  readonly key: KeyObject;
}

export function planRequest(args: CertArgs): RequestPlan {
  const key = loadPrivateKey(text(args, 'private_key'), text(args, 'private_key_passphrase'));
  const spki = publicDer(key);
  return {
    key,
    spki,
    subject: encodeName(args['subject'] || (args as Value)),
    extensions: buildExtensions(args, { subjectKey: spki }, onlyForIssuers),
  };
}

export function signRequest(plan: RequestPlan, digest: string): Buffer {
  const algorithm = algorithmFor(plan.key, digest);
  const asked =
    plan.extensions.length > 0
      ? explicit(0, sequence(oid('1.2.840.113549.1.9.14'), set(encodeExtensions(plan.extensions))))
      : explicit(0);
  return signed(sequence(integer(0n), plan.subject, plan.spki, asked), plan.key, algorithm);
}
