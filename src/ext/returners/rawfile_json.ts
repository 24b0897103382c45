// Returner `rawfile_json`: one line of JSON per result or event, at the end of a file.

import { defineReturner, HaliteError, messageOf, newDict, type PlainDict, p } from 'halite/sdk';
import { appendFile } from 'halite/sdk/fs';
import { toJson } from './shared/loads.ts';

export default defineReturner({
  name: 'rawfile_json',
  doc: 'Appends results and events to a file, one line of JSON each.',
  keeps: ['events'],
  options: { filename: p.path({ default: '/var/log/salt/events', doc: 'the file' }) },
  open({ filename }) {
    // One write per call: lines of several writers do not mix.
    const append = async (items: readonly PlainDict[]) => {
      if (items.length === 0) return;
      const lines = items.map((item) => `${toJson(item)}\n`).join('');
      await appendFile(filename, lines, { mode: 0o600 }).catch((error: unknown) => {
        throw new HaliteError(
          'store.unavailable',
          `Could not write to rawfile_json file ${filename}: ${messageOf(error)}`,
        );
      });
    };
    return {
      save: (ret) => append([ret]),
      saveMany: append,
      saveEvents: (events) =>
        append(
          events.map(({ tag, data }) =>
            newDict([
              ['data', data],
              ['tag', tag],
            ]),
          ),
        ),
    };
  },
});
