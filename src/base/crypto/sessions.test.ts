// Whole sessions recorded with three Salt versions: every message is read, verified and rebuilt.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../codec/msgpack/index.ts';
import { newDict, type Value } from '../codec/value.ts';
import {
  Crypticle,
  cleanKey,
  type EncAlgo,
  makeToken,
  oaepDecrypt,
  type SigAlgo,
  signPkcs1,
  verifyPkcs1,
  verifyToken,
  x931Recover,
  x931Sign,
} from './index.ts';

import { b64, bytes, get, keys, load, privateKey, publicKey } from './testing.ts';

interface AuthCase {
  enc_algo: EncAlgo;
  sig_algo: SigAlgo;
  minion_has_master_pub: boolean;
  request_zmq_frame_b64: string;
  reply_zmq_frame_b64: string;
  reply_signed_load_b64: string;
  reply_signature_b64: string;
}
interface Session {
  minion_id: string;
  aes_key_string: string;
  session_key_string: string;
  minion_token: string;
  nonce: string;
  auth_first_contact_sha1: AuthCase;
  auth_known_master_sha1: AuthCase;
  auth_known_master_sha224: AuthCase;
  auth_legacy_v0_reply_zmq_frame_b64: string;
  auth_pending_reply_zmq_frame_b64: string;
  auth_denied_reply_zmq_frame_b64: string;
  return_request: { nonce: string; iv_b64: string; zmq_frame_b64: string; crypticle_plaintext_b64: string };
  return_reply: { zmq_frame_b64: string };
  serve_file_reply: { zmq_frame_b64: string; value: { data_b64: string; dest: string } };
  pillar_reply: {
    nonce: string;
    zmq_frame_b64: string;
    one_time_key_string: string;
    key_field_b64: string;
    pillar_value: unknown;
  };
  publish: {
    job: { [key: string]: Value };
    serial: number;
    iv_b64: string;
    zmq_single_frame_b64: string;
    sig_algo: SigAlgo;
    sig_b64: string;
    load_b64: string;
    zmq_filtered_frames: { broadcast: string[]; id_frames: string[] };
    tcp_frame_body_map_b64: string;
    tcp_frame_body_bytes_b64: string;
    ws_binary_message_b64: string;
  };
  tcp: {
    request_frame_b64: string;
    request_mid: string;
    encrypted_request_frame_b64: string;
    pub_channel_identify_frame_b64: string;
  };
}

/** Repacking in raw mode must give the recorded bytes: order, forms and families are the same. */
function repacks(frame: string): void {
  expect(pack(unpack(b64(frame), { raw: true })).toString('base64')).toBe(frame);
}

