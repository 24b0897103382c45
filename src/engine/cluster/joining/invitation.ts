// An invitation: one line that lets one machine become a member, once and for a quarter of an hour. It is a secret.
import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { boolField, numberField, textField } from '../../../base/codec/fields.ts';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { asPlainDict, asText, dictGet, isTexts, newDict, type PlainDict } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';

const secretBytes = 32;
const longestLine = 32 * 1024;
const begin = 'halite-join-1.';
const sumLength = 8;

export interface Invitation {
  readonly cluster: string;
  /** Addresses of nats-servers as URLs. */
  readonly servers: readonly string[];
  readonly insecure: boolean;
  /** The text of the certificate that signs those of the nats-servers. */
  readonly ca?: string;
  /** For nats-servers that the masters run themselves. */
  readonly login?: { readonly user: string; readonly password: string };
  /** Of the RSA key of the masters, as salt-key prints it. */
  readonly fingerprint: string;
  /** Where the inviting master can perhaps be reached by ssh: `ssh://host/etc/salt`. */
  readonly ssh: string;
  /** Names the invitation; no secret. */
  readonly id: string;
  readonly secret: Uint8Array;
  /** In milliseconds since the epoch, by the clock of the nats-servers. */
  readonly until: number;
}

export function newSecret(): { readonly id: string; readonly secret: Uint8Array } {
  return { id: randomBytes(8).toString('hex'), secret: randomBytes(secretBytes) };
}

/** What members keep of the secret: enough to check its use, too little to make the line again. */
export function verifierOf(id: string, secret: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `halite invitation 1 ${id}`, 32));
}

export function invitationLine(invitation: Invitation): string {
  const { login, ca, secret, servers, ...rest } = invitation;
  const fields = newDict(Object.entries(rest));
  fields['servers'] = [...servers];
  fields['secret'] = Buffer.from(secret).toString('base64url');
  if (ca !== undefined) fields['ca'] = ca;
  if (login) fields['login'] = [login.user, login.password];
  const text = Buffer.from(pack(fields)).toString('base64url');
  return `${begin}${text}.${sumOf(text)}`;
}

/** Throws `crypto.verify` for what is not a whole invitation. Nothing of the line is in the error: it is a secret. */
export function readInvitation(line: string): Invitation {
  const text = line.trim().replace(/^(['"])(.*)\1$/s, '$2');
  if (text.length > longestLine || !text.startsWith(begin)) {
    throw unusable('This is no invitation to a cluster: one begins with halite-join-1.');
  }
  const [body = '', sum = ''] = text.slice(begin.length).split('.');
  if (sum !== sumOf(body)) throw unusable('The invitation is not complete, or was changed: copy the whole line');
  let fields: PlainDict | undefined;
  try {
    fields = asPlainDict(unpack(Buffer.from(body, 'base64url'), { maxBytes: longestLine }));
  } catch {
    // Named below.
  }
  const found = fields && read(fields);
  if (!found) throw unusable('The invitation has a form that this version of Halite does not know');
  return found;
}

function read(fields: PlainDict): Invitation | undefined {
  const text = (key: string): string => textField(fields, key) ?? '';
  const [cluster, fingerprint, id, ssh] = [text('cluster'), text('fingerprint'), text('id'), text('ssh')];
  const secret = Buffer.from(text('secret'), 'base64url');
  const until = numberField(fields, 'until');
  const servers = dictGet(fields, 'servers');
  if (!/^[a-z0-9-]{1,24}$/.test(cluster) || !/^[0-9a-f]{2}(:[0-9a-f]{2}){31}$/.test(fingerprint)) return undefined;
  if (!/^[0-9a-f]{16}$/.test(id) || secret.length !== secretBytes || until === undefined) return undefined;
  if (!isTexts(servers) || servers.length === 0 || servers.length > 32) return undefined;
  const ca = textField(fields, 'ca');
  const [user, password] = (dictGet(fields, 'login') as unknown[] | undefined) ?? [];
  const login = asText(user) === undefined || asText(password) === undefined ? undefined : [user, password];
  return {
    ...{ cluster, servers, fingerprint, id, secret, until, ssh, insecure: boolField(fields, 'insecure') },
    ...(ca === undefined ? {} : { ca }),
    ...(login ? { login: { user: String(login[0]), password: String(login[1]) } } : {}),
  };
}

const sumOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, sumLength);
const unusable = (what: string): HaliteError =>
  new HaliteError('crypto.verify', what, { hint: 'Make a new one on a member: salt-run cluster.invite' });
