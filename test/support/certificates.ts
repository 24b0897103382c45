// An authority that signs and revokes certificates, made with openssl.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from './deployment.ts';

export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface CertificatePlan {
  /** As openssl writes it: `/CN=fred`. */
  readonly subject: string;
  /** Lines of an extension file. */
  readonly extensions?: readonly string[];
  /** `YYYYMMDDHHMMSSZ`; ten days from now unless given. */
  readonly until?: string;
}

const clientUse = ['basicConstraints = CA:false', 'extendedKeyUsage = clientAuth'];
export const authorityUse = ['basicConstraints = critical, CA:true', 'keyUsage = critical, keyCertSign, cRLSign'];

async function openssl(...args: string[]): Promise<void> {
  const { code, stderr } = await runProgram('openssl', args);
  if (code !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
}

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export class Authority {
  readonly folder: string;
  #count = 0;

  private constructor(folder: string) {
    this.folder = folder;
    mkdirSync(join(folder, 'certs'), { recursive: true });
    writeFileSync(join(folder, 'index.txt'), '');
    writeFileSync(join(folder, 'serial'), '1000\n');
    writeFileSync(join(folder, 'crlnumber'), '1000\n');
    const lines = [
      ...['[ca]', 'default_ca = own', '[own]', `dir = ${folder}`, 'database = $dir/index.txt', 'serial = $dir/serial'],
      ...['crlnumber = $dir/crlnumber', 'new_certs_dir = $dir/certs', 'certificate = $dir/ca.crt'],
      ...['private_key = $dir/ca.key', 'default_md = sha256', 'default_days = 10', 'default_crl_days = 10'],
      ...['policy = any', 'unique_subject = no', '[any]', 'commonName = optional', 'organizationName = optional'],
    ];
    writeFileSync(join(folder, 'ca.cnf'), `${lines.join('\n')}\n`);
  }

  static async make(folder: string, name: string): Promise<Authority> {
    const own = new Authority(folder);
    const files = ['-keyout', own.file('ca.key'), '-out', own.file('ca.crt')];
    const uses = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
    await openssl('req', '-x509', ...curve, '-days', '10', '-subj', `/CN=${name}`, ...uses, ...files);
    return own;
  }

  /** One that this one has signed. */
  async intermediate(folder: string, name: string): Promise<Authority> {
    const made = new Authority(folder);
    const { cert, key } = await this.sign({ subject: `/CN=${name}`, extensions: authorityUse });
    writeFileSync(made.file('ca.crt'), cert);
    writeFileSync(made.file('ca.key'), key);
    return made;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  get cert(): string {
    return readFileSync(this.file('ca.crt'), 'utf8');
  }

  async sign({ subject, extensions = clientUse, until }: CertificatePlan): Promise<Certificate> {
    const name = `client${this.#count++}`;
    const [key, request, cert, uses] = ['key', 'csr', 'crt', 'ext'].map((end) => this.file(`${name}.${end}`)) as [
      string,
      string,
      string,
      string,
    ];
    writeFileSync(uses, `${extensions.join('\n')}\n`);
    await openssl('req', ...curve, '-subj', subject, '-keyout', key, '-out', request);
    await openssl(
      ...['ca', '-batch', '-notext', '-config', this.file('ca.cnf'), '-preserveDN', '-extfile', uses],
      ...(until ? ['-startdate', '20200101000000Z', '-enddate', until] : []),
      ...['-in', request, '-out', cert],
    );
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }

  async revoke({ cert }: Certificate): Promise<void> {
    writeFileSync(this.file('revoked.crt'), cert);
    await openssl('ca', '-config', this.file('ca.cnf'), '-revoke', this.file('revoked.crt'));
  }

  /** The list of what is revoked, in PEM. */
  async revoked(): Promise<string> {
    await openssl('ca', '-config', this.file('ca.cnf'), '-gencrl', '-out', this.file('crl.pem'));
    return readFileSync(this.file('crl.pem'), 'utf8');
  }
}
