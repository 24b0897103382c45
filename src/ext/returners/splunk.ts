// Returner `splunk`: results and events through Splunk's HTTP Event Collector.
import { hostname } from 'node:os';
import { defineReturner, newDict, type PlainDict, p } from 'halite/sdk';
import { httpCall } from '../shared/http/request.ts';
import { toJson } from './shared/loads.ts';

export default defineReturner({
  name: 'splunk',
  optionPrefix: 'splunk_http_forwarder',
  doc: 'Sends every result, or every event, to the HTTP Event Collector of a Splunk indexer.',
  keeps: ['events'],
  options: {
    token: p.string({ doc: 'The token of the collector.' }),
    indexer: p.string({ doc: 'Name or address of the indexer, with `:port` when it is not 8088.' }),
    sourcetype: p.string({ default: null, doc: 'Source type of the data.' }),
    index: p.string({ default: null, doc: 'Index the data goes into.' }),
    verify_ssl: p.oneOf(['bool', 'string'], {
      default: true,
      doc: "Check the server's certificate; or the path of the CA file.",
    }),
    ssl: p.bool({ default: true, doc: 'Encrypt the connection.' }),
  },
  open({ token, indexer, sourcetype, index, verify_ssl, ssl }, ctx) {
    const place = /:\d+$/.test(indexer) ? indexer : `${indexer}:8088`;
    const url = `${ssl ? 'https' : 'http'}://${place}/services/collector/event`;
    const tls = typeof verify_ssl === 'string' ? { ca: verify_ssl } : { verify: verify_ssl !== false };
    const frame = (event: PlainDict): string =>
      toJson(
        newDict([
          ['time', String(Math.trunc(Date.now() / 1000))],
          ...(index === null ? [] : [['index', index] as const]),
          ...(sourcetype === null ? [] : [['sourcetype', sourcetype] as const]),
          ['event', event],
          ['host', hostname()],
        ]),
      );
    const send = async (body: string): Promise<void> => {
      const headers = { authorization: `Splunk ${token}`, 'content-type': 'application/json' };
      await httpCall({
        service: 'splunk',
        url,
        method: 'POST',
        body,
        headers,
        tls,
        secrets: [token],
        signal: ctx.signal,
      });
    };
    return {
      save: (ret) => send(frame(ret)),
      // The collector accepts any number of concatenated events.
      async saveMany(rets) {
        if (rets.length > 0) await send(rets.map(frame).join('\n'));
      },
      async saveEvents(events) {
        const frames = events.map(({ tag, data }) =>
          frame(
            newDict([
              ['tag', tag],
              ['data', data],
            ]),
          ),
        );
        if (frames.length > 0) await send(frames.join('\n'));
      },
    };
  },
});
