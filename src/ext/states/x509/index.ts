// State module `x509`: private keys, requests and certificates in files.
import { defineState, newDict, p, state, type Value } from 'halite/sdk';
import { bytesOf } from '../../shared/x509/load.ts';
import { pemEntry } from '../../shared/x509/pem.ts';
import { certificateManaged } from '../shared/x509-certificate.ts';
import { guarded, privateKeyManaged, requestManaged, splitArgs } from '../shared/x509-files.ts';

const name = p.path({ doc: 'the file' });
const encoding = p.string({ default: 'pem', doc: 'pem or der' });
const passphrase = p.scalar({ default: null, doc: 'passphrase of the key' });
const digest = p.string({ default: 'sha256', doc: 'hash of the signature' });

export default defineState({
  name: 'x509',
  doc: 'Private keys, requests and certificates in files.',
  functions: {
    private_key_managed: state({
      doc: 'A file with a private key of this kind. An existing key is kept unless it differs from the arguments.',
      examples: ['/etc/pki/www.key:\n  x509.private_key_managed:\n    - keysize: 4096\n    - mode: "0400"'],
      params: {
        name,
        algo: p.string({ default: 'rsa', doc: 'rsa, ec, ed25519 or ed448' }),
        keysize: p.scalar({ default: null, doc: 'bits' }),
        passphrase,
        encoding,
        new: p.bool({ default: false, doc: 'always a new one' }),
        overwrite: p.bool({ default: false, doc: 'also replace an unreadable file' }),
        pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
        kwargs: p.kwargs({ doc: 'arguments of file.managed; bits: another name of keysize' }),
      },
      run: (args, ctx) => privateKeyManaged(args, ctx),
    }),
    csr_managed: state({
      doc: 'A file with a request for a certificate.',
      examples: [
        '/etc/pki/www.csr:\n  x509.csr_managed:\n    - private_key: /etc/pki/www.key\n    - CN: www.example.com',
      ],
      params: {
        name,
        private_key: p.scalar({ nullable: true, doc: 'the key' }),
        private_key_passphrase: passphrase,
        digest,
        encoding,
        subject: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'the name: text, list or dictionary' }),
        kwargs: p.kwargs({ doc: 'CN, O, …, extensions, and arguments of file.managed' }),
      },
      run: (args, ctx) => requestManaged(args, ctx),
    }),
    certificate_managed: state({
      doc: 'A file with a certificate, which is renewed before it expires.',
      examples: [
        '/etc/pki/ca.crt:\n  x509.certificate_managed:\n    - signing_private_key: /etc/pki/ca.key\n    - CN: ca.example.com\n    - basicConstraints: critical, CA:true\n    - days_valid: 3650\n    - days_remaining: 90',
      ],
      params: {
        name,
        days_remaining: p.scalar({ default: null, doc: 'days before expiry at which it is renewed (90)' }),
        ca_server: p.scalar({ default: null, doc: 'minion that signs' }),
        signing_policy: p.scalar({ default: null, doc: 'name of a policy in x509_signing_policies' }),
        encoding,
        append_certs: p.oneOf(['list', 'string'], { default: null, doc: 'certificates to append' }),
        digest,
        signing_private_key: p.scalar({ default: null, doc: 'key that signs' }),
        signing_private_key_passphrase: p.scalar({ default: null, doc: 'its passphrase' }),
        signing_cert: p.scalar({
          default: null,
          doc: 'certificate of the issuer; without it the certificate is self-signed',
        }),
        public_key: p.scalar({ default: null, doc: 'public key it is for' }),
        private_key: p.scalar({ default: null, doc: 'private key it is for' }),
        private_key_passphrase: passphrase,
        csr: p.scalar({ default: null, doc: 'request it is for' }),
        subject: p.oneOf(['string', 'list', 'dict'], { default: null, doc: 'the name: text, list or dictionary' }),
        serial_number: p.scalar({ default: null, doc: 'its number' }),
        not_before: p.scalar({ default: null, doc: 'from when: 2026-01-31 12:00:00' }),
        not_after: p.scalar({ default: null, doc: 'until when' }),
        days_valid: p.scalar({ default: null, doc: 'how many days (365)' }),
        pkcs12_passphrase: p.ignored({ default: null, doc: 'no effect' }),
        pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
        pkcs12_friendlyname: p.ignored({ default: null, doc: 'no effect' }),
        kwargs: p.kwargs({ doc: 'CN, O, …, extensions, and arguments of file.managed' }),
      },
      run(
        { name: path, days_remaining, ca_server, signing_policy, encoding: form, append_certs, kwargs, ...rest },
        ctx,
      ) {
        const { pkcs12_passphrase: _p, pkcs12_encryption_compat: _c, pkcs12_friendlyname: _f, ...wanted } = rest;
        const common = { name: path, days_remaining, ca_server, signing_policy, encoding: form, append_certs, kwargs };
        return certificateManaged({ ...common, wanted: newDict(Object.entries(wanted) as [string, Value][]) }, ctx);
      },
    }),
    pem_managed: state({
      doc: 'A file with the normalized PEM of this text.',
      examples: ['/etc/pki/ca.crt:\n  x509.pem_managed:\n    - text: {{ salt["pillar.get"]("ca") | json }}'],
      params: {
        name,
        text: p.scalar({ nullable: true, doc: 'the text, or a path' }),
        kwargs: p.kwargs({ doc: 'arguments of file.managed' }),
      },
      run: (args, ctx) =>
        guarded(ctx, async () => {
          const { file, rest } = splitArgs(args.kwargs);
          const contents = pemEntry(bytesOf(args.text).toString('utf8'), null);
          return ctx.state('file.managed', { name: args.name, ...file, ...rest, contents });
        }),
    }),
  },
});
