import { expect, it } from 'vitest';
import { answerHash } from './answer-hash.ts';

const state = (changes: object, duration: number): string =>
  JSON.stringify({
    id: `m${duration}`,
    return: {
      'file_|-a_|-/a_|-managed': { result: true, changes, duration, start_time: `${duration}`, __run_num__: 0 },
    },
  });

it('is equal for equal answers of different minions, and for states that only took another time', () => {
  expect(answerHash('{"id": "a", "return": {"x": [1, 2.0]}}')).toBe(
    answerHash('{"return": {"x": [1, 2.0]}, "id": "b", "jid": "7"}'),
  );
  expect(answerHash('{"return": 1}')).not.toBe(answerHash('{"return": "1"}'));
  expect(answerHash('{"return": NaN}')).toBe(answerHash('{"return": NaN, "id": "b"}'));
  expect(answerHash(state({}, 1))).toBe(answerHash(state({}, 2)));
  expect(answerHash(state({}, 1))).not.toBe(answerHash(state({ diff: 'x' }, 1)));
  expect(answerHash('{"return": {"duration": 1}}')).not.toBe(answerHash('{"return": {"duration": 2}}'));
});
