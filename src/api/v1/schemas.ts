// The shapes of requests and answers. What is not named here is refused.
import { z } from 'zod';
import { type Dict, isDict, type Value } from '../../base/codec/value.ts';

/** Any value of Salt's data; it is passed on as it is. */
export const anyValue = z.custom<Value>((value) => value !== undefined).meta({ description: 'any value' });
export const anyMap = z
  .custom<Dict>((value) => isDict(value))
  .meta({ type: 'object', additionalProperties: true, description: 'a map' });

const text = (longest: number) => z.string().max(longest);

export const minionId = text(255).min(1);
export const jid = z.string().regex(/^\d{20}(_[\w.-]{1,64})?$/);

const window = {
  q: text(1_000).optional(),
  sort: text(64).optional(),
  offset: z.number().int().min(0).max(10_000_000).optional(),
  limit: z.number().int().min(0).max(1_000).optional(),
};
export const listQuery = z.strictObject({ ...window, format: z.enum(['json', 'csv']).optional() });

/** Columns and rows. */
export const listAnswer = z.object({
  total: z.number().int(),
  offset: z.number().int(),
  cols: z.array(z.string()),
  rows: z.array(z.array(z.unknown())),
  version: z.number().int(),
});

export const mapAnswer = z.record(z.string(), z.unknown());

export const login = z.strictObject({
  username: text(256),
  password: text(32 * 1024),
  eauth: text(64).min(1),
  token_expire: z.number().min(1).max(315_360_000).optional(),
});

const can = z.object({
  everything: z.boolean(),
  allMinions: z.boolean(),
  run: z.enum(['all', 'some', 'none']),
  jobs: z.enum(['all', 'own']),
  keys: z.enum(['all', 'ids', 'none']),
  acceptKeys: z.boolean(),
  operate: z.boolean(),
});
export const session = z.object({
  token: z.string().optional(),
  user: z.string(),
  eauth: z.string().nullable(),
  groups: z.array(z.string()),
  start: z.number().int().nullable(),
  expire: z.number().int().nullable(),
  rules: z.unknown(),
  can,
});

const names = z.array(text(256)).max(100_000);
const target = z.union([text(100_000), names]);
const seconds = z.number().min(0).max(31_536_000);

export const preview = z.strictObject({ tgt: target, tgt_type: text(64).optional() });
export const previewAnswer = z.object({
  total: z.number().int(),
  classes: z.record(z.string(), z.record(z.string(), z.string())),
  summary: z.string(),
});

export const publish = z.strictObject({
  tgt: target,
  tgt_type: text(64).optional(),
  fun: z.union([text(256).min(1), z.array(text(256).min(1)).min(1).max(1_000)]),
  arg: z.array(anyValue).max(10_000).optional(),
  kwarg: anyMap.optional(),
  timeout: seconds.optional(),
  deadline: seconds.optional(),
  durable: seconds.optional(),
  subset: z.number().int().min(1).max(1_000_000).optional(),
  batch: z
    .strictObject({
      size: z.string().regex(/^([1-9]\d{0,8}|\d{1,3}(\.\d{1,3})?%)$/),
      wait: seconds.optional(),
      failhard: z.boolean().optional(),
    })
    .optional(),
  require: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,3})?%?$/)
    .optional(),
  metadata: anyMap.optional(),
});
export const started = z.object({
  jid: z.string(),
  minions: z.array(z.string()),
  missing: z.array(z.string()),
  url: z.string(),
});

export const jobAnswer = z.object({
  jid: z.string(),
  fun: z.union([z.string(), z.array(z.string())]),
  arg: z.array(z.unknown()),
  tgt: z.union([z.string(), z.array(z.string())]),
  tgtType: z.string(),
  user: z.string(),
  started: z.number().int().nullable(),
  schedule: z.string().nullable(),
  command: z.string(),
  ended: z.number().int().nullable(),
  state: z.enum(['running', 'open', 'done']),
  minions: z.array(z.string()),
  verdicts: z.string(),
  balance: z.record(z.string(), z.number().int()),
  groups: z.array(mapAnswer),
});

export const returnsQuery = z.strictObject({
  ...window,
  by: z.enum(['minion', 'group', 'verdict']).optional(),
  verdict: z
    .string()
    .regex(/^[wrqocfmdx]{1,9}$/)
    .optional(),
  group: text(2_000).optional(),
  format: z.enum(['json', 'csv', 'yaml', 'txt']).optional(),
});

/** With `format=json` a map of minions. */
export const returnsAnswer = z.union([listAnswer, mapAnswer]);

export const stop = z.strictObject({ how: z.enum(['term', 'kill', 'forget', 'cancel-pending']) });
export const stopped = z.object({ jid: z.string().optional(), minions: z.array(z.string()) });
export const again = z.strictObject({ on: z.enum(['all', 'failed', 'missing', 'unfinished']) });

export const keyChange = z.strictObject({
  ids: z.array(minionId).min(1).max(10_000),
  fingerprints: z.record(minionId, text(512)).optional(),
});
export const keyAnswer = z.object({ done: z.array(z.string()), refused: z.record(z.string(), z.string()) });

export const masterCall = z.strictObject({ arg: z.array(anyValue).max(10_000).optional(), kwarg: anyMap.optional() });
export const called = z.object({ jid: z.string(), return: z.unknown(), success: z.boolean() });

export const topicOptions = z.strictObject({
  ...window,
  follow: minionId.optional(),
  since: text(64).optional(),
});
export const topicName = z
  .string()
  .max(300)
  .regex(/^(summary|jobs|keys|fleet:[\w.-]{1,64}|job:\d{20}(_[\w.-]{1,64})?|events:[^\x00-\x1f\x7f]{1,256})$/);
export const mostTopics = 12;
export const subscribe = z.strictObject({
  topics: z
    .record(topicName, topicOptions)
    .refine((topics) => Object.keys(topics).length <= mostTopics, `at most ${mostTopics} topics`),
});

export const problem = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  detail: z.string(),
  code: z.string(),
  hint: z.string().optional(),
  request: z.string(),
});
