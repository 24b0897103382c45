// What a joining machine and the members tell each other, before they have a common key: every message is bounded, and is
// believed only with its code under the invitation's secret.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { boolField, dictField, intField, numberField, textField } from '../../../base/codec/fields.ts';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { asList, asPlainDict, dictEntries, newDict, type PlainDict, type Value } from '../../../base/codec/value.ts';
import { publicBytes, sealFor } from '../identity.ts';

export const joinSubject = (cluster: string): string => `halite.${cluster}.join`;
export const mostRequestBytes = 4 * 1024;
export const mostAnswerBytes = 256 * 1024;
const longestText = 1000;
const nonceBytes = 16;

export interface JoinRequest {
  /** Names the invitation. */
  readonly invitation: string;
  /** The X25519 key of the new member. */
  readonly key: Uint8Array;
  /** The id that it will have. */
  readonly member: string;
  readonly level: number;
  readonly version: string;
  /** Binds the answer to this request. */
  readonly nonce: Uint8Array;
  /** False: it has the RSA key from elsewhere. */
  readonly wantsKeys: boolean;
}

/** What a member hands over. */
export interface Handover {
  readonly member: string;
  readonly slot: number;
  /** Text of key files by name. */
  readonly files: ReadonlyMap<string, string>;
  /** The public RSA key, and its signature of this request. */
  readonly masterKey: string;
  readonly signature: Uint8Array;
  /** The content of cluster_bus.key. */
  readonly busKeys: string;
  /** Options that must be equal on all members. */
  readonly options: PlainDict;
  /** Below `cluster:`. */
  readonly cluster: PlainDict;
  readonly members: readonly string[];
}

export type JoinAnswer =
  | { readonly kind: 'sealed'; readonly sealed: Uint8Array }
  /** `proven`: it comes from a member that knows the invitation. */
  | { readonly kind: 'refused'; readonly why: string; readonly proven: boolean };

const codeOf = (verifier: Uint8Array, what: string, ...parts: readonly Uint8Array[]): Buffer => {
  const code = createHmac('sha256', verifier).update(`halite ${what} 1 `);
  for (const part of parts) code.update(part);
  return code.digest();
};
const isCode = (given: Uint8Array | undefined, right: Uint8Array): boolean =>
  given !== undefined && given.length === right.length && timingSafeEqual(given, right);

/** Bytes of any content survive as hex: text and bytes are one type in the old form of msgpack. */
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const unhex = (text: string | undefined, length?: number): Buffer | undefined => {
  if (text === undefined || !/^(?:[0-9a-f]{2})+$/.test(text)) return undefined;
  const bytes = Buffer.from(text, 'hex');
  return length !== undefined && bytes.length !== length ? undefined : bytes;
};

export function requestBytes(request: JoinRequest, verifier: Uint8Array): Buffer {
  const { key, nonce, ...rest } = request;
  const body = Buffer.from(pack(newDict([...Object.entries(rest), ['key', hex(key)], ['nonce', hex(nonce)]])));
  return Buffer.from(pack([hex(body), hex(codeOf(verifier, 'join', body))]));
}

export interface ReceivedRequest {
  readonly request: JoinRequest;
  isProven(verifier: Uint8Array): boolean;
}

/** Undefined for anything that is no request. */
export function readRequest(bytes: Uint8Array): ReceivedRequest | undefined {
  const [text, code] = tolerant(bytes, mostRequestBytes, asList) ?? [];
  const body = unhex(typeof text === 'string' ? text : undefined);
  const given = unhex(typeof code === 'string' ? code : undefined, 32);
  const fields = body && tolerant(body, mostRequestBytes, asPlainDict);
  if (!body || !given || !fields) return undefined;
  const [invitation, member, version] = ['invitation', 'member', 'version'].map((key) => textField(fields, key));
  const [key, nonce] = [unhex(textField(fields, 'key'), publicBytes), unhex(textField(fields, 'nonce'), nonceBytes)];
  const level = intField(fields, 'level');
  if (!key || !nonce || level === undefined || invitation === undefined || !/^[0-9a-f]{16}$/.test(invitation)) return;
  if (member === undefined || !/^[A-Za-z0-9][\w.-]{0,252}$/.test(member)) return undefined;
  if (version === undefined || !/^[\w.+-]{1,60}$/.test(version)) return undefined;
  const request = { invitation, member, version, key, nonce, level, wantsKeys: boolField(fields, 'wantsKeys') };
  return { request, isProven: (verifier) => isCode(given, codeOf(verifier, 'join', body)) };
}

