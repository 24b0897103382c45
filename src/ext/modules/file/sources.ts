// Functions of `file` for sources: the expected hash of a source.

import { fn, newDict, p, pyStr, type Value } from 'halite/sdk';
import { osError, readFileSync } from 'halite/sdk/fs';
import { findSum, sourceSum } from '../../shared/file/hash-sums.ts';
import { chooseSource } from '../../shared/file/source.ts';
import { asState } from './as-state.ts';

export const sourceFunctions = {
  get_source_sum: fn({
    doc: 'Type and digits of the expected hash of a source: as given, or from a hash file.',
    examples: [
      "salt '*' file.get_source_sum /tmp/foo.tar.gz source=https://example.com/foo.tar.gz source_hash=https://example.com/SHA256SUMS",
    ],
    params: {
      file_name: p.string({ default: '', doc: 'the file it is for' }),
      source: p.string({ default: '', doc: 'the source of the file' }),
      source_hash: p.scalar({ default: null, doc: 'a hash, type=hash, or the address of a hash file' }),
      source_hash_name: p.scalar({ default: null, doc: 'name to search in the hash file' }),
      saltenv: p.string({ default: 'base', doc: 'environment of salt:// paths' }),
      verify_ssl: p.oneOf(['bool', 'string'], { default: true, doc: 'check certificates' }),
    },
    async run(args, ctx) {
      const request = {
        fileName: args.file_name,
        source: args.source,
        sourceHash: args.source_hash,
        hashName: args.source_hash_name,
        saltenv: args.saltenv,
        verifySsl: args.verify_ssl,
      };
      const { type, digits } = await sourceSum(request, asState(ctx, args.saltenv));
      return newDict(Object.entries({ hash_type: type, hsum: digits }));
    },
  }),
  extract_hash: fn({
    doc: 'The hash of a file in a hash file: by the given name, the name of the file or that of its source.',
    examples: ["salt '*' file.extract_hash /path/to/hash/file sha512 /etc/foo"],
    params: {
      hash_fn: p.path({ doc: 'the hash file' }),
      hash_type: p.string({ default: 'sha256', nullable: true, doc: 'type of the hash; an empty text means any' }),
      file_name: p.string({ default: '', falsy: null }),
      source: p.string({ default: '', falsy: null }),
      source_hash_name: p.string({ default: null, falsy: null, doc: 'name to search first' }),
    },
    run(args): Value {
      let list: string;
      try {
        list = readFileSync(args.hash_fn, 'utf8');
      } catch (error) {
        throw osError(error, args.hash_fn);
      }
      const names = [args.file_name, args.source, args.source_hash_name].map((name) => pyStr(name ?? ''));
      const found = findSum(list, names[0]!, names[1]!, names[2]!, args.hash_type ?? '');
      return found ? newDict(Object.entries({ hsum: found.digits, hash_type: found.type })) : null;
    },
  }),
  source_list: fn({
    doc: 'The first of several sources that exists, and its hash.',
    examples: [`salt '*' file.source_list salt://http/httpd.conf '{hash_type: md5, hsum: <md5sum>}' base`],
    params: {
      source: p.oneOf(['string', 'list', 'dict'], { nullable: true }),
      source_hash: p.oneOf(['string', 'dict'], { nullable: true }),
      saltenv: p.string(),
    },
    async run(args, ctx): Promise<Value> {
      if (!Array.isArray(args.source)) return [args.source, args.source_hash];
      const { source, hash } = await chooseSource(args.source, args.source_hash, asState(ctx, args.saltenv));
      return [source, hash];
    },
  }),
};
