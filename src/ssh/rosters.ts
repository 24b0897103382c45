// Asks the rosters for the hosts that a target names.
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import {
  asDict,
  asList,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../base/codec/value.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { isFile } from '../base/util/fs-facts.ts';
import { execProgram } from '../engine/exec/index.ts';
import { providePython } from '../engine/python/index.ts';
import { renderFile } from '../engine/render/index.ts';
import { Loader, sdkUrl } from '../extend/loader/index.ts';
import type { KnownMinion, RosterContext, RosterTarget } from '../extend/sdk/index.ts';
import { matches, parseTarget } from '../protocol/target/index.ts';
import { readTarget, type SshTarget, type TargetDefaults, withDefaults } from './target.ts';

export interface RosterParts {
  /** The options of the master and of the command. */
  readonly opts: PlainDict;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Only files below `rosters` may be named: for requests from elsewhere. */
  readonly confined: boolean;
  knownMinions(target: RosterTarget): Promise<ReadonlyMap<string, KnownMinion>>;
  secret(address: string): Promise<Value>;
}

const pythonIdleMs = 1000;

/** Kinds of targets that the id of a host can answer. */
const byId = new Set(['glob', 'pcre', 'list']);

export class Rosters {
  readonly #parts: RosterParts;
  readonly #loader: Loader;

  constructor(parts: RosterParts) {
    this.#parts = parts;
    const sdk = sdkUrl();
    this.#loader = new Loader({
      ...{ opts: () => parts.opts, grains: newDict, log: parts.log, userCode: 'import' },
      python: providePython({ opts: () => parts.opts, log: parts.log, workers: 'shared', idleMs: pythonIdleMs }).source,
      ...(sdk ? { sdkUrl: sdk } : {}),
    });
  }

  /** Raw entries by id; a later roster replaces entries of an earlier one. A roster that fails is reported, and skipped. */
  async find(target: RosterTarget): Promise<Dict> {
    const names = namesOf(this.#parts.opts['roster']);
    const found = new Map<Value, Value>();
    for (const name of names) {
      const roster = await this.#loader.get('rosters', name);
      if (!roster) {
        const why = this.#loader.reason('rosters', name);
        throw new HaliteError('config.value', `There is no roster '${name}'`, why ? { hint: why } : {});
      }
      try {
        for (const [id, entry] of dictEntries(await roster.extension.targets(target, this.#context(target))))
          found.set(id, entry);
      } catch (error) {
        if (error instanceof HaliteError && !recoverable.has(error.code)) throw error;
        this.#parts.log.error(problemText(error), { roster: name, error: messageOf(error) });
      }
    }
    return dictOf([...found]);
  }

  /** The targets of a command, in the order of their rosters. */
  async targets(target: RosterTarget, defaults: TargetDefaults): Promise<SshTarget[]> {
    const entries = dictEntries(await this.find(target));
    const shared = this.#parts.opts['roster_defaults'];
    return Promise.all(
      entries.map(async ([id, entry]) =>
        readTarget(String(id), await this.#withSecrets(withDefaults(entry, shared)), defaults),
      ),
    );
  }

  /** `sdb://` in place of values. */
  async #withSecrets(value: Value): Promise<Value> {
    if (typeof value === 'string') return value.startsWith('sdb://') ? this.#parts.secret(value) : value;
    if (!isDict(value)) return value;
    const entries = dictEntries(value).map(async ([key, item]) => [key, await this.#withSecrets(item)] as const);
    return dictOf(await Promise.all(entries));
  }

  rosterFile(): string {
    return rosterFile(this.#parts.opts, this.#parts.confined);
  }

  render(path: string): Promise<Value> {
    const { opts, log, signal } = this.#parts;
    const refuse = async (): Promise<never> => {
      throw new HaliteError('render.failed', 'Rosters cannot call functions');
    };
    return renderFile(
      {
        ...{ loader: this.#loader, log, opts, grains: newDict(), pillar: newDict(), signal },
        files: { cacheFile: async () => undefined },
        functions: { modules: async () => new Set(), has: async () => false, call: refuse },
        exec: (file, args, options = {}) => execProgram(file, args, options, signal),
      },
      path,
    );
  }

  #context(target: RosterTarget): RosterContext {
    const { opts, log, signal, secret } = this.#parts;
    return {
      ...{ opts, log, signal, secret },
      rosterFile: () => this.rosterFile(),
      render: (path) => this.render(path),
      matching: (ids) => matchingIds(ids, target, opts),
      exec: (file, args, options = {}) => execProgram(file, args, options, signal),
      knownMinions: () => this.#parts.knownMinions(target),
    };
  }
}

/** Problems with one roster's own files do not concern the others. */
const recoverable = new Set(['config.missing', 'render.failed', 'path.refused']);

const problemText = (error: unknown): string =>
  error instanceof HaliteError && error.code === 'render.failed'
    ? `Unable to render roster file: ${error.message}`
    : messageOf(error);

/** Names of rosters: a text with commas, or a list. */
export function namesOf(given: Value | undefined): string[] {
  const names = (asList(given) ?? String(given || 'flat').split(',')).map((name) => String(name).trim());
  return names.filter((name) => name !== '');
}

/** The ids that a target covers; kinds that need data about the hosts are refused, Salt finds nothing. */
function matchingIds(ids: readonly string[], { tgt, kind }: RosterTarget, opts: PlainDict): string[] {
  if (kind === 'nodegroup') {
    const groups = asDict(opts['ssh_list_nodegroups']) ?? newDict();
    const group = dictGet(groups, String(tgt));
    const members = asList(group)?.map(String) ?? (asText(group) ?? '').split(',');
    return ids.filter((id) => members.includes(id));
  }
  if (!byId.has(kind))
    throw new HaliteError('target.syntax', `A roster cannot be asked by ${kind}: it knows only ids`, {
      hint: 'Use a glob, -E, -L, -N, or --roster cache, which knows grains and pillar.',
    });
  const target = parseTarget(tgt, kind);
  return ids.filter((id) => matches(target, { id }) === 'match');
}

/** Salt's order and messages. */
function rosterFile(opts: PlainDict, confined: boolean): string {
  const named = asText(opts['roster_file']) || '';
  const file = confined && named !== '' ? confinedFile(opts, named) : named || join(configDir(opts), 'roster');
  if (!isFile(file)) throw new HaliteError('config.missing', `Roster file "${file}" not found`);
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new HaliteError('config.missing', `Access denied to roster "${file}"`);
  }
  return file;
}

const configDir = (opts: PlainDict): string => asText(opts['config_dir']) || '/etc/salt';

function confinedFile(opts: PlainDict, named: string): string {
  const name = named.replace(/^\/+|\/+$/g, '');
  const refuse = (why: string): never => {
    throw new HaliteError('call.arguments', `The roster file ${JSON.stringify(named)} ${why}`, {
      hint: 'It is the path of a file below one of the folders of the option rosters.',
    });
  };
  if (/\p{Cc}/u.test(name) || name.split('/').includes('..')) refuse('is not acceptable');
  // Another roster instead would run the function on hosts that nobody meant.
  const found = (asList(opts['rosters']) ?? []).map((folder) => join(String(folder), name)).find(isFile);
  return found ?? refuse('does not exist');
}
