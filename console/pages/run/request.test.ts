import { describe, expect, it } from 'vitest';
import { argumentsOf, commandLine, type JobForm, publishOf, secondsOf, splitWords } from './request.ts';

const form: JobForm = {
  ...{ tgt: 'web*', type: 'glob', fun: 'cmd.run', words: ['echo "a b"', 'shell=/bin/sh'] },
  ...{ batch: '', deadline: '', durable: '', require: '' },
};

describe('the line of a job', () => {
  it('quotes what a shell would change', () => {
    expect(commandLine(form)).toBe(`salt 'web*' cmd.run 'echo "a b"' shell=/bin/sh`);
    expect(commandLine({ ...form, tgt: "it's", type: 'compound', batch: '25%', deadline: '10m' })).toBe(
      `salt -b 25% --deadline=10m -C 'it'\\''s' cmd.run 'echo "a b"' shell=/bin/sh`,
    );
  });

  it('is split as by a shell', () => {
    expect(splitWords(`one 'two words' "say \\"hi\\"" a\\ b x='y z' ''`)).toEqual([
      'one',
      'two words',
      'say "hi"',
      'a b',
      'x=y z',
      '',
    ]);
  });

  it('becomes arguments as on the command line', () => {
    expect(argumentsOf(['1', 'true', 'None', '[1, 2]', '007', 'a=b=c', 'n=2', '{bad', 'http://x?a=b'])).toEqual({
      arg: [1, true, null, [1, 2], '007', '{bad', 'http://x?a=b'],
      kwarg: { a: 'b=c', n: 2 },
    });
  });

  it('has times as seconds', () => {
    expect(['30', '10m', '24h', '2d', 'x', '-1', ''].map(secondsOf)).toEqual([
      30,
      600,
      86_400,
      172_800,
      undefined,
      undefined,
      undefined,
    ]);
    expect(publishOf({ ...form, deadline: '10m', batch: '5' })).toMatchObject({ deadline: 600, batch: { size: '5' } });
  });
});
