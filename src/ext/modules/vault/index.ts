// Execution module `vault`: secrets of HashiCorp Vault.

import {
  commandError,
  type Dict,
  defineModule,
  dictGet,
  fn,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  p,
  pyRepr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { dumpJson } from 'halite/sdk/codec';
import { rm, stat } from 'halite/sdk/fs';
import { ask, kvPaths, type Question, readSecret, tokenFile } from '../../shared/vault/client.ts';
import { vaultHost } from '../../shared/vault/hosts.ts';
import { answerField, checkStatus, type VaultAnswer } from '../../shared/vault/request.ts';

const path = p.string({ doc: 'path of the secret, beginning with the mount: `secret/my/secret`' });
const unset = '__unset__';
const fallback = p.any({ default: unset, doc: 'returned instead of an error when there is no such secret' });

/** `KeyError: 'x'` and similar texts, which follow Salt's message. */
function said(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message.startsWith('HTTPError') || error.name === 'HaliteError'
    ? messageOf(error)
    : `${error.name}: ${error.message}`;
}

function dataOf(answer: VaultAnswer): Dict {
  if (answer.status !== 200) checkStatus(answer);
  const data = answerField(answer, 'data');
  if (data === undefined || !isDict(data)) throw pythonError('KeyError', "'data'");
  return data;
}

async function read(args: { path: string; key: Value; metadata: boolean }, ctx: ModuleContext): Promise<Value> {
  const { answer, v2 } = await readSecret(vaultHost(ctx), args.path);
  const data = dataOf(answer);
  const inner = v2 ? dictGet(data, 'data') : data;
  if (args.key === null) return v2 && !args.metadata ? (inner ?? null) : data;
  const found = inner !== undefined && isDict(inner) ? dictGet(inner, args.key) : undefined;
  if (found === undefined) throw pythonError('KeyError', pyRepr(args.key));
  return found;
}

/** Sends data to a path; returns the answer of version 2, or true. */
async function write(where: string, data: Value, ctx: ModuleContext): Promise<Value> {
  try {
    const host = vaultHost(ctx);
    const paths = await kvPaths(host, where);
    const body = paths.v2 ? newDict([['data', data]]) : data;
    const answer = await ask(host, { method: 'POST', path: paths.data, json: dumpJson(body) });
    if (answer.status === 200) return dataOf(answer);
    if (answer.status !== 204) checkStatus(answer);
    return true;
  } catch (error) {
    ctx.log.error(`Failed to write secret! ${said(error)}`);
    return false;
  }
}

async function remove(question: Question, ctx: ModuleContext): Promise<Value> {
  try {
    const answer = await ask(vaultHost(ctx), question);
    if (answer.status !== 204) checkStatus(answer);
    return true;
  } catch (error) {
    ctx.log.error(`Failed to delete secret! ${said(error)}`);
    return false;
  }
}

const reading = {
  read_secret: fn({
    doc: 'A secret, or one value of it; with `metadata` the complete answer of a key/value engine of version 2.',
    examples: ["salt '*' vault.read_secret secret/my/secret some-key"],
    params: {
      path,
      key: p.string({ default: null, doc: 'one value only' }),
      metadata: p.bool({ default: false, doc: 'with version, times and other metadata' }),
      default: fallback,
    },
    async run(args, ctx) {
      try {
        return await read(args, ctx);
      } catch (error) {
        if (args.default !== unset) return args.default;
        throw commandError(`Failed to read secret! ${said(error)}`);
      }
    },
  }),
  list_secrets: fn({
    doc: 'The names below a path, which should end in a slash.',
    examples: ["salt '*' vault.list_secrets secret/my/"],
    params: { path, default: fallback },
    async run(args, ctx) {
      try {
        const host = vaultHost(ctx);
        const { metadata } = await kvPaths(host, args.path);
        // Vault documents this for clients that cannot send LIST.
        return dataOf(await ask(host, { path: `${metadata}?list=true` }));
      } catch (error) {
        if (args.default !== unset) return args.default;
        throw commandError(`Failed to list secrets! ${said(error)}`);
      }
    },
  }),
};

const writing = {
  write_secret: fn({
    doc: 'Writes a secret of the named values.',
    examples: ["salt '*' vault.write_secret secret/my/secret user=foo password=bar"],
    params: { path, kwargs: p.kwargs({ doc: 'names and values' }) },
    run(args, ctx) {
      const data = newDict(Object.entries(args.kwargs).filter(([name]) => !name.startsWith('__')));
      return write(args.path, data, ctx);
    },
  }),
  write_raw: fn({
    doc: 'Writes a secret from a map.',
    examples: [`salt '*' vault.write_raw secret/my/secret '{"user": "foo", "password": "bar"}'`],
    params: { path, raw: p.dict({ doc: 'names and values' }) },
    run: (args, ctx) => write(args.path, args.raw, ctx),
  }),
  delete_secret: fn({
    doc: 'Deletes a secret, of version 2 its newest version.',
    examples: ["salt '*' vault.delete_secret secret/my/secret"],
    params: { path },
    async run(args, ctx) {
      const { data } = await kvPaths(vaultHost(ctx), args.path);
      return remove({ method: 'DELETE', path: data }, ctx);
    },
  }),
  destroy_secret: fn({
    doc: 'Destroys versions of a secret for good; version 2 only.',
    examples: ["salt '*' vault.destroy_secret secret/my/secret 1 2"],
    params: { path, args: p.rest({ doc: 'numbers of versions' }) },
    async run(args, ctx) {
      const { destroy, v2 } = await kvPaths(vaultHost(ctx), args.path);
      if (v2) return remove({ method: 'POST', path: destroy, json: dumpJson(newDict([['versions', args.args]])) }, ctx);
      ctx.log.error('Destroy operation is only supported on KV version 2');
      return false;
    },
  }),
  clear_token_cache: fn({
    doc: 'Removes the cached token file; false when there is none.',
    examples: ["salt '*' vault.clear_token_cache"],
    async run(_, ctx) {
      const file = tokenFile(ctx.opts);
      for (const name of [...ctx.cache.keys()]) if (name.startsWith('vault connection ')) ctx.cache.delete(name);
      if (!(await stat(file).catch(() => undefined))) {
        ctx.log.info('Attempted to delete vault cache file, but it does not exist.');
        return false;
      }
      await rm(file);
      return true;
    },
  }),
};

export default defineModule({
  name: 'vault',
  doc: 'Secrets of HashiCorp Vault, with the options under `vault` or a token from the master.',
  reads: ['read_secret', 'list_secrets'],
  functions: { ...reading, ...writing },
});
