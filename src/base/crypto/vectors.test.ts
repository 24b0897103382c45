// Every recorded vector: keys, envelopes, signatures, fingerprints and whole sessions of three Salt versions.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pack } from '../codec/msgpack/index.ts';
import { newDict, type Value } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import {
  Crypticle,
  cleanKey,
  type EncAlgo,
  fingerprint,
  fingerprintWhole,
  matchesFingerprint,
  oaepDecrypt,
  oaepEncrypt,
  publicPem,
  type SigAlgo,
  signKeyText,
  signPkcs1,
  verifyKeyText,
  verifyPkcs1,
  x931Recover,
  x931Sign,
} from './index.ts';

import { b64, type KeyName, keys, load, privateKey, publicKey } from './testing.ts';

const names: KeyName[] = ['master', 'minion', 'master_sign'];

describe('keys and fingerprints', () => {
  const prints = load<Record<string, string> & Record<KeyName, Record<string, string>>>('fingerprints');
  for (const name of names) {
    it(name, () => {
      expect(publicPem(privateKey(name))).toBe(keys[name].pub);
      expect(fingerprint(keys[name].pub)).toBe(prints[name]['pub_file_sha256']);
      expect(fingerprint(keys[name].pub, 'md5')).toBe(prints[name]['pub_file_md5']);
      expect(fingerprint(keys[name].pub, 'sha512')).toBe(prints[name]['pub_file_sha512']);
      expect(fingerprint(keys[name].pem)).toBe(prints[name]['pem_file_sha256']);
      const whole = prints[name]['whole_text_sha256_as_printed_by_salt_key_3008'] as string;
      expect(fingerprintWhole(keys[name].pub)).toBe(whole);
      expect(matchesFingerprint(cleanKey(keys[name].pub), whole)).toBe(true);
      expect(matchesFingerprint(keys[name].pub, `${prints[name]['pub_file_sha256']}`.toUpperCase())).toBe(true);
      expect(
        matchesFingerprint(
          keys[name].pub,
          prints[name === 'master' ? 'minion' : 'master']['pub_file_sha256'] as string,
        ),
      ).toBe(false);
    });
  }
  it('ignores the kind of line ends', () => {
    expect(fingerprint(keys.minion.pub.trimEnd())).toBe(prints['minion_no_trailing_newline_sha256']);
    expect(fingerprint(keys.minion.pub.replaceAll('\n', '\r\n'))).toBe(prints['minion_crlf_sha256']);
  });
});

interface Sealed {
  name: string;
  nonce: string | null;
  iv_b64: string;
  msgpack_b64: string;
  plaintext_b64: string;
  ciphertext_b64: string;
}
describe('crypticle', () => {
  const file = load<{
    key_string: string;
    samples: Sealed[];
    negative: { name: string; ciphertext_b64: string; nonce_expected?: string; expect: string }[];
  }>('crypticle');
  for (const sample of file.samples) {
    it(sample.name, () => {
      const box = new Crypticle(file.key_string);
      expect(box.decrypt(b64(sample.ciphertext_b64))).toEqual(b64(sample.plaintext_b64));
      expect(box.encrypt(b64(sample.plaintext_b64), b64(sample.iv_b64))).toEqual(b64(sample.ciphertext_b64));
      const value = box.open(b64(sample.ciphertext_b64), { nonce: sample.nonce ?? undefined, raw: true });
      expect(pack(value)).toEqual(b64(sample.msgpack_b64));
      expect(box.seal(value, sample.nonce ?? undefined, b64(sample.iv_b64))).toEqual(b64(sample.ciphertext_b64));
    });
  }
  for (const sample of file.negative) {
    it(`refuses: ${sample.name}`, () => {
      const box = new Crypticle(file.key_string);
      const open = () => box.open(b64(sample.ciphertext_b64), { nonce: sample.nonce_expected });
      if (sample.expect === 'treated as empty map') expect(open()).toEqual({});
      else expect(open).toThrow(HaliteError);
    });
  }
});

