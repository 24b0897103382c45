// Content given in the state itself, in the pillar or in grains.
import { isDict, isTruthy, messageOf, pyStr, type StateContext, type Value } from 'halite/sdk';
import { traverse } from 'halite/sdk/data';
import { lines } from 'halite/sdk/text';
import { encodeText } from '../../shared/file/encodings.ts';
import { renderText, templateEngines, templateVariables } from '../../shared/file/template.ts';
import { textList } from '../shared/text.ts';

export interface ContentsRequest {
  readonly contents: Value;
  readonly contents_pillar: Value;
  readonly contents_grains: Value;
  readonly contents_delimiter: string;
  readonly contents_newline: boolean;
  readonly allow_empty: boolean;
  readonly template: Value;
  readonly context: Value;
  readonly defaults: Value;
  readonly encoding: Value;
  readonly encoding_errors: string;
}

type Outcome = { readonly bytes: Buffer } | { readonly problem: string } | undefined;

function lookUp(
  data: Parameters<typeof traverse>[0],
  what: string,
  keys: Value,
  delimiter: string,
): { value: Value } | { problem: string } {
  const list = Array.isArray(keys) ? keys : [keys];
  const found: Value[] = [];
  for (const key of list) {
    const value = traverse(data, pyStr(key), delimiter);
    if (value === undefined) return { problem: `${what} ${pyStr(key)} does not exist` };
    found.push(value);
  }
  return { value: Array.isArray(keys) ? found.map(pyStr).join('\n') : (found[0] as Value) };
}

function given(request: ContentsRequest, ctx: StateContext): { value: Value } | { problem: string } | undefined {
  const { contents, contents_pillar: pillar, contents_grains: grains, contents_delimiter: delimiter } = request;
  if (pillar !== null) return lookUp(ctx.pillar, 'Pillar', pillar, delimiter);
  if (grains !== null) return lookUp(ctx.grains, 'Grain', grains, delimiter);
  return contents === null ? undefined : { value: contents };
}

function emptyProblem(request: ContentsRequest): string {
  const { contents_pillar: pillar, contents_grains: grains } = request;
  const from = pillar ? `contents_pillar ${pyStr(pillar)}` : grains ? `contents_grains ${pyStr(grains)}` : "'contents'";
  return `${from} value would result in empty contents. Set allow_empty to True to allow the managed file to be empty.`;
}

const malformed =
  'Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, and is not binary data. SLS is likely malformed.';

/** The desired bytes of a file, an error, or undefined when none are given. */
export async function contentsOf(request: ContentsRequest, ctx: StateContext): Promise<Outcome> {
  const found = given(request, ctx);
  if (!found || 'problem' in found) return found;
  const { value } = found;
  // An empty value means that the file must exist, with any content.
  if (value === null) return undefined;
  if (!request.allow_empty && !isTruthy(value)) return { problem: emptyProblem(request) };
  const parts = textList(value);
  const template = request.template ? pyStr(request.template) : undefined;
  if (!parts) {
    if (!template) return { bytes: Buffer.from(value as Uint8Array) };
    const about = 'Contents specified by contents/contents_pillar/contents_grains appears to be binary data';
    return { problem: `${about}, and as will not be able to be treated as a Jinja template.` };
  }
  if (parts.length === 0) return { problem: malformed };
  let text = parts
    .flatMap(lines)
    .map((line) => `${line}\n`)
    .join('');
  if (!request.contents_newline) text = text.replace(/\n+$/, '').replace(/\r+$/, '');
  if (template) {
    if (!templateEngines.includes(template))
      return { problem: `Specified template format ${template} is not supported` };
    const made = await renderText(
      text,
      { engine: template, variables: templateVariables(request.defaults, request.context) },
      ctx,
    );
    if ('problem' in made) return made;
    text = made.bytes.toString('utf8');
  }
  try {
    return { bytes: encodeText(text, request.encoding, request.encoding_errors) };
  } catch (error) {
    return { problem: `Unable to manage file: ${messageOf(error)}` };
  }
}

/** Whether an argument is a dictionary or left out. */
export const isDictOrNothing = (value: Value): boolean => !isTruthy(value) || isDict(value);
