// The minion's services in a job process: each call is sent to the daemon and waits for its answer.

import { packValue, unpackValue } from '../../base/codec/msgpack/index.ts';
import { type Dict, dictOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { type ErrorCode, errorCodes, HaliteError, messageOf } from '../../base/errors/index.ts';
import type { FileSlice, MinionServices, RunningJob } from '../../extend/sdk/index.ts';
import type { FileRequest } from '../files/client/chunks.ts';
import { fetchInto } from '../files/client/slices.ts';
import type { FromJobProcess, ServiceName, ToJobProcess } from './job-messages.ts';

type Answer = Extract<ToJobProcess, { t: 'reply' | 'failure' }>;

interface Waiting {
  resolve(value: Value): void;
  reject(error: Error): void;
}

/** The calling side, in the job process. */
export function createRemoteServices(send: (message: FromJobProcess) => void) {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let closed = false;

  const callFor = (minion: string | undefined, method: ServiceName, args: readonly Value[]): Promise<Value> =>
    new Promise((resolve, reject) => {
      if (closed) return reject(new HaliteError('daemon.unreachable', 'The minion daemon has ended'));
      const n = ++last;
      waiting.set(n, { resolve, reject });
      send({ t: 'call', n, method, body: packValue([...args]), ...(minion === undefined ? {} : { minion }) });
    });

  const servicesOf = (hasMaster: boolean, minion?: string): MinionServices => {
    const call = (method: ServiceName, ...args: Value[]): Promise<Value> => callFor(minion, method, args);
    return {
      hasMaster,
      running: async () => (await call('running')) as unknown as RunningJob[],
      signalJob: async (jid, signal) => String(await call('signalJob', jid, signal)),
      masterRequest: (load, options = {}) => call('masterRequest', load, newDict(Object.entries(options))),
      fetchSlice: async (slice) => Number(await call('fetchSlice', newDict(Object.entries(slice)))),
      fire: async (tag, data) => (await call('fire', tag, data)) === true,
      refreshGrains: async () => void (await call('refreshGrains')),
      refreshPillar: async () => (await call('refreshPillar')) === true,
      compilePillar: async (options) => (await call('compilePillar', given(options))) as PlainDict,
      reloadExtensions: async () => void (await call('reloadExtensions')),
      schedule: async (request) => (await call('schedule', request)) as PlainDict,
      beacons: async (request) => (await call('beacons', request)) as PlainDict,
      masters: async () => (await call('masters')) as PlainDict[],
      handover: async (request) => (await call('handover', request)) as PlainDict,
      masterKey: async () => (await call('masterKey')) as PlainDict,
      proxy: (request) => call('proxy', request),
    };
  };

  return {
    services: servicesOf,
    receive(message: Answer): void {
      const request = waiting.get(message.n);
      if (!request) return;
      waiting.delete(message.n);
      if (message.t === 'reply') request.resolve(unpackValue(message.body, message.raw));
      else request.reject(new HaliteError(knownCode(message.code), message.message));
    },
    close(): void {
      closed = true;
      for (const request of waiting.values()) {
        request.reject(new HaliteError('daemon.unreachable', 'The minion daemon has ended'));
      }
      waiting.clear();
    },
  };
}

/** Absent values stay absent: sent over the channel they would become null, which has another meaning. */
const given = (options: Readonly<Record<string, Value | undefined>>): Dict =>
  dictOf(Object.entries(options).filter((entry): entry is [string, Value] => entry[1] !== undefined));

function knownCode(code: string): ErrorCode {
  return Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : 'call.failed';
}

/** The answering side, in the daemon. */
export async function answerService(
  services: MinionServices,
  call: Extract<FromJobProcess, { t: 'call' }>,
): Promise<Answer> {
  try {
    const args = unpackValue(call.body) as Value[];
    const { value, raw } = await dispatch(services, call.method, args);
    return { t: 'reply', n: call.n, raw, body: packValue(value) };
  } catch (error) {
    const code = error instanceof HaliteError ? error.code : 'call.failed';
    return { t: 'failure', n: call.n, code, message: messageOf(error) };
  }
}

async function dispatch(
  services: MinionServices,
  method: ServiceName,
  args: Value[],
): Promise<{ value: Value; raw: boolean }> {
  const [first, second] = args;
  const plain = (value: Value) => ({ value, raw: false });
  switch (method) {
    case 'running':
      return plain((await services.running()).map((job) => newDict(Object.entries(job as unknown as PlainDict))));
    case 'signalJob':
      return plain(await services.signalJob(String(first), Number(second)));
    case 'masterRequest': {
      const options = (second ?? {}) as { raw?: boolean; timeoutMs?: number };
      return { value: await services.masterRequest(first as PlainDict, options), raw: options.raw === true };
    }
    case 'fetchSlice': {
      const request: FileRequest = (load, options = {}) => services.masterRequest(load, options);
      return plain(await fetchInto(request, first as unknown as FileSlice));
    }
    case 'fire':
      return plain(await services.fire(String(first), second as PlainDict));
    case 'refreshGrains':
      await services.refreshGrains();
      return plain(null);
    case 'refreshPillar':
      return plain(await services.refreshPillar());
    case 'compilePillar':
      return plain(await services.compilePillar(first as { override?: PlainDict }));
    case 'reloadExtensions':
      await services.reloadExtensions();
      return plain(null);
    case 'schedule':
      if (!services.schedule) throw new HaliteError('daemon.unreachable', 'There is no scheduler here');
      return plain(await services.schedule(first as PlainDict));
    case 'beacons':
      if (!services.beacons) throw new HaliteError('daemon.unreachable', 'There are no beacons here');
      return plain(await services.beacons(first as PlainDict));
    case 'handover':
      if (!services.handover) throw new HaliteError('daemon.unreachable', 'There is no running minion here');
      return plain(await services.handover(first as PlainDict));
    case 'masterKey':
      return plain((await services.masterKey?.()) ?? newDict());
    case 'proxy':
      if (!services.proxy) throw new HaliteError('daemon.unreachable', 'There is no proxied device here');
      return plain(await services.proxy(first as PlainDict));
    case 'masters':
      return plain((await services.masters?.()) ?? []);
    default:
      throw new HaliteError('call.unknown', `No such service: ${String(method)}`);
  }
}
