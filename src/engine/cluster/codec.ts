// Publications and items of the ledger as values, and back: whoever reads knows every field; what lacks one is refused.
import { boolField, dictField, intField, numberField, textField } from '../../base/codec/fields.ts';
import { asPlainDict, dictGet, isTexts, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import { jobFields, readPublishedJob } from '../../protocol/wire/messages/job.ts';
import type { LedgerItem, Publication, SharedJob } from './messages.ts';

/** The fields that have a value, as a dict. */
export const dictFrom = (fields: object): PlainDict =>
  newDict(Object.entries(fields as Record<string, Value>).filter(([, value]) => value !== undefined));

export function publicationValue(message: Publication): Value {
  if (message.kind !== 'job') return dictFrom(message);
  return dictFrom({ ...message, job: jobFields(message.job), ...(message.ids ? { ids: [...message.ids] } : {}) });
}

/** Undefined for one that lacks a field, or of a kind that a newer member made. */
export function readPublication(value: Value): Publication | undefined {
  const fields = asPlainDict(value);
  if (!fields) return undefined;
  switch (textField(fields, 'kind')) {
    case 'job':
      return readJobPublication(fields);
    case 'rotate': {
      const [generation, term] = [intField(fields, 'generation'), intField(fields, 'term')];
      return generation === undefined || term === undefined ? undefined : { kind: 'rotate', generation, term };
    }
    case 'mark': {
      const what = textField(fields, 'what');
      return what === undefined ? undefined : { kind: 'mark', what, data: dictGet(fields, 'data') ?? null };
    }
    default:
      return undefined;
  }
}

function readJobPublication(fields: PlainDict): Publication | undefined {
  const job = readPublishedJob(dictGet(fields, 'job') ?? null);
  const [owner, at, ttlMs] = [slotField(fields, 'owner'), numberField(fields, 'at'), numberField(fields, 'ttlMs')];
  if (isProblem(job) || owner === undefined || at === undefined || ttlMs === undefined) return undefined;
  const ids = dictGet(fields, 'ids');
  if (ids !== undefined && !isTexts(ids)) return undefined;
  return { kind: 'job', job, owner, at, ttlMs, ...(ids ? { ids } : {}) };
}

export function itemValue(item: LedgerItem): Value {
  if (item.kind !== 'job' && item.kind !== 'own') return dictFrom(item);
  return dictFrom({ kind: item.kind, job: dictFrom({ ...item.job, expected: [...item.job.expected] }) });
}

/** Undefined for one that lacks a field, or of a kind that a newer member made. */
export function readItem(value: Value): LedgerItem | undefined {
  const fields = asPlainDict(value);
  const kind = fields && textField(fields, 'kind');
  if (kind === 'job' || kind === 'own') {
    const job = readJob(dictGet(fields as PlainDict, 'job') ?? null);
    return job && { kind, job };
  }
  if (kind === 'ret') return readReturn(fields as PlainDict);
  return kind === 'verdict' ? readVerdict(fields as PlainDict) : undefined;
}

function readJob(value: Value): SharedJob | undefined {
  const fields = asPlainDict(value);
  if (!fields) return undefined;
  const text = (key: string): string | undefined => textField(fields, key);
  const [jid, fun, tgt, tgt_type, user] = [text('jid'), text('fun'), text('tgt'), text('tgt_type'), text('user')];
  if (jid === undefined || fun === undefined || tgt === undefined || tgt_type === undefined) return undefined;
  const [load, started, owner] = [
    dictField(fields, 'load'),
    numberField(fields, 'started'),
    slotField(fields, 'owner'),
  ];
  const expected = dictGet(fields, 'expected');
  if (!load || started === undefined || owner === undefined || user === undefined || !isTexts(expected))
    return undefined;
  const adopted = boolField(fields, 'adopted') ? { adopted: true } : {};
  return {
    jid,
    fun,
    tgt,
    tgt_type,
    user,
    load,
    expected,
    started,
    internal: boolField(fields, 'internal'),
    owner,
    ...adopted,
  };
}

function readReturn(fields: PlainDict): LedgerItem | undefined {
  const [jid, id, fun] = [textField(fields, 'jid'), textField(fields, 'id'), textField(fields, 'fun')];
  const [attempt, retcode] = [intField(fields, 'attempt'), intField(fields, 'retcode')];
  const [received, load] = [numberField(fields, 'received'), dictField(fields, 'load')];
  if (jid === undefined || id === undefined || fun === undefined || attempt === undefined) return undefined;
  if (retcode === undefined || received === undefined || !load) return undefined;
  return { kind: 'ret', jid, id, attempt, fun, retcode, success: boolField(fields, 'success'), received, load };
}

function readVerdict(fields: PlainDict): LedgerItem | undefined {
  const [jid, id, verdict] = [textField(fields, 'jid'), textField(fields, 'id'), textField(fields, 'verdict')];
  const [reason, text] = [textField(fields, 'reason'), textField(fields, 'text')];
  const [evidence, at] = [dictField(fields, 'evidence'), numberField(fields, 'at')];
  if (jid === undefined || id === undefined || verdict === undefined || reason === undefined) return undefined;
  if (text === undefined || !evidence || at === undefined) return undefined;
  return { kind: 'verdict', jid, id, verdict, reason, text, evidence, at };
}

function slotField(fields: PlainDict, key: string): number | undefined {
  const slot = intField(fields, key);
  return slot !== undefined && slot >= 0 && slot <= 9 ? slot : undefined;
}
