// Renderer `json`.
import { defineRenderer, newDict, RenderError } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { pythonJsonError } from '../shared/serializers/json-error.ts';

export default defineRenderer({
  name: 'json',
  doc: 'Reads JSON; a first line that begins with #! is skipped, and an empty text is an empty map.',
  input: 'text',
  output: 'data',
  render(source, ctx) {
    const whole = source as string;
    const text = whole.startsWith('#!') ? whole.slice(whole.indexOf('\n') + 1) : whole;
    if (text.trim() === '') return newDict();
    try {
      return loadJson(text);
    } catch (error) {
      const fault = pythonJsonError(text);
      if (!fault) throw error;
      const skipped = whole.length === text.length ? 0 : 1;
      const place = { file: ctx.path, line: fault.line + skipped, column: fault.column };
      throw new RenderError(fault.message, place, { pyType: 'JSONDecodeError', cause: error });
    }
  },
});
