// The body of a request: its bytes, with a limit, and the value in it, by its media type.
import type { IncomingMessage } from 'node:http';
import { loadJson } from '../../base/codec/json/index.ts';
import { isDict, newDict, type Value } from '../../base/codec/value.ts';
import { loadYaml } from '../../base/codec/yaml/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { ApiError } from './errors.ts';
import { argumentsOfForm, readForm } from './form.ts';

const maxDepth = 64;
const mostValues = 200_000;

export interface Body {
  /** Without parameters, in small letters. */
  readonly type: string;
  /** As they came, for signatures. */
  readonly bytes: Buffer;
  readonly text: string;
}

/** Undefined when there is no body. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Body | undefined> {
  const announced = Number(request.headers['content-length'] ?? 0);
  const large = (): ApiError =>
    new ApiError(413, `The request is larger than ${maxBytes} bytes`, {
      hint: 'max_request_body_size in the configuration of the API sets the limit.',
      headers: { Connection: 'close' },
    });
  if (announced > maxBytes) throw large();
  const coding = request.headers['content-encoding'];
  if (coding && coding !== 'identity') throw new ApiError(415, 'Compressed requests are not supported');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw large();
    chunks.push(chunk);
  }
  if (length === 0) return undefined;
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const bytes = Buffer.concat(chunks);
  return { type, bytes, text: decodedText(bytes) };
}

function decodedText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new ApiError(400, 'The request is not UTF-8');
  }
}

/** The value of a body, as data of unknown shape. */
export function bodyValue({ type, text }: Pick<Body, 'type' | 'text'>): Value {
  switch (type) {
    case 'application/json':
      return json(text);
    case 'application/x-yaml':
    case 'application/yaml':
    case 'text/yaml':
      return yaml(text);
    case 'application/x-www-form-urlencoded':
      return argumentsOfForm(readForm(text));
    case 'text/plain':
      // Browsers send JSON this way to other origins, and SaltGUI always does.
      return plain(text);
    default:
      throw new ApiError(406, 'Content type not supported');
  }
}

function plain(text: string): Value {
  try {
    return json(text);
  } catch (error) {
    if (error instanceof ApiError && error.extras.code === 'codec.limit') throw error;
    return text;
  }
}

function json(text: string): Value {
  try {
    return limited(loadJson(text, { maxDepth }));
  } catch (error) {
    throw unreadable(error, 'Invalid JSON document');
  }
}

function yaml(text: string): Value {
  try {
    return limited(loadYaml(text, { maxDepth, maxExpansion: mostValues, errorCode: 'codec.malformed' } as never));
  } catch (error) {
    throw unreadable(error, 'Invalid YAML document');
  }
}

function unreadable(error: unknown, text: string): ApiError {
  const code = error instanceof HaliteError ? error.code : undefined;
  return error instanceof ApiError ? error : new ApiError(400, text, { code, hint: messageOf(error) });
}

function limited(value: Value): Value {
  let left = mostValues;
  const count = (item: Value): void => {
    left -= 1;
    if (left < 0) throw new HaliteError('codec.limit', `The request has more than ${mostValues} values`);
    if (Array.isArray(item)) item.forEach(count);
    else if (isDict(item)) (item instanceof Map ? [...item.values()] : Object.values(item)).forEach(count);
  };
  count(value);
  return value;
}

/** A body for the bus: an unreadable one is only shown as text. */
export function postedValue(body: Body | undefined): Value {
  if (!body) return newDict();
  return bodyValue(body) ?? newDict();
}
