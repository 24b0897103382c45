// Execution module `smtp`: sends mail.

import { basename } from 'node:path';
import { defineModule, fn, isDict, listTexts, messageOf, p, pyStr, type Value } from 'halite/sdk';
import { readFileSync } from 'halite/sdk/fs';

interface Server {
  readonly server: Value;
  readonly use_ssl: Value;
  readonly username: Value;
  readonly password: Value;
  readonly verify_ssl: Value;
}

const isTrue = (value: Value): boolean => value === true || value === 'True' || value === 'true';

/**
 * Encrypted from the start, or with STARTTLS: then the connection must be encrypted, and the certificate must be valid for
 * the server. Otherwise STARTTLS is used if the server offers it, without checking the certificate.
 */
async function transport({ server, use_ssl, username, password, verify_ssl }: Server) {
  const { createTransport } = await import('nodemailer');
  const [host = '', port] = pyStr(server).split(/:(?=\d+$)/);
  const secure = isTrue(use_ssl);
  const startTls = use_ssl === 'starttls';
  const login = Boolean(username && password);
  const timeouts = { connectionTimeout: 30_000, greetingTimeout: 30_000, socketTimeout: 30_000 };
  return createTransport({
    host,
    port: port === undefined ? (secure ? 465 : 25) : Number(port),
    secure,
    requireTLS: startTls,
    tls: { rejectUnauthorized: (secure || startTls || login) && isTrue(verify_ssl) },
    ...(login ? { auth: { user: pyStr(username), pass: pyStr(password) } } : {}),
    ...timeouts,
  });
}

export default defineModule({
  name: 'smtp',
  doc: 'Sends mail.',
  functions: {
    send_msg: fn({
      doc: 'Sends a mail; true when the server accepted it.',
      examples: ["salt '*' smtp.send_msg admin@example.com 'all is well' profile=my-smtp"],
      params: {
        recipient: p.string({ doc: 'addresses, separated by commas' }),
        message: p.string({ doc: 'the text' }),
        subject: p.string({ default: 'Message from Salt', doc: 'the subject' }),
        sender: p.string({ default: null, doc: 'the sender' }),
        server: p.string({ default: null, doc: 'host, or host:port' }),
        use_ssl: p.scalar({
          default: 'True',
          doc: "encrypted from the start; 'starttls': STARTTLS is required",
        }),
        username: p.string({ default: null, doc: 'user, if the server requires authentication' }),
        password: p.string({ default: null, doc: 'its password' }),
        profile: p.string({
          default: null,
          falsy: null,
          doc: 'name of settings with smtp.server, smtp.tls, smtp.sender, smtp.username, smtp.password, smtp.verify_ssl',
        }),
        attachments: p.oneOf(['list', 'string'], { default: null, doc: 'list of files' }),
        verify_ssl: p.oneOf(['bool', 'string'], { default: true, doc: "check the server's certificate" }),
      },
      async run(args, ctx) {
        let { sender, server, use_ssl, username, password, verify_ssl }: Server & { readonly sender: Value } = args;
        if (args.profile) {
          const found = await ctx.call('config.option', args.profile);
          const known = (isDict(found) ? found : {}) as Record<string, Value>;
          const of = (key: string): Value => known[`smtp.${key}`] ?? null;
          [server, use_ssl, sender, username, password] = ['server', 'tls', 'sender', 'username', 'password'].map(
            of,
          ) as [Value, Value, Value, Value, Value];
          verify_ssl = of('verify_ssl') ?? verify_ssl;
        }
        const files = listTexts(args.attachments);
        const sending = await transport({ server, use_ssl, username, password, verify_ssl });
        try {
          await sending.sendMail({
            from: pyStr(sender ?? ''),
            to: args.recipient.split(',').map((one) => one.trim()),
            subject: args.subject,
            text: args.message,
            attachments: files.map((file) => ({ filename: basename(file), content: readFileSync(file) })),
          });
          return true;
        } catch (error) {
          const why = messageOf(error);
          const hint = /certificate|self.signed/i.test(why) ? ' (verify_ssl=False sends it all the same)' : '';
          ctx.log.error(`The mail was not sent: ${why}${hint}`);
          return false;
        } finally {
          sending.close();
        }
      },
    }),
  },
});
