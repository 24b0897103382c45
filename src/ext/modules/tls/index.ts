// Execution module `tls`: authorities and certificates kept in one folder.

import { join } from 'node:path';
import { defineModule, fn, newDict, p, pyStr } from 'halite/sdk';
import { mkdirSync, pathExists, replaceSecretNow, writeFileSync } from 'halite/sdk/fs';
import { authorityFunctions, basePath, contextKey, record, subjectOf, subjectParams } from './authority.ts';

const cacert_path = p.path({ default: null, doc: 'another folder' });

export default defineModule({
  name: 'tls',
  doc: 'Certificate authorities and certificates in one folder.',
  reads: ['cert_base_path', 'ca_exists', 'get_ca', 'get_ca_signed_cert', 'get_ca_signed_key'],
  functions: {
    cert_base_path: fn({
      doc: 'The folder of certificates.',
      examples: ["salt '*' tls.cert_base_path"],
      params: { cacert_path },
      run: (args, ctx) => basePath(args.cacert_path, ctx),
    }),
    set_ca_path: fn({
      doc: 'Chooses the folder for the rest of the job.',
      examples: ["salt '*' tls.set_ca_path /etc/certs"],
      params: { cacert_path },
      run(args, ctx) {
        if (args.cacert_path) ctx.cache.set(contextKey, args.cacert_path);
        return basePath(null, ctx);
      },
    }),
    ...authorityFunctions,
    create_self_signed_cert: fn({
      doc: 'Creates a key and a certificate signed with it.',
      examples: ["salt '*' tls.create_self_signed_cert CN='test.mysite.org'"],
      params: {
        tls_dir: p.string({ default: 'tls', doc: 'folder below the base' }),
        bits: p.int({ default: 2048, doc: 'size of the key' }),
        days: p.int({ default: 365, fractions: 'cut', doc: 'how long it is valid' }),
        CN: p.string({ default: 'localhost', doc: 'common name' }),
        ...subjectParams,
        cacert_path,
        cert_filename: p.string({ default: null, doc: 'name of the files; by default the common name' }),
        digest: p.string({ default: 'sha256', doc: 'digest' }),
        replace: p.bool({ default: false, doc: 'also if it exists' }),
      },
      async run(args, ctx) {
        const folder = join(await basePath(args.cacert_path, ctx), args.tls_dir, 'certs');
        mkdirSync(folder, { recursive: true });
        const name = args.cert_filename || args.CN;
        const [keyFile, certFile] = [join(folder, `${name}.key`), join(folder, `${name}.crt`)];
        if (!args.replace && pathExists(certFile)) return `Certificate "${name}" already exists`;
        const key = pyStr(await ctx.callWith('x509.create_private_key', [], newDict([['keysize', args.bits]])));
        const kwargs = newDict([
          ['signing_private_key', key],
          ['days_valid', args.days],
          ['digest', args.digest],
          ...subjectOf(args),
        ]);
        const cert = pyStr(await ctx.callWith('x509.create_certificate', [], kwargs));
        replaceSecretNow(keyFile, `${key.trimEnd()}\n`);
        writeFileSync(certFile, `${cert.trimEnd()}\n`, { mode: 0o644 });
        record(join(folder, '..'), cert);
        return `Created Private Key: "${keyFile}" Created Certificate: "${certFile}"`;
      },
    }),
  },
});
