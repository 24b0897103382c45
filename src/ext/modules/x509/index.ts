// Execution module `x509`: private keys, requests and certificates.
import type { KeyObject, X509Certificate } from 'node:crypto';
import {
  commandError,
  defineModule,
  fn,
  invocationError,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { existsSync, replaceSecretNow, writeFileSync } from 'halite/sdk/fs';
import { generateKey, planRequest, signRequest } from '../../shared/x509/build.ts';
import {
  bytesOf,
  isPath,
  keySize,
  loadCertificate,
  loadPrivateKey,
  loadPublicKey,
  pemBody,
  publicDer,
  toPem,
} from '../../shared/x509/load.ts';
import { nameDict } from '../../shared/x509/names.ts';
import { pemEntry, writePem } from '../../shared/x509/pem.ts';
import { policyFor, shortened } from '../../shared/x509/policy.ts';
import { certificateShown, parseCertificate, requestShown } from '../../shared/x509/read.ts';
import { manyFunctions } from './many.ts';
import { makeCertificate, requestLabel, signForOther } from './signing.ts';

const encoding = p.string({ default: 'pem', doc: 'pem or der' });
const path = p.string({ default: null, doc: 'write it there' });
const raw = p.bool({ default: false, doc: 'return the bytes' });
const passphrase = p.string({ default: null, doc: 'passphrase of the key' });
const certificate = p.scalar({ nullable: true, doc: 'a certificate: a path, PEM or DER' });

/** The returned form: text, base64 of DER, or bytes. */
function delivered(der: Buffer, kind: string, how: string, asBytes: boolean): Value {
  if (how !== 'pem' && how !== 'der') throw commandError(`Invalid value '${how}' for encoding. Valid: der, pem`);
  const text = how === 'pem' ? toPem(der, kind) : undefined;
  if (asBytes) return text === undefined ? der : Buffer.from(text);
  return text ?? der.toString('base64');
}

function written(der: Buffer, kind: string, how: string, target: Value, mode = 0o644): Value {
  if (how === 'pem') return writePem(toPem(der, kind), pyStr(target), kind, true);
  writeFileSync(pyStr(target), der, { mode });
  return `${kind === 'CERTIFICATE' ? 'Certificate' : 'CSR'} written to ${pyStr(target)}`;
}

/** A private key in PKCS #8, encrypted if there is a passphrase. */
function encodedKey(key: KeyObject, how: string, secret: Value, asBytes: boolean): Value {
  if (how !== 'pem' && how !== 'der') throw commandError(`Invalid value '${how}' for encoding. Valid: der, pem`);
  const lock = secret === null ? {} : { cipher: 'aes-256-cbc', passphrase: pyStr(secret) };
  if (how === 'pem') {
    const text = key.export({ type: 'pkcs8', format: 'pem', ...lock });
    return asBytes ? Buffer.from(text) : text;
  }
  const der = key.export({ type: 'pkcs8', format: 'der', ...lock });
  return asBytes ? der : der.toString('base64');
}

const expiresWithin = (cert: X509Certificate, days: number): boolean =>
  parseCertificate(cert.raw).notAfter.getTime() <= Date.now() + days * 86_400_000;

/** `path` and `cn` of a certificate, if it has them. */
function about(value: Value): [string, Value][] {
  const cn = nameDict(parseCertificate(loadCertificate(value).raw).subject)['CN'];
  return [
    ...(isPath(value) ? [['path', value] as [string, Value]] : []),
    ...(cn === undefined ? [] : [['cn', cn] as [string, Value]]),
  ];
}

const makingFunctions = {
  create_private_key: fn({
    doc: 'Creates a private key.',
    examples: [
      "salt '*' x509.create_private_key algo=ec keysize=384",
      "salt '*' x509.create_private_key path=/etc/pki/my.key",
    ],
    params: {
      algo: p.string({ default: 'rsa', doc: 'rsa, ec, ed25519 or ed448' }),
      keysize: p.scalar({ default: null, doc: 'bits' }),
      passphrase,
      encoding,
      pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
      path,
      raw,
      kwargs: p.kwargs({ doc: 'bits: another name of keysize' }),
    },
    run(args) {
      const key = generateKey(args.algo, args.keysize ?? args.kwargs['bits'] ?? null);
      if (args.path === null) return encodedKey(key, args.encoding, args.passphrase, args.raw);
      replaceSecretNow(pyStr(args.path), encodedKey(key, args.encoding, args.passphrase, true) as Buffer);
      return args.encoding === 'pem' ? `PEM written to ${pyStr(args.path)}` : null;
    },
  }),
  encode_private_key: fn({
    doc: 'A private key in another form or with another passphrase.',
    examples: ["salt '*' x509.encode_private_key /etc/pki/my.key encoding=der"],
    params: {
      private_key: p.scalar({ nullable: true, doc: 'the key' }),
      encoding,
      passphrase: p.string({ default: null, doc: 'new passphrase' }),
      private_key_passphrase: p.string({ default: null, doc: 'present passphrase' }),
      pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
      raw,
    },
    run: (args) =>
      encodedKey(
        loadPrivateKey(args.private_key, args.private_key_passphrase),
        args.encoding,
        args.passphrase,
        args.raw,
      ),
  }),
  create_csr: fn({
    doc: 'Creates a request for a certificate: CN, O, … and extensions by name.',
    examples: ["salt '*' x509.create_csr private_key=/etc/pki/my.key CN=www.example.com"],
    params: {
      private_key: p.scalar({ nullable: true, doc: 'the key' }),
      private_key_passphrase: passphrase,
      digest: p.string({ default: 'sha256', doc: 'hash of the signature' }),
      encoding,
      path,
      raw,
      kwargs: p.kwargs({ doc: 'subject, CN, O, …, basicConstraints, subjectAltName, …' }),
    },
    run({ kwargs, ...args }) {
      const all = { digest: args.digest, ...shortened(kwargs) };
      const { private_key, private_key_passphrase } = args;
      const der = signRequest(planRequest({ ...all, private_key, private_key_passphrase }), all.digest);
      if (args.path !== null) return written(der, 'CERTIFICATE REQUEST', args.encoding, args.path);
      return delivered(der, 'CERTIFICATE REQUEST', args.encoding, args.raw);
    },
  }),
  encode_csr: fn({
    doc: 'A request in another form.',
    examples: ["salt '*' x509.encode_csr /etc/pki/my.csr der"],
    params: { csr: p.scalar({ nullable: true, doc: 'the request' }), encoding, raw },
    run: (args) => delivered(pemBody(bytesOf(args.csr), requestLabel), 'CERTIFICATE REQUEST', args.encoding, args.raw),
  }),
  create_certificate: fn({
    doc: 'Creates a certificate: signed by a key here, or by another minion (ca_server).',
    examples: ["salt '*' x509.create_certificate signing_private_key=/etc/pki/ca.key CN=www.example.com days_valid=90"],
    params: {
      ca_server: p.string({ default: null, falsy: null, doc: 'minion that signs' }),
      signing_policy: p.string({ default: null, doc: 'name of a policy in x509_signing_policies' }),
      encoding,
      append_certs: p.oneOf(['list', 'string'], { default: null, falsy: null, doc: 'certificates to append' }),
      pkcs12_passphrase: p.ignored({ default: null, doc: 'no effect' }),
      pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
      pkcs12_friendlyname: p.ignored({ default: null, doc: 'no effect' }),
      path,
      overwrite: p.bool({ default: true, doc: 'also if the file exists' }),
      raw,
      kwargs: p.kwargs({
        doc: 'signing_private_key, signing_cert, private_key, public_key, csr, subject, CN, …, days_valid, not_after, digest, basicConstraints, …',
      }),
    },
    async run(args, ctx) {
      if (args.encoding === 'der' && args.append_certs)
        throw invocationError('Cannot encode a certificate chain in DER');
      if (args.path !== null && !args.overwrite && existsSync(pyStr(args.path)))
        return `The file at ${pyStr(args.path)} exists and overwrite was set to false`;
      const der = await makeCertificate(args, ctx);
      if (args.path !== null) return written(der, 'CERTIFICATE', args.encoding, args.path);
      return withChain(delivered(der, 'CERTIFICATE', args.encoding, args.raw), args.append_certs);
    },
  }),
  encode_certificate: fn({
    doc: 'A certificate in another form.',
    examples: ["salt '*' x509.encode_certificate /etc/pki/my.crt der"],
    params: {
      certificate,
      encoding,
      append_certs: p.oneOf(['list', 'string'], { default: null, falsy: null, doc: 'certificates to append' }),
      raw,
    },
    run: (args) =>
      withChain(
        delivered(loadCertificate(args.certificate).raw, 'CERTIFICATE', args.encoding, args.raw),
        args.append_certs,
      ),
  }),
  sign_remote_certificate: fn({
    doc: 'Signs a certificate for another minion, which asks through the master.',
    examples: ["salt '*' x509.sign_remote_certificate www '{CN: example.com}'"],
    params: {
      signing_policy: p.string({ nullable: true, doc: 'name of the policy' }),
      kwargs: p.dict({ nullable: true, doc: 'what is asked for' }),
      get_signing_policy_only: p.bool({ default: false, doc: 'only the policy' }),
      more_kwargs: p.kwargs({ doc: 'the requesting minion' }),
    },
    run: (args, ctx) =>
      signForOther(
        args.signing_policy,
        newDict(Object.entries((args.kwargs ?? {}) as PlainDict)),
        args.get_signing_policy_only,
        args.more_kwargs['__pub_id'] ?? null,
        ctx,
      ),
  }),
};

/** PEM followed by further certificates. */
function withChain(first: Value, more: Value): Value {
  const list = Array.isArray(more) ? more : more ? [more] : [];
  if (list.length === 0 || typeof first !== 'string') return first;
  return [first.trimEnd(), ...list.map((one) => toPem(loadCertificate(one).raw, 'CERTIFICATE').trimEnd()), ''].join(
    '\n',
  );
}

const readingFunctions = {
  read_certificate: fn({
    doc: 'Details of a certificate.',
    examples: ["salt '*' x509.read_certificate /etc/pki/my.crt"],
    params: { certificate },
    run: (args, ctx) => certificateShown(loadCertificate(args.certificate), ctx.opts['fips_mode'] === true),
  }),
  read_csr: fn({
    doc: 'Details of a request.',
    examples: ["salt '*' x509.read_csr /etc/pki/my.csr"],
    params: { csr: p.scalar({ nullable: true, doc: 'the request' }) },
    run: (args) => requestShown(pemBody(bytesOf(args.csr), requestLabel)),
  }),
  get_public_key: fn({
    doc: 'The public key of a key, a certificate or a request.',
    examples: ["salt '*' x509.get_public_key /etc/pki/my.key"],
    params: {
      key: p.scalar({ nullable: true, doc: 'where it is' }),
      passphrase,
      asObj: p.ignored({ default: null, doc: 'no effect' }),
    },
    run: (args) => toPem(publicDer(loadPublicKey(args.key, args.passphrase)), 'PUBLIC KEY'),
  }),
  get_private_key_size: fn({
    doc: 'The bits of a private key.',
    examples: ["salt '*' x509.get_private_key_size /etc/pki/my.key"],
    params: { private_key: p.scalar({ nullable: true, doc: 'the key' }), passphrase },
    run: (args) => keySize(loadPrivateKey(args.private_key, args.passphrase)),
  }),
  get_signing_policy: fn({
    doc: 'A signing policy, local or from the signing minion.',
    examples: ["salt '*' x509.get_signing_policy www"],
    params: {
      signing_policy: p.string({ doc: 'its name' }),
      ca_server: p.string({ default: null, doc: 'minion that signs' }),
    },
    run: (args, ctx) => policyFor(args.signing_policy, args.ca_server, ctx),
  }),
  verify_private_key: fn({
    doc: 'Whether a private key belongs to a public key.',
    examples: ["salt '*' x509.verify_private_key /etc/pki/my.key /etc/pki/my.crt"],
    params: {
      private_key: p.scalar({ nullable: true, doc: 'the key' }),
      public_key: p.scalar({ nullable: true, doc: 'the other' }),
      passphrase,
    },
    run: (args) =>
      publicDer(loadPrivateKey(args.private_key, args.passphrase)).equals(publicDer(loadPublicKey(args.public_key))),
  }),
  verify_signature: fn({
    doc: 'Whether a certificate is signed by a key; by itself if none is named.',
    examples: ["salt '*' x509.verify_signature /etc/pki/my.crt /etc/pki/ca.crt"],
    params: {
      certificate,
      signing_pub_key: p.scalar({ default: null, doc: 'the key, or a certificate' }),
      signing_pub_key_passphrase: passphrase,
    },
    run: (args) =>
      loadCertificate(args.certificate).verify(
        loadPublicKey(args.signing_pub_key ?? args.certificate, args.signing_pub_key_passphrase),
      ),
  }),
  expires: fn({
    doc: 'Whether a certificate expires within some days.',
    examples: ["salt '*' x509.expires /etc/pki/my.crt days=7"],
    params: { certificate, days: p.float({ default: 0, doc: 'days' }) },
    run: (args) => expiresWithin(loadCertificate(args.certificate), args.days),
  }),
  expired: fn({
    doc: 'Whether a certificate has expired, with its name.',
    examples: ["salt '*' x509.expired /etc/pki/my.crt"],
    params: { certificate },
    run: (args) =>
      newDict([...about(args.certificate), ['expired', expiresWithin(loadCertificate(args.certificate), 0)]]),
  }),
  will_expire: fn({
    doc: 'Whether a certificate will expire within some days, with its name.',
    examples: ["salt '*' x509.will_expire /etc/pki/my.crt 7"],
    params: { certificate, days: p.float({ doc: 'days' }) },
    run: (args) =>
      newDict([
        ['check_days', args.days],
        ...about(args.certificate),
        ['will_expire', expiresWithin(loadCertificate(args.certificate), args.days)],
      ]),
  }),
  get_pem_entry: fn({
    doc: 'One PEM block, normalized.',
    examples: ["salt '*' x509.get_pem_entry /etc/pki/my.crt CERTIFICATE"],
    params: {
      text: p.scalar({ nullable: true, doc: 'text or path' }),
      pem_type: p.string({ default: null, falsy: null, doc: 'its kind' }),
    },
    run: (args) => pemEntry(bytesOf(args.text).toString('utf8'), args.pem_type),
  }),
  write_pem: fn({
    doc: 'Writes one block of PEM to a file.',
    examples: ["salt '*' x509.write_pem '-----BEGIN CERTIFICATE-----…' path=/etc/pki/my.crt"],
    params: {
      text: p.scalar({ nullable: true, doc: 'text or path' }),
      path: p.string({ doc: 'the destination' }),
      overwrite: p.bool({ default: true, doc: 'do not keep a key that is in the file' }),
      pem_type: p.string({ default: null, falsy: null, doc: 'its kind' }),
    },
    run: (args) => writePem(bytesOf(args.text).toString('utf8'), args.path, args.pem_type, args.overwrite),
  }),
};

export default defineModule({
  name: 'x509',
  doc: 'Private keys, requests and certificates.',
  reads: [
    'read_certificate',
    'read_csr',
    'get_public_key',
    'get_private_key_size',
    'get_signing_policy',
    'verify_private_key',
    'verify_signature',
    'expires',
    'expired',
    'will_expire',
    'get_pem_entry',
    'get_pem_entries',
    'read_certificates',
  ],
  functions: {
    ...makingFunctions,
    ...readingFunctions,
    ...manyFunctions(
      (path) => pemEntry(bytesOf(path).toString('utf8'), null),
      (path) => certificateShown(loadCertificate(path), false),
    ),
  },
});
