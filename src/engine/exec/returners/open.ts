// Opens a returner by name with its options, for minions, salt-call and masters.
import type { PlainDict, Value } from '../../../base/codec/value.ts';
import { HaliteError } from '../../../base/errors/index.ts';
import { nearest } from '../../../base/util/nearest.ts';
import type { Loader } from '../../../extend/loader/index.ts';
import type { ExtensionLog, Returner, ReturnerContext, ReturnerSession } from '../../../extend/sdk/index.ts';
import { execProgram } from '../exec.ts';
import { type OptionSources, resolveOptions } from './options.ts';
import { renderForReturner } from './render.ts';

export interface OpenReturner extends OptionSources {
  /** The minion's id, or the master's. */
  readonly id: string;
  readonly log: ExtensionLog;
  readonly signal: AbortSignal;
  /** Renders a text as state files are rendered, where more than options, grains and pillar is available. */
  readonly render?: (source: string, context: PlainDict) => Promise<Value>;
  /** Calls an execution function, where there are some. */
  readonly call?: (fun: string, args: readonly Value[]) => Promise<Value>;
}

/** A limit for returners inside returners (multi_returner that names itself). */
const deepest = 4;

/**
 * An open session of a returner. Throws extension.unavailable when there is none of that name or it does not work here,
 * config.value when its options are invalid, and the returner's own error when its server cannot be reached.
 */
export function openReturner(loader: Loader, name: string, request: OpenReturner): Promise<ReturnerSession> {
  return openAt(loader, name, request, 0);
}

async function openAt(loader: Loader, name: string, request: OpenReturner, depth: number): Promise<ReturnerSession> {
  if (depth > deepest) throw new HaliteError('config.value', `The returner ${name} passes results on to itself`);
  const loaded = await loader.get('returners', name);
  if (!loaded) throw await notThere(loader, name);
  const returner: Returner = loaded.extension;
  const { values, fromJob, warnings } = resolveOptions(returner, request);
  // Options of the job may be meant for the outer returner, which has reported them.
  if (depth === 0) for (const warning of warnings) request.log.warn(warning, { returner: name });
  return returner.open(values as never, { ...contextOf(loader, request, depth), fromJob });
}

async function notThere(loader: Loader, name: string): Promise<HaliteError> {
  const why = loader.reason('returners', name);
  if (why !== undefined) {
    return new HaliteError('extension.unavailable', `Returner ${name} could not be loaded: ${why}`);
  }
  const near = nearest(name, await loader.names('returners'));
  const hint = near ? ` Did you mean '${near}'?` : '';
  return new HaliteError(
    'extension.unavailable',
    `Returner ${name} could not be loaded: '${name}.returner' is not available.${hint}`,
  );
}

function contextOf(loader: Loader, request: OpenReturner, depth: number): ReturnerContext {
  const { id, opts, grains, pillar, log, signal, render, call } = request;
  return {
    ...{ id, opts, grains, pillar, log, signal },
    exec: (file, args, options = {}) => execProgram(file, args, options, signal),
    async show(data, outputter) {
      const found = (await loader.get('outputters', outputter)) ?? (await loader.get('outputters', 'nested'));
      if (!found) throw new HaliteError('extension.unavailable', `There is no outputter ${outputter}`);
      return found.extension.render(data, { color: false, opts });
    },
    ...(call ? { call: (fun: string, ...args: Value[]) => call(fun, args) } : {}),
    open: (other) => openAt(loader, other, request, depth + 1),
    render: render ?? ((source, context) => renderForReturner(loader, request, source, context)),
  };
}
