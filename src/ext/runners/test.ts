// Runner `test`: checks that runners work, and how arguments are passed.
import { defineRunner, HaliteError, masterFn, newDict, p } from 'halite/sdk';

const placeholders: Readonly<Record<string, string[]>> = {
  us: [
    'foo',
    'bar',
    'baz',
    'qux',
    'quux',
    'quuz',
    'corge',
    'grault',
    'garply',
    'waldo',
    'fred',
    'plugh',
    'xyzzy',
    'thud',
  ],
  uk: ['wibble', 'wobble', 'wubble', 'flob'],
};

const echoArguments = (name: string, doc: string) =>
  masterFn({
    doc,
    examples: [`salt-run test.${name} 1 2 key=value`],
    params: { args: p.rest({ doc: 'anything' }), kwargs: p.kwargs({ doc: 'anything by name' }) },
    run: ({ args, kwargs }) => newDict(Object.entries({ args, kwargs })),
  });

export default defineRunner({
  name: 'test',
  doc: 'Small functions to test the runner system.',
  functions: {
    arg: echoArguments('arg', 'The arguments as they arrived.'),
    sleep: masterFn({
      doc: 'Wait, reporting every second.',
      examples: ['salt-run test.sleep 3'],
      params: { s_time: p.float({ default: 7, doc: 'seconds' }) },
      async run({ s_time }, ctx) {
        ctx.print(String(s_time));
        for (let second = 0; second < s_time && !ctx.signal.aborted; second++) {
          await new Promise((resolve) => setTimeout(resolve, Math.min(1, s_time - second) * 1000));
          ctx.progress(`slept ${Math.min(second + 1, s_time)} of ${s_time} s`);
        }
        return true;
      },
    }),
    stdout_print: masterFn({
      doc: 'Prints one text while running, and returns another.',
      examples: ['salt-run test.stdout_print'],
      run(_args, ctx) {
        ctx.print('foo');
        return 'bar';
      },
    }),
    raw_arg: echoArguments('raw_arg', 'The same as test.arg; nothing is added to the arguments of runners here.'),
    metasyntactic: masterFn({
      doc: 'Metasyntactic variable names, as used in some place.',
      examples: ['salt-run test.metasyntactic locality=uk'],
      params: { locality: p.string({ default: 'us', doc: 'us or uk' }) },
      run: ({ locality }) => placeholders[locality] ?? null,
    }),
    stream: masterFn({
      doc: 'Fires a hundred events, one every tenth of a second, and returns True.',
      examples: ['salt-run test.stream'],
      async run(_args, ctx) {
        for (let count = 1; count <= 100 && !ctx.signal.aborted; count++) {
          await ctx.master.fire('runner/test/stream', { message: `Runner is ${count}% done` });
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
        return true;
      },
    }),
    get_opts: masterFn({
      doc: "The master's options, without secrets.",
      examples: ['salt-run test.get_opts'],
      run: (_args, ctx) =>
        newDict(Object.entries(ctx.master.opts).filter(([name]) => !/pass|token|secret/i.test(name))),
    }),
    raise: masterFn({
      doc: 'Fail with a message, to test how failures are shown.',
      examples: ["salt-run test.raise 'oh no'"],
      params: { message: p.string({ default: 'failed on purpose', doc: 'the message' }) },
      run({ message }) {
        throw new HaliteError('call.failed', message);
      },
    }),
  },
});
