// State module `x509`: private keys, requests and certificates in files.
import { defineState, newDict, p, state, type Value } from 'halite/sdk';
import { bytesOf } from '../../shared/x509/load.ts';
import { pemEntry } from '../../shared/x509/pem.ts';
import { certificateManaged } from '../shared/x509-certificate.ts';
import { guarded, privateKeyManaged, requestManaged, splitArgs } from '../shared/x509-files.ts';

const name = p.path({ doc: 'the file' });
const encoding = p.string({ default: 'pem', doc: 'pem or der' });
const passphrase = p.any({ default: null, doc: 'passphrase of the key' });
const digest = p.string({ default: 'sha256', doc: 'hash of the signature' });
const optional = (doc: string) => p.any({ default: null, doc });

export default defineState({
  name: 'x509',
  doc: 'Private keys, requests and certificates in files.',
  functions: {
    private_key_managed: state({
      doc: 'A file with a private key of this kind. The key stays as it is unless something else is asked for.',
      examples: ['/etc/pki/www.key:\n  x509.private_key_managed:\n    - keysize: 4096\n    - mode: "0400"'],
      params: {
        name,
        algo: p.string({ default: 'rsa', doc: 'rsa, ec, ed25519 or ed448' }),
        keysize: optional('bits'),
        passphrase,
        encoding,
        new: p.bool({ default: false, doc: 'always a new one' }),
        overwrite: p.bool({ default: false, doc: 'also what cannot be read' }),
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
        private_key: p.any({ doc: 'the key' }),
        private_key_passphrase: passphrase,
        digest,
        encoding,
        subject: optional('the name: text, list or dictionary'),
        kwargs: p.kwargs({ doc: 'CN, O, …, extensions, and arguments of file.managed' }),
      },
      run: (args, ctx) => requestManaged(args, ctx),
    }),
    certificate_managed: state({
      doc: 'A file with a certificate, made anew before it expires.',
      examples: [
        '/etc/pki/ca.crt:\n  x509.certificate_managed:\n    - signing_private_key: /etc/pki/ca.key\n    - CN: ca.example.com\n    - basicConstraints: critical, CA:true\n    - days_valid: 3650\n    - days_remaining: 90',
      ],
      params: {
        name,
        days_remaining: optional('days before the end at which it is made anew (90)'),
        ca_server: optional('minion that signs'),
        signing_policy: optional('name of a policy in x509_signing_policies'),
        encoding,
        append_certs: optional('certificates to put behind it'),
        digest,
        signing_private_key: optional('key that signs'),
        signing_private_key_passphrase: optional('its passphrase'),
        signing_cert: optional('certificate of the issuer; without it the certificate signs itself'),
        public_key: optional('public key it is for'),
        private_key: optional('private key it is for'),
        private_key_passphrase: passphrase,
        csr: optional('request it is for'),
        subject: optional('the name: text, list or dictionary'),
        serial_number: optional('its number'),
        not_before: optional('from when: 2026-01-31 12:00:00'),
        not_after: optional('until when'),
        days_valid: optional('how many days (365)'),
        pkcs12_passphrase: optional('no effect'),
        pkcs12_encryption_compat: p.bool({ default: false, doc: 'no effect' }),
        pkcs12_friendlyname: optional('no effect'),
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
      doc: 'A file with PEM of this text, tidied up.',
      examples: ['/etc/pki/ca.crt:\n  x509.pem_managed:\n    - text: {{ salt["pillar.get"]("ca") | json }}'],
      params: {
        name,
        text: p.any({ doc: 'the text, or a path' }),
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
