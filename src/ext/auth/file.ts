// Authentication module `file`: names and passwords in a text file, or in one written by htpasswd or htdigest.
import { createHash } from 'node:crypto';
import { defineAuth, HaliteError, p } from 'halite/sdk';
import { readFile, stat } from 'halite/sdk/fs';
import { equalSecrets } from './shared/equal.ts';
import { matchesHtpasswd } from './shared/htpasswd.ts';

const hashes = ['plaintext', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'];
const types = ['text', 'htpasswd', 'htdigest'];
const mostBytes = 4 * 1024 * 1024;

interface Settings {
  readonly filename: string;
  readonly filetype: string;
  readonly hashtype: string;
  readonly field_separator: string;
  readonly username_field: number;
  readonly password_field: number;
  readonly realm: string;
}

/** The fields of the first line of a name. */
async function lineOf(
  settings: Settings,
  username: string,
  wanted: (fields: string[]) => boolean,
): Promise<string[] | undefined> {
  const { size } = await stat(settings.filename);
  if (size > mostBytes) throw new HaliteError('codec.limit', `${settings.filename} is larger than ${mostBytes} bytes`);
  // The name could contain the separator and so continue in the next field.
  if (username.includes(settings.field_separator)) return undefined;
  const text = await readFile(settings.filename, 'utf8');
  return text
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(settings.field_separator))
    .find(wanted);
}

async function matchesText(settings: Settings, username: string, password: string): Promise<boolean> {
  const { username_field: at, password_field: field, hashtype } = settings;
  const fields = await lineOf(settings, username, (each) => each[at - 1] === username);
  const known = fields?.[field - 1];
  if (hashtype === 'plaintext') return matches(password, known);
  return matches(createHash(hashtype).update(password).digest('hex'), known?.toLowerCase());
}

async function matchesDigest(settings: Settings, username: string, password: string): Promise<boolean> {
  const fields = await lineOf(settings, username, (each) => each[0] === username && each[1] === settings.realm);
  return matches(
    createHash('md5').update(`${username}:${settings.realm}:${password}`).digest('hex'),
    fields?.[2]?.toLowerCase(),
  );
}

/** Compares in every case, so that names cannot be found out by time. */
const matches = (given: string, known: string | undefined): boolean =>
  equalSecrets(given, known ?? '') && Boolean(known);

async function check(settings: Settings, username: string, password: string): Promise<boolean> {
  if (settings.filetype === 'htdigest') return matchesDigest(settings, username, password);
  if (settings.filetype === 'text') return matchesText(settings, username, password);
  const fields = await lineOf(settings, username, (each) => each[0] === username);
  return matchesHtpasswd(password, fields?.[1]);
}

export default defineAuth({
  name: 'file',
  doc: 'Names and passwords in a file: text, or as htpasswd or htdigest write it.',
  settings: {
    filename: p.path({ doc: 'the file' }),
    filetype: p.string({ default: 'text', doc: 'text, htpasswd or htdigest' }),
    hashtype: p.string({
      default: 'plaintext',
      doc: 'of text: plaintext, md5, sha1, sha224, sha256, sha384 or sha512',
    }),
    field_separator: p.string({ default: ':', doc: 'of text: between the fields of a line' }),
    username_field: p.int({ default: 1, doc: 'of text: the field of the name, from 1' }),
    password_field: p.int({ default: 2, doc: 'of text: the field of the password' }),
    realm: p.string({ default: '', doc: 'of htdigest: the realm' }),
  },
  async open(settings, { log }) {
    const { filename, filetype, hashtype, field_separator: separator } = settings;
    const wrong = (text: string): never => {
      throw new HaliteError('config.value', `external_auth: file: ${text}`);
    };
    if (!types.includes(filetype)) wrong(`^filetype is one of ${types.join(', ')}, not ${filetype}`);
    if (!hashes.includes(hashtype)) wrong(`^hashtype is one of ${hashes.join(', ')}, not ${hashtype}`);
    if (filetype === 'htdigest' && settings.realm === '') wrong('htdigest needs ^realm');
    if (separator === '') wrong('^field_separator must not be empty');
    if (settings.username_field < 1 || settings.password_field < 1) wrong('fields are counted from 1');
    const { mode } = await stat(filename);
    if ((mode & 0o077) !== 0)
      log.warn('the file of external_auth: file can be read or changed by others', { filename });
    return {
      check: async ({ username, password }) =>
        username !== '' && password !== '' && (await check(settings, username, password)) ? {} : undefined,
    };
  },
});
