// Salt's words for a failed template: what, `; line N`, and the lines around.
import { RenderError, type RenderRequest } from '../../extend/sdk/index.ts';
import { type JinjaError, sourceExcerpt } from './jinja/errors.ts';

const syntaxTypes = new Set(['TemplateRuntimeError', 'FilterArgumentError', 'TemplateSyntaxError', 'TemplateAssertionError', 'SecurityError']);
const saltTypes = new Set(['SaltInvocationError', 'CommandExecutionError']);

function headline(error: JinjaError): string {
  if (error.pyType === 'UndefinedError') return `Jinja variable ${error.message}`;
  if (syntaxTypes.has(error.pyType)) return `Jinja syntax error: ${error.message}`;
  if (saltTypes.has(error.pyType)) return `Problem running salt function in Jinja template: ${error.message}`;
  return `Jinja error: ${error.message}`;
}

/** The error as Salt shows it. */
export function saltError(error: JinjaError, source: string, request: RenderRequest): RenderError {
  const { line, column, path, frames } = error;
  const stack = frames.map((frame) => `${frame.path ?? frame.template ?? request.path ?? 'template'}(${frame.line})`);
  const place = { file: path ?? request.path, line, column, excerpt: error.excerpt, stack };
  return new RenderError(messageOf(error, source, request), place, { cause: error });
}

function messageOf(error: JinjaError, source: string, request: RenderRequest): string {
  const { line, path } = error;
  const isOther = path !== undefined && isForeign(path, request.sls);
  const isOpen = error.pyType !== 'UndefinedError' && !syntaxTypes.has(error.pyType) && !saltTypes.has(error.pyType);
  const trace = isOpen ? `\n${traceback(error)}\n` : '';
  if (isOther) return `${headline(error)}\n${path}(${line ?? 0}):\n${error.excerpt}${trace}`;
  if (!line) return `${headline(error)}${trace}`;
  const shown = isOpen ? `${source}\n${traceback(error)}` : source;
  return `${headline(error)}${trace}; line ${line}\n\n${sourceExcerpt(shown, line)}`;
}

/** Salt: an error in another file than the SLS itself is shown in that file. */
function isForeign(path: string, sls: string | undefined): boolean {
  return sls === undefined ? true : !path.endsWith(sls.replaceAll('.', '/'));
}

/** The template stack in the shape of Python's traceback. */
function traceback(error: JinjaError): string {
  const lines = ['Traceback (most recent call last):'];
  for (const frame of error.frames) {
    lines.push(`  File "${frame.path ?? '<template>'}", line ${frame.line}, in ${frame.location}`);
    const text = frame.source.split('\n')[frame.line - 1]?.trim();
    if (text) lines.push(`    ${text}`);
  }
  lines.push(`${pythonName(error.pyType)}: ${error.message}`);
  return `${lines.join('\n')}\n`;
}

function pythonName(type: string): string {
  if (type === 'TemplateNotFound') return 'jinja2.exceptions.TemplateNotFound';
  return type === 'TemplateError' ? 'salt.exceptions.TemplateError' : type;
}