describe('rsa', () => {
  interface Signed {
    key: KeyName;
    algorithm: SigAlgo;
    message_b64: string;
    signature_b64: string;
  }
  interface Hidden {
    recipient: KeyName;
    algorithm: EncAlgo;
    plaintext_b64: string;
    ciphertext_b64: string;
  }
  interface Blocked {
    key: KeyName;
    use: string;
    message_b64: string;
    output_b64: string;
  }
  const file = load<{
    sign: Signed[];
    oaep: Hidden[];
    x931: Blocked[];
    master_pubkey_signature: { signature_file_content_b64: string; with_sha224_pub_sig: string };
  }>('rsa');
  for (const s of file.sign) {
    it(`${s.algorithm} signature`, () => {
      expect(signPkcs1(privateKey(s.key), b64(s.message_b64), s.algorithm)).toEqual(b64(s.signature_b64));
      expect(verifyPkcs1(publicKey(s.key), b64(s.message_b64), b64(s.signature_b64), s.algorithm)).toBe(true);
      expect(verifyPkcs1(publicKey('minion'), b64(s.message_b64), b64(s.signature_b64), s.algorithm)).toBe(false);
    });
  }
  for (const s of file.oaep) {
    it(s.algorithm, () => {
      const other: EncAlgo = s.algorithm === 'OAEP-SHA1' ? 'OAEP-SHA224' : 'OAEP-SHA1';
      expect(oaepDecrypt(privateKey(s.recipient), b64(s.ciphertext_b64), s.algorithm)).toEqual(b64(s.plaintext_b64));
      expect(() => oaepDecrypt(privateKey(s.recipient), b64(s.ciphertext_b64), other)).toThrow(HaliteError);
      const own = oaepEncrypt(publicKey(s.recipient), b64(s.plaintext_b64), s.algorithm);
      expect(oaepDecrypt(privateKey(s.recipient), own, s.algorithm)).toEqual(b64(s.plaintext_b64));
    });
  }
  for (const s of file.x931) {
    it(`x9.31 ${s.use} ${b64(s.message_b64).length}`, () => {
      expect(x931Sign(privateKey(s.key), b64(s.message_b64))).toEqual(b64(s.output_b64));
      expect(x931Recover(publicKey(s.key), b64(s.output_b64))).toEqual(b64(s.message_b64));
    });
  }
  it('signature of the master key', () => {
    const clean = cleanKey(keys.master.pub);
    const sha1 = b64(file.master_pubkey_signature.signature_file_content_b64);
    expect(verifyKeyText(publicKey('master_sign'), clean, sha1)).toBe(true);
    expect(signKeyText(privateKey('master_sign'), clean)).toBe(sha1.toString());
    const sha224 = b64(file.master_pubkey_signature.with_sha224_pub_sig).toString();
    expect(verifyKeyText(publicKey('master_sign'), clean, sha224, 'PKCS1v15-SHA224')).toBe(true);
    expect(verifyKeyText(publicKey('master_sign'), `${clean}\n`, sha224, 'PKCS1v15-SHA224')).toBe(false);
  });
});

describe('topics and event records', () => {
  it('hashes ids for filtered publishing', () => {
    const topics = load<{ ids: Record<string, string> }>('zmq-topics');
    for (const [id, hash] of Object.entries(topics.ids)) expect(createHash('sha1').update(id).digest('hex')).toBe(hash);
  });
  it('reads and builds an event record', () => {
    const event = load<{
      tag: string;
      data: { [key: string]: Value };
      event_bytes_b64: string;
      ipc_frame_3006_26_and_later_b64: string;
      ipc_frame_without_length_prefix_b64: string;
    }>('event-bus');
    const built = Buffer.concat([
      Buffer.from(`${event.tag}\n\n`),
      pack(newDict(Object.entries(event.data)), { bin: true }),
    ]);
    expect(built.toString('base64')).toBe(event.event_bytes_b64);
    const frame = pack(
      newDict([
        ['head', newDict()],
        ['body', built],
      ]),
      { bin: true },
    );
    expect(frame.toString('base64')).toBe(event.ipc_frame_without_length_prefix_b64);
    const prefixed = b64(event.ipc_frame_3006_26_and_later_b64);
    expect(prefixed.readUInt32BE(0)).toBe(frame.length);
    expect(prefixed.subarray(4)).toEqual(frame);
  });
});
