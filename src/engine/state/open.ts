// Sets up one run of the state engine: options, pillar, session, and the source of files.

import { randomInt } from 'node:crypto';
import { pyStr } from '../../base/codec/python/index.ts';
import type { Dict, Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { StateRun, StateRunRequest } from '../../extend/sdk/index.ts';
import { collectGrains, type JobState, type Runtime } from '../exec/index.ts';
import { ApplyStates } from './apply.ts';
import { clientFiles, pipelineRenderer } from './minion-sources.ts';
import { StateCaller } from './run/caller.ts';
import { RunNumbers } from './run/run-numbers.ts';
import { StateSession } from './run/session.ts';
import { callOptions, environmentsOf, withMasterOptions } from './run-options.ts';
import { gatherPillar, pillarErrors, readOverride } from './run-pillar.ts';
import { ShowStates } from './show.ts';
import { AvailableStates } from './sls/available.ts';
import { HighstateBuilder } from './sls/highstate.ts';
import type { SlsRenderer, StateFiles } from './sources.ts';
import { TopReader } from './top/reader.ts';

/** Sources of files and of rendered data other than the minion's own. */
export interface OpenSources {
  files?(session: StateSession): StateFiles;
  renderer?(session: StateSession): SlsRenderer;
}

/** Opens a run for a job. */
export async function openRun(
  runtime: Runtime,
  state: JobState,
  request: StateRunRequest,
  sources: OpenSources = {},
): Promise<StateRun> {
  const asked = await callOptions(runtime.opts(), request);
  const opts = await withMasterOptions(asked, runtime.minion);
  const session = await openSession(runtime, state, request, opts);
  const files = (sources.files ?? clientFiles)(session);
  let served: Promise<readonly string[]> | undefined;
  const envs = async (): Promise<readonly string[]> => {
    served ??= files.envs().then((names) => environmentsOf(opts, names));
    return served;
  };
  const { id, minion } = runtime;
  const renderer = (sources.renderer ?? pipelineRenderer)(session);
  const available = new AvailableStates(files, envs);
  const autoOrder = opts['state_auto_order'] !== false;
  const builder = new HighstateBuilder({ files, renderer, available, log: session.log, autoOrder });
  const top = new TopReader({ id, minion, session, files, renderer, available, envs });
  const numbers = new RunNumbers();
  // As in Salt: a number that is the same for all states of a run.
  const instanceId = String(randomInt(2 ** 47));
  const caller = new StateCaller({ session, numbers, mocked: request.mock ?? false, instanceId });
  const identity = { id, jid: state.job?.jid ?? pyStr(state.shown?.['jid'] ?? ''), instanceId };
  const { orchestrationJid } = request;
  return {
    opts,
    get pillar() {
      return session.pillar;
    },
    get pillarErrors() {
      return pillarErrors(session.pillar);
    },
    apply: new ApplyStates({ identity, orchestrationJid, session, builder, top, renderer, caller, numbers }),
    show: new ShowStates({ opts, builder, top, available }),
  };
}

/** The session with its pillar: compiled again, unless salt-call has just done that. */
async function openSession(
  runtime: Runtime,
  state: JobState,
  request: StateRunRequest,
  opts: Readonly<Record<string, Value>>,
): Promise<StateSession> {
  let override: Dict | undefined;
  const session = new StateSession({
    runtime,
    state,
    opts,
    pillar: runtime.pillar(),
    gatherPillar: () => gatherPillar({ opts, minion: runtime.minion, override }),
    gatherGrains: () => collectGrains(runtime.loader, opts, runtime.log),
  });
  const { pillarEnc } = request;
  const decrypt = pillarEnc === undefined ? undefined : (value: Value) => decryptOverride(session, value, pillarEnc);
  override = await readOverride(request.pillar, decrypt, runtime.log);
  const fresh = opts['__cli'] === 'salt-call' && (opts['pillarenv'] ?? null) === (runtime.opts()['pillarenv'] ?? null);
  if (override || !fresh) await session.reload({ pillar: true });
  return session;
}

async function decryptOverride(session: StateSession, value: Value, renderer: string): Promise<Value> {
  const name = renderer.toLowerCase();
  const valid = session.opts['decrypt_pillar_renderers'];
  if (Array.isArray(valid) && valid.length > 0 && !valid.includes(name)) {
    throw new HaliteError(
      'call.arguments',
      `'${name}' is not a valid decryption renderer. Valid choices are: ${valid.map(pyStr).join(', ')}`,
    );
  }
  const { decryptValue } = await import('../pillar/decrypt.ts');
  return decryptValue(session.renderHost(), value, name);
}
