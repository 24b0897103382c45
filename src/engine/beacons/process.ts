// The process in which beacons run: gets configurations from the daemon and returns events.

import { newDict, oneOrMore, type PlainDict, type Value } from '../../base/codec/value.ts';
import { withTimeout } from '../../base/util/with-timeout.ts';
import type { BeaconContext } from '../../extend/sdk/index.ts';
import { createContext, type Runtime } from '../exec/index.ts';
import type { BeaconProcess, BeaconProcessHost } from '../exec/job-process.ts';
import { BeaconRunner } from './runner.ts';
import { availableBeacons, prepareBeacon } from './validate.ts';

const longestStopMs = 5000;
const noSignal = new AbortController().signal;

/** The part of the runtime for a beacon: current values, because grains change. */
export function beaconContext(runtime: () => Runtime, name: string, signal: AbortSignal): BeaconContext {
  const context = () =>
    // Nothing is cached between two reads, or functions would return outdated values.
    createContext(runtime(), { signal, progress: () => undefined, retcode: 0, cache: new Map() });
  return {
    name,
    signal,
    get id() {
      return runtime().id;
    },
    get opts() {
      return runtime().opts();
    },
    get grains() {
      return runtime().grains();
    },
    get log() {
      return runtime().log;
    },
    call: (fun, ...args) => context().call(fun, ...args),
    callWith: (fun, args, kwargs) => context().callWith(fun, args, kwargs),
    exec: (file, args, options) => context().exec(file, args, options),
  };
}

/** Whether states are being applied, by the daemon or by salt-call. */
async function stateRuns(runtime: Runtime): Promise<boolean> {
  const running = (await runtime.minion.running()) as unknown as { fun: Value }[];
  return running.some(({ fun }) => oneOrMore(fun).some((name) => String(name).startsWith('state')));
}

export function createBeaconProcess(host: BeaconProcessHost): BeaconProcess {
  const { runtime } = host;
  const context = (name: string, signal: AbortSignal) => beaconContext(runtime, name, signal);
  const seconds = (): number => Number(runtime().opts()['loop_interval'] ?? 1);
  const runner = new BeaconRunner({
    ...{ log: host.log, context },
    id: () => runtime().id,
    loader: () => runtime().loader,
    loopMs: () => (seconds() > 0 ? seconds() * 1000 : 1000),
    stateRuns: () => stateRuns(runtime()),
    emit: (events) => host.emit(newDict([['events', events]])),
    ranOnce: (name) => host.emit(newDict([['ran_once', name]])),
  });
  return {
    async answer(request) {
      switch (request['func']) {
        case 'configure':
          await runner.configure(request['beacons'] as PlainDict);
          return newDict();
        case 'available':
          return newDict([['beacons', await availableBeacons(runtime().loader)]]);
        default: {
          const name = String(request['name']);
          const ready = await prepareBeacon(runtime().loader, name, request['beacon_data'] ?? null, (of) =>
            context(of, noSignal),
          );
          return newDict('problem' in ready ? [['problem', ready.problem]] : []);
        }
      }
    },
    // The process ends even if closing a beacon fails.
    stop: () => withTimeout(runner.stop(), longestStopMs, () => undefined),
  };
}
