// The content for a state: the first existing source, fetched, checked and rendered.

import {
  commandError,
  dictEntries,
  dictSize,
  invocationError,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  pyRepr,
  pyStr,
  type StateContext,
  type Value,
} from 'halite/sdk';
import { joinPath, statSync } from 'halite/sdk/fs';
import { parseSaltUrl } from 'halite/sdk/text';
import type { Content } from './content.ts';
import { exists, isDir } from './facts.ts';
import { type HashSum, hashOfFile, sourceSum } from './hash-sums.ts';
import { renderFile, templateEngines, templateVariables } from './template.ts';
import { remoteProtocols, schemeOf, splitUrl, validProtocols, withoutPassword } from './urls.ts';

interface Chosen {
  readonly source: string;
  readonly hash: Value;
}

/** The files of the file server in the requested environments. */
class Offers {
  readonly #ctx: StateContext;
  readonly #known = new Map<string, Promise<Set<string>>>();
  constructor(ctx: StateContext) {
    this.#ctx = ctx;
  }
  async has(path: string, saltenv: string): Promise<boolean> {
    let known = this.#known.get(saltenv);
    if (!known) {
      known = this.#read(saltenv);
      this.#known.set(saltenv, known);
    }
    return (await known).has(path);
  }
  async #read(saltenv: string): Promise<Set<string>> {
    const files = this.#ctx.files;
    return new Set([...(await files.list('files', saltenv)), ...(await files.list('dirs', saltenv))]);
  }
}

async function answers(url: string, ctx: StateContext): Promise<boolean> {
  const answer = await ctx.callWith('http.query', [url], { method: 'HEAD', decode: false });
  return isDict(answer) && !dictEntries(answer).some(([key]) => key === 'error');
}

async function usable(url: string, offers: Offers, ctx: StateContext): Promise<boolean> {
  const { scheme, host, path } = splitUrl(url);
  const salt = parseSaltUrl(url);
  if (scheme === 'salt' || scheme === '') {
    if (await offers.has(salt.path, salt.saltenv ?? ctx.saltenv)) return true;
  }
  if (scheme === 'file') return exists(path) || (host !== '' && (exists(host) || exists(joinPath(host, path))));
  if (scheme.startsWith('http') || scheme === 'ftp') return answers(url, ctx);
  return url.startsWith('/') && exists(url);
}

/** The first existing source; each may have its own hash (`- http://…: md5=…`). */
export async function chooseSource(source: Value, hash: Value, ctx: StateContext): Promise<Chosen> {
  if (!Array.isArray(source)) return { source: source === null ? '' : pyStr(source), hash };
  const offers = new Offers(ctx);
  for (const item of source) {
    if (isDict(item)) {
      if (dictSize(item) !== 1) continue;
      const [url, own] = dictEntries(item)[0] as [Value, Value];
      if (await usable(pyStr(url), offers, ctx)) return { source: pyStr(url), hash: own || hash };
    } else if (typeof item === 'string' && (await usable(item, offers, ctx))) return { source: item, hash };
  }
  throw commandError('none of the specified sources were found');
}

export interface SourceRequest {
  readonly name: string;
  readonly source: string;
  readonly hash: Value;
  readonly hashName: Value;
  readonly template: string | null;
  readonly context: Value;
  readonly defaults: Value;
  readonly skipVerify: boolean;
  readonly verifySsl: Value;
  readonly useEtag: boolean;
  /** Variables of templates besides their context: user, group, mode, … */
  readonly extra: PlainDict;
}

/** Content, or why there is none. `sum` is the expected hash, if it is known before the content is fetched. */
export type Fetched = { readonly content?: Content; readonly sum?: HashSum | undefined } | { readonly problem: string };

function localPath(source: string): string | undefined {
  const { scheme, host, path } = splitUrl(source);
  if (scheme === 'file') return joinPath(host, path).replace(/\/+$/, '');
  return validProtocols.includes(scheme) ? undefined : source;
}

