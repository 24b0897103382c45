// Runner `test`: see that runners run, and how arguments arrive.
import { defineRunner, HaliteError, masterFn, newDict, p } from 'halite/sdk';

export default defineRunner({
  name: 'test',
  doc: 'Small functions to try the runner system with.',
  functions: {
    arg: masterFn({
      doc: 'The arguments as they arrived.',
      examples: ['salt-run test.arg 1 2 key=value'],
      params: { args: p.rest({ doc: 'anything' }), kwargs: p.kwargs({ doc: 'anything by name' }) },
      run: ({ args, kwargs }) =>
        newDict([
          ['args', args],
          ['kwargs', kwargs],
        ]),
    }),
    sleep: masterFn({
      doc: 'Wait, reporting every second.',
      examples: ['salt-run test.sleep 3'],
      params: { s_time: p.float({ default: 7, doc: 'seconds' }) },
      async run({ s_time }, ctx) {
        for (let second = 0; second < s_time && !ctx.signal.aborted; second++) {
          await new Promise((resolve) => setTimeout(resolve, Math.min(1, s_time - second) * 1000));
          ctx.progress(`slept ${Math.min(second + 1, s_time)} of ${s_time} s`);
        }
        return true;
      },
    }),
    stdout_print: masterFn({
      doc: 'Prints a word while running, and returns another.',
      examples: ['salt-run test.stdout_print'],
      run(_args, ctx) {
        ctx.progress('foo');
        return 'bar';
      },
    }),
    raise: masterFn({
      doc: 'Fail with a message, to see how failure looks.',
      examples: ["salt-run test.raise 'oh no'"],
      params: { message: p.string({ default: 'failed on purpose', doc: 'what to say' }) },
      run({ message }) {
        throw new HaliteError('call.failed', message);
      },
    }),
  },
});
