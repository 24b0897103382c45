// Sends a mail through an SMTP server.
import { HaliteError, messageOf } from 'halite/sdk';
import { hostPort } from '../../shared/http/request.ts';

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** Use STARTTLS; without it the connection is not encrypted, even if the server offers it. */
  readonly tls: boolean;
  readonly verify: boolean;
  readonly username: string | null;
  readonly password: string | null;
}

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** `plain`, `html`, `json`, `yaml`: what kind of text it is. */
  readonly kind: string;
}

const timeoutMs = 30_000;

export async function sendMail(server: MailServer, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const { username: user, password: pass } = server;
  const transport = createTransport({
    host: server.host,
    port: server.port,
    secure: false,
    requireTLS: server.tls,
    ignoreTLS: !server.tls,
    tls: { rejectUnauthorized: server.verify },
    ...(user !== null && pass !== null ? { auth: { user, pass } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  try {
    await transport.sendMail({ from: mail.from, to: [...mail.to], subject: mail.subject, ...bodyOf(mail) });
  } catch (error) {
    const why = messageOf(error);
    const text = `The mail server at ${hostPort(server.host, server.port)} took no mail: ${pass ? why.replaceAll(pass, '***') : why}`;
    throw new HaliteError('store.unavailable', text);
  } finally {
    transport.close();
  }
}

function bodyOf({ kind, text }: Mail): object {
  if (kind === 'plain') return { text };
  if (kind === 'html') return { html: text };
  return { alternatives: [{ contentType: `text/${kind}; charset=utf-8`, content: text }] };
}

/** `host:port`, or a host with the usual port. */
export function mailHost(given: string): { host: string; port: number } {
  const [host = '', port] = given.split(/:(?=\d+$)/);
  return { host, port: port === undefined ? 25 : Number(port) };
}
