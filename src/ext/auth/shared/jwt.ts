// JSON Web Tokens of identity providers: signature, issuer, audience and times.
import { constants, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import {
  asPlainDict,
  asText,
  HaliteError,
  listTexts,
  numberField,
  type PlainDict,
  textField,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const;
type Algorithm = (typeof algorithms)[number];

/** Clocks differ. */
const leewaySeconds = 60;

export interface ParsedToken {
  readonly algorithm: Algorithm;
  readonly keyId: string | undefined;
  readonly claims: PlainDict;
  readonly signed: Buffer;
  readonly signature: Buffer;
}

const refused = (why: string): HaliteError => new HaliteError('auth.failed', `the token is refused: ${why}`);

function part(text: string | undefined): PlainDict {
  try {
    const found = asPlainDict(loadJson(Buffer.from(text ?? '', 'base64url').toString('utf8')));
    if (found) return found;
  } catch {
    // As every other text that is no token.
  }
  throw refused('it is not a JSON Web Token');
}

/** Nothing in it is trusted before `checkSignature`. */
export function parseToken(text: string): ParsedToken {
  const parts = text.split('.');
  if (parts.length !== 3 || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)) throw refused('it is not a JSON Web Token');
  const header = part(parts[0]);
  const algorithm = algorithms.find((name) => name === header['alg']);
  if (!algorithm) throw refused('its algorithm is none of RS256, PS256, ES256 and EdDSA');
  if (header['crit'] !== undefined) throw refused('it demands extensions');
  return {
    ...{ algorithm, keyId: textField(header, 'kid'), claims: part(parts[1]) },
    signed: Buffer.from(`${parts[0]}.${parts[1]}`),
    signature: Buffer.from(parts[2] ?? '', 'base64url'),
  };
}

/** A key of the provider; undefined when it is for something else. */
export function publicKey(value: Value, { algorithm, keyId }: ParsedToken): KeyObject | undefined {
  const jwk = asPlainDict(value);
  if (!jwk || (keyId !== undefined && asText(jwk['kid']) !== keyId)) return undefined;
  const [use, own] = [textField(jwk, 'use'), textField(jwk, 'alg')];
  if ((use !== undefined && use !== 'sig') || (own !== undefined && own !== algorithm)) return undefined;
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    return fits(algorithm, key) ? key : undefined;
  } catch {
    return undefined;
  }
}

function fits(algorithm: Algorithm, { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  if (algorithm === 'ES256') return type === 'ec' && details?.namedCurve === 'prime256v1';
  if (algorithm === 'EdDSA') return type === 'ed25519';
  return type === 'rsa' && (details?.modulusLength ?? 0) >= 2048;
}

export function checkSignature({ algorithm, signed, signature }: ParsedToken, key: KeyObject): boolean {
  switch (algorithm) {
    case 'RS256':
      return verify('sha256', signed, key, signature);
    case 'PS256':
      return verify('sha256', signed, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, signature);
    case 'ES256':
      return verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, signature);
    case 'EdDSA':
      return verify(null, signed, key, signature);
  }
}

export interface Expected {
  readonly issuer: string;
  /** One of them has to be named. */
  readonly audiences: readonly string[];
}

/** Throws with the reason. */
export function checkClaims(claims: PlainDict, { issuer, audiences }: Expected, now = Date.now() / 1000): void {
  if (claims['iss'] !== issuer) throw refused('it is from another issuer');
  const { aud } = claims;
  const named = typeof aud === 'string' ? [aud] : listTexts(aud ?? null);
  if (!named.some((name) => audiences.includes(name))) throw refused('it is for another audience');
  const party = textField(claims, 'azp');
  if (named.length > 1 && (party === undefined || !audiences.includes(party)))
    throw refused('it was made for another party');
  const expire = numberField(claims, 'exp');
  if (expire === undefined || expire + leewaySeconds <= now) throw refused('it is expired');
  for (const name of ['nbf', 'iat']) {
    const from = claims[name] === undefined ? undefined : numberField(claims, name);
    if (claims[name] !== undefined && (from === undefined || from - leewaySeconds > now))
      throw refused('it is not valid yet');
  }
}
