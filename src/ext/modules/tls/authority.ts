// Functions of `tls` for certificate authorities: create them and requests, sign certificates, and list them in index.txt.
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import {
  type ArgsOf,
  fn,
  isDict,
  isTruthy,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { appendFileSync, mkdirSync, pathExists, readFileSync, replaceSecretNow } from 'halite/sdk/fs';

export const contextKey = 'tls.cert_base_path';

/** The folder of certificates: the one set last, the option `ca.cert_base_path`, or the default. */
export async function basePath(given: string | null, ctx: ModuleContext): Promise<string> {
  if (given) return given;
  const kept = ctx.cache.get(contextKey);
  if (typeof kept === 'string') return kept;
  return pyStr((await ctx.call('config.option', 'ca.cert_base_path')) || '/etc/pki');
}

export const subjectParams = {
  C: p.string({ default: 'US', doc: 'country' }),
  ST: p.string({ default: 'Utah', doc: 'state' }),
  L: p.string({ default: 'Salt Lake City', doc: 'locality' }),
  O: p.string({ default: 'SaltStack', doc: 'organization' }),
  OU: p.string({ default: null, doc: 'unit' }),
  emailAddress: p.string({ default: null, doc: 'address' }),
};

/** Parts of the subject that are given, in the usual order. */
export function subjectOf(args: ArgsOf<typeof subjectParams> & { CN: string }): [string, Value][] {
  const { C, ST, L, O, OU, CN, emailAddress } = args;
  return Object.entries({ C, ST, L, O, OU, CN, emailAddress }).filter(([, value]) => isTruthy(value));
}

/** A line for the certificate in the list that OpenSSL keeps of an authority. */
export function record(folder: string, pem: string): void {
  const cert = new X509Certificate(pem);
  const until = new Date(cert.validTo)
    .toISOString()
    .replace(/[-:T]|\.\d+/g, '')
    .slice(2);
  const subject = (cert.subject ?? '').split('\n').join('/');
  appendFileSync(join(folder, 'index.txt'), `V\t${until}\t\t${cert.serialNumber}\tunknown\t/${subject}\n`);
}

const write = (path: string, pem: string, mode: number): void => replaceSecretNow(path, `${pem.trimEnd()}\n`, mode);

/** The condition for a call: a command, or a value. */
async function holds(condition: Value, ctx: ModuleContext): Promise<boolean> {
  return typeof condition === 'string' ? (await ctx.call('cmd.retcode', condition)) === 0 : isTruthy(condition);
}

const usual: Readonly<Record<string, PlainDict>> = {
  server: newDict(Object.entries({ extendedKeyUsage: 'serverAuth', keyUsage: 'digitalSignature, keyEncipherment' })),
  client: newDict(
    Object.entries({
      extendedKeyUsage: 'clientAuth',
      keyUsage: 'nonRepudiation, digitalSignature, keyEncipherment',
    }),
  ),
};

/** Extensions for a kind of certificate: those of the pillar, or the defaults. */
async function extensionsFor(kind: string, ctx: ModuleContext): Promise<PlainDict> {
  const of = async (name: string, otherwise: PlainDict): Promise<PlainDict> => {
    const given = await ctx.call('pillar.get', `tls.extensions:${name}`, false);
    const csr = isDict(given) ? (given as PlainDict)['csr'] : undefined;
    return csr !== undefined && isDict(csr) ? newDict(Object.entries(csr)) : otherwise;
  };
  const common = await of('common', newDict([['basicConstraints', 'CA:FALSE']]));
  return newDict([...Object.entries(common), ...Object.entries(await of(kind, usual[kind] ?? newDict()))]);
}

const ca_name = p.string({ doc: 'the authority' });
const cacert_path = p.path({ default: null, doc: 'another folder' });
const ca_filename = p.string({ default: null, doc: 'name of its files' });
const digest = p.string({ default: 'sha256', doc: 'digest' });
const bits = p.int({ default: 2048, doc: 'size of the key' });
const days = p.int({ default: 365, fractions: 'cut', doc: 'how long it is valid' });
const replace = p.bool({ default: false, doc: 'also if it exists' });
const CN = p.string({ default: 'localhost', doc: 'common name' });
const cert_type = p.string({ default: 'server', doc: 'server or client' });
const type_ext = p.bool({ default: false, doc: 'append the kind to the name' });

interface Authority {
  readonly ca_name: string;
  readonly cacert_path: string | null;
  readonly ca_filename?: string | null;
}

/** Folder, certificate and key of an authority. */
async function placesOf(args: Authority, ctx: ModuleContext): Promise<{ folder: string; cert: string; key: string }> {
  if (args.cacert_path) ctx.cache.set(contextKey, args.cacert_path);
  const folder = `${await basePath(null, ctx)}/${args.ca_name}`;
  const file = `${folder}/${args.ca_filename || `${args.ca_name}_ca_cert`}`;
  return { folder, cert: `${file}.crt`, key: `${file}.key` };
}

const newKey = async (size: number, ctx: ModuleContext): Promise<string> =>
  pyStr(await ctx.callWith('x509.create_private_key', [], newDict([['keysize', size]])));

const create_ca = fn({
  doc: 'Creates an authority: a key, and a certificate that may sign others.',
  examples: ["salt '*' tls.create_ca test_ca CN=ca.example.com"],
  params: {
    ca_name,
    bits,
    days,
    CN,
    ...subjectParams,
    fixmode: p.bool({ default: false, doc: 'renew the certificate of an existing one' }),
    cacert_path,
    ca_filename,
    digest,
    onlyif: p.oneOf(['bool', 'string'], { default: null, doc: 'only when this holds' }),
    unless: p.oneOf(['bool', 'string'], { default: null, doc: 'only when this does not hold' }),
    replace,
  },
  async run(args, ctx) {
    if (args.onlyif !== null && !(await holds(args.onlyif, ctx))) return null;
    if (args.unless !== null && (await holds(args.unless, ctx))) return null;
    const { folder, cert: certFile, key: keyFile } = await placesOf(args, ctx);
    if (!args.replace && !args.fixmode && pathExists(certFile))
      return `Certificate for CA named "${args.ca_name}" already exists`;
    if (args.fixmode && !pathExists(certFile))
      throw pythonError('ValueError', `${certFile} does not exists, can't fix`);
    mkdirSync(folder, { recursive: true });
    // An existing key is kept, so that its signatures stay valid.
    const key = pathExists(keyFile) ? readFileSync(keyFile, 'utf8') : await newKey(args.bits, ctx);
    const kwargs = newDict([
      ['signing_private_key', key],
      ['days_valid', args.days],
      ['digest', args.digest],
      ...subjectOf(args),
      ['basicConstraints', 'critical, CA:TRUE, pathlen:0'],
      ['keyUsage', 'critical, keyCertSign, cRLSign'],
      ['subjectKeyIdentifier', 'hash'],
    ]);
    const cert = pyStr(await ctx.callWith('x509.create_certificate', [], kwargs));
    write(keyFile, key, 0o600);
    write(certFile, cert, 0o644);
    record(folder, cert);
    return `Created Private Key: "${keyFile}" Created CA "${args.ca_name}": "${certFile}"`;
  },
});

const create_csr = fn({
  doc: 'Creates a key and a request for a certificate.',
  examples: ["salt '*' tls.create_csr test_ca CN=www.example.com"],
  params: {
    ca_name,
    bits,
    CN,
    ...subjectParams,
    subjectAltName: p.strings({ default: null, falsy: null, doc: 'other names, `DNS:…` or `IP:…`' }),
    cacert_path,
    ca_filename,
    csr_path: p.path({ default: null, doc: 'folder for the request' }),
    csr_filename: p.string({ default: null, doc: 'name of the files' }),
    digest,
    type_ext,
    cert_type,
    replace,
  },
  async run(args, ctx) {
    const { folder, cert } = await placesOf(args, ctx);
    if (!pathExists(cert)) return `Certificate for CA named "${args.ca_name}" does not exist, please create it first.`;
    const into = args.csr_path || `${folder}/certs/`;
    mkdirSync(into, { recursive: true });
    const file = args.csr_filename || `${args.CN}${args.type_ext ? `_${args.cert_type}` : ''}`;
    if (!args.replace && pathExists(join(into, `${file}.csr`)))
      return `Certificate Request "${into}/${file}.csr" already exists`;
    const key = await newKey(args.bits, ctx);
    const names = (Array.isArray(args.subjectAltName) ? args.subjectAltName : [args.subjectAltName]).filter(isTruthy);
    const kwargs = newDict([
      ['private_key', key],
      ['digest', args.digest],
      ...subjectOf(args),
      ...Object.entries(await extensionsFor(args.cert_type || 'server', ctx)),
      ...(names.length > 0 ? [['subjectAltName', names.map(pyStr).join(', ')] as [string, Value]] : []),
    ]);
    const request = pyStr(await ctx.callWith('x509.create_csr', [], kwargs));
    write(join(into, `${file}.key`), key, 0o600);
    write(join(into, `${file}.csr`), request, 0o644);
    const path = join(into, file);
    return `Created Private Key: "${path}.key" Created CSR for "${args.CN}": "${path}.csr"`;
  },
});

const create_ca_signed_cert = fn({
  doc: 'Signs the request of that name.',
  examples: ["salt '*' tls.create_ca_signed_cert test_ca www.example.com"],
  params: {
    ca_name,
    CN: p.string({ doc: 'common name' }),
    days,
    cacert_path,
    ca_filename,
    cert_path: p.path({ default: null, doc: 'folder of the request and the certificate' }),
    cert_filename: p.string({ default: null, doc: 'name of the certificate' }),
    digest,
    cert_type: p.string({ default: null, doc: 'server or client' }),
    type_ext,
    replace,
  },
  async run(args, ctx) {
    const { folder, cert: caCert, key: caKey } = await placesOf(args, ctx);
    const into = args.cert_path || `${folder}/certs`;
    if (args.type_ext && !args.cert_type) {
      ctx.log.error('type_ext = True but cert_type is unset. Certificate not written.');
      return newDict();
    }
    const requestName = `${args.CN}${args.type_ext ? `_${args.cert_type}` : ''}`;
    const file = args.cert_filename || requestName;
    if (!args.replace && pathExists(`${folder}/certs/${file}.crt`)) return `Certificate "${file}" already exists`;
    const problem = (comment: string): PlainDict => newDict(Object.entries({ retcode: 1, comment }));
    if (!pathExists(caCert) || !pathExists(caKey)) return problem(`There is no CA named "${args.ca_name}"`);
    const csr = `${into}/${requestName}.csr`;
    if (!pathExists(csr)) return problem(`There is no CSR that matches the CN "${file}"`);
    const asked = (await ctx.call('x509.read_csr', csr)) as PlainDict;
    const subject = asked['subject'] ?? null;
    const kwargs = newDict([
      ...Object.entries({ signing_private_key: caKey, signing_cert: caCert, csr, days_valid: args.days }),
      ['digest', args.digest],
      ...(isDict(subject) ? Object.entries(subject as PlainDict) : []),
    ]);
    const cert = pyStr(await ctx.callWith('x509.create_certificate', [], kwargs));
    write(`${into}/${file}.crt`, cert, 0o644);
    record(folder, cert);
    return `Created Certificate for "${args.CN}": "${into}/${file}.crt"`;
  },
});

const as_text = p.bool({ default: false, doc: 'the text, not the path' });

/** Path of a file of an authority, or its content. */
function found(path: string, asText: boolean, missing: string): string {
  if (!pathExists(path)) throw pythonError('ValueError', missing);
  return asText ? readFileSync(path, 'utf8') : path;
}

const signed = (name: string, ending: string, filename: 'cert_filename' | 'key_filename', what: string) =>
  fn({
    doc: `${what} that an authority signed.`,
    examples: [`salt '*' tls.${name} test_ca CN=www.example.com as_text=False`],
    params: { ca_name, CN, as_text, cacert_path, [filename]: p.string({ default: null, doc: 'name of the file' }) },
    async run(given, ctx) {
      const args = given as Authority & { CN: string; as_text: boolean } & Record<string, string | null>;
      const { folder } = await placesOf({ ca_name: args.ca_name, cacert_path: args.cacert_path }, ctx);
      const path = `${folder}/certs/${args[filename] || args.CN}.${ending}`;
      return found(path, args.as_text, `Certificate does not exists for ${args.CN}`);
    },
  });

export const authorityFunctions = {
  ca_exists: fn({
    doc: 'Whether an authority exists.',
    examples: ["salt '*' tls.ca_exists test_ca"],
    params: { ca_name, cacert_path, ca_filename },
    run: async (args, ctx) => pathExists((await placesOf(args, ctx)).cert),
  }),
  get_ca: fn({
    doc: 'The certificate of an authority.',
    examples: ["salt '*' tls.get_ca test_ca as_text=False"],
    params: { ca_name, as_text, cacert_path },
    async run(args, ctx) {
      const { cert } = await placesOf(args, ctx);
      return found(cert, args.as_text, `Certificate does not exist for ${args.ca_name}`);
    },
  }),
  get_ca_signed_cert: signed('get_ca_signed_cert', 'crt', 'cert_filename', 'The certificate'),
  get_ca_signed_key: signed('get_ca_signed_key', 'key', 'key_filename', 'The key of a certificate'),
  create_ca,
  create_csr,
  create_ca_signed_cert,
};
