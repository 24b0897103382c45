// Engine `logentries`: events as lines over TLS, each with a token in front.
import { defineEngine, p } from 'halite/sdk';
import { readFile } from 'halite/sdk/fs';
import { persistently, toLine, wantedEvents, whichEvents } from './shared/events.ts';
import { LineSocket } from './shared/socket.ts';

export default defineEngine({
  name: 'logentries',
  doc: 'Sends events as lines `token tag {json}` to Logentries, or to any server that takes lines over TCP.',
  examples: [
    'engines:\n  - logentries:\n      endpoint: data.logentries.com\n      port: 443\n      token: 057af3e2-1c05-47c5-882a-5cd644655dbf',
  ],
  params: {
    endpoint: p.string({ default: 'data.logentries.com', doc: 'The host.' }),
    port: p.int({ default: 10_000, doc: 'The port.' }),
    token: p.string({ default: null, doc: 'The token of the log, in front of each line.' }),
    tag: p.string({ default: 'salt/engines/logentries', doc: 'A word in front of the data.' }),
    tls: p.bool({ default: true, doc: 'Encrypted, and the certificate is checked.' }),
    ca_bundle: p.path({ default: null, doc: 'File of certificate authorities instead of the usual ones.' }),
    ...whichEvents,
  },
  async start({ endpoint, port, token, tag, tls, ca_bundle, ...which }, ctx) {
    const ca = ca_bundle === null ? undefined : await readFile(ca_bundle, 'utf8');
    const secure = tls ? { tls: ca === undefined ? {} : { ca } } : {};
    const socket = new LineSocket({ service: 'logentries', host: endpoint, port, ...secure });
    try {
      for await (const { data } of wantedEvents(which, ctx)) {
        // A line break would end the record; JSON has none of its own.
        const line = `${[token, tag, toLine(data)].filter((part) => part !== null).join(' ')}\n`;
        await persistently('logentries', ctx, () => socket.send(line));
      }
    } finally {
      socket.close();
    }
  },
});
