// Reads what a worker says about a file: names, functions, parameters.
import { asDict, asList, asText, dictEntries, fieldOf, isTexts, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { PythonDescription, PythonFunction } from '../../extend/loader/index.ts';
import type { Param } from '../../extend/sdk/index.ts';

const mostFunctions = 5000;

export function readDescription(value: Value): PythonDescription {
  const reason = asText(fieldOf(value, 'reason'));
  if (reason !== undefined) return { available: false, reason };
  const name = asText(fieldOf(value, 'name'));
  const names = fieldOf(value, 'names');
  const listed = asDict(fieldOf(value, 'functions'));
  if (name === undefined || !isTexts(names) || listed === undefined)
    throw new HaliteError('codec.malformed', 'Python described a file in an unknown form');
  const functions: Record<string, PythonFunction> = Object.create(null);
  for (const [key, entry] of dictEntries(listed).slice(0, mostFunctions)) {
    if (typeof key === 'string') functions[key] = readFunction(entry);
  }
  const hooks = fieldOf(value, 'hooks');
  const proxies = fieldOf(value, 'proxyenabled');
  const doc = asText(fieldOf(value, 'doc')) ?? '';
  return {
    ...{ available: true, name, names, doc, functions },
    ...{ hooks: isTexts(hooks) ? hooks : [], proxies: isTexts(proxies) ? proxies : [] },
  };
}

function readFunction(value: Value): PythonFunction {
  const params: Record<string, Param> = Object.create(null);
  for (const entry of asList(fieldOf(value, 'params')) ?? []) {
    const [name, kind, fallback] = asList(entry) ?? [];
    if (typeof name === 'string') params[name] = readParam(kind ?? null, fallback);
  }
  return {
    params,
    doc: asText(fieldOf(value, 'doc')) ?? '',
    outputter: asText(fieldOf(value, 'out')),
  };
}

/** Defaults stay with Python: they are listed here, but never sent. */
function readParam(kind: Value, fallback: Value | undefined): Param {
  const form = kind === 'rest' || kind === 'kwargs' ? kind : 'any';
  const required = form === 'any' && fallback === undefined;
  return {
    kind: form,
    doc: '',
    required,
    default: fallback ?? null,
    aliases: [],
    ...(required ? {} : { computed: true }),
  };
}