const purposeOf = ({ invitation, nonce }: JoinRequest): string => `join ${invitation} ${hex(nonce)}`;

/** What the RSA key of the masters signs: that this request was answered by one who has it. */
export const signedText = (request: JoinRequest): string => `halite ${purposeOf(request)} ${hex(request.key)}`;

export function handoverBytes(request: JoinRequest, verifier: Uint8Array, handover: Handover): Buffer {
  const { files, signature, members, ...rest } = handover;
  const fields = newDict(Object.entries(rest) as [string, Value][]);
  fields['files'] = newDict([...files]);
  fields['signature'] = hex(signature);
  fields['members'] = [...members];
  const sealed = sealFor(request.key, purposeOf(request), pack(fields));
  return Buffer.from(
    pack(
      newDict([
        ['sealed', hex(sealed)],
        ['code', hex(codeOf(verifier, 'answer', sealed))],
      ]),
    ),
  );
}

/** `verifier` undefined: of an invitation that this member does not know. */
export function refusalBytes(request: JoinRequest, verifier: Uint8Array | undefined, why: string): Buffer {
  const text = Buffer.from(why.slice(0, longestText));
  const code = verifier ? hex(codeOf(verifier, 'refusal', request.nonce, text)) : '';
  return Buffer.from(
    pack(
      newDict([
        ['refused', text.toString()],
        ['code', code],
      ]),
    ),
  );
}

/** Undefined for what no member sent. */
export function readAnswer(request: JoinRequest, verifier: Uint8Array, bytes: Uint8Array): JoinAnswer | undefined {
  const fields = tolerant(bytes, mostAnswerBytes * 2, asPlainDict);
  if (!fields) return undefined;
  const code = unhex(textField(fields, 'code'), 32);
  const sealed = unhex(textField(fields, 'sealed'));
  if (sealed) return isCode(code, codeOf(verifier, 'answer', sealed)) ? { kind: 'sealed', sealed } : undefined;
  const why = textField(fields, 'refused');
  if (why === undefined || why.length > longestText) return undefined;
  const proven = isCode(code, codeOf(verifier, 'refusal', request.nonce, Buffer.from(why)));
  return { kind: 'refused', why, proven };
}

/** Of opened bytes; undefined when a field is missing or of another type. */
function readHandover(bytes: Uint8Array): Handover | undefined {
  const fields = tolerant(bytes, mostAnswerBytes, asPlainDict);
  if (!fields) return undefined;
  const [member, masterKey, busKeys] = ['member', 'masterKey', 'busKeys'].map((key) => textField(fields, key));
  const [slot, signature] = [numberField(fields, 'slot'), unhex(textField(fields, 'signature'))];
  const [files, options] = [dictField(fields, 'files'), asPlainDict(fields['options'])];
  const [cluster, members] = [asPlainDict(fields['cluster']), asList(fields['members'])];
  if (member === undefined || masterKey === undefined || busKeys === undefined || slot === undefined) return undefined;
  if (!signature || !files || !options || !cluster || !members) return undefined;
  const texts = dictEntries(files).filter((entry): entry is [string, string] => entry.every(isText));
  return {
    ...{ member, slot, masterKey, signature, busKeys, options, cluster },
    files: new Map(texts),
    members: members.filter(isText).slice(0, 10),
  };
}

export const openHandover = (
  request: JoinRequest,
  open: (purpose: string, sealed: Uint8Array) => Buffer | undefined,
  sealed: Uint8Array,
): Handover | undefined => {
  const bytes = open(purposeOf(request), sealed);
  return bytes && readHandover(bytes);
};

const isText = (value: unknown): value is string => typeof value === 'string';

function tolerant<T>(bytes: Uint8Array, most: number, as: (value: unknown) => T | undefined): T | undefined {
  if (bytes.length > most) return undefined;
  try {
    return as(unpack(bytes, { maxBytes: most }));
  } catch {
    return undefined;
  }
}
