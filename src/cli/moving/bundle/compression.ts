// zstd where Node has it (22.15 and newer), else gzip.

import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { createGunzip, createGzip } from 'node:zlib';
import { HaliteError } from '../../../base/errors/index.ts';

export type Compression = 'gzip' | 'zstd';
type Maker = () => Transform;

const maker = (name: string): Maker | undefined => {
  const found = (zlib as unknown as Readonly<Record<string, unknown>>)[name];
  return typeof found === 'function' ? (found as Maker) : undefined;
};

export const bestCompression = (): Compression => (maker('createZstdCompress') ? 'zstd' : 'gzip');

export function compressor(kind: Compression): Transform {
  return kind === 'gzip' ? createGzip() : (maker('createZstdCompress') as Maker)();
}

export function zstdReader(): Transform {
  const make = maker('createZstdDecompress');
  if (make) return make();
  throw new HaliteError('codec.malformed', 'This archive is packed with zstd, which this version of Node cannot read', {
    hint: 'Unpack it first (zstd -d), or run the command with Node 22.15 or newer.',
  });
}

export const decompressor = (kind: Compression): Transform => (kind === 'gzip' ? createGunzip() : zstdReader());
