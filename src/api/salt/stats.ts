// `/stats`: figures of this process, in the form that SaltGUI reads. Also its test whether the token still lives.
import { newDict, PyFloat, type Value } from '../../base/codec/value.ts';
import type { Api } from '../api.ts';
import type { ServerFigures } from '../figures.ts';
import type { Exchange } from '../http/exchange.ts';

export async function stats(api: Api, exchange: Exchange): Promise<void> {
  const value = api.settings.collectStats ? collected(api.figures) : ofServer(api);
  exchange.send({ value });
}

/** What Salt's server would collect with `collect_stats`. */
function collected(figures: ServerFigures): Value {
  const seconds = Math.max(0.001, (Date.now() - figures.started) / 1000);
  const application: Record<string, Value> = {
    Enabled: true,
    'Current Requests': figures.current,
    'Current Time': new PyFloat(Date.now() / 1000),
    'Requests/Second': new PyFloat(figures.requests / seconds),
    'Server Version': 'Halite',
    'Start Time': new PyFloat(figures.started / 1000),
    'Total Bytes Read': figures.bytesRead,
    'Total Bytes Written': figures.bytesWritten,
    'Total Requests': figures.requests,
    'Total Time': new PyFloat(figures.busyMs / 1000),
    Uptime: new PyFloat(seconds),
    Requests: newDict(),
    'Slow Queries': [],
  };
  return newDict([['CherryPy Applications', newDict(Object.entries(application))]]);
}

function ofServer({ figures, limits, settings, streams }: Api): Value {
  const figuresOf: Record<string, Value> = {
    Enabled: true,
    'Bind Address': `${settings.hosts[0]}:${settings.port}`,
    'Current Time': Date.now() / 1000,
    'Current Requests': figures.current,
    'Event Streams': streams.count,
    Queue: limits.waiting,
    'Run time': (Date.now() - figures.started) / 1000,
    'Start Time': figures.started / 1000,
    Threads: settings.threadPool,
    'Threads Idle': settings.threadPool - limits.busy,
    Requests: figures.requests,
    'Socket Errors': figures.errors,
    Uptime: process.uptime(),
    'Worker Threads': newDict(),
  };
  return newDict([['Halite HTTPServer', newDict(Object.entries(figuresOf))]]);
}
