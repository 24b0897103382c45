// Execution module `http`: requests to web servers.
import { setTimeout as pause } from 'node:timers/promises';
import { commandError, defineModule, fn, isTruthy, messageOf, type PlainDict, p } from 'halite/sdk';
import { query, updateBundle } from './query.ts';

const url = p.string({ doc: 'the address' });
const kwargs = p.kwargs({
  doc: 'method, params, data, data_file, header_dict, header_list, header_file, username, password, decode, decode_type, status, headers, text, cookies, persist_session, ca_bundle, verify_ssl, cert, text_out, raise_error, formdata, …',
});

/** With `test` it sends no request, or one to the address given for tests. */
const testsOnly = (args: { readonly kwargs: PlainDict }): boolean => isTruthy(args.kwargs['test'] ?? null);

export default defineModule({
  name: 'http',
  doc: 'Requests to web servers.',
  functions: {
    query: fn({
      doc: 'Sends a request; returns the requested parts of `{body, status, headers, text, dict, error}`.',
      examples: [
        "salt '*' http.query http://example.com/ status=True",
        "salt '*' http.query http://example.com/api method=POST data='{\"a\": 1}' decode=True",
      ],
      params: { url, kwargs },
      reads: testsOnly,
      async run(args, ctx) {
        try {
          return await query(args.url, args.kwargs, ctx);
        } catch (error) {
          ctx.signal.throwIfAborted();
          throw commandError(messageOf(error));
        }
      },
    }),
    wait_for_successful_query: fn({
      doc: 'Repeats the request until there is no error, or the timeout is reached.',
      examples: ["salt '*' http.wait_for_successful_query http://example.com/ wait_for=160 request_interval=1"],
      params: { url, wait_for: p.float({ default: 300, doc: 'seconds' }), kwargs },
      reads: testsOnly,
      async run(args, ctx) {
        const end = Date.now() + args.wait_for * 1000;
        const interval = Number(args.kwargs['request_interval'] ?? 0);
        for (;;) {
          let failure: unknown;
          let last: PlainDict | undefined;
          try {
            last = await query(args.url, args.kwargs, ctx);
            if (!last['error']) return last;
          } catch (error) {
            failure = error;
          }
          ctx.signal.throwIfAborted();
          if (Date.now() > end) {
            if (last) return last;
            throw commandError(messageOf(failure));
          }
          await pause(Math.max(interval * 1000, 50), undefined, { signal: ctx.signal });
        }
      },
    }),
    update_ca_bundle: fn({
      doc: 'Fetches a bundle of certificates to trust.',
      examples: ["salt '*' http.update_ca_bundle"],
      params: {
        target: p.string({ default: null, doc: 'the destination' }),
        source: p.string({ default: null, doc: 'the source' }),
        merge_files: p.strings({ default: null, falsy: null, doc: 'certificates to append' }),
      },
      async run(args, ctx) {
        const target = args.target ?? (await ctx.call('config.get', 'ca_bundle', null));
        const source = args.source ?? (await ctx.call('config.get', 'ca_bundle_url', null));
        await updateBundle(target, source, args.merge_files, ctx);
        return null;
      },
    }),
  },
});
