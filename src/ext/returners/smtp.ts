// Returner `smtp`: every result as a mail.

import { defineReturner, HaliteError, type PlainDict, p, pyStr, type ReturnerContext } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import { textList } from './shared/loads.ts';
import { sendMail } from './shared/mail.ts';
import { fillTemplate } from './shared/template.ts';

const named = { id: 'id', fun: 'function', fun_args: 'function args', jid: 'jid', return: 'return' };

/** The text without a template: the main fields of a result, or all fields of other data, such as events. */
function standardText(ret: PlainDict): string {
  const names: Readonly<Record<string, string>> = Object.hasOwn(ret, 'fun')
    ? named
    : Object.fromEntries(Object.keys(ret).map((name) => [name, name]));
  const present = Object.entries(names).filter(([name]) => Object.hasOwn(ret, name));
  return present.map(([name, shown]) => `${shown}: ${pyStr(ret[name])}\r\n`).join('');
}

/** The subject with the appended fields, which are not part of the template. */
function withFields(subject: string, fields: readonly string[], ret: PlainDict): string {
  const present = fields.filter((name) => Object.hasOwn(ret, name));
  return [subject, ...present.map((name) => pyStr(ret[name]))].join(' ');
}

async function homeOf(user: string, ctx: ReturnerContext): Promise<string> {
  const found = await ctx.exec('getent', ['passwd', user]);
  const home = found.retcode === 0 ? found.stdout.split(':')[5] : undefined;
  if (!home) throw new HaliteError('config.value', `smtp.gpgowner names ${user}, who has no account here`);
  return home;
}

/** The encrypted text; if encryption fails, the reason is sent instead of the text. */
async function encrypted(text: string, to: readonly string[], owner: string, ctx: ReturnerContext): Promise<string> {
  const folder = `${await homeOf(owner, ctx)}/.gnupg`;
  const recipients = to.flatMap((address) => ['--recipient', address]);
  const args = ['--homedir', folder, '--batch', '--trust-model', 'always', '--armor', ...recipients, '--encrypt'];
  const done = await ctx.exec('gpg', args, { input: text, timeoutMs: 30_000 });
  if (done.retcode === 0) return done.stdout;
  ctx.log.error('A mail could not be encrypted; it tells only that', { gpg: done.stderr.trim().slice(0, 300) });
  return `Encryption failed, the return data was not sent.\r\n\r\n${done.stderr}`;
}

async function templateIn(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new HaliteError('config.missing', `The mail template ${file} cannot be read: ${error.code}`);
  });
}

export default defineReturner({
  name: 'smtp',
  doc: 'Sends every result, or every event, as a mail; subject and text may be templates.',
  keeps: ['events'],
  options: {
    from: p.string({ doc: 'The address of the sender.' }),
    to: p.strings({ split: ',', doc: 'The addresses of the recipients, separated by commas.' }),
    host: p.string({ doc: 'Name or address of the mail server.' }),
    port: p.int({ default: 25, doc: 'Its port.' }),
    username: p.string({ default: null, doc: 'User, where the server asks for one.' }),
    password: p.string({ default: null, doc: 'Password of the user.' }),
    tls: p.bool({ default: false, doc: 'Encrypt the connection (STARTTLS).' }),
    verify_ssl: p.bool({ default: true, doc: "Check the server's certificate." }),
    subject: p.string({ default: 'Email from Salt', doc: 'The subject, a template.' }),
    fields: p.strings({
      default: null,
      split: ',',
      doc: 'Fields of the result to add to the subject, separated by commas: `id,fun`.',
    }),
    gpgowner: p.string({ default: null, doc: 'User whose keys (~/.gnupg) encrypt the text for the recipients.' }),
    template: p.path({ default: null, doc: 'A file with a template for the text.' }),
    renderer: p.string({ default: 'jinja', doc: 'The renderers of both templates.' }),
  },
  open(given, ctx) {
    const to = textList(given.to);
    if (to.length === 0) throw new HaliteError('config.value', 'The returner smtp needs the option smtp.to');
    const save = async (ret: PlainDict): Promise<void> => {
      const { renderer, gpgowner, template } = given;
      const filled = await fillTemplate(ctx, { option: 'subject', source: given.subject, renderer }, ret);
      const subject = withFields(filled, textList(given.fields), ret);
      const plain =
        template === null
          ? standardText(ret)
          : await fillTemplate(ctx, { option: 'template', source: await templateIn(template), renderer }, ret);
      const text = gpgowner === null ? plain : await encrypted(plain, to, gpgowner, ctx);
      await sendMail({ ...given, verify: given.verify_ssl }, { from: given.from, to, subject, text, kind: 'plain' });
    };
    return {
      save,
      async saveEvents(events) {
        for (const { data } of events) if (Object.keys(data).length > 0) await save(data);
      },
    };
  },
});
