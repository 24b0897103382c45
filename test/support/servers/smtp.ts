// A real SMTP server (aiosmtpd) on a private port, and the mails it got.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { listens } from './memcached.ts';
import { preparedProgram, type RunningServer, startServer } from './server.ts';

export interface SmtpServer extends RunningServer {
  /** Every mail received, as it came over the wire. */
  mails(): string[];
}

/** A certificate of its own for 127.0.0.1, for servers that nobody knows. */
export function selfSigned(folder: string): { cert: string; key: string } {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = spawnSync('openssl', [...args, ...name, '-out', cert, '-keyout', key], { encoding: 'utf8' });
  if (made.status !== 0) throw new Error(made.stderr);
  return { cert, key };
}

/** Starts one; undefined when it is not there. */
export async function startSmtp(options: { tls?: boolean | 'from the start' } = {}): Promise<SmtpServer | undefined> {
  const program = preparedProgram('aiosmtpd', 'python3-aiosmtpd');
  if (!program) return undefined;
  const server = await startServer({
    name: 'smtp',
    prepare(folder) {
      if (options.tls) selfSigned(folder);
    },
    command: (port, folder) => {
      const kind = options.tls === true ? '--tls' : '--smtps';
      const tls = [`${kind}cert`, `${folder}/cert.pem`, `${kind}key`, `${folder}/key.pem`];
      const handler = ['-c', 'aiosmtpd.handlers.Mailbox', `${folder}/mail`];
      return [program, '-n', '-l', `127.0.0.1:${port}`, ...(options.tls ? tls : []), ...handler];
    },
    ready: listens,
  });
  const place = join(server.folder, 'mail', 'new');
  const mails = (): string[] =>
    existsSync(place) ? readdirSync(place).map((name) => readFileSync(join(place, name), 'utf8')) : [];
  return Object.assign(server, { mails });
}
