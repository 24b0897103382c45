// What a target may request while it runs a job: files, its own pillar, its assignments, the mine. A closed list; who asks
// is known from the session, never from the request.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { textField } from '../base/codec/fields.ts';
import {
  type Dict,
  dictEntries,
  dictGet,
  dictOf,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../base/codec/value.ts';
import type { MasterOpts } from '../base/config/opts.ts';
import { HaliteError, messageOf } from '../base/errors/index.ts';
import type { Logger } from '../base/log/index.ts';
import { openFileServer } from '../engine/files/open.ts';
import { fileRequests } from '../engine/files/requests.ts';
import type { FileServer } from '../engine/files/server.ts';
import { compilePillarLocally } from '../engine/pillar/local.ts';
import { failedPillar } from '../engine/pillar/service.ts';
import { masterOptsFor } from '../engine/state/master-opts.ts';
import { MasterTops } from '../engine/state/master-tops.ts';
import { isProblem } from '../protocol/wire/messages/fields.ts';
import { acceptGrains } from '../protocol/wire/messages/minion-grains.ts';
import { type MineQuery, readMineQuery, readPillarFields } from '../protocol/wire/messages/minion-loads.ts';
import { commandFile } from './programs.ts';
import type { SshTarget } from './target.ts';

export interface ServiceParts {
  readonly opts: Pick<MasterOpts, 'raw'> & Parameters<typeof openFileServer>[0];
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Runs functions of the mine on other targets. */
  mine(query: MineQuery, asking: SshTarget): Promise<Value>;
  /** A result of an earlier job whose connection was lost. */
  kept(target: SshTarget, result: PlainDict): Promise<void>;
}

type Service = (load: PlainDict, target: SshTarget) => Promise<Value> | Value;

/** Requests that a minion may make of a master, and a target of salt-ssh may not: there is nobody to publish to. */
const refused: ReadonlyMap<string, string> = new Map([
  ['minion_pub', 'publish'],
  ['minion_publish', 'publish'],
  ['minion_runner', 'runners'],
  ['pub_ret', 'publish'],
  ['_mine', 'storing in the mine'],
  ['_mine_delete', 'storing in the mine'],
  ['_mine_flush', 'storing in the mine'],
  ['_file_recv', 'pushing files'],
]);

export class SshServices {
  readonly #parts: ServiceParts;
  readonly #table: ReadonlyMap<string, Service>;
  #files: Promise<FileServer> | undefined;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const tops = new MasterTops(parts);
    const assigned: Service = (load, { id }) => tops.of(id, load);
    this.#table = new Map<string, Service>([
      ...[...fileRequests].map(([name, answer]): [string, Service] => [
        name,
        async (load) => answer(await this.files(), load),
      ]),
      ['_pillar', (load, target) => this.#pillar(load, target)],
      ['_master_opts', (load) => masterOptsFor(parts.opts.raw, load)],
      ['_master_tops', assigned],
      ['_ext_nodes', assigned],
      ['_mine_get', (load, target) => this.#mine(load, target)],
      // There is no bus between a target and a master that may not even run.
      ['_minion_event', () => false],
      ['_ssh_kept', (load, target) => this.#kept(load, target)],
      ['_ssh_sdk', () => sdkFiles()],
    ]);
  }

  async answer(load: PlainDict, target: SshTarget): Promise<Value> {
    const cmd = textField(load, 'cmd') ?? '';
    const service = this.#table.get(cmd);
    if (service) return service(load, target);
    const what = refused.get(cmd);
    this.#parts.log.limited(`ssh:${target.id}`, 'warn', 'a target requested what it may not have', {
      target: target.id,
      request: cmd.slice(0, 64),
    });
    throw new HaliteError('auth.denied', `${what ?? 'This request'} is not available to targets of salt-ssh`);
  }

  /** Whether there are extensions of users for targets. */
  async hasExtensions(): Promise<boolean> {
    const { files } = await (await this.files()).lists('base');
    return files.some((path) => path.startsWith('_'));
  }

  files(): Promise<FileServer> {
    this.#files ??= (async () => {
      const server = openFileServer(this.#parts.opts, { log: this.#parts.log });
      // No daemon keeps repositories up to date here.
      await server.update();
      return server;
    })();
    return this.#files;
  }

  async close(): Promise<void> {
    await (await this.#files?.catch(() => undefined))?.close();
  }

  async #pillar(load: PlainDict, target: SshTarget): Promise<Dict> {
    const { opts, log, signal } = this.#parts;
    const fields = readPillarFields(load);
    const { grains } = acceptGrains(fields.grains);
    const known = dictOf([...dictEntries(grains).filter(([name]) => name !== 'id'), ['id', target.id]]);
    const own = Object.assign(newDict(Object.entries(opts.raw)), { id: target.id });
    try {
      return await compilePillarLocally(own, known, {
        ...{ log, signal, ext: fields.ext, override: fields.override },
        ...{ saltenv: fields.saltenv, pillarenv: fields.pillarenv },
      });
    } catch (error) {
      log.error('a pillar could not be compiled', { target: target.id, error: messageOf(error) });
      return failedPillar(`The pillar could not be compiled: ${messageOf(error)}`);
    }
  }

  #mine(load: PlainDict, target: SshTarget): Promise<Value> | Value {
    const query = readMineQuery(load);
    return isProblem(query) ? newDict() : this.#parts.mine(query, target);
  }

  async #kept(load: PlainDict, target: SshTarget): Promise<boolean> {
    const kept = dictGet(load, 'kept');
    if (!isDict(kept) || kept instanceof Map) return true;
    await this.#parts.kept(target, kept);
    return true;
  }
}

/** The SDK for extensions of users, as files beside the program. */
function sdkFiles(): PlainDict {
  const folder = fileURLToPath(new URL('ssh-sdk/', commandFile('ssh-job')));
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  return newDict(names.map((name) => [name, readFileSync(`${folder}${name}`, 'utf8')]));
}