for (const version of ['3006.27', '3007.14', '3008.2']) {
  describe(`session of ${version}`, () => {
    const s = load<Session>(`session-${version}`);
    const sessionBox = new Crypticle(s.session_key_string);
    const aesBox = new Crypticle(s.aes_key_string);

    for (const name of ['auth_first_contact_sha1', 'auth_known_master_sha1', 'auth_known_master_sha224'] as const) {
      const a = s[name];
      it(`${name}: request`, () => {
        repacks(a.request_zmq_frame_b64);
        const request = unpack(b64(a.request_zmq_frame_b64));
        const sent = get(request, 'load');
        expect([get(request, 'enc'), get(request, 'version'), get(sent, 'cmd')]).toEqual(['clear', 3, '_auth']);
        expect([get(sent, 'nonce'), get(sent, 'enc_algo'), get(sent, 'sig_algo')]).toEqual([
          s.nonce,
          a.enc_algo,
          a.sig_algo,
        ]);
        expect(cleanKey(get(sent, 'pub') as string)).toBe(cleanKey(keys.minion.pub));
        if (a.minion_has_master_pub) {
          expect(oaepDecrypt(privateKey('master'), bytes(get(sent, 'token')), a.enc_algo).toString()).toBe(
            s.minion_token,
          );
        } else expect(get(sent, 'token')).toBeUndefined();
      });
      it(`${name}: reply`, () => {
        repacks(a.reply_zmq_frame_b64);
        const reply = unpack(b64(a.reply_zmq_frame_b64), { raw: true });
        const signed = bytes(get(reply, 'load'));
        expect(signed).toEqual(b64(a.reply_signed_load_b64));
        expect(verifyPkcs1(publicKey('master'), signed, bytes(get(reply, 'sig')), a.sig_algo)).toBe(true);
        expect(signPkcs1(privateKey('master'), signed, a.sig_algo)).toEqual(b64(a.reply_signature_b64));
        repacks(a.reply_signed_load_b64);
        const inner = unpack(signed);
        const minion = privateKey('minion');
        expect(get(inner, 'nonce')).toBe(s.nonce);
        expect(get(inner, 'pub_key')).toBe(cleanKey(keys.master.pub));
        expect(oaepDecrypt(minion, bytes(get(inner, 'aes')), a.enc_algo).toString()).toBe(s.aes_key_string);
        expect(oaepDecrypt(minion, bytes(get(inner, 'session')), a.enc_algo).toString()).toBe(s.session_key_string);
        const digest = createHash('sha256').update(s.aes_key_string).digest('hex');
        expect(x931Recover(publicKey('master'), bytes(get(inner, 'sig'))).toString()).toBe(digest);
        expect(x931Sign(privateKey('master'), Buffer.from(digest))).toEqual(bytes(get(inner, 'sig')));
        if (a.minion_has_master_pub) {
          expect(oaepDecrypt(minion, bytes(get(inner, 'token')), a.enc_algo).toString()).toBe(s.minion_token);
        }
      });
    }

    it('legacy, pending and denied replies', () => {
      const legacy = unpack(b64(s.auth_legacy_v0_reply_zmq_frame_b64));
      expect([get(legacy, 'enc'), get(legacy, 'nonce')]).toEqual(['pub', undefined]);
      expect(oaepDecrypt(privateKey('minion'), bytes(get(legacy, 'aes'))).toString()).toBe(s.aes_key_string);
      for (const [frame, ret] of [
        [s.auth_pending_reply_zmq_frame_b64, true],
        [s.auth_denied_reply_zmq_frame_b64, false],
      ] as const) {
        repacks(frame);
        const reply = unpack(b64(frame), { raw: true });
        const built = pack(
          newDict([
            ['ret', ret],
            ['nonce', s.nonce],
          ]),
        );
        expect(bytes(get(reply, 'load'))).toEqual(built);
        const outer = newDict([
          ['enc', 'clear'],
          ['load', built],
          ['sig', signPkcs1(privateKey('master'), built)],
        ]);
        expect(pack(outer).toString('base64')).toBe(frame);
      }
    });

    it('return request and reply', () => {
      repacks(s.return_request.zmq_frame_b64);
      const envelope = unpack(b64(s.return_request.zmq_frame_b64), { raw: true });
      const sealed = bytes(get(envelope, 'load'));
      const sent = sessionBox.open(sealed);
      expect([get(sent, 'cmd'), get(sent, 'id'), get(sent, 'nonce')]).toEqual([
        '_return',
        s.minion_id,
        s.return_request.nonce,
      ]);
      expect(get(sent, 'ts')).toBe(1700000000);
      expect(bytes(get(envelope, 'id')).toString()).toBe(s.minion_id);
      expect(verifyToken(publicKey('minion'), bytes(get(sent, 'tok')))).toBe(true);
      expect(makeToken(privateKey('minion'))).toEqual(bytes(get(sent, 'tok')));
      const again = sessionBox.seal(sessionBox.open(sealed, { raw: true }), undefined, b64(s.return_request.iv_b64));
      expect(again).toEqual(sealed);
      const reply = unpack(b64(s.return_reply.zmq_frame_b64), { raw: true });
      expect(sessionBox.open(bytes(reply), { nonce: s.return_request.nonce })).toBeNull();
      expect(() => sessionBox.open(bytes(reply), { nonce: s.nonce })).toThrow(/nonce/);
      expect(() => aesBox.open(bytes(reply))).toThrow(/another key/);
    });

    it('file and pillar replies', () => {
      const chunk = sessionBox.open(bytes(unpack(b64(s.serve_file_reply.zmq_frame_b64), { raw: true })), {
        nonce: s.return_request.nonce,
        raw: true,
      });
      expect(get(chunk, 'data')).toEqual(b64(s.serve_file_reply.value.data_b64));
      expect(bytes(get(chunk, 'dest')).toString()).toBe(s.serve_file_reply.value.dest);
      const reply = unpack(b64(s.pillar_reply.zmq_frame_b64), { raw: true });
      const oneTime = oaepDecrypt(privateKey('minion'), bytes(get(reply, 'key')));
      expect(oneTime.toString()).toBe(s.pillar_reply.one_time_key_string);
      const inside = new Crypticle(oneTime).open(bytes(get(reply, 'pillar')), { raw: true });
      expect(verifyPkcs1(publicKey('master'), bytes(get(inside, 'data')), bytes(get(inside, 'sig')))).toBe(true);
      const data = unpack(bytes(get(inside, 'data')));
      expect(get(data, 'pillar')).toEqual(s.pillar_reply.pillar_value);
      expect(get(data, 'nonce')).toBe(s.pillar_reply.nonce);
      expect(bytes(get(unpack(bytes(get(inside, 'data')), { raw: true }), 'key'))).toEqual(
        b64(s.pillar_reply.key_field_b64),
      );
    });

    it('publish in every framing', () => {
      const p = s.publish;
      repacks(p.zmq_single_frame_b64);
      const envelope = unpack(b64(p.zmq_single_frame_b64), { raw: true });
      expect(bytes(get(envelope, 'load'))).toEqual(b64(p.load_b64));
      expect(verifyPkcs1(publicKey('master'), b64(p.load_b64), b64(p.sig_b64), p.sig_algo)).toBe(true);
      const box = new Crypticle(s.aes_key_string);
      expect(box.openPublish(b64(p.load_b64))).toEqual(p.job);
      expect(box.openPublish(b64(p.load_b64))).toBeUndefined();
      const built = aesBox.seal(newDict([...Object.entries(p.job), ['serial', p.serial]]), undefined, b64(p.iv_b64));
      expect(built).toEqual(b64(p.load_b64));
      const outer = newDict([
        ['enc', 'aes'],
        ['load', built],
        ['sig_algo', p.sig_algo],
        ['sig', signPkcs1(privateKey('master'), built, p.sig_algo)],
      ]);
      expect(pack(outer).toString('base64')).toBe(p.zmq_single_frame_b64);
      const topic = createHash('sha1').update(s.minion_id).digest('hex');
      expect(p.zmq_filtered_frames.id_frames.map((f) => b64(f).toString('latin1'))[0]).toBe(topic);
      expect(p.zmq_filtered_frames.broadcast[1]).toBe(p.zmq_single_frame_b64);
      expect(get(unpack(b64(p.tcp_frame_body_map_b64), { raw: true }), 'body', 'load')).toEqual(b64(p.load_b64));
      const frame = get(unpack(b64(p.tcp_frame_body_bytes_b64), { raw: true }), 'body');
      expect(frame).toEqual(b64(p.zmq_single_frame_b64));
      expect(unpack(b64(p.ws_binary_message_b64), { raw: true })).toEqual(b64(p.zmq_single_frame_b64));
    });

    it('tcp frames', () => {
      const frames = [s.tcp.request_frame_b64, s.tcp.encrypted_request_frame_b64, s.tcp.pub_channel_identify_frame_b64];
      const seen = frames.map((frame) => unpack(b64(frame), { raw: true }));
      const [request, encrypted, identify] = seen as [Value, Value, Value];
      expect(bytes(get(request, 'head', 'mid')).toString()).toBe(s.tcp.request_mid);
      expect(bytes(get(request, 'body', 'load', 'cmd')).toString()).toBe('ping');
      expect(get(sessionBox.open(bytes(get(encrypted, 'body', 'load'))), 'id')).toBe(s.minion_id);
      expect(get(identify, 'head')).toEqual({});
      const who = aesBox.open(bytes(get(identify, 'body', 'load')));
      expect(get(who, 'id')).toBe(s.minion_id);
      expect(verifyToken(publicKey('minion'), bytes(get(who, 'tok')))).toBe(true);
      expect(verifyToken(publicKey('master'), bytes(get(who, 'tok')))).toBe(false);
    });
  });
}
