// Messages recorded from real Salt, read by our readers and, where the bytes are fixed, written byte for byte.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pack, unpack } from '../../../base/codec/msgpack/index.ts';
import { headText, joinFrame, publishBody, splitFrame } from '../tcp/frame.ts';
import { FrameReader } from '../tcp/frame-reader.ts';
import { authLoad, readAuthAnswer, readAuthReply, readAuthRequest } from './auth.ts';
import { isProblem, type Problem } from './fields.ts';
import { publishEnvelopeValue, readPublishEnvelope } from './publish.ts';
import { readPillarReply } from './reply.ts';
import { envelopeValue, readEnvelope } from './request.ts';

interface Session {
  minion_id: string;
  nonce: string;
  auth_known_master_sha1: Record<string, string>;
  auth_legacy_v0_reply_zmq_frame_b64: string;
  auth_pending_reply_zmq_frame_b64: string;
  return_request: { zmq_frame_b64: string };
  pillar_reply: { zmq_frame_b64: string; key_field_b64: string };
  publish: Record<string, string>;
  tcp: Record<string, string>;
}

const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64');
const good = <T extends object>(value: T | Problem): T => {
  if (isProblem(value)) throw new Error(value.problem);
  return value as T;
};
const wholeFrame = (frame: Buffer) => {
  const [only, ...more] = new FrameReader(100_000).feed(frame);
  expect(more).toEqual([]);
  const parts = only && splitFrame(only);
  if (!parts) throw new Error('no frame');
  return parts;
};

describe.each(['3006.27', '3007.14', '3008.2'])('messages of Salt %s', (version) => {
  const file = new URL(`../../../../test/fixtures/vectors/session-${version}.json`, import.meta.url);
  const session = JSON.parse(readFileSync(file, 'utf8')) as Session;

  it('reads and writes the sign-in request', () => {
    const frame = bytes(session.auth_known_master_sha1['request_zmq_frame_b64']);
    const envelope = good(readEnvelope(frame));
    if (envelope.enc !== 'clear') throw new Error('not clear');
    const request = good(readAuthRequest(envelope.load));
    expect(request).toMatchObject({ id: session.minion_id, nonce: session.nonce, enc_algo: 'OAEP-SHA1' });
    expect(request.token).toHaveLength(256);
    const again = unpack(pack(envelopeValue({ ...envelope, load: authLoad(request) })));
    expect(again).toEqual(unpack(frame));
  });

  it('reads the answers', () => {
    const known = session.auth_known_master_sha1;
    const reply = good(readAuthReply(unpack(bytes(known['reply_zmq_frame_b64']))));
    if (reply.kind !== 'signed') throw new Error('not signed');
    expect(Buffer.from(reply.load).toString('base64')).toBe(known['reply_signed_load_b64']);
    expect(Buffer.from(reply.sig).toString('base64')).toBe(known['reply_signature_b64']);
    const answer = good(readAuthAnswer(unpack(reply.load)));
    expect(answer).toMatchObject({ ret: undefined, nonce: session.nonce, publish_port: expect.any(Number) });
    for (const field of ['aes', 'session', 'sig', 'token'] as const) expect(answer[field]).toHaveLength(256);
    const old = good(readAuthReply(unpack(bytes(session.auth_legacy_v0_reply_zmq_frame_b64))));
    expect(old.kind).toBe('unsigned');
    const pending = good(readAuthReply(unpack(bytes(session.auth_pending_reply_zmq_frame_b64))));
    if (pending.kind !== 'signed') throw new Error('not signed');
    expect(readAuthAnswer(unpack(pending.load))).toMatchObject({ ret: true });
  });

  it('reads sealed requests and pillar replies', () => {
    const frame = bytes(session.return_request.zmq_frame_b64);
    const envelope = good(readEnvelope(frame));
    expect(envelope).toMatchObject({ enc: 'aes', version: 3, id: session.minion_id, sig_algo: 'PKCS1v15-SHA1' });
    expect(unpack(pack(envelopeValue(envelope)))).toEqual(unpack(frame));
    const pillar = good(readPillarReply(unpack(bytes(session.pillar_reply.zmq_frame_b64))));
    expect(Buffer.from(pillar.key).toString('base64')).toBe(session.pillar_reply.key_field_b64);
  });

  it('reads a publish in the framing of every transport, and writes it byte for byte', () => {
    const single = bytes(session.publish['zmq_single_frame_b64']);
    const expected = good(readPublishEnvelope(unpack(single)));
    expect(Buffer.from(expected.load).toString('base64')).toBe(session.publish['load_b64']);
    expect(pack(publishEnvelopeValue(expected)).equals(single)).toBe(true);
    const asBytes = publishBody(wholeFrame(bytes(session.publish['tcp_frame_body_bytes_b64'])).body);
    const asMap = publishBody(wholeFrame(bytes(session.publish['tcp_frame_body_map_b64'])).body);
    const asMessage = publishBody(bytes(session.publish['ws_binary_message_b64']));
    expect(asBytes.equals(single)).toBe(true);
    expect(asMessage.equals(single)).toBe(true);
    expect(good(readPublishEnvelope(unpack(asMap)))).toEqual(expected);
  });

  it('reads TCP requests and identifications', () => {
    const frame = bytes(session.tcp['request_frame_b64']);
    const parts = wholeFrame(frame);
    expect(headText(parts.head, 'mid')).toBe(session.tcp['request_mid']);
    expect(joinFrame(parts.head, parts.body).equals(frame)).toBe(true);
    expect(good(readEnvelope(parts.body)).enc).toBe('clear');
    const identification = wholeFrame(bytes(session.tcp['pub_channel_identify_frame_b64']));
    expect(readEnvelope(identification.body)).toMatchObject({ enc: 'aes', version: 3 });
  });
});
