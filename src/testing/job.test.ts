// `minion.run`: what a function gets when it is run as a job, from what was typed to the fields of the job.
import { defineModule, fn, p } from 'halite/sdk';
import { expect, it } from 'vitest';
import { TestMinion } from './index.ts';

const seen = defineModule({
  name: 'seen',
  doc: 'What functions see.',
  functions: {
    all: fn({
      doc: 'Everything it was given.',
      params: { args: p.rest(), kwargs: p.kwargs() },
      run: ({ args, kwargs }, ctx) => {
        const published = Object.keys(kwargs).filter((key) => key.startsWith('__pub_'));
        const own = Object.entries(kwargs).filter(([key]) => !key.startsWith('__pub_'));
        return { args, own: Object.fromEntries(own), published, job: ctx.job };
      },
    }),
    code: fn({
      doc: 'Sets the return code.',
      run: (_, ctx) => {
        ctx.setRetcode(3);
        return null;
      },
    }),
  },
});

const minion = new TestMinion({ modules: [seen], opts: { id: 'web1' } });

it('reads texts as the command line does and takes other values as they are', async () => {
  const typed = ["{'k': 1}", '5', 'true', '[1, a]', 'text', 'a=1', '20260101000000000000', ['5'], null];
  const { return: got } = await minion.run('seen.all', typed, { b: '[x]', c: 'word', d: { e: '1' } });
  expect(got).toMatchObject({
    args: [{ k: 1 }, 5, true, [1, 'a'], 'text', '20260101000000000000', ['5'], null],
    own: { a: 1, b: ['x'], c: 'word', d: { e: '1' } },
  });
});

it('shows the job to the function', async () => {
  const { return: got } = await minion.run('seen.all', ['5']);
  expect(got).toMatchObject({
    published: ['__pub_fun', '__pub_arg', '__pub_tgt', '__pub_jid', '__pub_ret', '__pub_tgt_type', '__pub_user'],
    job: { fun: 'seen.all', arg: [5], tgt: 'web1', tgt_type: 'glob', ret: '', user: 'root' },
  });
  expect((got as { job: { jid: string } }).job.jid).toMatch(/^\d{20}$/);
});

it('takes fields of the job from the test', async () => {
  const other = new TestMinion({ modules: [seen], job: { jid: '20260101000000000000', user: 'ann' } });
  const { return: got } = await other.run('seen.all');
  expect(got).toMatchObject({ job: { jid: '20260101000000000000', user: 'ann', fun: 'seen.all' } });
  const broken = new TestMinion({ modules: [seen], job: { tgt: 5 } });
  await expect(broken.run('seen.all')).rejects.toThrow('the option job of the test minion: a job without target');
});

it('begins each job with return code 0', async () => {
  expect(await minion.run('seen.code')).toMatchObject({ retcode: 3, success: false });
  expect(await minion.run('seen.all')).toMatchObject({ retcode: 0, success: true });
});