/** The expected hash of the source; a text when it cannot be determined. */
async function expectedSum(request: SourceRequest, ctx: StateContext): Promise<HashSum | string | undefined> {
  const { source } = request;
  if (schemeOf(source) === 'salt') {
    const sum = await ctx.files.hash(source, ctx.saltenv);
    if (!sum) return `Source file ${source} not found in saltenv '${ctx.saltenv}'`;
    return { type: sum.hash_type, digits: sum.hsum.toLowerCase() };
  }
  if (!request.hash && localPath(source) !== undefined) return undefined;
  if (request.skipVerify) return undefined;
  if (request.hash) {
    const { name: fileName, hash: sourceHash, hashName, verifySsl } = request;
    return sourceSum({ fileName, source, sourceHash, hashName, saltenv: ctx.saltenv, verifySsl }, ctx);
  }
  if (request.useEtag) return undefined;
  return `Unable to verify upstream hash of source file ${withoutPassword(source)}, please set source_hash or set skip_verify to True`;
}

/** The local copy of a remote file: the cached one if it is still correct. The path is empty when there is none. */
export async function cachedCopy(
  request: SourceRequest,
  sum: HashSum | undefined,
  ctx: StateContext,
): Promise<{ readonly path: string; readonly read?: Buffer | undefined }> {
  const { source } = request;
  const isSalt = schemeOf(source) === 'salt';
  if (!isSalt && !request.useEtag && (request.hash || request.skipVerify)) {
    const known = await ctx.files.isCached(source, ctx.saltenv);
    if (known !== '' && exists(known)) {
      if (request.skipVerify || (sum && hashOfFile(known, sum.type) === sum.digits)) return { path: known };
    }
  }
  let read: Buffer | undefined;
  const path = await ctx.files.cacheFile(source, {
    saltenv: ctx.saltenv,
    sourceHash: sum?.digits,
    served: isSalt && sum ? { hash_type: sum.type, hsum: sum.digits } : undefined,
    verifySsl: request.verifySsl !== false,
    useEtag: request.useEtag,
    onContent: (content) => {
      read = content;
    },
  });
  return { path, read };
}

/** Everything except the fetching of a plain `salt://` file, which is only needed when it differs. */
export async function fetchSource(request: SourceRequest, ctx: StateContext): Promise<Fetched> {
  const { source, template } = request;
  const scheme = schemeOf(source);
  const local = localPath(source);
  if (local !== undefined && !exists(local)) return { problem: `Local file source ${local} does not exist` };
  if (local !== undefined && isDir(local)) return { problem: `[Errno 21] Is a directory: ${pyRepr(local)}` };
  if (template !== null && !templateEngines.includes(template))
    return { problem: `Specified template format ${template} is not supported` };
  let sum: HashSum | string | undefined;
  try {
    sum = await expectedSum(request, ctx);
  } catch (error) {
    return { problem: messageOf(error) };
  }
  if (typeof sum === 'string') return { problem: sum };
  if (template === null && !remoteProtocols.includes(scheme))
    return local === undefined ? { sum } : { content: { path: local }, sum };
  let path = local ?? '';
  if (local === undefined) {
    try {
      ({ path } = await cachedCopy(request, sum, ctx));
    } catch (error) {
      return { problem: `Failed to cache ${withoutPassword(source)}: ${messageOf(error)}` };
    }
  }
  if (path === '' || !exists(path)) return { problem: `Source file '${withoutPassword(source)}' not found` };
  if (path === request.name) throw invocationError('Source file cannot be the same as destination');
  if (template === null) return { content: { path }, sum };
  const variables = templateVariables(request.defaults, request.context);
  const extra = newDict([...Object.entries(request.extra), ['source', source]]);
  const made = await renderFile(path, { engine: template, variables, extra }, ctx);
  return 'problem' in made ? made : { content: { bytes: made.bytes } };
}

/** The mode of a source, for `mode: keep`. */
export async function modeOfSource(source: string, ctx: StateContext): Promise<string | null> {
  const local = localPath(source);
  if (local !== undefined) return (statSync(local).mode & 0o7777).toString(8).padStart(4, '0');
  if (schemeOf(source) !== 'salt') return null;
  const stat = await ctx.files.stat(source, ctx.saltenv);
  return stat?.[0] === undefined ? null : (stat[0] & 0o7777).toString(8).padStart(4, '0');
}
