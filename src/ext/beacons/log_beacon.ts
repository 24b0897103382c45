// Beacon `log`: lines of a log file that match.
import { defineBeacon, fieldOf, isDict, isTruthy, newDict, type PlainDict, pyStr } from 'halite/sdk';
import { pyRegex } from 'halite/sdk/text';
import { entriesOf } from './shared/settings.ts';
import { Tail } from './shared/tail.ts';

function patternsOf({ tags }: PlainDict): [string, RegExp][] {
  return entriesOf(tags).flatMap(([tag, settings]) => {
    const regex = fieldOf(settings, 'regex');
    return isTruthy(regex) ? [[tag, pyRegex(pyStr(regex as string))] as [string, RegExp]] : [];
  });
}

function validate(settings: PlainDict): string | undefined {
  const { file, tags } = settings;
  if (file === undefined) return 'Configuration for log beacon must contain file option.';
  if (typeof file !== 'string') return 'Configuration for log beacon: file must be a path.';
  if (tags !== undefined && !isDict(tags)) return 'Configuration for log beacon: tags must be a dictionary.';
  for (const [tag, of] of entriesOf(tags)) {
    try {
      patternsOf(newDict([['tags', newDict([[tag, of]])]]));
    } catch {
      return `Configuration for log beacon: regex of tag ${tag} is not valid.`;
    }
  }
  return undefined;
}

/** The complete lines; an incomplete last line is kept until its end is written. */
function lineReader(): (bytes: Buffer, fresh: boolean) => string[] {
  let rest = Buffer.alloc(0);
  return (bytes, fresh) => {
    const all = fresh ? bytes : Buffer.concat([rest, bytes]);
    const end = all.lastIndexOf(10) + 1;
    rest = Buffer.from(all.subarray(end));
    return end === 0 ? [] : all.toString('utf8', 0, end - 1).split(/\r?\n/);
  };
}

export default defineBeacon({
  name: 'log_beacon',
  virtualName: 'log',
  doc: 'Sends an event for new lines of a file whose beginning matches a regular expression, with the tag of that expression.',
  examples: ['log:\n  - file: /var/log/messages\n  - tags:\n      goodbye/world:\n        regex: .*good-bye.*'],
  validate,
  async open(settings) {
    const tail = new Tail(pyStr(settings['file'] ?? ''));
    const patterns = patternsOf(settings);
    const linesIn = lineReader();
    await tail.skip();
    return {
      async read() {
        const { bytes, fresh } = await tail.read();
        return linesIn(bytes, fresh).flatMap((raw) =>
          patterns
            .filter(([, pattern]) => pattern.test(raw))
            .map(([tag]) => newDict(Object.entries({ tag, match: 'yes', raw, error: '' }))),
        );
      },
    };
  },
});
