// Functions of `file` on sources: the hash that one must have.
import { fn, newDict, p, type StateContext } from 'halite/sdk';
import { sourceSum } from '../../states/file/hash-sums.ts';

export const sourceFunctions = {
  get_source_sum: fn({
    doc: 'Kind and digits of the hash a source must have: as given, or out of a file of sums.',
    examples: [
      "salt '*' file.get_source_sum /tmp/foo.tar.gz source=https://example.com/foo.tar.gz source_hash=https://example.com/SHA256SUMS",
    ],
    params: {
      file_name: p.string({ default: '', doc: 'the file it is for' }),
      source: p.string({ default: '', doc: 'where the file comes from' }),
      source_hash: p.any({ default: null, doc: 'a hash, kind=hash, or where a file of sums is' }),
      source_hash_name: p.any({ default: null, doc: 'name to look for in the file of sums' }),
      saltenv: p.string({ default: 'base', doc: 'environment of salt:// paths' }),
      verify_ssl: p.any({ default: true, doc: 'check certificates' }),
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
      // Of a state it asks nothing but the files.
      const { type, digits } = await sourceSum(request, ctx as StateContext);
      return newDict(Object.entries({ hash_type: type, hsum: digits }));
    },
  }),
};
